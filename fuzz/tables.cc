// The small tables, truths and workers: whole, and in small blocks.
#include <fmt/format.h>

#include "fuzz.h"

namespace crowdfold::fuzz {
namespace {

std::string truth_rows(const std::string& path, const ReadOptions& options) {
  std::string text;
  for (const auto& [task, label] : read_truth_rows(path, options))
    text += fmt::format("'{}' '{}'\n", task, label);
  return text;
}

std::string truths_of_tasks(const std::string& path, const ReadOptions& options) {
  NameTable tasks;
  for (const char* name : {"t1", "t2", "t3"}) tasks.intern(name);
  NameTable classes("classes", kMaxClasses);
  ReadReport report;
  std::string text;
  for (const ClassId truth : read_truths(path, tasks, classes, options, &report))
    text += fmt::format("{} ", truth);
  return text + text_of(classes) + text_of(report);
}

std::string workers(const std::string& path, const ReadOptions& options) {
  NameTable names("workers", kMaxWorkers);
  names.intern("w1");
  ReadReport report;
  std::string text;
  for (const WorkerCounts& counts : read_workers(path, names, 2, 2, options, &report))
    text += fmt::format("{}/{} ", counts.correct, counts.seen);
  return text + text_of(names) + text_of(report);
}

}  // namespace

void tables(std::string_view input) {
  Choices choices(input);
  const ReadOptions options = read_options(choices);
  const ReadOptions small = in_small_blocks(options, choices);
  const auto read = choices.of({truth_rows, truths_of_tasks, workers});
  const MemoryFile file(input);
  const auto outcome_with = [&](const ReadOptions& how) {
    return outcome(file.path(), [&] { return read(file.path(), how); });
  };
  expect_same("a table, whole and in blocks", outcome_with(options), outcome_with(small));
}

}  // namespace crowdfold::fuzz
