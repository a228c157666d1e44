// Files of labels: read whole by one thread, in small blocks by several, row by row, and aggregated on
// both roads.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "crowdfold/aggregate.h"
#include "crowdfold/error.h"
#include "crowdfold/exports.h"
#include "fuzz.h"
#include "io/input_table.h"
#include "io/label_rows.h"

namespace crowdfold::fuzz {
namespace {

RunContext with_threads(int threads) {
  RunContext context;
  context.threads = threads;
  return context;
}

std::string labels_text(const Labels& labels) {
  std::string text = text_of(labels.tasks()) + text_of(labels.workers()) + text_of(labels.classes());
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const TaskLabels task = labels.task(t);
    for (std::size_t j = 0; j < task.size(); ++j)
      text += fmt::format("{}={} ", task.workers[j], task.classes[j]);
    text += '\n';
  }
  const RowCounts& rows = labels.rows();
  return text + fmt::format("{} {} {}\n", rows.read, rows.abstentions, rows.duplicates);
}

std::string read_by_reader(const std::string& path, const ReadOptions& options, int threads) {
  return outcome(path, [&] {
    ReadReport report;
    const Labels labels = read_labels(path, options, with_threads(threads), &report);
    return labels_text(labels) + text_of(report);
  });
}

std::string read_by_rows(const std::string& path, const ReadOptions& options) {
  return outcome(path, [&] {
    TableInput input(path, options, {task_role(), worker_role(), label_role()});
    LabelsBuilder builder(options.duplicates);
    const LabelRows rows(input.format());
    BlockOutcome left_out;
    input.for_each_row([&](Row row, bool) {
      return rows.read(row, left_out, [&](auto task, auto worker, auto label) {
        const auto& abstain = options.abstain;
        const bool abstains = std::find(abstain.begin(), abstain.end(), label) != abstain.end();
        builder.add(task, worker, abstains ? std::string_view() : label);
      });
    });
    return labels_text(builder.build()) + text_of(input.report());
  });
}

// Methods that say the same on both roads. One that takes few classes is left out: task by task it
// refuses more of them as soon as they come, and in memory behind all that may be wrong with later rows.
const std::vector<std::string>& methods_of_both_roads() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> found;
    for (const MethodInfo& method : methods()) {
      const Traits& traits = method.traits;
      if (method.make_online && traits.online_equals_batch && traits.most_classes == kMaxClasses)
        found.push_back(method.name);
    }
    return found;
  }();
  return names;
}

std::string answers(AggregateRequest request, Road road, int threads) {
  request.road = road;
  return outcome(request.labels[0], [&] {
    const AggregateSummary summary = aggregate(request, with_threads(threads));
    std::string text = text_of(summary.tasks()) + text_of(summary.workers());
    for (std::size_t t = 0; t < summary.result.estimate.size(); ++t) {
      const ClassId label = summary.result.estimate[t];
      text += fmt::format("{} {}\n", label == kNoClass ? "" : summary.classes()[label],
                          summary.result.confidence[t]);
    }
    for (WorkerId w = 0; w < summary.workers().size(); ++w) {
      const WorkerCounts counts = summary.result.learned.counts_of(w);
      text += fmt::format("{}/{} ", counts.correct, counts.seen);
    }
    return text;
  });
}

}  // namespace

void labels(std::string_view input) {
  Choices choices(input);
  ReadOptions options = read_options(choices);
  const ReadOptions small = in_small_blocks(options, choices);
  const int threads = 1 + static_cast<int>(choices.below(4));
  const MemoryFile file(input);
  if (is_export(file.path(), options)) return;  // exports.cc
  const std::string whole = read_by_reader(file.path(), options, 1);
  expect_same("labels, whole and in blocks", whole, read_by_reader(file.path(), small, threads));
  if (!is_error(whole) && options.duplicates != Duplicates::error)
    expect_same("labels, by the reader and by rows", whole, read_by_rows(file.path(), small));

  AggregateRequest request;
  request.method = methods_of_both_roads()[choices.below(methods_of_both_roads().size())];
  request.labels = {file.path()};
  request.read = options;
  const std::string in_memory = answers(request, Road::in_memory, 1);
  request.read = small;
  const std::string by_task = answers(request, Road::low_memory, threads);
  // In memory, a bad row is told before a second label in the rows above it, which is looked for later.
  const bool either =
      options.duplicates == Duplicates::error && is_error(in_memory) && is_error(by_task);
  if (!either) expect_same("answers, in memory and task by task", in_memory, by_task);

  if (choices.below(2) == 0) return;
  for (ReadOptions* more : {&request.read, &options}) {
    more->fold_case = true;
    more->normalize = true;
    more->multi_select = MultiSelect::first;
    more->skip_lines = input.size() % 2;
    more->wide = !more->skip_bad_rows;
  }
  expect_same("labels with more options, whole and in blocks", read_by_reader(file.path(), options, 1),
              read_by_reader(file.path(), request.read, threads));
}

}  // namespace crowdfold::fuzz
