#include "io/guess_wide.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "io/column_agreement.h"
#include "io/column_looks.h"

namespace crowdfold {
namespace {

// Cells of `a` whose value `b` has as well.
std::size_t cells_shared(const GlimpseColumn& a, const GlimpseColumn& b) {
  std::size_t shared = 0;
  for (std::uint32_t v = 0; v < a.distinct(); ++v)
    shared += b.values.find(a.values[v]) ? a.counts[v] : 0;
  return shared;
}

bool share_classes(const GlimpseColumn& a, const GlimpseColumn& b) {
  const std::size_t of_a = cells_shared(a, b);
  const std::size_t of_b = cells_shared(b, a);
  const bool within =
      (of_a == a.filled && 3 * of_b >= b.filled) || (of_b == b.filled && 3 * of_a >= a.filled);
  return within || (3 * of_a >= 2 * a.filled && 3 * of_b >= 2 * b.filled);
}

bool may_hold_labels(const GlimpseColumn& column) {
  const Looks looks = looks_of(column);
  return column.filled > 0 && column.distinct() <= kMostClasses && !looks.time && !looks.mail &&
         !looks.file && !(looks.long_text && 2 * column.distinct() > column.filled) &&
         !has_word(column.name, truth_words()) && !has_word(column.name, other_words());
}

// The largest set of columns that share their classes with its first one.
std::vector<std::size_t> columns_alike(const Glimpse& glimpse, std::size_t task) {
  std::vector<std::size_t> best;
  for (std::size_t first = 0; first < glimpse.columns.size(); ++first) {
    if (first == task || !may_hold_labels(glimpse.columns[first])) continue;
    std::vector<std::size_t> alike = {first};
    for (std::size_t c = first + 1; c < glimpse.columns.size(); ++c) {
      if (c != task && may_hold_labels(glimpse.columns[c]) &&
          share_classes(glimpse.columns[first], glimpse.columns[c]))
        alike.push_back(c);
    }
    if (alike.size() > best.size()) best = std::move(alike);
  }
  return best;
}

// The cells of some columns, row by row, as a table of (row, cell).
std::pair<GlimpseColumn, GlimpseColumn> unfolded(const Glimpse& glimpse,
                                                 const std::vector<std::size_t>& columns,
                                                 std::size_t most_rows) {
  GlimpseColumn row_numbers;
  GlimpseColumn cells;
  for (std::size_t row = 0; row < std::min(glimpse.rows, most_rows); ++row) {
    for (const std::size_t c : columns) {
      const std::uint32_t id = glimpse.columns[c].ids[row];
      if (id == GlimpseColumn::kNothing) continue;
      row_numbers.add(std::to_string(row));
      cells.add(glimpse.columns[c].values[id]);
    }
  }
  return {std::move(row_numbers), std::move(cells)};
}

// "P1, P2, P3".
bool have_common_prefix(const Glimpse& glimpse, const std::vector<std::size_t>& columns) {
  GlimpseColumn names;
  for (const std::size_t c : columns) names.add(glimpse.columns[c].name);
  return !common_prefix(names).empty();
}

// "w1".
bool has_worker_number(const std::string& name) {
  GlimpseColumn names;
  names.add(name);
  return is_one_of(common_prefix(names), {"w", "worker", "a", "ann", "anno", "annot", "annotator", "r",
                                          "rater", "u", "user", "coder", "labeler", "judge", "expert"});
}

// A task may come twice by mistake.
bool is_nearly_unique(const GlimpseColumn& column) {
  return column.filled >= 2 && 5 * column.distinct() >= 4 * column.filled;
}

std::size_t task_of_wide(const Glimpse& glimpse) {
  for (const bool named : {true, false}) {
    for (std::size_t c = 0; c < glimpse.columns.size(); ++c) {
      const GlimpseColumn& column = glimpse.columns[c];
      if (is_nearly_unique(column) && (!named || has_word(column.name, task_words())) &&
          !looks_of(column).time)
        return c;
    }
  }
  return kUnknown;
}

// Columns whose values are all classes of others: workers who gave few labels, or one class alone.
void add_columns_within(const Glimpse& glimpse, std::size_t task, std::vector<std::size_t>& workers) {
  NameTable classes;
  for (const std::size_t c : workers) {
    for (std::uint32_t v = 0; v < glimpse.columns[c].distinct(); ++v)
      classes.intern(glimpse.columns[c].values[v]);
  }
  for (std::size_t c = 0; c < glimpse.columns.size(); ++c) {
    const GlimpseColumn& column = glimpse.columns[c];
    bool within = c != task && column.filled > 0 && !has_word(column.name, truth_words()) &&
                  !has_word(column.name, other_words());
    for (std::uint32_t v = 0; within && v < column.distinct(); ++v)
      within = classes.find(column.values[v]).has_value();
    if (within && std::find(workers.begin(), workers.end(), c) == workers.end()) workers.push_back(c);
  }
  std::sort(workers.begin(), workers.end());
}

ColumnAgreement agreement_of(const Glimpse& glimpse, const std::vector<std::size_t>& columns,
                             std::size_t most_rows = kRowsCompared) {
  const auto [rows, cells] = unfolded(glimpse, columns, most_rows);
  return agreement_within(rows, cells, rows.ids.size());
}

bool agree(const Glimpse& glimpse, const std::vector<std::size_t>& columns) {
  const ColumnAgreement agreement = agreement_of(glimpse, columns);
  return (agreement.kappa >= 0.1 && agreement.certainty >= 1) ||
         (agreement.kappa >= 0.3 && agreement.certainty >= 0.7);
}

// Whether a column does not agree with others: it may be a property that shares its values with the
// labels. A bad worker looks the same.
bool has_stranger(const Glimpse& glimpse, const std::vector<std::size_t>& columns) {
  constexpr std::size_t kRowsToKnow = 20;
  constexpr std::size_t kRowsLookedAt = 300;
  constexpr std::size_t kOthers = 5;  // that it is compared with
  if (columns.size() < 3 || glimpse.rows < kRowsToKnow) return false;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    double kappa = 0;
    double compared = 0;
    for (std::size_t j = 1; j <= std::min(kOthers, columns.size() - 1); ++j) {
      const std::size_t other = columns[(i + j) % columns.size()];
      const ColumnAgreement agreement = agreement_of(glimpse, {columns[i], other}, kRowsLookedAt);
      if (agreement.groups < kRowsToKnow) continue;  // too few tasks have labels of both
      kappa += agreement.kappa;
      ++compared;
    }
    if (compared > 0 && kappa < 0.05 * compared) return true;
  }
  return false;
}

// Whether a column is left that may be a worker's, where too few rows show what it shares with the
// others.
bool may_miss_workers(const Glimpse& glimpse, const WideColumns& wide, std::size_t may_hold) {
  constexpr std::size_t kRowsToShare = 20;
  return may_hold > wide.workers.size() && glimpse.rows < kRowsToShare;
}

bool do_all_share_classes(const Glimpse& glimpse, const std::vector<std::size_t>& columns) {
  return std::all_of(columns.begin() + 1, columns.end(), [&](std::size_t c) {
    return share_classes(glimpse.columns[columns[0]], glimpse.columns[c]);
  });
}

// The columns whose names say that they are workers'.
std::vector<std::size_t> columns_named_like_workers(const Glimpse& glimpse,
                                                    const std::vector<std::size_t>& all) {
  std::vector<std::size_t> named;
  for (const std::size_t c : all) {
    if (has_word(glimpse.columns[c].name, worker_words()) || has_worker_number(glimpse.columns[c].name))
      named.push_back(c);
  }
  return named;
}

// Whether there are other columns alike: then there are several questions.
bool has_other_columns_alike(const Glimpse& glimpse, const WideColumns& wide) {
  std::vector<std::size_t> others;
  for (std::size_t c = 0; c < glimpse.columns.size(); ++c) {
    const bool worker = std::find(wide.workers.begin(), wide.workers.end(), c) != wide.workers.end();
    if (c != wide.task && !worker && may_hold_labels(glimpse.columns[c])) others.push_back(c);
  }
  for (std::size_t i = 1; i < others.size(); ++i) {
    if (share_classes(glimpse.columns[others[i - 1]], glimpse.columns[others[i]]) &&
        agree(glimpse, {others[i - 1], others[i]}))
      return true;
  }
  return false;
}

}  // namespace

