// Columns of tasks, workers and labels -> Labels.
#pragma once

#include <memory>

#include "column.h"
#include "crowdfold/row_grouper.h"
#include "crowdfold/run_context.h"
#include "grouped_table.h"

namespace crowdfold::python {

class Ingest {
 public:
  explicit Ingest(Duplicates duplicates);

  // The only chunk there is.
  Labels read_all(const TableColumns& columns, int threads, const RunContext& context);
  // One of several, then all of them.
  void add(const TableColumns& columns, const RunContext& context);
  Labels build(int threads);

  // Of each, where values that are new in the last chunk appeared first.
  TableIds ids = TableIds::none();

 private:
  void read(const TableColumns& columns, const RunContext& context,
            void (RowGrouper::*take)(const IdRows&));

  Duplicates duplicates_;
  RowGrouper grouper_;
  std::uint64_t rows_before_ = 0;  // of the present chunk
};

}  // namespace crowdfold::python
