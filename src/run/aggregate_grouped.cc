#include "run/aggregate_grouped.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "crowdfold/error.h"
#include "io/exports/export_format.h"
#include "io/grouped_tasks.h"
#include "io/label_notes.h"
#include "io/packed/read_packed.h"
#include "io/records.h"
#include "labels/task_history.h"
#include "methods/one_label.h"
#include "methods/online_driver.h"
#include "methods/overlap.h"
#include "run/packed_answers.h"

namespace crowdfold {
namespace {

constexpr std::size_t kWriteBytes = 1 << 20;
constexpr std::uint64_t kHistoryBytes = 8;  // of a task in a TaskHistory

constexpr const char* kOneLabelPrevails =
    "most labels are by workers who give one label and no other, as labelling functions do; a single "
    "pass cannot know that, and its answers may be worse than a majority vote: leave out --grouped and "
    "--low-memory, or say --method mv";

// Pipes, which nobody looked at before. Error(usage) if one of them begins as an export.
OpenedPipes pipes_of_tables(const std::vector<std::string>& paths, const ReadOptions& options,
                            const RunContext& context) {
  OpenedPipes pipes;
  if (std::all_of(paths.begin(), paths.end(), is_rereadable)) return pipes;
  if (holds_exports(paths, within(context, options), pipes))
    throw Error(ErrorCode::usage, std::string(kNotTaskByTask) + kExportIsWhole);
  return pipes;
}

// Takes the estimates of all tasks, in order. After begin() everything that came before is forgotten.
class EstimateSink {
 public:
  virtual ~EstimateSink() = default;
  virtual void begin(const NameTable& classes) = 0;
  virtual void add(std::string_view task, const Estimate& estimate) = 0;
  virtual void finish() = 0;
};

// Writes them to a file.
class FileSink final : public EstimateSink {
 public:
  FileSink(const AggregateRequest& request, OutputFile::When when, const RunContext& context)
      : request_(request), when_(when), context_(context) {}

  void begin(const NameTable& classes) override {
    text_.clear();
    file_.reset();  // what it holds goes away before another takes its place
    format_.emplace(kind_of(request_.output, request_.write), classes, false);
    file_.emplace(request_.output, format_->records(), when_, context_.cancelled);
  }
  void add(std::string_view task, const Estimate& estimate) override {
    if (text_.size() >= kWriteBytes) flush();
    format_->append(text_, task, estimate, {});
  }
  void finish() override {
    flush();
    file_->commit();
  }

 private:
  void flush() {
    file_->write(text_);
    text_.clear();
  }

  const AggregateRequest& request_;
  OutputFile::When when_;
  const RunContext& context_;
  std::optional<EstimateFormat> format_;
  std::optional<RecordOutput> file_;
  std::string text_;
};

// Keeps them.
class MemorySink final : public EstimateSink {
 public:
  explicit MemorySink(AggregateSummary& summary) : summary_(summary) {}

  void begin(const NameTable&) override {
    names_.clear();
    ends_.clear();
    estimate_.clear();
    confidence_.clear();
  }
  void add(std::string_view task, const Estimate& estimate) override {
    names_.insert(names_.end(), task.begin(), task.end());
    ends_.push_back(names_.size());
    estimate_.push_back(estimate.label);
    confidence_.push_back(estimate.confidence);
  }
  void finish() override {
    summary_.names.tasks = NameTable("tasks", kMaxTasks, std::move(names_), std::move(ends_));
    summary_.result.estimate = std::move(estimate_);
    summary_.result.confidence = std::move(confidence_);
  }

 private:
  AggregateSummary& summary_;
  FlatArray<char> names_;
  FlatArray<std::uint64_t> ends_;
  FlatArray<ClassId> estimate_;
  FlatArray<double> confidence_;
};

class GroupedAggregation {
 public:
  GroupedAggregation(const AggregateRequest& request, const RunContext& context,
                     AggregateSummary& summary, std::vector<ReadReport>& reports)
      : request_(request), context_(context), summary_(summary), reports_(reports) {
    for (const std::string& name : request.classes) named_.intern(name);
    if (request.output.empty()) {
      sink_ = std::make_unique<MemorySink>(summary);
    } else {
      sink_ = std::make_unique<FileSink>(
          request, is_vouched() ? OutputFile::When::as_it_comes : OutputFile::When::at_the_end, context);
    }
  }

