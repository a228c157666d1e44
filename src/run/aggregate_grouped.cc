#include "run/aggregate_grouped.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

#include "crowdfold/error.h"
#include "io/exports/export_format.h"
#include "io/label_notes.h"
#include "io/label_reader.h"
#include "io/records.h"
#include "io/room.h"
#include "methods/one_label.h"
#include "methods/online_driver.h"
#include "methods/overlap.h"
#include "run/task_history.h"

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

// Reads the input once and gives out tasks, one after another, as they are closed by the next one.
class GroupedTasks {
 public:
  // `bytes_per_task`: memory that the caller takes for each.
  GroupedTasks(const std::vector<std::string>& paths, const ReadOptions& options,
               const RunContext& context, std::uint64_t bytes_per_task)
      : context_(context),
        bytes_per_task_(bytes_per_task),
        reader_(paths, options, context, pipes_of_tables(paths, options, context)),
        writers_(make_writers(options, context)),
        deduplicator_(options.duplicates, 0) {}

  using OnTask =
      std::function<void(std::string_view task, std::uint64_t hash, const TaskLabels& labels)>;

  // before_block is called when a block's names are known, before its tasks. False from it ends the
  // reading.
  void run(const std::function<bool()>& before_block, const OnTask& on_task) {
    reader_.run([&](int thread) -> BlockWriter& { return writers_[static_cast<std::size_t>(thread)]; },
                [&](const LabelBlock& block) {
                  if (stopped_) return;
                  ids.absorb(block);
                  deduplicator_.grow(ids.workers.size());
                  stopped_ = !before_block();
                  if (!stopped_) take(block, on_task);
                  require_room(reader_.source(), "its labels", bytes(), context_.max_memory);
                });
    if (!stopped_ && open_) close(on_task);
  }

  IdMap ids;
  std::uint64_t count = 0;  // of tasks
  std::uint64_t labels = 0;
  std::vector<std::uint64_t> class_counts;  // of labels
  std::uint64_t duplicates() const { return deduplicator_.duplicates; }
  const LabelReader& reader() const { return reader_; }

 private:
  void take(const LabelBlock& block, const OnTask& on_task) {
    const std::vector<WorkerId>& worker_of = ids.workers_of(block.reader);
    const std::vector<ClassId>& class_of = ids.classes_of(block.reader);
    for (std::size_t run = 0; run < block.num_runs(); ++run) {
      const std::string_view task = block.name(run);
      if (open_ && task != task_) close(on_task);
      if (!open_) {
        open_ = true;
        task_.assign(task);
        hash_ = block.hashes[run];
      }
      for (std::uint32_t j = block.label_begin(run); j < block.label_ends[run]; ++j) {
        workers_.push_back(worker_of[block.workers[j]]);
        classes_.push_back(class_of[block.classes[j]]);
      }
    }
  }

  void close(const OnTask& on_task) {
    const std::size_t left = deduplicator_.apply(workers_.data(), classes_.data(), workers_.size());
    if (deduplicator_.offender != Deduplicator::kNobody) {
      throw DuplicateLabel(task_, ids.workers[deduplicator_.offender]);
    }
    class_counts.resize(ids.classes.size());
    for (std::size_t j = 0; j < left; ++j) ++class_counts[classes_[j]];
    on_task(task_, hash_, {count, std::span(workers_).first(left), std::span(classes_).first(left)});
    ++count;
    labels += left;
    workers_.clear();
    classes_.clear();
    open_ = false;
  }

  // Of memory: the names of workers, all tasks, and the labels of the open task.
  std::uint64_t bytes() const {
    return ids.bytes() + bytes_per_task_ * count +
           (sizeof(WorkerId) + sizeof(ClassId)) * workers_.size();
  }

  const RunContext& context_;
  std::uint64_t bytes_per_task_;
  LabelReader reader_;
  std::vector<BlockWriter> writers_;
  Deduplicator deduplicator_;
  bool stopped_ = false;

