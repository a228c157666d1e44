// What a first row is, and which column is which, by the values in a glimpse of the input. Functions of
// the glimpse alone: they change nothing and read nothing.
//
// What tells columns apart:
//   worker   says something of a task once: few rows have the same task and worker
//   label    few values; workers agree on a task more often than chance has it
//   task     the other one; there are more tasks than workers, mostly
// Names and looks of values (addresses of mail, files, "w17") add to that. A guess counts only where it
// is far better than the next one; who is told nothing clear asks the user.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/glimpse.h"

namespace crowdfold {

enum class FirstRow {
  header,
  data,
  unclear,    // some values say this, and some that
  no_matter,  // no value says anything: then it is a header, as most files have one
};

// `below` holds the rows below the first one.
FirstRow guess_first_row(const std::vector<std::string>& first_row, const Glimpse& below);

struct LabelColumns {
  std::size_t task;
  std::size_t worker;
  std::size_t label;
  bool operator==(const LabelColumns&) const = default;
};

// Columns that are known already; kUnknown otherwise.
inline constexpr std::size_t kUnknown = static_cast<std::size_t>(-1);
inline constexpr LabelColumns kNothingKnown = {kUnknown, kUnknown, kUnknown};

struct ColumnGuess {
  std::optional<LabelColumns> best;  // nothing where there are fewer than three columns that could be it
  bool clear = false;
};
ColumnGuess guess_columns(const Glimpse& glimpse, const LabelColumns& known = kNothingKnown);

// Whether values look like those of another role: workers where tasks should stand.
bool is_out_of_order(const Glimpse& glimpse, const LabelColumns& columns);

// Whether the column has a name or values as tasks have them.
bool may_name_tasks(const GlimpseColumn& column);

// Whether two columns have the same values under other names.
bool are_bijective(const GlimpseColumn& a, const GlimpseColumn& b);

// A wide table: a row per task, a column per worker.
struct WideColumns {
  std::size_t task = kUnknown;
  std::vector<std::size_t> workers;
};
struct WideGuess {
  std::optional<WideColumns> best;
  bool clear = false;
};
// `task` is the column of tasks, if it is known. `asked`: the user says that the table is wide.
WideGuess guess_wide(const Glimpse& glimpse, std::size_t task, bool asked);

}  // namespace crowdfold
