#include "io/guess_columns.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "io/column_agreement.h"
#include "io/column_looks.h"

namespace crowdfold {
namespace {

// --- weights of evidence ------------------------------------------------------------------
// Found by trying crowds of all kinds (guess_columns_test.cc): what matters is that a wrong guess is
// never this much better than the right one.

constexpr double kClearMargin = 1.5;     // over the next best guess
constexpr double kClearScore = 1.0;      // of the guess itself
constexpr double kClearAgreement = 0.8;  // where names and looks do not say it all,
constexpr double kClearDeviations = 2;   // beyond chance,
constexpr std::size_t kClearRows = 20;   // in that many rows, or fewer if a hint is for it
constexpr std::size_t kClearRowsWithHint = 8;
constexpr double kSomeHint = 1;
constexpr double kClearLast = -1;       // instead of kClearScore, where two of the columns are known
constexpr double kNameHint = 2;         // the column's name has a word for the role
constexpr double kOtherName = -3;       // … or for something that is no role: "timestamp"
constexpr double kLookHint = 2;         // values look like those of the role: addresses of mail
constexpr double kPrefixHint = 1;       // "w17"
constexpr double kAgreement = 4;        // labels agree within the group, beyond chance: times kappa
constexpr double kMostCountHint = 1.4;  // there are more tasks than workers, more workers than classes
constexpr double kEvenHint = 1;         // tasks have about as many labels each, workers have not
constexpr double kWeakAgreement = 0.4;  // … enough where counts and evenness both say which is the task
constexpr double kCountHint = 0.7;      // … times the logarithm of how many times as many
constexpr double kUniquePairs =
    0.9;  // share of rows whose task and worker come together for the first time
constexpr double kAttribute = -6;  // a column that says the same in all rows of a task, or of a worker
constexpr double kLonelyAttribute = -1;      // … where there is no other column for labels
constexpr std::size_t kRowsOfProperty = 4;   // with fewer, anything may be one by chance
constexpr double kGroupsOfProperty = 15;     // … and with fewer, workers may all be right,
constexpr double kRepeatsOfProperty = 5;     // unless there are many of them
constexpr double kDeviationsOfFewTasks = 3;  // … and where there are fewer tasks than workers
constexpr double kDeviationsOfRow = 0.2;     // of agreement that is no chance, with the root of rows
// Which of two columns is the task. Workers who always say the same agree with themselves as well as
// workers agree on tasks, and pilots have fewer tasks than workers: no sign is enough by itself.
constexpr double kManyMore = 3;    // times as many tasks as workers
constexpr double kMoreEven = 0.4;  // coefficients of variation of how many labels tasks and workers have
constexpr double kMoreAgreement = 0.8;    // on tasks than of workers with themselves
constexpr double kDeviationsOfOrder = 5;  // of agreement, beyond chance
constexpr double kMostOwnAgreement = 2;   // of workers with themselves, where agreement on tasks is weak
constexpr std::size_t kRowsToComeAgain = 20;    // for values of a first row that is data
constexpr std::size_t kRowsOfManyColumns = 30;  // with fewer, one may look like labels by chance
constexpr std::size_t kMostCandidates = 24;     // columns for each role

// --- guesses ------------------------------------------------------------------------------

class Guesser {
 public:
  Guesser(const Glimpse& glimpse, const ColumnRoles& known)
      : glimpse_(glimpse), known_(known), rows_(std::min(glimpse.rows, kRowsCompared)) {
    for (const GlimpseColumn& column : glimpse.columns) looks_.push_back(looks_of(column));
  }

  ColumnGuess guess() {
    // A task that comes once can be told from a row's own number only where nothing else could be it.
    score_all(candidates_for_task(false));
    if (scored_.empty()) {
      const std::vector<std::size_t> unique = candidates_for_task(true);
      score_all(unique);
      if (unique.size() > 1) return {best(), false};
    }
    return {best(), is_clear()};
  }

