// Where an input lies that a user named: a file, or a file in a zip archive. expand_inputs:
// crowdfold/io.h.
#pragma once

#include <string>

namespace crowdfold {

struct InputPlace {
  std::string file;
  std::string member;  // of the archive that the file is; else ""
};

// "FILE.zip:NAME" where there is no file of that whole name, but a file before one of its colons.
InputPlace place_of_input(const std::string& path);
// The name, without folders, of the file that the input's text is: of an archive, that of the file in
// it.
std::string file_name_of(const std::string& path);

}  // namespace crowdfold
