// Which columns of a table of labels are task, worker and label: names propose, values confirm or
// reject, and where neither is clear the user is asked, with a line to copy.
#pragma once

#include <string>
#include <vector>

#include "io/columns.h"
#include "io/glimpse.h"

namespace crowdfold {

struct FoundColumns {
  std::vector<std::size_t> columns;  // by role: task, worker, label
  std::vector<std::size_t> workers;  // of a wide table, which has columns of workers instead
  bool worked_out = false;           // from the values, so that people should look at it
};

// `roles` are task, worker and label, `header` has the names of the glimpse's columns. Error(data) if it
// is not clear, Error(usage) for a mapping that does not fit.
FoundColumns find_label_columns(const std::vector<std::string>& header, const Glimpse& glimpse,
                                const std::vector<Role>& roles, const ReadOptions& options,
                                const Location& place);

// The same without a header, where `columns` are those by position: values may say that they stand in
// another order. Error(data) if they seem to.
FoundColumns check_positions(const Glimpse& glimpse, const std::vector<std::size_t>& columns,
                             const Location& place);

}  // namespace crowdfold
