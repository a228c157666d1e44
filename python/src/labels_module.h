// Labels in: what Python calls to make Labels.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "crowdfold/columns.h"
#include "crowdfold/io.h"

namespace crowdfold::python {

Duplicates parse_duplicates(const std::string& name);
// How to read a file, by the names of Reading in Python.
ReadOptions read_options(const nanobind::dict& reading, const std::string& duplicates);
// What people are told of it.
std::vector<std::string> notes_of(const ReadReport& report);
// Within the limits of the machine; threads 0: one for every core.
RunContext context_for(int threads, std::uint64_t seed = 0);
std::vector<std::string> names_of(const NameTable& table);

// What Python knows as Labels, with the rows where tasks, workers and classes appeared first.
struct LabelData {
  Labels labels;
  FirstRows first_rows;
  std::vector<std::string> notes = {};  // of the reader of a file, on how it was understood
};

void bind_labels(nanobind::module_& module);

}  // namespace crowdfold::python
