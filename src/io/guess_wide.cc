#include "io/guess_wide.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
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

// Whether a column's name says that it is no worker. Where several have one letter, so has "y".
bool is_named_otherwise(const Glimpse& glimpse, const GlimpseColumn& column) {
  if (has_word(column.name, other_words())) return true;
  if (!is_beside_workers(column.name)) return false;
  const auto letters =
      std::count_if(glimpse.columns.begin(), glimpse.columns.end(),
                    [](const GlimpseColumn& other) { return plain_name(other.name).size() == 1; });
  return plain_name(column.name).size() > 1 || letters < 2;
}

bool may_hold_labels(const Glimpse& glimpse, const GlimpseColumn& column) {
  const Looks looks = looks_of(column);
  return column.filled > 0 && column.distinct() <= kMostClasses && !looks.time && !looks.mail &&
         !looks.file && !(looks.long_text && 2 * column.distinct() > column.filled) &&
         !is_named_otherwise(glimpse, column);
}

// The largest set of columns that share their classes with its first one.
std::vector<std::size_t> columns_alike(const Glimpse& glimpse, std::size_t task) {
  std::vector<std::size_t> best;
  for (std::size_t first = 0; first < glimpse.columns.size(); ++first) {
    if (first == task || !may_hold_labels(glimpse, glimpse.columns[first])) continue;
    std::vector<std::size_t> alike = {first};
    for (std::size_t c = first + 1; c < glimpse.columns.size(); ++c) {
      if (c != task && may_hold_labels(glimpse, glimpse.columns[c]) &&
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
    bool within = c != task && column.filled > 0 && !is_named_otherwise(glimpse, column);
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

// --- columns that may be no worker's -------------------------------------------------------

constexpr std::size_t kRowsToDoubt = 12;  // where the others disagree
constexpr double kNearlyAlways = 0.95;    // of these rows

// The cells of a wide table as classes that all of its columns share.
class WideCells {
 public:
  WideCells(const Glimpse& glimpse, const std::vector<std::size_t>& columns)
      : rows_(std::min(glimpse.rows, kRowsCompared)), columns_(columns.size()) {
    NameTable classes;
    cells_.assign(rows_ * columns_, GlimpseColumn::kNothing);
    for (std::size_t c = 0; c < columns_; ++c) {
      const GlimpseColumn& column = glimpse.columns[columns[c]];
      std::vector<std::uint32_t> ids;
      for (std::uint32_t v = 0; v < column.distinct(); ++v)
        ids.push_back(classes.intern(column.values[v]));
      for (std::size_t row = 0; row < rows_; ++row) {
        const std::uint32_t id = column.ids[row];
        if (id != GlimpseColumn::kNothing) cells_[row * columns_ + c] = ids[id];
      }
    }
    for (std::uint32_t v = 0; v < classes.size() && numeric_; ++v) {
      numbers_.push_back(0);
      const std::string_view text = classes[v];
      numeric_ = std::from_chars(text.data(), text.data() + text.size(), numbers_.back()).ptr ==
                 text.data() + text.size();
    }
    counts_.resize(classes.size());
    std::vector<std::uint32_t> sorted(classes.size());
    std::iota(sorted.begin(), sorted.end(), 0);
    std::sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
      return numeric_ ? numbers_[a] < numbers_[b] : classes[a] < classes[b];
    });
    order_.resize(classes.size());
    for (std::uint32_t place = 0; place < sorted.size(); ++place) order_[sorted[place]] = place;
  }

  struct Like {
    const char* what;
    std::size_t rows = 0;
    std::size_t same = 0;
  };
  static bool is_nearly_always(const Like& like) {
    return like.rows >= kRowsToDoubt &&
           static_cast<double>(like.same) >= kNearlyAlways * static_cast<double>(like.rows);
  }
  // How often a column equals what can be computed from the others of its row, where these are at odds:
  // no class has more than three quarters of them, and only one the most.
  std::vector<Like> likeness(std::size_t column) {
    Like mode{"the most frequent label"};
    Like mean{"the rounded mean"};
    Like median{"the median"};
    // Of two others alone, a most frequent label is one of them by some rule.
    Like smaller{"the smaller label"};
    Like larger{"the larger label"};
    Like first{"the first label"};
    Like agreed{"the label"};
    std::vector<std::uint32_t> others;
    for (std::size_t row = 0; row < rows_; ++row) {
      const std::uint32_t own = cells_[row * columns_ + column];
      if (own == GlimpseColumn::kNothing) continue;
      others.clear();
      for (std::size_t c = 0; c < columns_; ++c) {
        const std::uint32_t cell = cells_[row * columns_ + c];
        if (c != column && cell != GlimpseColumn::kNothing) others.push_back(cell);
      }
      if (others.size() < 2) continue;
      if (columns_ == 3 && others[0] == others[1]) {
        count(agreed, own == others[0]);
      } else if (columns_ == 3) {
        const bool ordered = order_[others[0]] < order_[others[1]];
        count(smaller, own == others[ordered ? 0 : 1]);
        count(larger, own == others[ordered ? 1 : 0]);
        count(first, own == others[0]);
      }
      std::uint32_t most = 0;
      std::uint32_t next = 0;
      std::uint32_t winner = 0;
      for (const std::uint32_t cell : others) ++counts_[cell];
      for (const std::uint32_t cell : others) {
        const std::uint32_t count = std::exchange(counts_[cell], 0);
        if (count > most) {
          next = std::exchange(most, count);
          winner = cell;
        } else {
          next = std::max(next, count);
        }
      }
      if (4 * most > 3 * others.size()) continue;
      if (most > next) count(mode, winner == own);
      if (numeric_) compare_numbers(numbers_[own], others, mean, median);
    }
    std::vector<Like> likes = {mode, mean, median};
    // A worker who sides with the usual class looks much the same: there have to be many rows, and all.
    constexpr std::size_t kRowsOfTwo = 30;
    for (const Like& like : {smaller, larger, first}) {
      if (is_nearly_always(agreed) && like.rows >= kRowsOfTwo && like.same == like.rows)
        likes.push_back(like);
    }
    return likes;
  }

 private:
  static void count(Like& like, bool same) {
    ++like.rows;
    like.same += same ? 1 : 0;
  }
  void compare_numbers(double own, const std::vector<std::uint32_t>& others, Like& mean, Like& median) {
    values_.clear();
    for (const std::uint32_t cell : others) values_.push_back(numbers_[cell]);
    std::sort(values_.begin(), values_.end());
    double sum = 0;
    for (const double value : values_) sum += value;
    const double exact = sum / static_cast<double>(values_.size());
    constexpr double kRounded = 0.006;  // two digits behind the point
    const bool tie = std::abs(exact - std::floor(exact) - 0.5) < 1e-9;
    if (!tie) count(mean, std::abs(own - exact) < kRounded || own == std::round(exact));
    const double low = values_[(values_.size() - 1) / 2];
    const double high = values_[values_.size() / 2];
    if (low == high) count(median, own == low);
  }

  std::size_t rows_;
  std::size_t columns_;
  bool numeric_ = true;
  std::vector<std::uint32_t> cells_;   // by row, then column
  std::vector<double> numbers_;        // of classes
  std::vector<std::uint32_t> order_;   // of classes: their places when sorted
  std::vector<std::uint32_t> counts_;  // of classes, in a row; zeros between rows
  std::vector<double> values_;
};

// Why a column looks computed from the others; empty if it does not.
std::string why_computed(WideCells& cells, std::size_t column) {
  for (const WideCells::Like& like : cells.likeness(column)) {
    if (WideCells::is_nearly_always(like))
      return fmt::format("{} of the others in {} of {} rows where these disagree", like.what, like.same,
                         like.rows);
  }
  return "";
}

// The same of a column that says one thing only where others vary so much that a worker hardly would.
std::string why_constant(const Glimpse& glimpse, const std::vector<std::size_t>& workers,
                         std::size_t c) {
  constexpr std::size_t kRowsOfConstant = 8;
  constexpr double kHardly = 0.01;
  const GlimpseColumn& column = glimpse.columns[c];
  if (!column.is_constant() || column.filled < kRowsOfConstant) return "";
  std::size_t cells = 0;
  std::size_t same = 0;
  for (const std::size_t other : workers) {
    if (other == c) continue;
    const GlimpseColumn& values = glimpse.columns[other];
    if (values.is_constant()) return "";
    cells += values.filled;
    const auto id = values.values.find(column.values[0]);
    same += id ? values.counts[*id] : 0;
  }
  const double share = static_cast<double>(same) / static_cast<double>(std::max<std::size_t>(1, cells));
  if (std::pow(share, static_cast<double>(column.filled)) >= kHardly) return "";
  return fmt::format("'{}' in all {} rows", column.values[0], column.filled);
}

// Fills in the last column that may be no worker's. A name as workers have them is trusted.
void find_doubtful(const Glimpse& glimpse, WideGuess& guess) {
  const std::vector<std::size_t>& workers = guess.best->workers;
  if (workers.size() < 3 || have_common_prefix(glimpse, workers)) return;
  WideCells cells(glimpse, workers);
  for (std::size_t i = workers.size(); i-- > 0;) {
    const std::string& name = glimpse.columns[workers[i]].name;
    if (has_word(name, worker_words()) || has_worker_number(name)) continue;
    std::string why = why_computed(cells, i);
    if (why.empty()) why = why_constant(glimpse, workers, workers[i]);
    if (why.empty()) continue;
    guess.doubtful = workers[i];
    guess.why_doubtful = std::move(why);
    return;
  }
}

// Whether there are other columns alike: then there are several questions.
bool has_other_columns_alike(const Glimpse& glimpse, const WideColumns& wide) {
  std::vector<std::size_t> others;
  for (std::size_t c = 0; c < glimpse.columns.size(); ++c) {
    const bool worker = std::find(wide.workers.begin(), wide.workers.end(), c) != wide.workers.end();
    if (c != wide.task && !worker && may_hold_labels(glimpse, glimpse.columns[c])) others.push_back(c);
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
    if (c != wide.task && may_hold_labels(glimpse, glimpse.columns[c])) all.push_back(c);
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
  WideGuess guess{wide, asked || clear, named};
  find_doubtful(glimpse, guess);
  return guess;
}

std::size_t person_of_rows(const Glimpse& glimpse) {
  const auto is_person = [](const GlimpseColumn& column) {
    return is_nearly_unique(column) && !has_word(column.name, task_words()) &&
           (has_word(column.name, worker_words()) || looks_like_worker(looks_of(column)));
  };
  std::size_t person = kUnknown;
  for (std::size_t c = 0; c < glimpse.columns.size(); ++c) {
    const GlimpseColumn& column = glimpse.columns[c];
    if (is_person(column)) {
      if (person == kUnknown) person = c;
    } else if (looks_of(column).file ||
               (is_nearly_unique(column) && has_word(column.name, task_words()))) {
      return kUnknown;  // a row per task or per label
    }
  }
  if (person == kUnknown) return kUnknown;
  std::vector<std::size_t> answers = columns_alike(glimpse, person);
  std::erase_if(answers, [&](std::size_t c) {
    return is_person(glimpse.columns[c]) || has_worker_number(glimpse.columns[c].name);
  });
  return answers.size() >= 2 ? person : kUnknown;
}

}  // namespace crowdfold
