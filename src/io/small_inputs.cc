// The small tables: truths, workers, estimates.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "crowdfold/error.h"
#include "crowdfold/exports.h"
#include "crowdfold/io.h"
#include "crowdfold/words.h"
#include "io/byte_source.h"
#include "io/input_table.h"
#include "io/label_notes.h"
#include "io/spellings.h"
#include "io/trim.h"

namespace crowdfold {
namespace {

// In JSON lines, the classes' probabilities are in an object of this name.
constexpr std::string_view kPosteriorKey = "posterior.";

// False unless all of the text is a number from `lowest` to `highest`.
bool parse_number(std::string_view text, double lowest, double highest, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && value >= lowest && value <= highest;
}

ClassId class_id(NameTable& classes, std::string_view name) {
  return static_cast<ClassId>(classes.intern(name));
}

std::uint64_t bytes_of(const Estimates& estimates) {
  return estimates.tasks.bytes() + estimates.classes.bytes() +
         sizeof(ClassId) * estimates.estimate.size() +
         sizeof(double) * (estimates.confidence.size() + estimates.posterior.size());
}

// The spellings of classes that are there.
ClassSpellings spellings_of(const NameTable& classes, const ReadOptions& options) {
  ClassSpellings spellings(options);
  for (std::uint32_t c = 0; spellings.changes() && c < classes.size(); ++c)
    spellings.class_of(classes[c]);
  return spellings;
}

// Why a text is no truth; empty if it is one. `before`: how many classes labels name.
std::string why_no_truth(std::string_view text, const NameTable& classes, std::uint32_t before,
                         const ReadOptions& options) {
  const auto is_class = [&](std::string_view name) {
    const auto known = classes.find(name);
    return known && *known < before;
  };
  if (is_class(text)) return "";
  if (means_nothing(text)) return fmt::format("'{}' may mean that the truth is not known", text);
  if (options.multi_select != MultiSelect::refuse) return "";
  const std::vector<std::string> choices = choices_in(text);
  if (choices.size() < 2 || !std::all_of(choices.begin(), choices.end(), is_class)) return "";
  return fmt::format("'{}' are several classes, and a task has one: --multi-select says what they are",
                     text);
}

// What names of one task in two files may have in common: "img/007.JPG" and "7".
std::string bare_task(std::string_view name) {
  std::string bare = loose_spelling(name);
  bare.erase(0, bare.rfind('/') + 1);  // npos + 1 is 0
  const std::size_t dot = bare.rfind('.');
  constexpr std::size_t kLongestEnding = 5;
  if (dot != bare.npos && dot > 0 && dot + kLongestEnding >= bare.size() &&
      bare.find_first_not_of("0123456789", dot + 1) != bare.npos)
    bare.resize(dot);
  const std::size_t digits = bare.find_first_not_of('0');
  if (digits != bare.npos && bare.find_first_not_of("0123456789") == bare.npos) bare.erase(0, digits);
  return bare;
}

// Finds tasks that other files may name otherwise.
class TasksAlike {
 public:
  explicit TasksAlike(const NameTable& tasks) : tasks_(tasks) {}
  // "; …": what is there instead.
  std::string instead_of(std::string_view name) {
    if (tasks_.size() == 0) return "";
    if (by_bare_.empty()) {
      for (std::uint32_t t = 0; t < tasks_.size(); ++t) by_bare_.emplace(bare_task(tasks_[t]), t);
    }
    const auto found = by_bare_.find(bare_task(name));
    return found == by_bare_.end()
               ? fmt::format("; tasks are such as '{}' (--skip-bad-rows leaves such truths out)",
                             tasks_[0])
               : fmt::format(
                     ", but '{}' is: if they are one, write the tasks of both files the same "
                     "way",
                     tasks_[found->second]);
  }

