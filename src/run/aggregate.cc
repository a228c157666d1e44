#include "crowdfold/aggregate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>

#include "base/stopwatch.h"
#include "crowdfold/error.h"
#include "crowdfold/exports.h"
#include "crowdfold/packed.h"
#include "io/label_notes.h"
#include "io/label_reader.h"
#include "io/packed/read_packed.h"
#include "io/room.h"
#include "run/aggregate_grouped.h"
#include "run/aggregate_in_rounds.h"
#include "run/counts.h"
#include "run/learning_ahead.h"
#include "run/packed_answers.h"

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

// In rounds over packed labels: those of the input, or a temporary packing of it.
AggregateSummary aggregate_spilled(const AggregateRequest& request, const RunContext& context,
                                   const AggregateListener& listener) {
  const std::string obstacle = why_not_in_rounds(request);
  if (!obstacle.empty()) throw Error(ErrorCode::usage, obstacle);
  return aggregate_in_rounds(request, spill_folder(request), context, listener);
}

// Whether names of tasks can stay in the file until estimates are written: they are as large as a fourth
// of the labels.
bool leaves_names(const AggregateRequest& request) {
  return any_packed(request.labels) && !request.keep_labels && request.truths.empty() &&
         !request.output.empty();
}

// Estimates that are there, with the names that stayed in the file.
void write_with_names(const AggregateRequest& request, const PackedLabels& packed,
                      const NameTable& classes, const RunContext& context, AggregateSummary& summary) {
  const Result& result = summary.result;
  RunContext of_writing = context;
  of_writing.posterior = !result.posterior.empty();
  give_answers(
      request, packed, BlocksWith::numbers, classes,
      [&](const TaskBlock& block, std::span<Estimate> estimates, std::span<double> posteriors) {
        for (TaskId i = 0; i < block.size(); ++i)
          estimates[i] = {result.estimate[block.first() + i], result.confidence[block.first() + i]};
        const std::size_t width = posteriors.size() / std::max<std::size_t>(1, estimates.size());
        std::copy_n(result.posterior.data() + block.first() * width, posteriors.size(),
                    posteriors.begin());
      },
      of_writing, summary);
}

AggregateSummary aggregate_in_memory(const AggregateRequest& request, const RunContext& context,
                                     const AggregateListener& listener) {
  Stopwatch watch;
  const MethodInfo& method = find_method(request.method);
  std::vector<ReadReport> reports;
  std::optional<PackedLabels> packed;
  std::unique_ptr<LearningAhead> ahead;
  Labels labels;
  if (leaves_names(request)) {
    packed = open_packed_labels(request.labels, request.read, context);
    reports = {report_on(*packed, request.read)};
    require_labels(reports, packed->rows().read);
    labels = packed->to_labels(context, PackedLabels::Names::no);
  } else {
    ahead = LearningAhead::of(request, context);
    labels = read_labels(request.labels, request.read, context, &reports, ahead.get());
  }
  if (listener.on_read) {
    for (const ReadReport& report : reports) listener.on_read(report);
  }
  ReadReport report;
  AggregateSummary summary;
  summary.counts = {
      labels.num_labels(),  labels.num_tasks(), counted_workers(labels.workers(), request.read),
      labels.num_classes(), labels.rows(),      true};
  if (listener.on_labels) listener.on_labels(summary.counts);
  tell_note(method, summary.counts, listener);

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
  if (packed) {
    write_with_names(request, *packed, labels.classes(), context, summary);
  } else {
    for (const ClassId c : summary.result.estimate)
      summary.tasks_without_estimate += c == kNoClass ? 1 : 0;
    if (!request.output.empty())
      write_estimates(request.output, labels, summary.result, context, request.write);
  }
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
  const std::uint64_t classes = labels.num_classes();
  context.posterior = has_small_posteriors(context, labels.num_tasks(), classes);
  context.confusion = context.confusion || (method.traits.has_confusion &&
                                            labels.num_workers() * classes * classes <= kSmallTable);
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

Road road_beside_memory(AggregateRequest request, const RunContext& context) {
  request.road = Road::low_memory;
  const std::string obstacle = why_in_memory(request, context);
  if (obstacle.empty()) return Road::low_memory;
  const std::string other = why_not_in_rounds(request);
  if (other.empty()) return Road::spilled;
  throw Error(ErrorCode::usage, fmt::format("{}{}, and {}", kNotTaskByTask, obstacle, other));
}

AggregateSummary aggregate(const AggregateRequest& request, const RunContext& context,
                           const AggregateListener& listener) {
  find_method(request.method).check(request.settings);  // before anything is read
  if (request.road == Road::spilled) return aggregate_spilled(request, context, listener);
  // Packed labels are on a disk already, where rounds are the quickest that needs no memory.
  const bool leaves_memory = request.road == Road::low_memory && any_packed(request.labels);
  if (leaves_memory && why_in_memory(request, context).empty() && why_not_in_rounds(request).empty())
    return aggregate_spilled(request, context, listener);
  if (!goes_task_by_task(request, context)) {
    if (request.road != Road::automatic ||
        !std::all_of(request.labels.begin(), request.labels.end(), is_rereadable))
      return aggregate_in_memory(request, context, listener);
    try {
      return aggregate_in_memory(request, context, listener);
    } catch (const LabelsOutOfRoom& error) {
      if (request.keep_labels) throw Error(error.code(), error.what() + std::string("; but no report"));
      if (!why_not_in_rounds(request).empty()) throw;
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