  // See better_label(). A property may agree by chance with what workers say; a label has a word for it
  // in its name, or workers agree on it and differ now and then.
  std::size_t better_label() {
    const auto is_property = [&](std::size_t c) {
      return column(c).is_constant() || agreement(known_.task, c).complete ||
             agreement(known_.worker, c).complete;
    };
    const auto agrees = [&](std::size_t c) {
      return strength(agreement(known_.task, c)) >= kClearAgreement;
    };
    const std::size_t label = known_.label;
    const bool constant = column(label).is_constant();
    const bool unlikely = is_property(label) || looks_[label].decimal;
    if (glimpse_.rows < kRowsOfProperty || (!unlikely && agrees(label))) return kUnknown;
    known_.label = kUnknown;
    for (const std::size_t c : candidates_for_label()) {
      if (c == label || is_property(c)) continue;
      const double hint = hint_label(c);
      if (agrees(c) || constant ? hint >= 0 : unlikely && hint > 0) return c;
    }
    return kUnknown;
  }

 private:
  struct Scored {
    ColumnRoles columns;
    double score;
  };

  bool is_known(std::size_t c) const {
    return c == known_.task || c == known_.worker || c == known_.label;
  }
  int num_known() const {
    return (known_.task != kUnknown) + (known_.worker != kUnknown) + (known_.label != kUnknown);
  }
  const GlimpseColumn& column(std::size_t c) const { return glimpse_.columns[c]; }

  template <class Fits>
  std::vector<std::size_t> candidates(std::size_t known, const Fits& fits) const {
    if (known != kUnknown) return {known};
    std::vector<std::size_t> found;
    for (std::size_t c = 0; c < glimpse_.columns.size() && found.size() < kMostCandidates; ++c) {
      const bool usable = !is_known(c) && !column(c).is_constant() && !looks_[c].time;
      if (usable && fits(c)) found.push_back(c);
    }
    return found;
  }

  std::vector<std::size_t> candidates_for_task(bool unique) const {
    return candidates(known_.task, [&](std::size_t c) {
      const bool filled = 10 * column(c).filled >= 9 * glimpse_.rows;
      return filled && !looks_[c].decimal && column(c).is_unique() == unique;
    });
  }
  std::vector<std::size_t> candidates_for_worker() const {
    return candidates(known_.worker, [&](std::size_t c) {
      const bool filled = 10 * column(c).filled >= 9 * glimpse_.rows;
      return filled && !looks_[c].decimal && !looks_[c].long_text &&
             5 * column(c).filled >= 6 * column(c).distinct();
    });
  }
  std::vector<std::size_t> candidates_for_label() const {
    return candidates(known_.label, [&](std::size_t c) {
      return !looks_[c].long_text && column(c).distinct() <= kMostClasses && !column(c).is_unique() &&
             (!looks_[c].decimal || column(c).distinct() <= 11) &&
             5 * column(c).filled >= 6 * column(c).distinct();
    });
  }

  void score_all(const std::vector<std::size_t>& tasks) {
    const std::vector<std::size_t> workers = candidates_for_worker();
    const std::vector<std::size_t> labels = candidates_for_label();
    for (const std::size_t task : tasks) {
      for (const std::size_t worker : workers) {
        if (task == worker) continue;
        const double unique = unique_pairs(column(task), column(worker), rows_);
        if (unique < kUniquePairs) continue;
        for (const std::size_t label : labels) {
          if (label != task && label != worker)
            scored_.push_back({{task, worker, label}, unique - 1 + score({task, worker, label})});
        }
      }
    }
    discount_attributes();
    std::stable_sort(scored_.begin(), scored_.end(),
                     [](const Scored& a, const Scored& b) { return a.score > b.score; });
  }

  const ColumnAgreement& agreement(std::size_t group, std::size_t value) {
    const auto [found, missing] = agreements_.try_emplace({group, value});
    if (missing) found->second = agreement_within(column(group), column(value), rows_);
    return found->second;
  }

  static double strength(const ColumnAgreement& a) { return kAgreement * a.kappa * a.certainty; }

  double score(const ColumnRoles& c) {
    const auto outnumber = [&](std::size_t many, std::size_t few) {
      const double ratio =
          static_cast<double>(column(many).distinct()) / static_cast<double>(column(few).distinct());
      return std::clamp(kCountHint * std::log(ratio), -kMostCountHint, kMostCountHint);
    };
    return strength(agreement(c.task, c.label)) - strength(agreement(c.worker, c.label)) +
           outnumber(c.task, c.worker) + outnumber(c.worker, c.label) +
           std::clamp(kEvenHint * more_even(c), -kEvenHint, kEvenHint) + hint_task(c.task) +
           hint_worker(c.worker) + hint_label(c.label);
  }

  double more_even(const ColumnRoles& c) const {
    return unevenness(column(c.worker)) - unevenness(column(c.task));
  }