 private:
  const NameTable& tasks_;
  std::unordered_map<std::string, std::uint32_t> by_bare_;
};

// Error(usage) for an export of a platform, whose truths are among its labels.
void require_no_export(const std::string& path, const ReadOptions& options) {
  if (!is_rereadable(path) || !is_export(path, options)) return;
  throw Error(
      ErrorCode::usage, Location{display_name(path), 0, 0},
      fmt::format("an export of a platform: 'crowdfold import {} --truth-out truths.csv' writes its "
                  "truths into a file to give instead",
                  path));
}

// Whether a text is a table with a column of workers, rather than a name on each line.
bool has_worker_column(std::string_view text) {
  const std::string header = fold_case(trimmed(text.substr(0, text.find_first_of("\r\n"))));
  if (header.starts_with('{') || header.starts_with('[')) return true;
  for (std::size_t begin = 0; begin <= header.size();) {
    const std::size_t end = std::min(header.find_first_of(",;\t|", begin), header.size());
    std::string_view name = trimmed(std::string_view(header).substr(begin, end - begin));
    if (name.size() > 1 && name.starts_with('"') && name.ends_with('"'))
      name = name.substr(1, name.size() - 2);
    if (name == "worker") return true;
    begin = end + 1;
  }
  return false;
}

std::string read_all(ByteSource& source) {
  std::string text;
  for (std::string block(std::size_t{1} << 16, '\0');;) {
    const std::size_t bytes = source.read(block.data(), block.size());
    if (bytes == 0) return text;
    text.append(block, 0, bytes);
  }
}

}  // namespace

std::vector<std::string> read_worker_names(const std::string& path) {
  std::unique_ptr<ByteSource> source = open_text(path, {});
  std::vector<std::string> names;
  if (has_worker_column(source->peek(kMostPeeked))) {
    TableInput input(std::move(source), path, {}, {worker_role()});
    input.for_each_row([&](Row row, bool) -> Complaint {
      if (row[0].empty()) return {1, "no worker: the field is empty"};
      names.emplace_back(row[0]);
      return {};
    });
    return names;
  }
  const std::string text = read_all(*source);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view name = trimmed(std::string_view(text).substr(begin, end - begin));
    if (!name.empty()) names.emplace_back(name);
    begin = end + 1;
  }
  return names;
}

std::vector<ClassId> read_truths(const std::string& path, const NameTable& tasks, NameTable& classes,
                                 const ReadOptions& options, ReadReport* report) {
  require_no_export(path, options);
  TableInput input(path, options, {task_role(), truth_role()});
  std::vector<ClassId> truths(tasks.size(), kNoClass);
  ClassSpellings spellings = spellings_of(classes, options);
  TasksAlike alike(tasks);
  const std::uint32_t before = classes.size();
  bool any_shared = false;
  std::uint64_t unknown = 0;
  input.holds([&] { return classes.bytes(); });
  input.for_each_row([&](Row row, bool) -> Complaint {
    if (row[1].empty()) {  // as beside labels, where few tasks have a truth
      ++unknown;
      return {};
    }
    const auto task = tasks.find(row[0]);
    if (!task) {
      return {1, fmt::format("task '{}' is not there{}", row[0], alike.instead_of(row[0]))};
    }
    if (const std::string why = why_no_truth(row[1], classes, before, options); !why.empty())
      return {2, why + " (--skip-bad-rows leaves such truths out)"};
    const ClassId truth =
        class_id(classes, spellings.changes() ? spellings.class_of(row[1]) : std::string(row[1]));
    any_shared = any_shared || truth < before;
    if (truths[*task] != kNoClass && truths[*task] != truth) {
      return {2,
              fmt::format("task '{}' has another truth already: '{}'", row[0], classes[truths[*task]])};
    }
    truths[*task] = truth;
    return {};
  });
  const auto known = static_cast<std::uint64_t>(
      std::count_if(truths.begin(), truths.end(), [](ClassId c) { return c != kNoClass; }));
  if (known == 0 && input.report().skipped_rows > 0) {
    throw Error(ErrorCode::data, Location{input.report().source, 0, 0},
                fmt::format("no row is the truth of a task that is there; the first: {}",
                            input.report().first_skipped));
  }
  if (known == 0 && unknown > 0) {
    throw Error(ErrorCode::data, Location{input.report().source, 0, 0},
                "no row names a truth: all of them are empty");
  }
  if (report != nullptr) {
    *report = input.report();
    if (unknown > 0)
      report->notes.push_back(count_noun(unknown, "row") + (unknown == 1 ? " names" : " name") +
                              " no truth");
    report->spelled_otherwise =
        compare_spellings(classes, before, known, any_shared, report->notes) == TruthSpelling::differs;
  }
  return truths;
}

