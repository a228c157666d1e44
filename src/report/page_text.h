// The page as the web build made it; empty where that was not possible. Its source is generated:
// cmake/page.cmake.
#pragma once

#include <string_view>

namespace crowdfold {

std::string_view page_text();

}  // namespace crowdfold
