#include "io/label_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include "crowdfold/error.h"
#include "crowdfold/words.h"
#include "io/label_rows.h"
#include "io/spellings.h"
#include "io/trim.h"

namespace crowdfold {
namespace {

constexpr std::uint64_t kFewRows = 4;  // with fewer, anything may be chance
constexpr std::size_t kMostNotes = 3;  // of one kind
constexpr double kManyJoined = 0.05;   // share of labels with several choices that is no slip

// What follows where no worker can be compared with another.
constexpr const char* kNothingLearned =
    ", so no quality can be learned without truths or an earlier run, and confidences are those of an "
    "unknown worker";

// "'cat'", cut to a sane length.
std::string in_quotes(std::string_view name) {
  constexpr std::size_t kLength = 40;
  return fmt::format("'{}{}'", name.substr(0, kLength), name.size() > kLength ? "…" : "");
}

// As a shell takes it.
std::string as_argument(std::string_view text) {
  const bool plain =
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-") ==
          text.npos &&
      !text.starts_with('-');
  return plain                   ? fmt::format(" {}", text)
         : text.starts_with('-') ? fmt::format("={}", text)
                                 : fmt::format(" '{}'", text);
}

class NoteWriter {
 public:
  NoteWriter(std::vector<std::string>& notes, const LabelTotals& totals, const ClassCounts& counts)
      : notes_(notes), totals_(totals), counts_(counts) {}

  void on_roles() {
    const LabelTotals& t = totals_;
    const std::uint64_t all = t.labels + t.duplicates;
    if (all >= kFewRows) {
      on_tasks();
      on_workers();
      on_classes();
    }
    if (LabelRows::is_total(t.last_task)) {
      notes_.push_back(fmt::format("the last task is {}: if this is a row of totals, take it out",
                                   in_quotes(t.last_task)));
    }
  }

  void on_nothing() {
    std::vector<std::uint32_t> found;
    for (std::uint32_t c = 0; c < totals_.classes.size(); ++c) {
      if (means_nothing(totals_.classes[c])) found.push_back(c);
    }
    for (const std::uint32_t c : found) {
      notes_.push_back(fmt::format("label {}{} may mean no answer: --abstain{}",
                                   in_quotes(totals_.classes[c]), rows_of(c),
                                   as_argument(totals_.classes[c])));
    }
  }

  void on_spellings() {
    std::map<std::string, std::vector<std::uint32_t>> alike;
    for (std::uint32_t c = 0; c < totals_.classes.size(); ++c)
      alike[loose_spelling(totals_.classes[c])].push_back(c);
    std::size_t told = 0;
    std::size_t left = 0;
    for (const auto& [spelling, classes] : alike) {
      if (classes.size() < 2) continue;
      if (told++ < kMostNotes)
        tell_alike(classes);
      else
        ++left;
    }
    if (left > 0) notes_.push_back(fmt::format("… and {} like that", count_noun(left, "class")));
  }

  // Error(data) where a row has the names of columns, but not those of its columns: then rows below it
  // have another order, and their values stand for other roles. (A header that comes again as it was is
  // left out before.)
  void on_headers() const {
    const std::vector<std::string> classes = names_of_columns(totals_.classes);
    const std::vector<std::string> workers = names_of_columns(totals_.workers);
    const bool wide = workers.size() == totals_.workers.size();
    if (workers.empty() || classes.size() < (wide ? 2 : 1)) return;
    throw Error(ErrorCode::data, Location{totals_.source, 0, 0},
                fmt::format("a row has {} for a label, which is the name of a column: if it is a header "
                            "in another order, cut the file there, and give both parts",
                            in_quotes(classes[0])));
  }

