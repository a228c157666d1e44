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

struct ColumnRoles {
  std::size_t task;
  std::size_t worker;
  std::size_t label;
  bool operator==(const ColumnRoles&) const = default;
};

// Columns that are known already; kUnknown otherwise.
inline constexpr ColumnRoles kNothingKnown = {kUnknown, kUnknown, kUnknown};

struct ColumnGuess {
  std::optional<ColumnRoles> best;  // nothing where there are fewer than three columns that could be it
  bool clear = false;
};
ColumnGuess guess_columns(const Glimpse& glimpse, const ColumnRoles& known = kNothingKnown);

// Of columns that have their roles by names: another one that is more like a label, where
// `columns.label` is a property of the task or of the worker, as it says the same in all rows of each,
// or where workers do not agree on it. kUnknown if there is none.
std::size_t better_label(const Glimpse& glimpse, const ColumnRoles& columns);

// Whether a worker says something of a task once, as good as always.
bool are_task_and_worker(const GlimpseColumn& task, const GlimpseColumn& worker);

// Whether values look like those of these roles, as in "t1,w1,cat", and the columns go together so.
bool look_like_roles(const Glimpse& glimpse, const ColumnRoles& columns);

// Whether its name or values say that the column is neither task, worker nor label, but a time, say.
bool is_none_of_them(const GlimpseColumn& column);

// Whether the column has a name or values as tasks have them.
bool may_name_tasks(const GlimpseColumn& column);

}  // namespace crowdfold
