#include "command_module.h"

#include <nanobind/stl/vector.h>

#include <string>

#include "commands.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace crowdfold::python {
namespace {

// The interpreter waits: the program prints by itself, and has its own way with signals.
int run_command(const std::vector<nb::bytes>& words) {
  std::vector<std::string> texts;
  for (const nb::bytes& word : words) texts.emplace_back(word.c_str(), word.size());
  std::vector<char*> arguments;
  for (std::string& text : texts) arguments.push_back(text.data());
  arguments.push_back(nullptr);
  const nb::gil_scoped_release no_python;
  return cli::run_program(static_cast<int>(texts.size()), arguments.data());
}

}  // namespace

void bind_command(nb::module_& module) { module.def("run_command", &run_command, "words"_a); }

}  // namespace crowdfold::python
