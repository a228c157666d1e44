#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "crowdfold/io.h"
#include "io/label_reader.h"
#include "io/records.h"
#include "methods/online_driver.h"
#include "run/task_history.h"

namespace crowdfold {
namespace {

constexpr std::size_t kWriteBytes = 1 << 20;

// Reads the input once and gives out tasks, one after another, as they are closed by the next one.
class GroupedTasks {
 public:
  GroupedTasks(const std::string& path, const ReadOptions& options, const RunContext& context)
      : reader_(path, options, context),
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
                });
    if (!stopped_ && open_) close(on_task);
  }

  IdMap ids;
  std::uint64_t tasks = 0;
  std::uint64_t labels = 0;
  std::uint64_t duplicates() const { return deduplicator_.duplicates; }
  const ReadReport& report() const { return reader_.input().report(); }

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
    const std::size_t count = deduplicator_.apply(workers_.data(), classes_.data(), workers_.size());
    if (deduplicator_.offender != Deduplicator::kNobody) {
      throw DuplicateLabel(task_, ids.workers[deduplicator_.offender]);
    }
    on_task(task_, hash_, {tasks, std::span(workers_).first(count), std::span(classes_).first(count)});
    ++tasks;
    labels += count;
    workers_.clear();
    classes_.clear();
    open_ = false;
  }

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

// Collects text and writes it in large pieces.
class Lines {
 public:
  explicit Lines(OutputFile& file) : file_(file) {}
  std::string& text() {
    if (text_.size() >= kWriteBytes) flush();
    return text_;
  }
  void flush() {
    file_.write(text_);
    text_.clear();
  }

 private:
  OutputFile& file_;
  std::string text_;
};

class GroupedAggregation {
 public:
  GroupedAggregation(const std::string& path, const ReadOptions& read, const GroupedOptions& options,
                     const std::string& output, const RunContext& context)
      : path_(path), read_(read), options_(options), output_(output), context_(context) {}

  GroupedSummary run(const MethodInfo& method, const Settings& settings) {
    std::unique_ptr<OnlineMethod> learner = method.make_online(settings, context_.seed);
    if (needs_second_look(*learner)) {
      if (learn(*learner)) write(*learner, false);
      return finish(*learner);
    }
    if (write(*learner, true) == Writing::classes_grew) {
      // A class turned up late, so confidences written before it were too high. It is known now.
      const std::uint32_t classes = summary_.classes.size();
      learner = method.make_online(settings, context_.seed);
      learner->expect(0, classes);
      write(*learner, true);
    }
    return finish(*learner);
  }

  ReadReport report;

 private:
  enum class Writing { done, not_grouped, classes_grew };

  // The first of two readings: learns, writes nothing. False if the input is not grouped.
  bool learn(OnlineMethod& method) {
    GroupedTasks stream(path_, read_, context_);
    TaskHistory history;
    ChunkLearner learner(method);
    stream.run(
        [&] {
          classes_expected_ = known_classes(stream);
          method.expect(stream.ids.workers.size(), classes_expected_);
          return !history.repeated();
        },
        [&](std::string_view, std::uint64_t hash, const TaskLabels& labels) {
          if (!options_.grouped) history.add(hash);
          learner.add(labels);
        });
    learner.finish();
    history.finish();
    summary_.grouped = !history.repeated();
    return summary_.grouped;
  }

  // Judges task after task and writes the estimates.
  Writing write(OnlineMethod& method, bool learning) {
    GroupedTasks stream(path_, read_, context_);
    TaskHistory history;
    OutputFile file(output_,
                    options_.grouped ? OutputFile::When::as_it_comes : OutputFile::When::at_the_end);
    Lines lines(file);
    const EstimateFormat format(kind_of(output_), stream.ids.classes, false);
    format.append_header(lines.text());
    bool grew = false;
    summary_ = GroupedSummary();
    stream.run(
        [&] {
          const std::uint32_t classes = known_classes(stream);
          grew = grew || (stream.tasks > 0 && classes > classes_expected_);
          classes_expected_ = std::max(classes_expected_, classes);
          method.expect(stream.ids.workers.size(), classes);
          return !history.repeated();
        },
        [&](std::string_view task, std::uint64_t hash, const TaskLabels& labels) {
          if (learning && !options_.grouped) history.add(hash);
          const Estimate estimate = learning ? method.observe(labels) : method.estimate(labels);
          if (estimate.label == kNoClass) ++summary_.tasks_without_labels;
          format.append(lines.text(), task, estimate, {});
        });
    history.finish();
    lines.flush();

    report = stream.report();
    summary_.grouped = !history.repeated();
    summary_.tasks = stream.tasks;
    summary_.rows = stream.ids.rows;
    summary_.labels = stream.labels;
    summary_.abstentions = stream.ids.abstentions;
    summary_.duplicates = stream.duplicates();
    summary_.workers = std::move(stream.ids.workers);
    summary_.classes = std::move(stream.ids.classes);
    if (!summary_.grouped) return Writing::not_grouped;
    if (summary_.rows == 0) {
      throw Error(ErrorCode::data, Location{report.source, 0, 0},
                  "no labels: there is no row but the header");
    }
    if (grew && !options_.grouped) return Writing::classes_grew;
    file.commit();
    return Writing::done;
  }

  // Met so far, or named beforehand.
  std::uint32_t known_classes(const GroupedTasks& stream) const {
    const auto unseen =
        std::count_if(options_.classes.begin(), options_.classes.end(),
                      [&](const std::string& name) { return !stream.ids.classes.find(name); });
    return stream.ids.classes.size() + static_cast<std::uint32_t>(unseen);
  }

  GroupedSummary finish(const OnlineMethod& method) {
    summary_.state = method.state();
    summary_.state.counts.resize(summary_.workers.size());
    return std::move(summary_);
  }

  const std::string& path_;
  const ReadOptions& read_;
  const GroupedOptions& options_;
  const std::string& output_;
  const RunContext& context_;
  GroupedSummary summary_;
  std::uint32_t classes_expected_ = 0;
};

}  // namespace

GroupedSummary aggregate_grouped(const std::string& path, const ReadOptions& read,
                                 const GroupedOptions& stream, const MethodInfo& method,
                                 const Settings& settings, const std::string& output,
                                 const RunContext& context, ReadReport* report) {
  GroupedAggregation aggregation(path, read, stream, output, context);
  try {
    GroupedSummary summary = aggregation.run(method, settings);
    if (report != nullptr) *report = aggregation.report;
    return summary;
  } catch (const DuplicateLabel& error) {
    rethrow_with_place(error, path, read);
  }
}

}  // namespace crowdfold