WideGuess guess_wide(const Glimpse& glimpse, std::size_t task, bool asked) {
  WideColumns wide;
  wide.task = task != kUnknown ? task : task_of_wide(glimpse);
  if (wide.task == kUnknown && asked) wide.task = 0;
  if (wide.task == kUnknown || (!asked && !is_nearly_unique(glimpse.columns[wide.task]))) return {};
  std::vector<std::size_t> all;
  for (std::size_t c = 0; c < glimpse.columns.size(); ++c) {
    if (c != wide.task && may_hold_labels(glimpse.columns[c])) all.push_back(c);
  }
  wide.workers = columns_named_like_workers(glimpse, all);
  const bool named =
      wide.workers.size() >= 2 && (wide.workers == all || do_all_share_classes(glimpse, wide.workers));
  if (!named) wide.workers = columns_alike(glimpse, wide.task);
  if (asked && wide.workers.size() < 2) wide.workers = all;
  if (wide.workers.size() < 2) return {};
  add_columns_within(glimpse, wide.task, wide.workers);
  const bool alike = have_common_prefix(glimpse, wide.workers);
  std::size_t cells = 0;
  for (const std::size_t worker : wide.workers) cells += glimpse.columns[worker].filled;
  if (!asked && cells < glimpse.rows) return {};  // less than a label per task: others are missing
  const bool clear =
      named ||
      (agree(glimpse, wide.workers) && !may_miss_workers(glimpse, wide, all.size()) &&
       (alike || !has_stranger(glimpse, wide.workers)) && !has_other_columns_alike(glimpse, wide));
  return {wide, asked || clear, named};
}

}  // namespace crowdfold