  // By a column's name: for the role, or against it.
  double hint_name(std::size_t c, const Words& own, const Words& a, const Words& b) const {
    if (is_known(c)) return 0;
    const std::string& name = column(c).name;
    const bool by = has_word(name, {"by"});  // "labeled_by" is a worker
    if (has_word(name, other_words())) return kOtherName;
    if (by) return &own == &worker_words() ? kNameHint : -kNameHint;
    if (has_word(name, own)) return has_word(name, a) || has_word(name, b) ? 0 : kNameHint;
    return has_word(name, a) || has_word(name, b) ? -kNameHint : 0;
  }
  double hint_task(std::size_t c) const {
    const Looks& looks = looks_[c];
    return hint_name(c, task_words(), worker_words(), label_words()) +
           (looks.file || looks.long_text ? kLookHint
            : looks.mail                  ? -kLookHint
                                          : 0) +
           (has_task_prefix(looks) ? kPrefixHint : 0);
  }
  double hint_worker(std::size_t c) const {
    const Looks& looks = looks_[c];
    return hint_name(c, worker_words(), task_words(), label_words()) +
           (looks.mail   ? kLookHint
            : looks.file ? -kLookHint
                         : 0) +
           (has_worker_prefix(looks) ? kPrefixHint : 0);
  }
  double hint_label(std::size_t c) const {
    const Looks& looks = looks_[c];
    return hint_name(c, label_words(), task_words(), worker_words()) +
           (has_truth_name(column(c).name) ? 2 * kOtherName : 0) +
           (looks.mail || looks.file ? -kLookHint : 0);
  }

  // A column that says the same in all rows of a task belongs to the task: its kind, its truth. Only
  // where nothing else could be the label may all workers agree.
  void discount_attributes() {
    const auto is_attribute = [&](const ColumnRoles& c) {
      return agreement(c.task, c.label).complete || agreement(c.worker, c.label).complete;
    };
    for (Scored& scored : scored_) {
      if (known_.label != kUnknown || !is_attribute(scored.columns)) continue;
      const bool lonely = std::none_of(scored_.begin(), scored_.end(), [&](const Scored& other) {
        return other.columns.task == scored.columns.task &&
               other.columns.worker == scored.columns.worker && !is_attribute(other.columns);
      });
      scored.score += lonely ? (glimpse_.columns.size() > 3 ? kLonelyAttribute : 0) : kAttribute;
    }
  }

  bool is_same(std::size_t a, std::size_t b) const {
    return a == b || are_bijective(column(a), column(b));
  }
  // Of columns that say the same, a short name is better than a long text.
  std::optional<ColumnRoles> best() const {
    if (scored_.empty()) return std::nullopt;
    ColumnRoles best = scored_.front().columns;
    for (std::size_t c = 0; known_.task == kUnknown && c < looks_.size(); ++c) {
      const bool taken = c == best.worker || c == best.label;
      if (looks_[best.task].long_text && !looks_[c].long_text && !taken && is_same(c, best.task))
        best.task = c;
    }
    return best;
  }
  // Hints for the columns of a guess; a column that is known needs none.
  struct Hints {
    double task;
    double worker;
    double label;
    double sum() const { return task + worker + label; }
  };
  Hints hints_of(const ColumnRoles& c) const {
    return {known_.task == kUnknown ? hint_task(c.task) : kNameHint,
            known_.worker == kUnknown ? hint_worker(c.worker) : kNameHint,
            known_.label == kUnknown ? hint_label(c.label) : kNameHint};
  }