  // Workers are never merged: whether "Ann" and "ann" are one person, only people know.
  void on_workers_alike() {
    constexpr std::uint32_t kMostWorkers = 10'000;  // more take long
    if (totals_.workers.size() > kMostWorkers) return;
    std::map<std::string, std::uint32_t> first;
    std::size_t alike = 0;
    std::string example;
    for (std::uint32_t w = 0; w < totals_.workers.size(); ++w) {
      const auto [found, is_new] = first.emplace(loose_spelling(totals_.workers[w]), w);
      if (is_new) continue;
      if (alike++ == 0)
        example = fmt::format("{} and {}", in_quotes(totals_.workers[found->second]),
                              in_quotes(totals_.workers[w]));
    }
    if (alike == 0) return;
    notes_.push_back(fmt::format("workers {} look like one{}: write them the same way if they are",
                                 example, alike == 1 ? "" : fmt::format(", and {} more", alike - 1)));
  }

  // Error(data) where many labels hold several choices.
  void on_choices(const ReadOptions& options) {
    if (options.multi_select != MultiSelect::refuse) return;
    std::vector<std::uint32_t> joined;
    for (std::uint32_t c = 0; c < totals_.classes.size(); ++c) {
      if (is_joined(totals_.classes[c])) joined.push_back(c);
    }
    if (joined.empty()) return on_choices_perhaps();
    std::uint64_t labels = 0;
    for (const std::uint32_t c : joined) labels += known(c) ? *known(c) : 0;
    const std::string what = fmt::format("{} hold{} several choices, such as {}",
                                         labels == 0 ? "some labels" : count_noun(labels, "label"),
                                         labels == 1 ? "s" : "", in_quotes(totals_.classes[joined[0]]));
    if (labels > 0 && static_cast<double>(labels) >= kManyJoined * static_cast<double>(totals_.labels)) {
      throw Error(ErrorCode::data, Location{totals_.source, 0, 0},
                  what +
                      ", and a task has one class: ask one question per class, or say --multi-select "
                      "first (the first choice counts) or --multi-select keep (each combination is a "
                      "class)");
    }
    notes_.push_back(what +
                     ": each combination is a class of its own (--multi-select first: the first "
                     "choice counts)");
  }

  // "red/blue" beside "red" and "blue" may be a class of its own; so may "red;blue" where nothing else
  // names either.
  void on_choices_perhaps() {
    for (std::uint32_t c = 0; c < totals_.classes.size(); ++c) {
      const std::string_view name = totals_.classes[c];
      for (const char separator : {'/', '+', '&', ';', '|'}) {
        const std::size_t at = name.find(separator);
        if (at == name.npos) continue;
        const std::string_view before = trimmed(name.substr(0, at));
        const std::string_view after = trimmed(name.substr(at + 1));
        const bool joins = separator == ';' || separator == '|';
        if (joins ? before.empty() || after.empty()
                  : !totals_.classes.find(before) || !totals_.classes.find(after))
          continue;
        notes_.push_back(
            fmt::format("label {}{} may hold several choices: it counts as a class of its own",
                        in_quotes(name), rows_of(c)));
        return;
      }
    }
  }

 private:
  static constexpr std::uint32_t kManyClasses = 20;

  // Names of columns that are also among these names.
  std::vector<std::string> names_of_columns(const NameTable& names) const {
    std::vector<std::string> found;
    for (const std::string& column : totals_.header) {
      std::string lower = fold_case(column);
      std::string title = lower;
      if (!title.empty())
        title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
      for (const std::string& name : {column, lower, title}) {
        const bool known = std::find(found.begin(), found.end(), name) != found.end();
        if (!name.empty() && !known && names.find(name)) found.push_back(name);
      }
    }
    return found;
  }

  void on_tasks() {
    const LabelTotals& t = totals_;
    const std::uint64_t all = t.labels + t.duplicates;
    if (t.tasks == 1)
      notes_.push_back(
          fmt::format("all labels are on one task, {}{}", in_quotes(t.last_task), ask("task")));
    else if (3 * t.duplicates >= all)
      notes_.push_back(
          fmt::format("{} of {} are not the only one of their worker on their task, and one "
                      "of them counts{}",
                      t.duplicates, count_noun(all, "label"), ask("task")));
    else if (!t.workers_meet && t.workers.size() > 1)
      notes_.push_back(
          fmt::format("no task has labels of two workers{}{}", kNothingLearned, ask("task")));
    else if (t.tasks >= t.labels)
      notes_.push_back(
          "there are no more labels than tasks, so few workers or none can be compared with another" +
          ask("task"));
  }

