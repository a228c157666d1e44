#include "run/aggregate_in_rounds.h"

#include <fmt/format.h>

#include <memory>
#include <unordered_map>
#include <utility>

#include "base/stopwatch.h"
#include "crowdfold/error.h"
#include "crowdfold/rounds.h"
#include "io/label_notes.h"
#include "io/packed/read_packed.h"
#include "methods/batch.h"
#include "run/counts.h"
#include "run/packed_answers.h"

namespace crowdfold {

std::string why_not_in_rounds(const AggregateRequest& request) {
  const MethodInfo& method = find_method(request.method);
  if (!method.works_in_rounds(request.settings)) {
    try {
      require_rounds(method, request.settings);
    } catch (const Error& error) {
      return error.what();
    }
  }
  if (request.keep_labels) return "a report needs the labels in memory";
  return "";
}

PackedLabels labels_in_blocks(const std::vector<std::string>& paths, const ReadOptions& options,
                              const std::string& folder, const RunContext& context,
                              const AggregateListener& listener) {
  std::vector<ReadReport> reports;
  const auto tell = [&] {
    if (!listener.on_read) return;
    for (const ReadReport& report : reports) listener.on_read(report);
  };
  if (any_packed(paths)) {
    PackedLabels labels = open_packed_labels(paths, options, context);
    reports = {report_on(labels, options)};
    require_labels(reports, labels.rows().read);
    tell();
    return labels;
  }
  PackSummary packed;
  PackedLabels labels =
      pack_temporarily({paths, options, folder}, context, &packed, {listener.on_space});
  reports = std::move(packed.reports);
  tell();
  return labels;
}

std::vector<ClassId> truths_by_task(const std::string& path, const ReadOptions& options,
                                    const PackedLabels& labels, NameTable& classes,
                                    const RunContext& context, ReadReport& report) {
  std::unordered_map<std::string, bool> named;
  for (auto& [task, label] : read_truth_rows(path, options)) named.emplace(std::move(task), false);
  NameTable known("tasks", kMaxTasks);
  std::vector<TaskId> ids;
  std::string name;
  labels.in_order("truths", context, PackedLabels::Names::only,
                  [&](const TaskBlock& block, const TaskNames& names) {
                    for (TaskId t = block.first(); t < block.last(); ++t) {
                      name = names[t];
                      if (!named.contains(name)) continue;
                      known.intern(name);
                      ids.push_back(t);
                    }
                  });
  const std::uint32_t before = classes.size();
  const std::vector<ClassId> of_known = read_truths(path, known, classes, options, &report);
  if (!report.spelled_otherwise) append_unnamed_truths(report.notes, classes, before, of_known);
  std::vector<ClassId> truths(labels.num_tasks(), kNoClass);
  for (std::size_t i = 0; i < of_known.size(); ++i) truths[ids[i]] = of_known[i];
  return truths;
}

AggregateSummary aggregate_in_rounds(const AggregateRequest& request, const std::string& folder,
                                     const RunContext& context, const AggregateListener& listener) {
  const MethodInfo& method = find_method(request.method);
  AggregateSummary summary;
  Stopwatch watch;
  PackedLabels labels = labels_in_blocks(request.labels, request.read, folder, context, listener);
  summary.counts = {
      labels.num_labels(),     labels.num_tasks(), counted_workers(labels.workers(), request.read),
      labels.classes().size(), labels.rows(),      false};
  if (listener.on_labels) listener.on_labels(summary.counts);
  tell_note(method, summary.counts, listener);

  NameTable workers = labels.workers();
  NameTable classes = labels.classes();
  for (const std::string& name : request.classes) classes.intern(name);
  Knowledge given;
  if (!request.truths.empty()) {
    ReadReport report;
    given.truths = truths_by_task(request.truths, within(context, request.read_known), labels, classes,
                                  context, report);
    if (listener.on_read) listener.on_read(report);
    labels.set_truths(given.truths);
  }
  if (!request.workers.empty()) {
    const BetaQuality prior = method.prior(request.settings);
    given.workers = read_workers(request.workers, workers, prior.alpha, prior.beta,
                                 within(context, request.read_known));
  }
  require_known(method.name, method.traits, classes.size(), given);
  if (context.confusion) {
    const std::uint64_t cells = std::uint64_t{classes.size()} * classes.size();
    require_memory(fmt::format("confusion matrices of {}", method.name),
                   sizeof(double) * workers.size() * cells, context);
  }
  summary.reading_seconds = watch.lap();

  if (classes.size() == 0) {  // all rows are abstentions
    give_answers(
        request, labels, BlocksWith::labels, classes,
        [](const TaskBlock&, std::span<Estimate> estimates, std::span<double>) {
          std::fill(estimates.begin(), estimates.end(), Estimate{});
        },
        context, summary);
    summary.result.learned.expect(workers.size(), 0);
  } else {
    const RoundsInput input = {workers.size(), classes.size(),     labels.num_labels(),
                               context.seed,   context.max_memory, &given};
    const std::unique_ptr<RoundModel> model = method.make_rounds(request.settings, input);
    run_rounds(*model, labels, context);
    summary.fitting_seconds = watch.lap();
    give_answers(
        request, labels, BlocksWith::labels, classes,
        [&](const TaskBlock& block, std::span<Estimate> estimates, std::span<double> posteriors) {
          model->answer(block, estimates, posteriors);
        },
        context, summary);
    model->report(context, summary.result);
  }
  summary.writing_seconds = watch.lap();
  summary.names.workers = std::move(workers);
  summary.names.classes = std::move(classes);
  return summary;
}

}  // namespace crowdfold