  // Whether something speaks against the guess, however good it is.
  bool has_objection(const ColumnRoles& c) {
    const Hints hints = hints_of(c);
    if (std::min({hints.task, hints.worker, hints.label}) < 0) return true;
    if (is_same(c.task, c.label) || is_same(c.worker, c.label)) return true;  // other names of them
    return (hints.label <= 0 && is_doubtful_label(c)) || (hints.worker <= 0 && is_doubtful_worker(c)) ||
           (hints.task <= 0 && is_doubtful_task(c, hints.worker));
  }
  // Whether a column that has no role in the guess has a name for one.
  bool has_named_rival(const ColumnRoles& c, const Words& own, const Words& a, const Words& b) const {
    for (std::size_t other = 0; other < looks_.size(); ++other) {
      const bool chosen = other == c.task || other == c.worker || other == c.label;
      if (!chosen && !column(other).is_unique() && hint_name(other, own, a, b) >= kNameHint) return true;
    }
    return false;
  }
  // Fewer than workers, who come back: then these may be the tasks.
  bool has_few_tasks(const ColumnRoles& c) const {
    const std::size_t workers = column(c.worker).distinct();
    return column(c.task).distinct() < workers && 7 * workers <= 4 * column(c.worker).filled;
  }
  // A property of tasks or workers, something that may be the task or the worker as well, or mostly
  // empty.
  bool is_doubtful_label(const ColumnRoles& c) {
    const auto is_property = [&](const ColumnAgreement& a) {
      return a.complete && (a.groups >= kGroupsOfProperty || a.repeats >= kRepeatsOfProperty * a.groups);
    };
    return is_property(agreement(c.task, c.label)) || is_property(agreement(c.worker, c.label)) ||
           ((has_few_tasks(c) || (glimpse_.columns.size() > 3 && rows_ < kRowsOfManyColumns)) &&
            unique_pairs(column(c.label), column(c.worker), rows_) >= kUniquePairs) ||
           2 * column(c.label).filled < glimpse_.rows ||
           has_named_rival(c, label_words(), task_words(), worker_words());
  }
  // Something of the worker, such as a session: another column that fits says the same in all of its
  // rows. Or a number of seconds, which comes twice on a task where another column does not.
  bool is_doubtful_worker(const ColumnRoles& c) {
    const std::vector<std::size_t> others = candidates_for_worker();
    const double unique = unique_pairs(column(c.task), column(c.worker), rows_);
    return has_named_rival(c, worker_words(), task_words(), label_words()) ||
           std::any_of(others.begin(), others.end(), [&](std::size_t other) {
             if (other == c.task || other == c.worker || other == c.label || hint_worker(other) < 0 ||
                 is_same(other, c.worker))
               return false;
             const double of_other = unique_pairs(column(c.task), column(other), rows_);
             return of_other > unique ||
                    (of_other >= kUniquePairs && agreement(c.worker, other).complete);
           });
  }
  // A worker, by their number; or something that hardly ever comes back, where another column does.
  bool is_doubtful_task(const ColumnRoles& c, double hint_worker) {
    const std::size_t tasks = column(c.task).distinct();
    if (hint_worker <= 0 && tasks == column(c.worker).distinct()) return true;
    if (hint_worker <= 0 && 10 * tasks < column(c.worker).distinct()) return true;
    if (hint_worker <= 0 && has_few_tasks(c) &&
        agreement(c.task, c.label).deviations < kDeviationsOfFewTasks)
      return true;
    if (has_named_rival(c, task_words(), worker_words(), label_words())) return true;
    if (5 * tasks < 3 * column(c.task).filled) return false;
    return std::any_of(scored_.begin(), scored_.end(), [&](const Scored& other) {
      return other.columns.worker == c.worker && column(other.columns.task).distinct() < tasks &&
             other.columns.task != c.label;
    });
  }

  // Whether it is clear which of the two is the task and which the worker: names or looks say so, or
  // counts, evenness and agreement say it together.
  bool is_oriented(const ColumnRoles& c) {
    if (known_.task != kUnknown || known_.worker != kUnknown) return true;
    const double hints =
        hint_task(c.task) + hint_worker(c.worker) - hint_task(c.worker) - hint_worker(c.task);
    return hints >= kNameHint || is_oriented_by_values(c);
  }
  bool is_oriented_by_values(const ColumnRoles& c) {
    if (rows_ < kClearRows) return false;
    const auto sign = [](double value, double bound) {
      return value >= bound ? 1 : value <= -bound ? -1 : 0;
    };
    const double ratio = static_cast<double>(column(c.task).distinct()) /
                         static_cast<double>(column(c.worker).distinct());
    const int signs = sign(std::log(ratio), std::log(kManyMore)) + sign(more_even(c), kMoreEven);
    const ColumnAgreement& on_tasks = agreement(c.task, c.label);
    const double own = std::max(strength(agreement(c.worker, c.label)), 0.0);
    const double deviations =
        std::max(kDeviationsOfOrder, kDeviationsOfRow * std::sqrt(static_cast<double>(rows_)));
    const bool agrees = strength(on_tasks) >= std::max(kClearAgreement, own + kMoreAgreement) &&
                        on_tasks.deviations >= deviations;
    return (signs >= 1 && agrees) || (signs == 2 && agrees_weakly(c) && own < kMostOwnAgreement);
  }
  bool agrees_weakly(const ColumnRoles& c) {
    const ColumnAgreement& on_tasks = agreement(c.task, c.label);
    return strength(on_tasks) >= kWeakAgreement && on_tasks.deviations >= kClearDeviations;
  }

