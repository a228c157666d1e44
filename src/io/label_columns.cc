#include "io/label_columns.h"

#include <fmt/format.h>

#include <algorithm>

#include "io/guess_columns.h"

namespace crowdfold {
namespace {

enum LabelRole { task_place, worker_place, label_place, label_places };

using RoleColumns = std::vector<std::pair<std::string, std::size_t>>;

class LabelColumnFinder {
 public:
  LabelColumnFinder(const std::vector<std::string>& header, const Glimpse& glimpse,
                    const std::vector<Role>& roles, const ReadOptions& options, const Location& place)
      : header_(header), glimpse_(glimpse), roles_(roles), options_(options), place_(place) {}

  FoundColumns find() {
    if (options_.wide || !options_.wide_workers.empty()) return find_wide();
    std::vector<std::size_t> columns;
    for (std::size_t role = 0; role < label_places; ++role) columns.push_back(by_name(role));
    if (is_row_number(columns)) columns[task_place] = kNoColumn;
    require_no_rival(columns[task_place]);
    if (std::count(columns.begin(), columns.end(), kNoColumn) == 0) return {columns, {}, false};
    if (take_the_rest(columns)) return {columns, {}, true};
    return by_values(columns);
  }

 private:
  const GlimpseColumn& column(std::size_t c) const { return glimpse_.columns[c]; }

  // The best of the columns with a name for the role that the values do not reject; kNoColumn if there
  // is none.
  std::size_t by_name(std::size_t role) const {
    if (mapping_of(roles_[role].name, options_) != nullptr)
      return mapped_column(roles_[role], header_, options_, place_);
    const std::vector<NamedColumn> all = columns_named(roles_[role], header_);
    std::vector<NamedColumn> named;
    std::copy_if(all.begin(), all.end(), std::back_inserter(named),
                 [&](const NamedColumn& n) { return !is_rejected(role, n); });
    if (named.empty()) named = all;
    if (named.empty()) return kNoColumn;
    for (const NamedColumn& other : named) {
      if (other.rank == named[0].rank && other.column != named[0].column)
        require_alike(role, named[0].column, other.column);
    }
    return named[0].column;
  }

  // Whether the values speak against a column that has a name for the role.
  bool is_rejected(std::size_t role, const NamedColumn& named) const {
    const GlimpseColumn& values = column(named.column);
    if (glimpse_.rows < 2) return false;
    if (values.filled == 0 || values.is_constant()) return true;
    return role != worker_place && values.is_unique();
  }

  // "task" and "task_id" are the same tasks, or the user has to choose.
  void require_alike(std::size_t role, std::size_t a, std::size_t b,
                     bool bijective_suffices = true) const {
    if (bijective_suffices && are_bijective(column(a), column(b))) return;
    const std::string& name = roles_[role].name;
    throw Error(
        ErrorCode::usage, place_,
        fmt::format("columns {} ('{}') and {} ('{}') could both be the {}: choose one, {} or {}", a + 1,
                    header_[a], b + 1, header_[b], name, mapping_to_type(header_, {{name, a}}),
                    mapping_to_type(header_, {{name, b}})));
  }

  // Whether the column that is the task by its name has another value in every row, where the values
  // show that another column could be the task. Who says "task" means it.
  bool is_row_number(const std::vector<std::size_t>& columns) const {
    const std::size_t task = columns[task_place];
    if (task == kNoColumn || mapping_of("task", options_) != nullptr || !column(task).is_unique())
      return false;
    const std::vector<NamedColumn> named = columns_named(roles_[task_place], header_);
    if (named[0].column == task && named[0].rank == 0) return false;
    const ColumnGuess guess =
        guess_columns(glimpse_, {kUnknown, columns[worker_place], columns[label_place]});
    return guess.best && !column(guess.best->task).is_unique();
  }

  // An "id" that is another one in each row in sight may be the row's own; whether tasks come back,
  // later rows decide. Error(data) if another column may be the task as well.
  void require_no_rival(std::size_t task) const {
    if (task == kNoColumn || glimpse_.whole || mapping_of("task", options_) != nullptr ||
        !column(task).is_unique() || columns_named({"task", {"id"}}, header_).empty() ||
        columns_named({"task", {"id"}}, header_)[0].column != task)
      return;
    for (std::size_t c = 0; c < header_.size(); ++c) {
      if (c != task && column(c).is_unique() && may_name_tasks(column(c)))
        require_alike(task_place, task, c, false);
    }
  }

  // Of three columns, two have names: the third is the task or the label that is missing, unless many
  // rows show that it is another one in each of them, as a time is. A worker is not found so: estimates
  // have a task, a label and a confidence.
  bool take_the_rest(std::vector<std::size_t>& columns) const {
    constexpr std::size_t kManyRows = 10;
    if (header_.size() != label_places || columns[worker_place] == kNoColumn ||
        std::count(columns.begin(), columns.end(), kNoColumn) != 1)
      return false;
    std::size_t rest = 0;
    while (std::find(columns.begin(), columns.end(), rest) != columns.end()) ++rest;
    if (column(rest).is_unique() && glimpse_.rows >= kManyRows) return false;
    *std::find(columns.begin(), columns.end(), kNoColumn) = rest;
    return true;
  }

