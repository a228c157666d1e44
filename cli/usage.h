// What to say where a command line does not fit: the nearest name, and the command whose help explains
// it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace crowdfold::cli {

// The words behind the program's name. `help COMMAND…` becomes `COMMAND… --help`.
std::vector<std::string> words_of(int argc, char** argv);

// Error(usage) if a command is missing where one belongs, or there is none of that name.
void require_command(const CLI::App& app, const std::vector<std::string>& words);

// What is wrong, and where it is explained.
std::string explain(const CLI::ParseError& error, const CLI::App& app);

// A check of options that take one of a few words.
CLI::Validator one_of(const std::vector<std::string>& words);

}  // namespace crowdfold::cli