  bool run() {
    const MethodInfo& method = find_method(request_.method);
    std::unique_ptr<OnlineMethod> learner = method.make_online(request_.settings, context_.seed);
    const bool twice = needs_second_look(*learner);
    if (twice && any_packed(request_.labels)) {
      run_packed(std::move(learner));
      return true;
    }
    if (twice && !learn(*learner)) return false;
    Judging outcome = judge(*learner, !twice);
    if (outcome == Judging::changed && !twice) {
      // A class turned up late, so confidences given before it were too high. It is known now.
      learner = method.make_online(request_.settings, context_.seed);
      learner->expect(0, classes_expected_);
      outcome = judge(*learner, true);
    }
    if (outcome == Judging::not_grouped) return false;
    require_same(outcome);
    if (!workers_meet_ || classes_expected_ == 1) {
      // The prior rules, as for labels in memory; answers that were given as they came stay.
      learner = std::make_unique<PriorMethod>(learner->state());
      learner->expect(0, classes_expected_);
      if (!is_vouched()) require_same(judge(*learner, false));
    }
    sink_->finish();
    report(*learner);
    return true;
  }

 private:
  // changed: the input does not hold what was expected of it.
  enum class Judging { done, not_grouped, changed };
  struct Counts {
    std::uint64_t rows = 0;
    std::uint64_t tasks = 0;
    std::uint64_t workers = 0;
    std::uint64_t classes = 0;
    bool operator==(const Counts&) const = default;
  };

  void require_same(Judging outcome) const {
    if (outcome == Judging::done) return;
    throw Error(ErrorCode::data, Location{reports_[0].source, 0, 0},
                "the second reading met what the first did not: the file changes while it is read; run "
                "again once it is complete");
  }

  // Packed labels, where all workers and classes are known from the start: a method that judges when it
  // has learned judges blocks side by side.
  void run_packed(std::unique_ptr<OnlineMethod> learner) {
    const PackedLabels labels = open_packed_labels(request_.labels, request_.read, context_);
    reports_ = {report_on(labels, request_.read)};
    require_labels(reports_, labels.rows().read);
    classes_expected_ = with_named(labels.classes());
    learner->expect(labels.workers().size(), classes_expected_);
    ChunkLearner chunks(*learner);
    std::vector<TaskLabels> tasks;  // of a block
    const bool counts_labels = counts_one_label();
    OneLabelCounts one_label;
    labels.in_order("learning", context_, PackedLabels::Names::no,
                    [&](const TaskBlock& block, const TaskNames&) {
                      tasks.clear();
                      for (TaskId t = block.first(); t < block.last(); ++t) {
                        const TaskLabels& task = tasks.emplace_back(block.task(t));
                        workers_meet_ = workers_meet_ || workers_meet(task);
                        if (lone_.others() < labels.workers().size()) lone_.add(task);
                        if (counts_labels) one_label.add(task);
                      }
                      if (chunks.size() == 1) return learner->learn_chunk(tasks);
                      for (const TaskLabels& task : tasks) chunks.add(task);
                    });
    chunks.finish();
    quality_of_lone_ = lone_.quality_of_others(learner->state());
    if (one_label.prevail()) reports_.back().notes.emplace_back(kOneLabelPrevails);
    if (!workers_meet_ || classes_expected_ == 1) {
      learner = std::make_unique<PriorMethod>(learner->state());
      learner->expect(labels.workers().size(), classes_expected_);
    }
    const OnlineMethod& judge = *learner;
    give_answers(
        request_, labels, BlocksWith::labels, labels.classes(),
        [&](const TaskBlock& block, std::span<Estimate> estimates, std::span<double>) {
          for (TaskId t = block.first(); t < block.last(); ++t)
            estimates[t - block.first()] = second_look(judge, block.task(t));
        },
        context_, summary_);
    summary_.counts = {labels.num_labels(),     labels.num_tasks(), labels.workers().size(),
                       labels.classes().size(), labels.rows(),      false};
    summary_.names.workers = labels.workers();
    summary_.names.classes = labels.classes();
    report(judge);
  }

  // For methods that know such workers only where they hold all labels.
  bool counts_one_label() const {
    const Traits& traits = find_method(request_.method).traits;
    return traits.has_confusion && !traits.online_equals_batch;
  }

  // Of a task that the method has learned from.
  Estimate second_look(const OnlineMethod& method, const TaskLabels& labels) const {
    return lone_.labelled(labels) ? judge_by_prior(labels, classes_expected_, {}, quality_of_lone_)
                                  : method.estimate(labels);
  }

  void report(const OnlineMethod& learner) {
    summary_.result.learned = learner.state();
    lone_.forget(summary_.result.learned, std::span<const WorkerCounts>());
    summary_.result.doubt = learner.doubt();
    summary_.result.learned.counts.resize(summary_.names.workers.size());
  }

  // The caller says that no task comes back.
  bool is_vouched() const { return request_.road == Road::grouped; }

  std::unique_ptr<TaskSource> open() const {
    return open_tasks(request_.labels, request_.read, context_, is_vouched() ? 0 : kHistoryBytes,
                      pipes_of_tables(request_.labels, request_.read, context_));
  }