  // The task whose labels are coming in.
  bool open_ = false;
  std::string task_;
  std::uint64_t hash_ = 0;
  std::vector<WorkerId> workers_;
  std::vector<ClassId> classes_;
};

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
    summary_.result.learned = learner->state();
    lone_.forget(summary_.result.learned, {});
    summary_.result.doubt = learner->doubt();
    summary_.result.learned.counts.resize(summary_.names.workers.size());
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

  // The caller says that no task comes back.
  bool is_vouched() const { return request_.road == Road::grouped; }

  // The first of two readings: learns, gives nothing. False if the input is not grouped.
  bool learn(OnlineMethod& method) {
    GroupedTasks tasks(request_.labels, request_.read, context_, is_vouched() ? 0 : kHistoryBytes);
    TaskHistory history;
    ChunkLearner learner(method);
    tasks.run(
        [&] {
          classes_expected_ = known_classes(tasks);
          method.expect(tasks.ids.workers.size(), classes_expected_);
          return !history.repeated();
        },
        [&](std::string_view, std::uint64_t hash, const TaskLabels& labels) {
          if (!is_vouched()) history.add(hash);
          lone_.add(labels);
          learner.add(labels);
        });
    learner.finish();
    history.finish();
    quality_of_lone_ = lone_.quality_of_others(method.state());
    learned_ = {tasks.ids.rows, tasks.count, tasks.ids.workers.size(), tasks.ids.classes.size()};
    return !history.repeated();
  }

  // Judges task after task, learning from each if `learning`.
  Judging judge(OnlineMethod& method, bool learning) {
    GroupedTasks tasks(request_.labels, request_.read, context_, is_vouched() ? 0 : kHistoryBytes);
    TaskHistory history;
    bool grew = false;
    std::uint64_t without_estimate = 0;
    std::string last;  // task
    // For methods that know such workers only where they hold all labels.
    const Traits& traits = find_method(request_.method).traits;
    const bool counts_one_label = traits.has_confusion && !traits.online_equals_batch;
    OneLabelCounts one_label;
    sink_->begin(tasks.ids.classes);
    tasks.run(
        [&] {
          const std::uint32_t classes = known_classes(tasks);
          grew = grew || (tasks.count > 0 && classes > classes_expected_);
          classes_expected_ = std::max(classes_expected_, classes);
          method.expect(tasks.ids.workers.size(), classes);
          return !history.repeated();
        },
        [&](std::string_view task, std::uint64_t hash, const TaskLabels& labels) {
          if (learning && !is_vouched()) history.add(hash);
          workers_meet_ = workers_meet_ || workers_meet(labels);
          if (counts_one_label) one_label.add(labels);
          const Estimate estimate = learning ? method.observe(labels)
                                    : lone_.labelled(labels)
                                        ? judge_by_prior(labels, classes_expected_, {}, quality_of_lone_)
                                        : method.estimate(labels);
          if (estimate.label == kNoClass) ++without_estimate;
          last.assign(task);
          sink_->add(task, estimate);
        });
    history.finish();
    if (history.repeated()) return Judging::not_grouped;

    reports_ = tasks.reader().reports();
    require_labels(reports_, tasks.ids.rows);
    const Counts counts = {tasks.ids.rows, tasks.count, tasks.ids.workers.size(),
                           tasks.ids.classes.size()};
    if (learning ? grew && !is_vouched() : counts != learned_) return Judging::changed;
    learned_ = counts;
    tasks.reader().append_twins(reports_.back().notes);
    append_notes(
        reports_.back().notes,
        {tasks.reader().source(), tasks.labels, tasks.duplicates(), tasks.count, tasks.ids.workers,
         tasks.ids.classes, workers_meet_, last, tasks.reader().header()},
        [&] { return tasks.class_counts; }, tasks.reader().unmet_abstentions(), request_.read);
    if (one_label.prevail()) reports_.back().notes.emplace_back(kOneLabelPrevails);
    std::uint64_t skipped = 0;
    for (const ReadReport& report : reports_) skipped += report.skipped_rows;
    summary_.tasks_without_estimate = without_estimate;
    summary_.counts = {tasks.labels,
                       tasks.count,
                       tasks.ids.workers.size(),
                       tasks.ids.classes.size(),
                       {tasks.ids.rows, tasks.ids.abstentions, tasks.duplicates(), skipped},
                       false};
    summary_.names.workers = std::move(tasks.ids.workers);
    summary_.names.classes = std::move(tasks.ids.classes);
    return Judging::done;
  }

  // Met so far, or named beforehand.
  std::uint32_t known_classes(const GroupedTasks& tasks) const {
    std::uint64_t known = tasks.ids.classes.size();
    for (std::uint32_t c = 0; c < named_.size(); ++c) known += tasks.ids.classes.find(named_[c]) ? 0 : 1;
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