  void on_workers() {
    const NameTable& workers = totals_.workers;
    if (workers.size() == 1)
      notes_.push_back(fmt::format("all labels are by one worker, {}{}{}", in_quotes(workers[0]),
                                   kNothingLearned, ask("worker")));
    else if (workers.size() >= totals_.labels + totals_.duplicates)
      notes_.push_back("every label is by a worker of its own, so no worker's quality can be known" +
                       ask("worker"));
  }

  void on_classes() {
    const NameTable& classes = totals_.classes;
    if (classes.size() == 1)
      notes_.push_back(
          fmt::format("all labels are {}, so every confidence is 1 unless other classes are named",
                      in_quotes(classes[0])));
    else if (classes.size() > kManyClasses && 2 * std::uint64_t{classes.size()} > totals_.labels)
      notes_.push_back(fmt::format("there are {} among {}{}", count_noun(classes.size(), "class"),
                                   count_noun(totals_.labels, "label"), ask("label")));
  }

  std::string ask(const char* role) const {
    if (!totals_.has_columns) return "";
    return fmt::format(": is this the right column for {0}s? (--map {0}=COLUMN)", role);
  }

  std::optional<std::uint64_t> known(std::uint32_t c) {
    if (!counted_) counted_ = counts_ ? counts_() : std::vector<std::uint64_t>();
    return c < counted_->size() ? std::optional((*counted_)[c]) : std::nullopt;
  }
  std::string rows_of(std::uint32_t c) {
    const auto rows = known(c);
    return rows ? fmt::format(" ({})", count_noun(*rows, "row")) : "";
  }

  void tell_alike(const std::vector<std::uint32_t>& classes) {
    std::string names;
    for (std::size_t i = 0; i < classes.size(); ++i) {
      names += fmt::format("{}{}{}",
                           i == 0                    ? ""
                           : i + 1 == classes.size() ? " and "
                                                     : ", ",
                           in_quotes(totals_.classes[classes[i]]), rows_of(classes[i]));
    }
    std::vector<std::string_view> spellings;
    for (const std::uint32_t c : classes) spellings.push_back(totals_.classes[c]);
    notes_.push_back(
        fmt::format("{} look like one class: {} makes them one", names, options_that_merge(spellings)));
  }

  // Several choices, if each is a class or a choice in other labels too; or a list of JSON. A
  // comma also stands within one choice ("New York, NY"): there, each must be a class.
  bool is_joined(std::string_view name) {
    if (name.find_first_of(";|\n,[") == name.npos) return false;
    const std::vector<std::string> choices = choices_in(name);
    if (choices.size() < 2) return false;
    const bool list = name.front() == '[';
    const bool with_comma = name.find_first_of(";|\n") == name.npos;
    return list || std::all_of(choices.begin(), choices.end(), [&](const std::string& choice) {
             return totals_.classes.find(choice) || (!with_comma && is_shared(choice));
           });
  }
  // Whether a choice stands in several labels that join choices.
  bool is_shared(const std::string& choice) {
    if (!labels_with_) {
      labels_with_.emplace();
      for (std::uint32_t c = 0; c < totals_.classes.size(); ++c) {
        const std::string_view name = totals_.classes[c];
        if (name.find_first_of(";|\n") == name.npos) continue;
        const std::vector<std::string> choices = choices_in(name);
        for (const std::string& one : std::set(choices.begin(), choices.end())) ++(*labels_with_)[one];
      }
    }
    const auto found = labels_with_->find(choice);
    return found != labels_with_->end() && found->second > 1;
  }