std::vector<ClassId> read_truths(const std::string& path, Labels& labels, const ReadOptions& options,
                                 ReadReport* report) {
  NameTable classes = labels.classes();
  const std::uint32_t before = classes.size();
  std::vector<ClassId> truths = read_truths(path, labels.tasks(), classes, options, report);
  if (report != nullptr && !report->spelled_otherwise)
    append_unnamed_truths(report->notes, classes, before, truths);
  labels = std::move(labels).with_classes(std::move(classes));
  return truths;
}

std::vector<std::pair<std::string, std::string>> read_truth_rows(const std::string& path,
                                                                 const ReadOptions& options) {
  TableInput input(path, options, {task_role(), truth_role()});
  std::vector<std::pair<std::string, std::string>> rows;
  std::uint64_t bytes = 0;
  input.holds([&] { return bytes; });
  input.for_each_row([&](Row row, bool) -> Complaint {
    if (row[0].empty()) return {1, "no task: the field is empty"};
    if (row[1].empty()) return {};
    rows.emplace_back(row[0], row[1]);
    bytes += sizeof(rows[0]) + row[0].size() + row[1].size();
    return {};
  });
  return rows;
}

std::vector<WorkerCounts> read_workers(const std::string& path, NameTable& workers, double alpha,
                                       double beta, const ReadOptions& options, ReadReport* report) {
  TableInput input(path, options, {worker_role(), {"quality", {"quality"}}, {"labels", {"labels"}}});
  std::vector<WorkerCounts> counts(workers.size());
  std::unordered_set<WorkerId> listed;
  constexpr std::size_t kListedBytes = 32;  // of a worker in such a set
  input.holds([&] { return workers.bytes() + (sizeof(WorkerCounts) + kListedBytes) * counts.size(); });
  input.for_each_row([&](Row row, bool) -> Complaint {
    double quality = 0;
    double seen = 0;
    if (!parse_number(row[1], 0, 1, quality))
      return {2, fmt::format("'{}' is not a quality: 0 to 1", row[1])};
    if (!parse_number(row[2], 0, 1e15, seen))
      return {3, fmt::format("'{}' is not a number of labels", row[2])};
    if (row[0].empty()) return {1, "no worker: the field is empty"};
    const WorkerId worker = workers.intern(row[0]);
    if (!listed.insert(worker).second)
      return {1, fmt::format("worker '{}' has a row already: one row for each worker", row[0])};
    counts.resize(workers.size());
    // quality = (correct + alpha) / (seen + alpha + beta). Whole counts come back whole.
    double correct = std::clamp(quality * (seen + alpha + beta) - alpha, 0.0, seen);
    if (std::abs(correct - std::round(correct)) < 1e-6) correct = std::round(correct);
    counts[worker] = {correct, seen};
    return {};
  });
  if (report != nullptr) *report = input.report();
  return counts;
}

std::vector<WorkerCounts> read_workers(const std::string& path, Labels& labels, double alpha,
                                       double beta, const ReadOptions& options, ReadReport* report) {
  NameTable workers = labels.workers();
  std::vector<WorkerCounts> counts = read_workers(path, workers, alpha, beta, options, report);
  labels = std::move(labels).with_workers(std::move(workers));
  return counts;
}

