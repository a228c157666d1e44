# The page of reports (web/), as a source file of the library. Without Node.js, or where its packages cannot be had, the
# library is built without it and says so. Sets CROWDFOLD_HAS_PAGE.
set(CROWDFOLD_REPORTS AUTO CACHE STRING "HTML reports: ON, OFF, or AUTO (on where there is Node.js)")
set_property(CACHE CROWDFOLD_REPORTS PROPERTY STRINGS AUTO ON OFF)

set(crowdfold_web ${PROJECT_SOURCE_DIR}/web)
set(crowdfold_node_version 20.19)

# Why there can be no page; empty if there can. Installs the packages of web/ when they are not those of the lock file.
function(crowdfold_prepare_page reason)
  set(${reason} "" PARENT_SCOPE)
  find_program(CROWDFOLD_NODE node)
  find_program(CROWDFOLD_NPM npm)
  if(NOT CROWDFOLD_NODE OR NOT CROWDFOLD_NPM)
    set(${reason} "there is no node or no npm" PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND ${CROWDFOLD_NODE} --version OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX REPLACE "^v" "" version "${version}")
  if(version VERSION_LESS crowdfold_node_version)
    set(${reason} "${CROWDFOLD_NODE} is ${version}, older than ${crowdfold_node_version}" PARENT_SCOPE)
    return()
  endif()
  set(stamp ${crowdfold_web}/node_modules/.crowdfold-lock)
  file(SHA256 ${crowdfold_web}/package-lock.json wanted)
  set(present "")
  if(EXISTS ${stamp})
    file(READ ${stamp} present)
  endif()
  if(present STREQUAL wanted)
    return()
  endif()
  message(STATUS "reports: npm ci in web/")
  execute_process(COMMAND ${CROWDFOLD_NPM} ci --no-audit --no-fund --loglevel=error WORKING_DIRECTORY ${crowdfold_web}
                  RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(failed)
    set(${reason} "npm ci failed in web/: ${said}" PARENT_SCOPE)
    return()
  endif()
  file(WRITE ${stamp} ${wanted})
endfunction()

set(CROWDFOLD_HAS_PAGE FALSE)
if(CROWDFOLD_REPORTS STREQUAL "OFF")
  message(STATUS "reports are off (CROWDFOLD_REPORTS)")
else()
  crowdfold_prepare_page(crowdfold_why_not)
  if(crowdfold_why_not STREQUAL "")
    set(CROWDFOLD_HAS_PAGE TRUE)
  elseif(CROWDFOLD_REPORTS STREQUAL "AUTO")
    message(WARNING "reports are off: ${crowdfold_why_not}. 'crowdfold report' will say so; all else works.")
  else()
    message(FATAL_ERROR "CROWDFOLD_REPORTS is ${CROWDFOLD_REPORTS}, but ${crowdfold_why_not}")
  endif()
endif()

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${crowdfold_web}/package-lock.json)
# Makes the source file, whose path is then in the variable `source`. To be called from the folder of the target that
# compiles it: CMake knows how a file is made in that folder only.
function(crowdfold_make_page source)
  set(crowdfold_page ${PROJECT_BINARY_DIR}/web/index.html)
  set(crowdfold_page_source ${PROJECT_BINARY_DIR}/web/page_text.cc)
  set(${source} ${crowdfold_page_source} PARENT_SCOPE)
  if(CROWDFOLD_HAS_PAGE)
    file(GLOB_RECURSE crowdfold_web_sources CONFIGURE_DEPENDS ${crowdfold_web}/src/*)
    add_custom_command(OUTPUT ${crowdfold_page}
      COMMAND ${CROWDFOLD_NODE} ${crowdfold_web}/node_modules/vite/bin/vite.js build --logLevel warn
              --outDir ${PROJECT_BINARY_DIR}/web --emptyOutDir false
      WORKING_DIRECTORY ${crowdfold_web}
      DEPENDS ${crowdfold_web_sources} ${crowdfold_web}/index.html ${crowdfold_web}/vite.config.ts
              ${crowdfold_web}/package-lock.json
      COMMENT "Building the page of reports" VERBATIM)
  else()
    set(crowdfold_page ${PROJECT_BINARY_DIR}/web/none.html)
    file(WRITE ${crowdfold_page} "")
  endif()
  add_custom_command(OUTPUT ${crowdfold_page_source}
    COMMAND ${CMAKE_COMMAND} -D PAGE=${crowdfold_page} -D SOURCE=${crowdfold_page_source}
            -P ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake
    DEPENDS ${crowdfold_page} ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake
    VERBATIM)
endfunction()