  std::vector<std::string>& notes_;
  const LabelTotals& totals_;
  const ClassCounts& counts_;
  std::optional<std::vector<std::uint64_t>> counted_;
  std::optional<std::map<std::string, int>>
      labels_with_;  // by choice: how many classes join it to others
};

}  // namespace

bool means_nothing(std::string_view label) {
  constexpr std::array kWords = {
      "n/a",          "na",       "nan",       "null",       "none",       "nil",          "-",
      "--",           "?",        "??",        ".",          "undefined",  "missing",      "(blank)",
      "(empty)",      "#n/a",     "<na>",      "n.a.",       "no answer",  "skip",         "skipped",
      "k.a.",         "no label", "unlabeled", "unlabelled", "unanswered", "not answered", "no response",
      "keine angabe", "(leer)",   "нет ответа"};
  const std::string plain = fold_case(label);
  return std::find(kWords.begin(), kWords.end(), plain) != kWords.end();
}

LabelTotals totals_of(const std::string& source, const Labels& labels) {
  const TaskId tasks = labels.num_tasks();
  bool workers_meet = false;
  for (TaskId t = 0; t < tasks && !workers_meet; ++t) {
    const std::span<const WorkerId> workers = labels.task(t).workers;
    workers_meet =
        std::any_of(workers.begin(), workers.end(), [&](WorkerId w) { return w != workers.front(); });
  }
  return {source,
          labels.num_labels(),
          labels.rows().duplicates,
          tasks,
          labels.workers(),
          labels.classes(),
          workers_meet,
          tasks == 0 ? std::string() : std::string(labels.tasks()[tasks - 1])};
}

std::vector<std::uint64_t> class_counts(const Labels& labels) {
  std::vector<std::uint64_t> counts(labels.num_classes());
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    for (const ClassId c : labels.task(t).classes) ++counts[c];
  }
  return counts;
}

void require_labels(const std::vector<ReadReport>& reports, std::uint64_t rows) {
  if (rows > 0) return;
  throw Error(ErrorCode::data, Location{reports[0].source, 0, 0},
              "no labels: there is no row but the header");
}

void append_notes(std::vector<std::string>& notes, const LabelTotals& totals, const ClassCounts& counts,
                  const std::vector<std::string>& unmet, const ReadOptions& options) {
  NoteWriter writer(notes, totals, counts);
  writer.on_headers();
  writer.on_choices(options);
  writer.on_roles();
  for (const std::string& value : unmet)
    notes.push_back(fmt::format("--abstain{}: no label is {}", as_argument(value), in_quotes(value)));
  for (const std::string& name : options.without_workers) {
    if (!totals.workers.find(name))
      notes.push_back(fmt::format("--without-workers{}: no worker is called that", as_argument(name)));
  }
  writer.on_nothing();
  writer.on_spellings();
  writer.on_workers_alike();
}

TruthSpelling compare_spellings(const NameTable& classes, std::uint32_t before, std::uint64_t truths,
                                bool any_shared, std::vector<std::string>& notes) {
  constexpr std::uint64_t kManyTruths = 5;  // all of them cannot be wrong by chance
  if (before == 0 || before == classes.size()) return TruthSpelling::fits;
  std::map<std::string, std::uint32_t> labels;
  for (std::uint32_t c = 0; c < before; ++c) labels.emplace(loose_spelling(classes[c]), c);
  bool any_alike = false;
  for (std::uint32_t c = before; c < classes.size(); ++c) {
    const auto found = labels.find(loose_spelling(classes[c]));
    if (found == labels.end()) continue;
    any_alike = true;
    if (!any_shared) continue;
    notes.push_back(
        fmt::format("truth {} looks like label {}: write both the same way (--fold-case and "
                    "--normalize help)",
                    in_quotes(classes[c]), in_quotes(classes[found->second])));
  }
  if (any_shared || (!any_alike && truths < kManyTruths)) return TruthSpelling::fits;
  notes.push_back(fmt::format(
      "no truth is a class that a label names: truths are such as {}, labels such as {}; write both the "
      "same way{}",
      in_quotes(classes[before]), in_quotes(classes[0]),
      any_alike ? " (--fold-case and --normalize help)" : ""));
  return TruthSpelling::differs;
}

}  // namespace crowdfold
