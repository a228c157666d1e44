#include "crowdfold/aggregate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "base/stopwatch.h"
#include "crowdfold/error.h"
#include "crowdfold/exports.h"
#include "crowdfold/packed.h"
#include "io/label_reader.h"
#include "io/room.h"
#include "run/aggregate_grouped.h"
#include "run/aggregate_in_rounds.h"
#include "run/learning_ahead.h"

namespace crowdfold {
namespace {

constexpr const char* kInMemory = "need the labels in memory";

// Where labels are spilled.
std::string spill_folder(const AggregateRequest& request) {
  if (!request.spill.empty()) return request.spill;
  namespace fs = std::filesystem;
  if (request.output.empty() || request.output == "-" || fs::is_other(request.output))
    return fs::temp_directory_path();
  const fs::path folder = fs::path(request.output).parent_path();
  return folder.empty() ? "." : folder;
}

bool is_one_packed(const std::vector<std::string>& labels) {
  return labels.size() == 1 && is_packed(labels[0]);
}

bool asks_for_tasks(Road road) { return road == Road::low_memory || road == Road::grouped; }

// Whether to read task by task. Error(usage) if the caller asks for it and it does not fit.
bool goes_task_by_task(const AggregateRequest& request, const RunContext& context) {
  if (request.road == Road::in_memory) return false;
  const std::string obstacle = why_in_memory(request, context);
  if (asks_for_tasks(request.road)) {
    if (obstacle.empty()) return true;
    throw Error(ErrorCode::usage, kNotTaskByTask + obstacle);
  }
  // Methods that look twice are faster in memory.
  const MethodInfo& method = find_method(request.method);
  return obstacle.empty() && method.traits.online_equals_batch &&
         !method.needs_second_look(request.settings);
}

Labels with_known_classes(Labels labels, const std::vector<std::string>& known) {
  if (known.empty()) return labels;
  NameTable classes = labels.classes();
  for (const std::string& name : known) classes.intern(name);
  return std::move(labels).with_classes(std::move(classes));
}

std::uint64_t counted_workers(const NameTable& workers, const ReadOptions& options) {
  const std::set<std::string> without(options.without_workers.begin(), options.without_workers.end());
  const auto is_known = [&](const std::string& name) { return workers.find(name).has_value(); };
  return workers.size() -
         static_cast<std::uint64_t>(std::count_if(without.begin(), without.end(), is_known));
}

// In rounds over packed labels: those of the input, or a temporary packing of it.
AggregateSummary aggregate_spilled(const AggregateRequest& request, const RunContext& context,
                                   const AggregateListener& listener) {
  const std::string obstacle = why_not_in_rounds(request, context);
  if (!obstacle.empty()) throw Error(ErrorCode::usage, obstacle);
  AggregateSummary summary;
  std::vector<ReadReport> reports;
  Stopwatch watch;
  if (is_one_packed(request.labels)) {
    aggregate_in_rounds(request, PackedLabels(request.labels[0]), context, summary, reports);
  } else {
    PackSummary packed;
    PackedLabels labels = pack_temporarily({request.labels, request.read, spill_folder(request)},
                                           context, &packed, {listener.on_space});
    summary.reading_seconds = watch.lap();
    reports = std::move(packed.reports);
    AggregateRequest read = request;
    read.read.without_workers.clear();  // packing has left them out
    aggregate_in_rounds(read, std::move(labels), context, summary, reports);
  }
  if (listener.on_read) {
    for (const ReadReport& report : reports) listener.on_read(report);
  }
  summary.counts.workers = counted_workers(summary.workers(), request.read);
  if (listener.on_labels) listener.on_labels(summary.counts);
  return summary;
}

AggregateSummary aggregate_in_memory(const AggregateRequest& request, const RunContext& context,
                                     const AggregateListener& listener) {
  Stopwatch watch;
  const MethodInfo& method = find_method(request.method);
  std::vector<ReadReport> reports;
  const std::unique_ptr<LearningAhead> ahead = LearningAhead::of(request, context);
  Labels labels = read_labels(request.labels, request.read, context, &reports, ahead.get());
  if (listener.on_read) {
    for (const ReadReport& report : reports) listener.on_read(report);
  }
  ReadReport report;
  AggregateSummary summary;
  summary.counts = {
      labels.num_labels(),  labels.num_tasks(), counted_workers(labels.workers(), request.read),
      labels.num_classes(), labels.rows(),      true};
  if (listener.on_labels) listener.on_labels(summary.counts);

  labels = with_known_classes(std::move(labels), request.classes);
  Knowledge given;
  if (!request.truths.empty()) {
    given.truths = read_truths(request.truths, labels, within(context, request.read_known), &report);
    if (listener.on_read) listener.on_read(report);
  }
  if (!request.workers.empty()) {
    const BetaQuality prior = method.prior(request.settings);
    given.workers = read_workers(request.workers, labels, prior.alpha, prior.beta,
                                 within(context, request.read_known), &report);
  }
  summary.reading_seconds = watch.lap();
  summary.result = ahead != nullptr && ahead->knows(labels)
                       ? ahead->answer(labels, context)
                       : aggregate(labels, request.method, request.settings, given, context);
  summary.fitting_seconds = watch.lap();
  for (const ClassId c : summary.result.estimate)
    summary.tasks_without_estimate += c == kNoClass ? 1 : 0;
  if (!request.output.empty())
    write_estimates(request.output, labels, summary.result, context, request.write);
  summary.writing_seconds = watch.lap();
  summary.labels = std::move(labels);
  return summary;
}

}  // namespace

RunContext within_machine(RunContext wanted) {
  if (wanted.threads > kMaxThreads) {
    throw Error(ErrorCode::usage,
                fmt::format("{} threads: there can be at most {}", wanted.threads, kMaxThreads));
  }
  if (wanted.threads <= 0)
    wanted.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  if (wanted.max_memory == 0) {
    const auto pages = static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES)));
    wanted.max_memory = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 5 * 4;
  }
  return wanted;
}

