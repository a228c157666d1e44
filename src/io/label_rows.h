// The labels of a row: one of a table with a column per role, several of a wide one.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/rows.h"
#include "io/table_format.h"
#include "io/trim.h"

namespace crowdfold {

class LabelRows {
 public:
  // Workers of `without` abstain from everything.
  explicit LabelRows(const TableFormat& format, std::vector<std::string> without = {})
      : json_(format.is_json()),
        wide_(format.is_wide()),
        has_header_(format.has_header()),
        names_(format.field_names()),
        without_(std::move(without)) {
    std::sort(without_.begin(), without_.end());
    if (format.has_header() && !wide_) std::copy_n(names_.begin(), header_.size(), header_.begin());
    if (wide_) std::copy(format.worker_names().begin(), format.worker_names().end(), names_.begin() + 1);
  }

  // Whether the fields are a label as they are, of which read() would say no more. Most rows are.
  [[gnu::always_inline]] bool is_common(std::string_view task, std::string_view worker,
                                        std::string_view label) const {
    if (wide_ || !without_.empty()) return false;
    if (task.empty() || worker.empty() || label.empty()) return false;
    if (may_need_trim(task) || may_need_trim(worker) || may_need_trim(label)) return false;
    if (task.size() == header_[0].size() && worker.size() == header_[1].size() &&
        label.size() == header_[2].size())
      return false;
    return !has_header_ || !may_name_role(task) || !may_name_role(label) || !may_name_role(worker);
  }

  // Calls take(task, worker, label) for each label of the row, with blanks at the ends trimmed. Rows
  // that are none are left out, and counted in `outcome`.
  // Inlined into the parser: see LabelReader::parse.
  template <class Take>
  [[gnu::always_inline]] Complaint read(Row row, BlockOutcome& outcome, const Take& take) const {
    if (wide_) return read_wide(row, outcome, take);
    // By halves, as the parser stored them: a load of both would wait until the stores are through.
    std::string_view task(row[0].data(), row[0].size());
    std::string_view worker(row[1].data(), row[1].size());
    std::string_view label(row[2].data(), row[2].size());
    if (task.empty() || worker.empty() || label.empty() || may_need_trim(task) ||
        may_need_trim(worker) || may_need_trim(label)) [[unlikely]] {
      task = trimmed(task);
      worker = trimmed(worker);
      label = trimmed(label);
      if (task.empty() || worker.empty()) return without_name(task, worker, label, outcome);
    }
    // By sizes first: they differ in almost every row.
    if (task.size() == header_[0].size() && worker.size() == header_[1].size() &&
        label.size() == header_[2].size() && task == header_[0] && worker == header_[1] &&
        label == header_[2]) [[unlikely]] {
      ++outcome.repeated_headers;
      return {};
    }
    // The header of another file, in other words: "item,user,answer".
    if (has_header_ && may_name_role(task) && may_name_role(label) && may_name_role(worker) &&
        is_other_header(task, worker, label)) [[unlikely]] {
      ++outcome.repeated_headers;
      return {};
    }
    if (!without_.empty() && is_without(worker)) [[unlikely]]
      label = {};
    take(task, worker, label);
    return {};
  }

  // "Total", "Sum": what the task of a row of totals is called.
  static bool is_total(std::string_view name);

 private:
  template <class Take>
  Complaint read_wide(Row row, BlockOutcome& outcome, const Take& take) const {
    const std::string_view task = trimmed(row[0]);
    if (task.empty()) return without_wide_task(row, outcome);
    if (is_wide_header(row)) {
      ++outcome.repeated_headers;
      return {};
    }
    for (std::size_t i = 1; i < row.size(); ++i) {
      const std::string_view label = trimmed(row[i]);
      const bool missing = means_missing(label) || is_without(names_[i]);
      take(task, names_[i], missing ? std::string_view() : label);
    }
    return {};
  }

  bool is_without(std::string_view worker) const {
    return std::binary_search(without_.begin(), without_.end(), worker);
  }

  bool is_other_header(std::string_view task, std::string_view worker, std::string_view label) const;
  bool is_wide_header(Row row) const;
  Complaint without_wide_task(Row row, BlockOutcome& outcome) const;
  // Nothing at all is an empty row, and a total has nothing in the other columns. Everything else is a
  // mistake.
  Complaint without_name(std::string_view task, std::string_view worker, std::string_view label,
                         BlockOutcome& outcome) const;
  // As data frames write cells that hold nothing.
  static bool means_missing(std::string_view cell);

  bool json_;  // an object without the keys is no empty row
  bool wide_;
  bool has_header_;
  std::vector<std::string> names_;  // of the fields; of a wide table: of the workers, behind the task
  std::vector<std::string> without_;
  std::array<std::string, 3> header_ = {"\n", "\n", "\n"};  // no trimmed field is a newline
};

}  // namespace crowdfold
