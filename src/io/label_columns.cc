#include "io/label_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "io/column_agreement.h"
#include "io/column_looks.h"
#include "io/guess_columns.h"
#include "io/guess_wide.h"

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
    if (std::count(columns.begin(), columns.end(), kNoColumn) == 0) return confirmed(columns);
    if (take_the_rest(columns)) return {columns, {}, true};
    return by_values(columns);
  }

 private:
  static constexpr std::size_t kManyRows = 10;

  const GlimpseColumn& column(std::size_t c) const { return glimpse_.columns[c]; }

  // The best of the columns with a name for the role that the values do not reject; kNoColumn if there
  // is none.
  std::size_t by_name(std::size_t role) const {
    if (mapping_of(roles_[role].name, options_) != nullptr)
      return mapped_column(roles_[role], header_, options_, place_);
    const std::vector<NamedColumn> all = columns_left_for(roles_[role], header_, options_, place_);
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
  void require_alike(std::size_t role, std::size_t a, std::size_t b) const {
    if (!are_bijective(column(a), column(b))) refuse_both(role, a, b);
  }
  [[noreturn]] void refuse_both(std::size_t role, std::size_t a, std::size_t b) const {
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
        refuse_both(task_place, task, c);
    }
  }

  // Columns by their names, if the values fit: a worker answers a task once, and labels are no property
  // of a task. Who says "task", "worker" or "label" means it.
  FoundColumns confirmed(const std::vector<std::size_t>& columns) const {
    std::vector<std::size_t> fitting = columns;
    if (!is_certain(worker_place, columns[worker_place])) fitting[worker_place] = better_worker(columns);
    if (!is_certain(task_place, columns[task_place])) require_whole_task(fitting);
    const std::size_t label = columns[label_place];
    const std::vector<NamedColumn> named = columns_named(roles_[label_place], header_);
    const bool by_name =
        std::any_of(named.begin(), named.end(), [&](const NamedColumn& n) { return n.column == label; });
    if (by_name && !is_certain(label_place, label)) {
      const std::size_t other =
          better_label(glimpse_, {fitting[task_place], fitting[worker_place], label});
      if (other != kUnknown) refuse_both(label_place, label, other);
    }
    return {fitting, {}, fitting != columns};
  }

  // Whether the user, or the column's very own name, says that it is the role.
  bool is_certain(std::size_t role, std::size_t c) const {
    if (mapping_of(roles_[role].name, options_) != nullptr) return true;
    const std::vector<NamedColumn> named = columns_named(roles_[role], header_);
    return std::any_of(named.begin(), named.end(),
                       [&](const NamedColumn& n) { return n.column == c && n.rank == 0; });
  }

  // The worker by its name, unless rows of one task repeat it, as those of a tweet repeat the "user" who
  // wrote it, and another column does not.
  std::size_t better_worker(const std::vector<std::size_t>& columns) const {
    const GlimpseColumn& task = column(columns[task_place]);
    const std::size_t worker = columns[worker_place];
    if (are_task_and_worker(task, column(worker))) return worker;
    for (const NamedColumn& named : columns_named(roles_[worker_place], header_)) {
      if (are_task_and_worker(task, column(named.column)) && !column(named.column).is_constant() &&
          !is_taken(columns, named.column))
        return named.column;
    }
    const ColumnGuess guess =
        guess_columns(glimpse_, {columns[task_place], kUnknown, columns[label_place]});
    return guess.clear ? guess.best->worker : worker;
  }

  static bool is_taken(const std::vector<std::size_t>& columns, std::size_t c) {
    return std::find(columns.begin(), columns.end(), c) != columns.end();
  }

  // Error(usage) if workers answer a "document" many times, and another column, alone or beside it,
  // tells these tasks apart: a "sentence".
  void require_whole_task(const std::vector<std::size_t>& columns) const {
    const std::size_t task = columns[task_place];
    const GlimpseColumn& worker = column(columns[worker_place]);
    if (are_task_and_worker(column(task), worker)) return;
    for (std::size_t c = 0; c < header_.size(); ++c) {
      const bool named = !columns_named(roles_[task_place], {header_[c]}).empty();
      if (is_taken(columns, c) || column(c).is_unique() || (!named && !may_name_tasks(column(c))))
        continue;
      if (are_task_and_worker(column(c), worker)) refuse_both(task_place, task, c);
      if (!are_task_and_worker(joined(column(task), column(c)), worker)) continue;
      throw Error(ErrorCode::usage, place_,
                  fmt::format("workers have several labels on one task; columns {} ('{}') and {} ('{}') "
                              "seem to name the task together: write both into one column, or choose "
                              "one, {}",
                              task + 1, header_[task], c + 1, header_[c],
                              mapping_to_type(header_, {{"task", task}})));
    }
  }

  // Of three columns, two have names: the third is the task or the label that is missing, unless many
  // rows show that it is another one in each of them, as a time is. A worker is not found so: estimates
  // have a task, a label and a confidence. A column with the text of each task does not count.
  bool take_the_rest(std::vector<std::size_t>& columns) const {
    if (columns[worker_place] == kNoColumn || std::count(columns.begin(), columns.end(), kNoColumn) != 1)
      return false;
    std::vector<std::size_t> others;
    for (std::size_t c = 0; c < header_.size(); ++c) {
      const bool taken = std::find(columns.begin(), columns.end(), c) != columns.end();
      if (!taken && !shows_task(columns[task_place], c)) others.push_back(c);
    }
    if (others.size() != 1) return false;
    const std::size_t rest = others[0];
    if (is_none_of_them(column(rest)) || (column(rest).is_unique() && glimpse_.rows >= kManyRows))
      return false;
    *std::find(columns.begin(), columns.end(), kNoColumn) = rest;
    return true;
  }

  bool shows_task(std::size_t task, std::size_t c) const {
    static const Role shown = {"", {"text", "sentence", "comment", "title", "url", "image", "content"}};
    return task != kNoColumn && !columns_named(shown, {header_[c]}).empty() &&
           are_bijective(column(task), column(c));
  }

  FoundColumns by_values(const std::vector<std::size_t>& columns) const {
    static_assert(kUnknown == kNoColumn);
    const ColumnRoles known = {columns[task_place], columns[worker_place], columns[label_place]};
    if (known.task == kUnknown && options_.columns.empty()) require_no_person_rows();
    WideGuess wide;
    if (known.worker == kUnknown)
      wide =
          known.label == kUnknown ? guess_wide(glimpse_, known.task, false) : wide_beside_label(known);
    ColumnGuess guess = guess_columns(glimpse_, known);
    // A truth beside the labels looks like a second worker, and a row's number like a task.
    const bool may_be_long =
        guess.best && glimpse_.rows >= kManyRows && !wide.named && !column(guess.best->task).is_unique();
    if (wide.clear && !may_be_long) return wide_columns(wide);
    // A name that fits nowhere is worth nothing: a "user" may be an author.
    if (!guess.best) {
      const ColumnGuess other = guess_columns(glimpse_, certain(known));
      if (other.clear) guess = other;
    }
    if (!guess.clear) refuse(columns, wide, guess);
    if (known.label == kUnknown) require_no_other_label(*guess.best);
    FoundColumns found = confirmed({guess.best->task, guess.best->worker, guess.best->label});
    found.worked_out = true;
    return found;
  }

  // Where workers agree on every task, a label looks like a property of tasks. Error(usage) if another
  // column than the guess's may be such a label: it has the same classes, or a name as questions have.
  void require_no_other_label(const ColumnRoles& guess) const {
    const auto is_question = [&](std::size_t c) {
      const std::string name = plain_name(header_[c]);
      return name.starts_with("is") || name.starts_with("has") || header_[c].ends_with("?");
    };
    const GlimpseColumn& label = column(guess.label);
    const bool label_named = has_word(label.name, label_words());
    for (std::size_t c = 0; c < header_.size(); ++c) {
      const GlimpseColumn& other = column(c);
      if (c == guess.task || c == guess.worker || c == guess.label || other.is_constant() ||
          2 * other.filled < glimpse_.rows || is_none_of_them(other) || has_truth_name(other.name) ||
          has_word(other.name, task_words()) || has_word(other.name, worker_words()) ||
          are_bijective(other, column(guess.task)))
        continue;
      const std::size_t rows = std::min(glimpse_.rows, kRowsCompared);
      if (!agreement_within(column(guess.task), other, rows).complete ||
          agreement_within(column(guess.worker), other, rows).complete)
        continue;
      const bool other_named = has_word(other.name, label_words());
      const bool same_classes = have_same_values(label, other);
      if (other_named || (!label_named && (same_classes || (is_question(c) && other.distinct() <= 5))))
        refuse_both(label_place, guess.label, c);
    }
  }
  static bool have_same_values(const GlimpseColumn& a, const GlimpseColumn& b) {
    bool same = a.distinct() == b.distinct();
    for (std::uint32_t v = 0; same && v < a.distinct(); ++v)
      same = b.values.find(a.values[v]).has_value();
    return same;
  }

  // Error(usage) for a row per person and a column per question, as surveys have them.
  void require_no_person_rows() const {
    const std::size_t person = person_of_rows(glimpse_);
    if (person == kUnknown) return;
    throw Error(
        ErrorCode::usage, place_,
        fmt::format("a row per person and a column per question, as it seems: turn it into a row "
                    "per answer (task, worker, label), as pandas does by "
                    "melt(id_vars=[\"{0}\"], var_name=\"task\", value_name=\"label\"); if each row "
                    "is a task: --wide --map task=COLUMN",
                    header_[person]));
  }

  // The same beside a column that is called "label", as the answer that was found for a task may be: not
  // clear.
  WideGuess wide_beside_label(const ColumnRoles& known) const {
    if (mapping_of("label", options_) != nullptr) return {};
    WideGuess guess = guess_wide(glimpse_, known.task, false);
    if (!guess.best) return {};
    std::erase(guess.best->workers, known.label);
    if (guess.best->workers.size() < 2) return {};
    guess.clear = false;
    return guess;
  }

  // Error(usage) where one of the columns may be no worker's: people have to say so.
  FoundColumns wide_columns(const WideGuess& wide) const {
    if (wide.doubtful != kUnknown) {
      throw Error(ErrorCode::usage, place_,
                  fmt::format("cannot tell which columns are workers: {}", doubt(wide)));
    }
    return {{wide.best->task}, wide.best->workers, true};
  }

  // A column per worker, but for one perhaps.
  std::string doubt(const WideGuess& wide) const {
    std::vector<std::size_t> others = wide.best->workers;
    std::erase(others, wide.doubtful);
    return fmt::format("column {} ('{}') is {}: if it is no worker, {}; if it is one, {}",
                       wide.doubtful + 1, header_[wide.doubtful], wide.why_doubtful,
                       wide_to_type(wide.best->task, others),
                       wide_to_type(wide.best->task, wide.best->workers));
  }

  // "--wide-workers ann,bob --map task=photo".
  std::string wide_to_type(std::size_t task, const std::vector<std::size_t>& workers) const {
    std::string names;
    for (const std::size_t worker : workers)
      names += fmt::format("{}{}", names.empty() ? "" : ",", column_to_type(header_, worker));
    const bool plain = std::all_of(names.begin(), names.end(), [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' ||
             c == ',';
    });
    return fmt::format("--wide-workers {0}{1}{0} {2}", plain ? "" : "'", names,
                       mapping_to_type(header_, {{"task", task}}));
  }

  ColumnRoles certain(ColumnRoles known) const {
    if (known.task != kUnknown && !is_certain(task_place, known.task)) known.task = kUnknown;
    if (known.worker != kUnknown && !is_certain(worker_place, known.worker)) known.worker = kUnknown;
    if (known.label != kUnknown && !is_certain(label_place, known.label)) known.label = kUnknown;
    return known;
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
    if (wide.best && wide.doubtful != kUnknown) return doubt(wide);
    if (wide.best) {
      return "if there is a column per worker: " + wide_to_type(wide.best->task, wide.best->workers);
    }
    // A value for each task, where there are other columns, is of the task, and no label.
    const bool of_task = guess.best && header_.size() > label_places &&
                         are_bijective(column(guess.best->task), column(guess.best->label));
    if (guess.best && !of_task) {
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
    std::optional<WideGuess> doubted;
    if (const auto guess = guess_wide(glimpse_, task, true); guess.best) {
      wide = *guess.best;
      doubted = guess;
    }
    if (wide.task == kUnknown) wide.task = task != kNoColumn ? task : 0;
    if (!options_.wide_workers.empty()) {
      wide.workers.clear();
      for (const std::string& name : options_.wide_workers) wide.workers.push_back(worker_column(name));
      std::erase(wide.workers, wide.task);
    }
    if (options_.wide_workers.empty() && doubted) wide_columns(*doubted);
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
  const ColumnRoles in_order = {columns[0], columns[1], columns[2]};
  if (!guess.clear && !look_like_roles(glimpse, in_order)) {
    throw Error(
        ErrorCode::usage, place,
        "no header, and the values do not say which column is the task, which the worker and which "
        "the label: say --no-header --map task=1,worker=2,label=3, or the order that it is");
  }
  if (!guess.clear) return {columns, {}, false};
  std::vector<std::size_t> better = {guess.best->task, guess.best->worker, guess.best->label};
  const bool worked_out = better != columns;
  return {std::move(better), {}, worked_out};
}

}  // namespace crowdfold
