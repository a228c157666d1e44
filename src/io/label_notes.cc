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
#include "io/column_looks.h"
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
  // `merges`: the command has the options that make one class of several spellings.
  NoteWriter(std::vector<std::string>& notes, const LabelTotals& totals, const ClassCounts& counts,
             bool merges = true)
      : notes_(notes), totals_(totals), counts_(counts), merges_(merges) {}

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

  void on_nothing_left(const ReadOptions& options) {
    if (totals_.labels > 0) return;
    const bool without = !options.without_workers.empty();
    const bool abstain = !options.abstain.empty();
    notes_.push_back(fmt::format("no label is left: {}",
                                 without && abstain ? "--without-workers and --abstain take all of them"
                                 : without          ? "--without-workers names all workers"
                                 : abstain          ? "--abstain names all labels"
                                                    : "all of them are empty"));
  }

  // Which of a worker's labels on a task counts, where it may matter.
  void on_repeats(const ReadOptions& options) {
    const std::uint64_t all = totals_.labels + totals_.duplicates;
    if (totals_.duplicates == 0 || !totals_.has_columns || options.duplicates != Duplicates::last ||
        (all >= kFewRows && 3 * totals_.duplicates >= all))
      return;
    static const Words times = {"time", "date", "timestamp", "created", "updated", "submitted", "when"};
    const auto time = std::find_if(totals_.header.begin(), totals_.header.end(),
                                   [](const std::string& name) { return has_word(name, times); });
    notes_.push_back(fmt::format(
        "{} a further label of their worker on their task: the last row in the file counts{} "
        "(--duplicates first: the first one)",
        count_noun(totals_.duplicates, "row") + (totals_.duplicates == 1 ? " is" : " are"),
        time == totals_.header.end() ? "" : fmt::format(", whatever '{}' says", *time)));
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

  void on_lists_of_one() {
    for (std::uint32_t c = 0; c < totals_.classes.size(); ++c) {
      const std::string_view name = totals_.classes[c];
      if (name.size() < 3 || name.front() != '[' || name.back() != ']') continue;
      const std::vector<std::string> choices = choices_in(name);
      const auto bare = choices.size() == 1 ? totals_.classes.find(choices[0]) : std::nullopt;
      if (bare && *bare != c) return tell_list_of_one(c, *bare);
    }
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

  // Nor are tasks: people are told that labels of one may count for two.
  void on_tasks_alike() {
    if (totals_.grouped == nullptr) return;
    const NameTable& tasks = totals_.grouped->tasks();
    if (!may_have_spellings(tasks)) return;
    // Spellings by their hashes; of very many tasks, those of some hashes alone.
    const std::uint64_t sampled = tasks.size() > kMostHashed ? kHashesPerSample : 1;
    std::vector<std::pair<std::uint64_t, TaskId>> hashes;
    std::string loose;
    for (TaskId t = 0; t < tasks.size(); ++t) {
      const std::uint64_t hash = NameTable::hash(loose_into(tasks[t], loose));
      if (hash % sampled == 0) hashes.emplace_back(hash, t);
    }
    std::sort(hashes.begin(), hashes.end());
    std::uint64_t alike = 0;
    std::pair<TaskId, TaskId> first = {0, tasks.size()};
    for (std::size_t i = 1; i < hashes.size(); ++i) {
      if (hashes[i].first != hashes[i - 1].first) continue;
      ++alike;
      if (hashes[i].second < first.second) first = {hashes[i - 1].second, hashes[i].second};
    }
    if (alike == 0) return;
    const auto told = [&](TaskId t) {
      return fmt::format("{} ({})", in_quotes(tasks[t]),
                         count_noun(totals_.grouped->task(t).size(), "label"));
    };
    const std::string more = alike == 1
                                 ? ""
                                 : fmt::format(", and {} more{}", with_commas(sampled * (alike - 1)),
                                               sampled > 1 ? " or so" : "");
    notes_.push_back(fmt::format(
        "tasks {} and {} look like one{}, and count as two: write them the same way if they are{}",
        told(first.first), told(first.second), more,
        without_zeros(tasks[first.first]) == without_zeros(tasks[first.second])
            ? " (pandas keeps numbers as they are by read_csv(…, dtype=str))"
            : ""));
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

  // What a stream is told of both.
  void on_choices_in_stream() {
    for (std::uint32_t c = 0; c < totals_.classes.size(); ++c) {
      if (!is_joined(totals_.classes[c])) continue;
      notes_.push_back(fmt::format("label {} holds several choices: it counts as a class of its own",
                                   in_quotes(totals_.classes[c])));
      return;
    }
    on_choices_perhaps();
  }

  // "red/blue" beside "red" and "blue" may be a class of its own; so may "red;blue" where nothing else
  // names either.
  void on_choices_perhaps() {
    for (std::uint32_t c = 0; c < totals_.classes.size(); ++c) {
      const std::string_view name = totals_.classes[c];
      for (const std::string_view separator :
           {"/", "+", "&", "#", ";", "|", " and ", " und ", " et ", " or ", " oder ", " y "}) {
        const std::size_t at = name.find(separator);
        if (at == name.npos) continue;
        const std::string_view before = trimmed(name.substr(0, at));
        const std::string_view after = trimmed(name.substr(at + separator.size()));
        const bool joins = separator == ";" || separator == "|";
        if (joins ? before.empty() || after.empty()
                  : !totals_.classes.find(before) || !is_class_or_joined(after, separator))
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

  // '["cat"]' and 'cat'.
  void tell_list_of_one(std::uint32_t c, std::uint32_t bare) {
    notes_.push_back(
        fmt::format("{}{} is a list of one choice beside {}{}: {}", in_quotes(totals_.classes[c]),
                    rows_of(c), in_quotes(totals_.classes[bare]), rows_of(bare),
                    merges_ ? "--multi-select first makes them one class" : "write them the same way"));
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
    notes_.push_back(fmt::format(
        "{} look like one class: {}", names,
        merges_ ? options_that_merge(spellings) + " makes them one" : "write them the same way"));
  }

  // "dog", and "dog#horse" behind another '#'.
  bool is_class_or_joined(std::string_view text, std::string_view separator) const {
    while (!totals_.classes.find(text)) {
      const std::size_t at = text.find(separator);
      if (at == text.npos || !totals_.classes.find(trimmed(text.substr(0, at)))) return false;
      text = trimmed(text.substr(at + separator.size()));
    }
    return true;
  }

  // --- tasks in several spellings

  static constexpr std::uint32_t kMostLookedAt = 20'000;  // tasks, all of them
  static constexpr std::uint32_t kMostHashed = 500'000;
  static constexpr std::uint64_t kHashesPerSample = 16;

  static std::string_view without_zeros(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    const bool zeros = dot != name.npos && dot > 0 && dot + 1 < name.size() &&
                       name.find_first_not_of('0', dot + 1) == name.npos;
    return zeros ? name.substr(0, dot) : name;
  }

  // Whether some of very many tasks look as if they had several spellings.
  static bool may_have_spellings(const NameTable& tasks) {
    if (tasks.size() <= kMostLookedAt) return true;
    constexpr std::uint32_t kLookedAt = 2'000;
    bool whole = false;
    bool zeros = false;
    bool upper = false;
    bool lower = false;
    for (std::uint64_t i = 0; i < kLookedAt; ++i) {
      // Not at equal distances, where every second one may be alike.
      const std::uint64_t place = i * 0x9E37'79B9'7F4A'7C15 % tasks.size();
      const std::string_view name = tasks[static_cast<TaskId>(place)];
      if (name.find("  ") != name.npos) return true;
      whole = whole || name.find_first_not_of("0123456789") == name.npos;
      zeros = zeros || without_zeros(name).size() < name.size();
      const bool has_upper =
          std::any_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
      const bool has_lower =
          std::any_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
      upper = upper || has_upper;
      lower = lower || (has_lower && !has_upper);
    }
    return (whole && zeros) || (upper && lower);
  }

  // loose_spelling(), quickly where a name has nothing that needs more.
  static const std::string& loose_into(std::string_view name, std::string& loose) {
    loose.clear();
    bool plain = true;
    for (const char c : name) {
      plain = plain && static_cast<unsigned char>(c) < 0x80 && c > ' ' && c != '.';
      loose.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c);
    }
    if (!plain) loose = loose_spelling(name);
    return loose;
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
  bool merges_;
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
  LabelTotals totals{source,
                     labels.num_labels(),
                     labels.rows().duplicates,
                     tasks,
                     labels.workers(),
                     labels.classes(),
                     workers_meet,
                     tasks == 0 ? std::string() : std::string(labels.tasks()[tasks - 1])};
  totals.grouped = &labels;
  return totals;
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
  writer.on_nothing_left(options);
  writer.on_repeats(options);
  for (const std::string& name : options.without_workers) {
    if (!totals.workers.find(name))
      notes.push_back(fmt::format("--without-workers{}: no worker is called that", as_argument(name)));
  }
  writer.on_nothing();
  writer.on_spellings();
  writer.on_lists_of_one();
  writer.on_workers_alike();
  writer.on_tasks_alike();
}

std::vector<std::string> notes_on_classes(const NameTable& classes) {
  std::vector<std::string> notes;
  const NameTable workers;
  const LabelTotals totals{"", 0, 0, 0, workers, classes};
  const ClassCounts no_counts;
  NoteWriter writer(notes, totals, no_counts, false);
  writer.on_choices_in_stream();
  writer.on_nothing();
  writer.on_spellings();
  writer.on_lists_of_one();
  return notes;
}

void append_unnamed_truths(std::vector<std::string>& notes, const NameTable& classes,
                           std::uint32_t before, const std::vector<ClassId>& truths) {
  if (before == 0 || before == classes.size()) return;
  std::set<std::string> labels;
  for (std::uint32_t c = 0; c < before; ++c) labels.insert(loose_spelling(classes[c]));
  std::vector<std::uint64_t> tasks(classes.size());
  for (const ClassId truth : truths) {
    if (truth != kNoClass) ++tasks[truth];
  }
  std::size_t told = 0;
  std::size_t left = 0;
  for (std::uint32_t c = before; c < classes.size(); ++c) {
    if (tasks[c] == 0 || labels.contains(loose_spelling(classes[c]))) continue;
    if (told++ < kMostNotes)
      notes.push_back(fmt::format("truth {} ({}) is a class that no label names", in_quotes(classes[c]),
                                  count_noun(tasks[c], "task")));
    else
      ++left;
  }
  if (left > 0) notes.push_back(fmt::format("… and {} like that", count_noun(left, "truth")));
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