  // The first of two readings: learns, gives nothing. False if the input is not grouped.
  bool learn(OnlineMethod& method) {
    const std::unique_ptr<TaskSource> opened = open();
    TaskSource& tasks = *opened;
    TaskHistory history;
    ChunkLearner learner(method);
    tasks.run(
        [&] {
          classes_expected_ = known_classes(tasks);
          method.expect(tasks.workers().size(), classes_expected_);
          return !history.repeated();
        },
        [&](std::string_view, std::uint64_t hash, const TaskLabels& labels) {
          if (tasks.has_rows() && !is_vouched()) history.add(hash);
          lone_.add(labels);
          learner.add(labels);
        });
    learner.finish();
    history.finish();
    quality_of_lone_ = lone_.quality_of_others(method.state());
    learned_ = {tasks.rows().read, tasks.tasks(), tasks.workers().size(), tasks.classes().size()};
    return !history.repeated();
  }

  // Judges task after task, learning from each if `learning`.
  Judging judge(OnlineMethod& method, bool learning) {
    const std::unique_ptr<TaskSource> opened = open();
    TaskSource& tasks = *opened;
    TaskHistory history;
    bool grew = false;
    std::uint64_t without_estimate = 0;
    std::string last;  // task
    const bool counts_labels = counts_one_label();
    OneLabelCounts one_label;
    sink_->begin(tasks.classes());
    tasks.run(
        [&] {
          const std::uint32_t classes = known_classes(tasks);
          grew = grew || (tasks.tasks() > 0 && classes > classes_expected_);
          classes_expected_ = std::max(classes_expected_, classes);
          method.expect(tasks.workers().size(), classes);
          return !history.repeated();
        },
        [&](std::string_view task, std::uint64_t hash, const TaskLabels& labels) {
          if (tasks.has_rows() && learning && !is_vouched()) history.add(hash);
          workers_meet_ = workers_meet_ || workers_meet(labels);
          if (counts_labels) one_label.add(labels);
          const Estimate estimate = learning ? method.observe(labels) : second_look(method, labels);
          if (estimate.label == kNoClass) ++without_estimate;
          last.assign(task);
          sink_->add(task, estimate);
        });
    history.finish();
    if (history.repeated()) return Judging::not_grouped;

    reports_ = tasks.reports();
    require_labels(reports_, tasks.rows().read);
    const Counts counts = {tasks.rows().read, tasks.tasks(), tasks.workers().size(),
                           tasks.classes().size()};
    if (learning ? grew && !is_vouched() : counts != learned_) return Judging::changed;
    learned_ = counts;
    if (tasks.has_rows()) {
      append_notes(
          reports_.back().notes,
          {tasks.source(), tasks.labels(), tasks.rows().duplicates, tasks.tasks(), tasks.workers(),
           tasks.classes(), workers_meet_, last, tasks.header()},
          [&] { return tasks.class_counts(); }, tasks.unmet_abstentions(), request_.read);
    }
    if (one_label.prevail()) reports_.back().notes.emplace_back(kOneLabelPrevails);
    summary_.tasks_without_estimate = without_estimate;
    summary_.counts = {tasks.labels(),         tasks.tasks(), tasks.workers().size(),
                       tasks.classes().size(), tasks.rows(),  false};
    summary_.names.workers = tasks.workers();
    summary_.names.classes = tasks.classes();
    return Judging::done;
  }

  // Met so far, or named beforehand.
  std::uint32_t known_classes(const TaskSource& tasks) const { return with_named(tasks.classes()); }
  std::uint32_t with_named(const NameTable& classes) const {
    std::uint64_t known = classes.size();
    for (std::uint32_t c = 0; c < named_.size(); ++c) known += classes.find(named_[c]) ? 0 : 1;
    if (known > kMaxClasses) {
      throw Error(ErrorCode::data,
                  fmt::format("more than {} different classes: they do not fit", kMaxClasses));
    }
    return static_cast<std::uint32_t>(known);
  }

  const AggregateRequest& request_;
  const RunContext& context_;
  AggregateSummary& summary_;
  std::vector<ReadReport>& reports_;
  std::unique_ptr<EstimateSink> sink_;
  NameTable named_{"classes", kMaxClasses};  // beforehand
  std::uint32_t classes_expected_ = 0;
  Counts learned_;             // of the first of two readings
  bool workers_meet_ = false;  // on any task
  LoneWorkers lone_;           // by the first of two readings; answers that were given as they came stay
  double quality_of_lone_ = kUnknownQuality;
};

}  // namespace

bool aggregate_grouped(const AggregateRequest& request, const RunContext& context,
                       AggregateSummary& summary, std::vector<ReadReport>& reports) {
  try {
    return GroupedAggregation(request, context, summary, reports).run();
  } catch (const DuplicateLabel& error) {
    rethrow_with_place(error, request.labels, request.read);
  }
}

}  // namespace crowdfold
