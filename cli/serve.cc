// crowdfold serve: the service, which is a program of the Python package.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "commands.h"
#include "crowdfold/error.h"

namespace crowdfold::cli {
namespace {

constexpr const char* kProgram = "crowdfold-serve";

// Becomes the program, with these arguments.
[[noreturn]] void become(std::vector<std::string> arguments) {
  std::string name = kProgram;
  std::vector<char*> words = {name.data()};
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  ::execvp(name.c_str(), words.data());
  if (errno == ENOENT)
    throw Error(ErrorCode::usage,
                "the program crowdfold-serve is not on the PATH; it comes with the Python package: pip "
                "install 'crowdfold[serve]' (Python 3.11 or newer)");
  throw Error(ErrorCode::io, std::string("cannot run crowdfold-serve: ") + std::strerror(errno));
}

}  // namespace

void add_serve(CLI::App& app) {
  CLI::App& command = *app.add_subcommand("serve", "labels in and answers out over HTTP");
  // What follows is the program's, --help too.
  command.set_help_flag();
  command.prefix_command();
  command.callback([&command] { become(command.remaining()); });
}

}  // namespace crowdfold::cli