  FoundColumns by_values(const std::vector<std::size_t>& columns) const {
    static_assert(kUnknown == kNoColumn);
    const LabelColumns known = {columns[task_place], columns[worker_place], columns[label_place]};
    WideGuess wide;
    if (known.worker == kUnknown && known.label == kUnknown)
      wide = guess_wide(glimpse_, known.task, false);
    if (wide.clear) return {{wide.best->task}, wide.best->workers, true};
    const ColumnGuess guess = guess_columns(glimpse_, known);
    if (!guess.clear) refuse(columns, wide, guess);
    return {{guess.best->task, guess.best->worker, guess.best->label}, {}, true};
  }

  [[noreturn]] void refuse(const std::vector<std::size_t>& columns, const WideGuess& wide,
                           const ColumnGuess& guess) const {
    std::vector<std::string> missing;
    for (std::size_t role = 0; role < label_places; ++role) {
      if (columns[role] == kNoColumn) missing.push_back(roles_[role].name);
    }
    const std::string what =
        missing.size() == label_places
            ? "cannot tell which column is the task, which the worker and which the label"
            : fmt::format("cannot tell which column is the {}", fmt::join(missing, " and which the "));
    throw Error(ErrorCode::usage, place_,
                fmt::format("{}; the columns are: {} ({})", what, columns_to_show(header_),
                            advice(columns, missing, wide, guess)));
  }

  std::string advice(const std::vector<std::size_t>& columns, const std::vector<std::string>& missing,
                     const WideGuess& wide, const ColumnGuess& guess) const {
    if (wide.best) {
      return fmt::format("if there is a column per worker: --wide {}",
                         mapping_to_type(header_, {{"task", wide.best->task}}));
    }
    if (guess.best) {
      return fmt::format("say so, perhaps {}", mapping_to_type(header_, {{"task", guess.best->task},
                                                                         {"worker", guess.best->worker},
                                                                         {"label", guess.best->label}}));
    }
    RoleColumns known;
    for (std::size_t role = 0; role < label_places; ++role) {
      if (columns[role] != kNoColumn) known.emplace_back(roles_[role].name, columns[role]);
    }
    const std::string open = fmt::format("{}=COLUMN", fmt::join(missing, "=COLUMN,"));
    return known.empty() ? "name them: --map " + open
                         : fmt::format("name it: {},{}", mapping_to_type(header_, known), open);
  }

  FoundColumns find_wide() const {
    const std::size_t task = by_name(task_place);
    WideColumns wide;
    if (const auto guess = guess_wide(glimpse_, task, true); guess.best) wide = *guess.best;
    if (wide.task == kUnknown) wide.task = task != kNoColumn ? task : 0;
    if (!options_.wide_workers.empty()) {
      wide.workers.clear();
      for (const std::string& name : options_.wide_workers) wide.workers.push_back(worker_column(name));
      std::erase(wide.workers, wide.task);
    }
    if (wide.workers.empty()) {
      throw Error(ErrorCode::usage, place_,
                  fmt::format("--wide: cannot tell which columns are workers; the columns are: {} (name "
                              "them: --wide-workers A,B,…)",
                              columns_to_show(header_)));
    }
    return {{wide.task}, wide.workers, options_.wide_workers.empty()};
  }

  std::size_t worker_column(const std::string& name) const {
    ReadOptions mapped;
    mapped.columns = {{"worker", name}};
    return mapped_column(roles_[worker_place], header_, mapped, place_);
  }

  const std::vector<std::string>& header_;
  const Glimpse& glimpse_;
  const std::vector<Role>& roles_;
  const ReadOptions& options_;
  const Location& place_;
};

}  // namespace

FoundColumns find_label_columns(const std::vector<std::string>& header, const Glimpse& glimpse,
                                const std::vector<Role>& roles, const ReadOptions& options,
                                const Location& place) {
  check_mapping(roles, options);
  return LabelColumnFinder(header, glimpse, roles, options, place).find();
}

FoundColumns check_positions(const Glimpse& glimpse, const std::vector<std::size_t>& columns,
                             const Location& place) {
  const ColumnGuess guess = guess_columns(glimpse);
  if (!guess.clear && is_out_of_order(glimpse, {columns[0], columns[1], columns[2]})) {
    throw Error(
        ErrorCode::usage, place,
        "no header, and the columns seem to stand in another order than task, worker, label: say "
        "which is which, as --no-header --map task=2,worker=1,label=3");
  }
  if (!guess.clear) return {columns, {}, false};
  std::vector<std::size_t> better = {guess.best->task, guess.best->worker, guess.best->label};
  const bool worked_out = better != columns;
  return {std::move(better), {}, worked_out};
}

}  // namespace crowdfold