  // That there are many of something is no reason by itself: names and looks have to speak for the
  // guess, or workers who agree.
  bool is_supported(const ColumnRoles& c) {
    const Hints hints = hints_of(c);
    if (num_known() == 2) return hints.sum() > 2 * kNameHint || rows_ >= kClearRowsWithHint;
    if (std::min({hints.task, hints.worker, hints.label}) > 0) return true;
    const ColumnAgreement& with_task = agreement(c.task, c.label);
    const double deviations =
        std::max(kClearDeviations, kDeviationsOfRow * std::sqrt(static_cast<double>(rows_)));
    const bool agrees = strength(with_task) >= kClearAgreement && with_task.deviations >= deviations;
    const bool hinted = hints.sum() >= num_known() * kNameHint + kSomeHint;
    const bool few_columns = glimpse_.columns.size() <= 5;
    if (glimpse_.columns.size() == 3 && agrees_weakly(c) && is_oriented_by_values(c)) return true;
    return agrees && rows_ >= (hinted && few_columns ? kClearRowsWithHint : kClearRows);
  }
  // Whether each role has the one column whose name has a word for it.
  bool is_named_by_words(const ColumnRoles& best) const {
    const auto only = [&](std::size_t chosen, const Words& own, const Words& a, const Words& b) {
      for (std::size_t c = 0; c < looks_.size(); ++c) {
        if (!is_known(c) && (hint_name(c, own, a, b) >= kNameHint) != (c == chosen)) return false;
      }
      return true;
    };
    return (known_.task != kUnknown || only(best.task, task_words(), worker_words(), label_words())) &&
           (known_.worker != kUnknown ||
            only(best.worker, worker_words(), task_words(), label_words())) &&
           (known_.label != kUnknown || only(best.label, label_words(), task_words(), worker_words()));
  }
  bool is_clear() {
    if (scored_.empty() || has_objection(scored_.front().columns)) return false;
    const ColumnRoles& best = scored_.front().columns;
    if (is_named_by_words(best)) return true;
    if (!is_oriented(best)) return false;
    if (scored_.front().score < (num_known() == 2 ? kClearLast : kClearScore) || !is_supported(best))
      return false;
    const auto other = std::find_if(scored_.begin(), scored_.end(), [&](const Scored& s) {
      return !is_same(s.columns.task, best.task) || !is_same(s.columns.worker, best.worker) ||
             !is_same(s.columns.label, best.label);
    });
    return other == scored_.end() || scored_.front().score - other->score >= kClearMargin;
  }

  const Glimpse& glimpse_;
  ColumnRoles known_;
  std::size_t rows_;
  std::vector<Looks> looks_;
  std::vector<Scored> scored_;
  std::map<std::pair<std::size_t, std::size_t>, ColumnAgreement> agreements_;
};

// --- first rows ---------------------------------------------------------------------------

// Letters, digits and the rest, each run of them once: "img_17.jpg" -> "a_9.a".
std::string shape_of(std::string_view text) {
  std::string shape;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const char kind = is_digit(c) ? '9' : std::isalpha(byte) != 0 || byte >= 0x80 ? 'a' : c;
    if (shape.empty() || shape.back() != kind) shape.push_back(kind);
  }
  return shape;
}

// The shape that nearly all values have; empty if there is none, or if any word has it.
std::string common_shape(const GlimpseColumn& column) {
  constexpr double kNearlyAll = 0.9;
  const std::size_t count = std::min(column.distinct(), kValuesLookedAt);
  if (count < 2) return "";
  std::map<std::string, std::size_t> shapes;
  for (std::uint32_t v = 0; v < count; ++v) ++shapes[shape_of(column.values[v])];
  for (const auto& [shape, times] : shapes) {
    const bool special = shape.find_first_of("9@/.") != shape.npos;
    if (special && static_cast<double>(times) >= kNearlyAll * static_cast<double>(count)) return shape;
  }
  return "";
}

bool are_numbers(const GlimpseColumn& column) {
  const std::size_t count = std::min(column.distinct(), kValuesLookedAt);
  for (std::uint32_t v = 0; v < count; ++v) {
    if (!is_number(column.values[v])) return false;
  }
  return count > 0 && column.filled >= 2;
}

}  // namespace

