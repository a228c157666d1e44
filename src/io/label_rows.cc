#include "io/label_rows.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace crowdfold {

bool LabelRows::is_total(std::string_view name) {
  std::string plain;
  for (const char c : name)
    plain.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  while (plain.ends_with(':')) plain.pop_back();
  constexpr std::array kWords = {"total",  "totals", "grand total", "sum",      "summe",
                                 "gesamt", "all",    "count",       "average",  "mean",
                                 "somme",  "suma",   "totale",      "insgesamt"};
  return std::find(kWords.begin(), kWords.end(), plain) != kWords.end();
}

bool LabelRows::is_other_header(std::string_view task, std::string_view worker,
                                std::string_view label) const {
  static const NamesOfRole tasks(task_role());
  static const NamesOfRole workers(worker_role());
  static const NamesOfRole labels(label_role());
  return labels.has(label) && workers.has(worker) && tasks.has(task);
}

bool LabelRows::is_wide_header(Row row) const {
  for (std::size_t i = 1; i < row.size(); ++i) {
    if (!equal_without_case(trimmed(row[i]), names_[i])) return false;
  }
  static const Role tasks = task_role();
  const std::string_view task = trimmed(row[0]);
  return equal_without_case(task, names_[0]) || is_name_of(tasks, task);
}

Complaint LabelRows::without_name(std::string_view task, std::string_view worker, std::string_view label,
                                  BlockOutcome& outcome) const {
  if (is_total(task)) {
    ++outcome.total_rows;
    return {};
  }
  if (!json_ && task.empty() && worker.empty() && label.empty()) {
    ++outcome.empty_rows;
    return {};
  }
  if (task.empty()) return {1, "no task: the field is empty"};
  return {2, "no worker: the field is empty"};
}

Complaint LabelRows::without_wide_task(Row row, BlockOutcome& outcome) const {
  const bool empty = !json_ && std::all_of(row.begin(), row.end(),
                                           [](std::string_view cell) { return trimmed(cell).empty(); });
  if (!empty) return {1, "no task: the field is empty"};
  ++outcome.empty_rows;
  return {};
}

bool LabelRows::means_missing(std::string_view cell) {
  constexpr std::array kMissing = {"", "nan", "NaN", "NAN", "NA", "<NA>", "null", "NULL"};
  return std::find(kMissing.begin(), kMissing.end(), cell) != kMissing.end();
}

}  // namespace crowdfold
