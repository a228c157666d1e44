// A whole table whose rows are grouped by task, as most are: read by several threads, each a range of
// rows, straight to where labels stay.
#pragma once

#include <optional>

#include "column.h"
#include "crowdfold/labels.h"
#include "crowdfold/run_context.h"

namespace crowdfold::python {

struct TableColumns {
  Column& tasks;
  Column& workers;
  Column& labels;

  bool are_cheap() const { return tasks.is_cheap() && workers.is_cheap() && labels.is_cheap(); }
  bool are_python() const { return tasks.is_python() || workers.is_python() || labels.is_python(); }
};

struct TableIds {
  Ids tasks;
  Ids workers;
  Ids classes;

  static TableIds none() {
    return {Ids("tasks", kMaxTasks), Ids("workers", kMaxWorkers), Ids("classes", kMaxClasses)};
  }
};

// The labels, and in `ids` where values appeared first; the same with any number of threads. Nothing,
// and `ids` as they were, if a task comes back after others, somebody abstains, or a row is at fault.
// Columns must be of one length, and no Python objects.
std::optional<Labels> read_grouped(const TableColumns& columns, Duplicates duplicates, int threads,
                                   const RunContext& context, TableIds& ids);

}  // namespace crowdfold::python
