// Labels in: what Python calls to make Labels.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "crowdfold/columns.h"

namespace crowdfold::python {

Duplicates parse_duplicates(const std::string& name);
// 0: as many threads as there are cores.
int threads_or_all(int threads);
std::vector<std::string> names_of(const NameTable& table);

// What Python knows as Labels, with the rows where tasks, workers and classes appeared first.
struct LabelData {
  Labels labels;
  FirstRows first_rows;
};

void bind_labels(nanobind::module_& module);

}  // namespace crowdfold::python