RunContext with_small_tables(RunContext context, const MethodInfo& method, const Labels& labels) {
  constexpr std::uint64_t kSmall = 1 << 25;
  const std::uint64_t classes = labels.num_classes();
  context.posterior = context.posterior || labels.num_tasks() * classes <= kSmall;
  context.confusion = context.confusion || (method.traits.has_confusion &&
                                            labels.num_workers() * classes * classes <= kSmall);
  return context;
}

Result aggregate(const Labels& labels, const std::string& method, const Settings& settings,
                 const Knowledge& given, const RunContext& context) {
  return find_method(method).make(settings)->fit(labels, given, context);
}

std::string why_in_memory(const AggregateRequest& request, const RunContext& context) {
  const MethodInfo& method = find_method(request.method);
  if (!method.make_online) return fmt::format("{} works on whole data sets only", method.name);
  if (context.posterior) return fmt::format("posteriors {}", kInMemory);
  if (context.confusion) return fmt::format("confusion matrices {}", kInMemory);
  if (!request.truths.empty()) return fmt::format("known truths {}", kInMemory);
  if (!request.workers.empty()) return fmt::format("qualities of an earlier run {}", kInMemory);
  if (request.keep_labels) return "a report needs the labels in memory";
  if (method.shuffles(request.settings)) return "order=shuffled needs the labels in memory";
  if (method.learns_from_votes(request.settings))
    return "vote_rounds needs the labels in memory, or on a disk (--spill)";
  const auto is_of_platform = [&](const std::string& path) { return is_export(path, request.read); };
  if (!request.read.question.empty() || request.read.with_predictions ||
      std::any_of(request.labels.begin(), request.labels.end(), is_of_platform))
    return kExportIsWhole;
  const bool reads_once = request.road == Road::grouped && !method.needs_second_look(request.settings);
  for (const std::string& path : request.labels) {
    const bool is_there = path == "-" || std::filesystem::exists(path);
    if (is_there && !reads_once && !is_rereadable(path))
      return fmt::format("{} cannot be read a second time", path == "-" ? "standard input" : path);
  }
  return "";  // a file that is not there: reading says so
}

AggregateSummary aggregate(const AggregateRequest& request, const RunContext& context,
                           const AggregateListener& listener) {
  find_method(request.method).check(request.settings);  // before anything is read
  if (request.road == Road::spilled) return aggregate_spilled(request, context, listener);
  if (!goes_task_by_task(request, context)) {
    if (request.road != Road::automatic ||
        !std::all_of(request.labels.begin(), request.labels.end(), is_rereadable))
      return aggregate_in_memory(request, context, listener);
    try {
      return aggregate_in_memory(request, context, listener);
    } catch (const LabelsOutOfRoom& error) {
      if (find_method(request.method).make_rounds && !why_not_in_rounds(request, context).empty()) throw;
      if (!why_not_in_rounds(request, context).empty())
        throw Error(error.code(),
                    error.what() + std::string(", or take a method that reads them from a "
                                               "disk in rounds, such as --method fivepass"));
      try {
        return aggregate_spilled(request, context, listener);
      } catch (const Error& other) {
        if (other.code() != ErrorCode::usage) throw;
      }
      throw;  // not even packing found room
    }
  }
  AggregateSummary summary;
  std::vector<ReadReport> reports;
  if (!aggregate_grouped(request, context, summary, reports)) {
    if (listener.on_ungrouped) listener.on_ungrouped();
    return aggregate_in_memory(request, context, listener);
  }
  if (listener.on_read) {
    for (const ReadReport& report : reports) listener.on_read(report);
  }
  summary.counts.workers = counted_workers(summary.workers(), request.read);
  if (listener.on_labels) listener.on_labels(summary.counts);
  return summary;
}

}  // namespace crowdfold
