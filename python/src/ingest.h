// Columns of tasks, workers and labels -> Labels.
#pragma once

#include <memory>

#include "column.h"
#include "crowdfold/row_grouper.h"
#include "crowdfold/run_context.h"

namespace crowdfold::python {

class Ingest {
 public:
  explicit Ingest(Duplicates duplicates);

  // The only chunk there is. It may be read a second time if that is cheap.
  void add_all(Column& tasks, Column& workers, Column& labels, const RunContext& context);
  // One of several.
  void add(Column& tasks, Column& workers, Column& labels, const RunContext& context);
  Labels build(int threads);

  // Of each, where values that are new in the last chunk appeared first.
  Ids tasks;
  Ids workers;
  Ids classes;

 private:
  void read(Column& task_column, Column& worker_column, Column& label_column, const RunContext& context,
            void (RowGrouper::*take)(const IdRows&));

  Duplicates duplicates_;
  RowGrouper grouper_;
  std::uint64_t rows_before_ = 0;  // of the present chunk
};

}  // namespace crowdfold::python