FirstRow guess_first_row(const std::vector<std::string>& first_row, const Glimpse& below) {
  // Rows that repeat the first one as a whole, in any order, say nothing: a header comes again where
  // files were joined.
  std::vector<std::string_view> sorted(first_row.begin(), first_row.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::size_t> again_in_headers(first_row.size());
  std::vector<std::string_view> cells(first_row.size());
  std::vector<std::uint32_t> first_ids;
  for (std::size_t c = 0; c < first_row.size(); ++c) {
    const auto id = below.columns[c].values.find(first_row[c]);
    first_ids.push_back(id && !first_row[c].empty() ? *id : GlimpseColumn::kNothing);
  }
  for (std::size_t row = 0; row < below.rows; ++row) {
    for (std::size_t c = 0; c < first_row.size(); ++c) {
      const std::uint32_t id = below.columns[c].ids[row];
      cells[c] = id == GlimpseColumn::kNothing ? std::string_view() : below.columns[c].values[id];
    }
    std::sort(cells.begin(), cells.end());
    if (cells != sorted) continue;
    for (std::size_t c = 0; c < first_row.size(); ++c)
      again_in_headers[c] += below.columns[c].ids[row] == first_ids[c] ? 1 : 0;
  }

  std::size_t for_data = 0;
  std::size_t for_header = 0;
  std::size_t again = 0;
  for (std::size_t c = 0; c < first_row.size(); ++c) {
    const GlimpseColumn& column = below.columns[c];
    if (first_row[c].empty()) continue;
    const std::string shape = common_shape(column);
    if (first_ids[c] != GlimpseColumn::kNothing && column.counts[first_ids[c]] > again_in_headers[c]) {
      ++again;
    } else if (column.filled >= kRowsToComeAgain && 3 * column.distinct() <= column.filled) {
      ++for_header;  // a value of a row would come again
    } else if (are_numbers(column)) {
      ++(is_number(first_row[c]) ? for_data : for_header);
    } else if (!shape.empty()) {
      ++(shape_of(first_row[c]) == shape ? for_data : for_header);
    }
  }
  if (again > 0 && for_header > 0) return FirstRow::unclear;
  if (again > 0) return FirstRow::data;
  if (for_data > 0 && for_header > 0) return FirstRow::unclear;
  return for_data > 0 ? FirstRow::data : for_header > 0 ? FirstRow::header : FirstRow::no_matter;
}

bool is_none_of_them(const GlimpseColumn& column) {
  const Looks looks = looks_of(column);
  return looks.time || looks.decimal || has_word(column.name, other_words());
}

bool may_name_tasks(const GlimpseColumn& column) {
  return has_word(column.name, task_words()) || looks_like_task(looks_of(column));
}

bool look_like_roles(const Glimpse& glimpse, const ColumnRoles& columns) {
  const GlimpseColumn& task = glimpse.columns[columns.task];
  const GlimpseColumn& worker = glimpse.columns[columns.worker];
  const GlimpseColumn& label = glimpse.columns[columns.label];
  const Looks of_task = looks_of(task);
  const Looks of_worker = looks_of(worker);
  const Looks of_label = looks_of(label);
  if (looks_like_worker(of_task) || looks_like_task(of_worker) || looks_like_task(of_label) ||
      looks_like_worker(of_label) || !are_task_and_worker(task, worker))
    return false;
  const bool task_looks = looks_like_task(of_task);
  const bool worker_looks = looks_like_worker(of_worker);
  if (task_looks && worker_looks) return true;
  // Workers of a task are others, its labels come again; and there are fewer classes than tasks.
  return (task_looks && !are_task_and_worker(task, label)) ||
         (worker_looks && label.distinct() < task.distinct() && !are_task_and_worker(label, worker));
}

std::size_t better_label(const Glimpse& glimpse, const ColumnRoles& columns) {
  return Guesser(glimpse, columns).better_label();
}

bool are_task_and_worker(const GlimpseColumn& task, const GlimpseColumn& worker) {
  return unique_pairs(task, worker, std::min(task.ids.size(), kRowsCompared)) >= kUniquePairs;
}

ColumnGuess guess_columns(const Glimpse& glimpse, const ColumnRoles& known) {
  if (glimpse.rows == 0) return {};
  return Guesser(glimpse, known).guess();
}

}  // namespace crowdfold