std::vector<FamilyRow> read_families(const std::string& path, const ReadOptions& options,
                                     ReadReport* report) {
  TableInput input(path, options,
                   {{"judge", {"judge", "worker", "annotator", "model", "name"}},
                    {"family", {"family", "group", "vendor", "provider", "lineage"}},
                    {"cost", {"cost", "price", "costs"}, false}});
  const std::size_t cost = input.field_of("cost");
  std::vector<FamilyRow> rows;
  NameTable judges("judges", kMaxWorkers);
  input.holds([&] { return judges.bytes() + sizeof(FamilyRow) * rows.size(); });
  input.for_each_row([&](Row row, bool) -> Complaint {
    if (row[0].empty()) return {1, "no judge: the field is empty"};
    FamilyRow found{std::string(row[0]), std::string(row[1]), 1};
    if (cost != kNoColumn && cost < row.size() && !row[cost].empty() &&
        !(parse_number(row[cost], 0, 1e15, found.cost) && found.cost > 0))
      return {cost + 1, fmt::format("'{}' is not a cost: a number above 0", row[cost])};
    if (judges.intern(row[0]) != rows.size())
      return {1, fmt::format("judge '{}' has a family already", row[0])};
    rows.push_back(std::move(found));
    return {};
  });
  if (report != nullptr) *report = input.report();
  return rows;
}

Estimates read_estimates(const std::string& path, const ReadOptions& options, ReadReport* report) {
  TableInput input(path, options, {task_role(), label_role(), {"confidence", {"confidence"}, false}},
                   true);
  const std::size_t confidence = input.field_of("confidence");
  const std::size_t first_class = confidence == kNoColumn ? 2 : 3;
  const std::size_t num_fields = input.field_names().size();
  Estimates estimates;
  estimates.tasks = NameTable("tasks", kMaxTasks);
  estimates.classes = NameTable("classes", kMaxClasses);
  // Columns behind the confidence are classes.
  const bool posterior = confidence != kNoColumn && num_fields > first_class;
  for (std::size_t i = first_class; posterior && i < num_fields; ++i) {
    std::string_view name = input.field_names()[i];
    if (name.starts_with(kPosteriorKey) && input.report().format.starts_with("json"))
      name.remove_prefix(kPosteriorKey.size());
    if (name.find('\0') != name.npos) {
      throw Error(ErrorCode::data, Location{input.report().source, 0, 0},
                  "a NUL character (\\u0000) in the name of a class: no name may hold one");
    }
    if (estimates.classes.intern(name) != i - first_class) {
      throw Error(ErrorCode::usage, Location{input.report().source, 0, 0},
                  fmt::format("two columns are named '{}': there is one for each class", name));
    }
  }

  input.holds([&] { return bytes_of(estimates); });
  std::vector<double> probabilities(num_fields);  // of the row, by field
  input.for_each_row([&](Row row, bool) -> Complaint {
    if (estimates.tasks.find(row[0]))
      return {1, fmt::format("task '{}' has an estimate already", row[0])};
    const bool known = !row[1].empty();
    for (std::size_t i = 2; i < num_fields; ++i) {
      if (i != confidence && !posterior) continue;
      probabilities[i] = 0;
      if (!known && row[i].empty()) continue;
      if (!parse_number(row[i], 0, 1, probabilities[i]))
        return {i + 1, fmt::format("'{}' is not a probability", row[i])};
    }
    estimates.tasks.intern(row[0]);
    estimates.estimate.push_back(known ? class_id(estimates.classes, row[1]) : kNoClass);
    if (confidence != kNoColumn) estimates.confidence.push_back(probabilities[confidence]);
    for (std::size_t i = first_class; posterior && i < num_fields; ++i)
      estimates.posterior.push_back(probabilities[i]);
    return {};
  });
  if (report != nullptr) *report = input.report();
  return estimates;
}

}  // namespace crowdfold
