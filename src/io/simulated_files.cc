// A simulated crowd as files.
#include <fmt/format.h>

#include <optional>

#include "base/random.h"
#include "crowdfold/error.h"
#include "crowdfold/io.h"
#include "crowdfold/simulate.h"
#include "io/output.h"
#include "io/packed/packed_writer.h"
#include "io/records.h"

namespace crowdfold {
namespace {

constexpr std::uint64_t kRowsPerReport = 1 << 20;

int digits_for(std::uint64_t count) {
  return static_cast<int>(fmt::formatted_size("{}", count == 0 ? 0 : count - 1));
}

// Simulated labels in the packed form. Workers and classes are numbered by first appearance, as a reader
// of the same rows would number them; those without a label are not in it.
class PackedSimulation {
 public:
  PackedSimulation(const std::string& path, const SimulationOptions& options,
                   const std::atomic<bool>* cancelled)
      : file_(path, OutputFile::When::at_the_end, cancelled),
        writer_([this](std::string_view bytes) { file_.write(bytes); }),
        id_of_worker_(options.workers, kNoId),
        id_of_class_(options.classes, kNoClass) {}

  // Labels of a task come one after another. `task(t)`, `worker(w)` and `label(c)` are names.
  template <class TaskName, class WorkerName, class ClassName>
  void add(TaskId t, WorkerId w, ClassId c, const TaskName& task, const WorkerName& worker,
           const ClassName& label) {
    if (workers_of_task_.empty() || t != task_) {
      flush();
      task_ = t;
      name_ = task(t);
    }
    if (id_of_worker_[w] == kNoId) id_of_worker_[w] = workers_.intern(worker(w));
    if (id_of_class_[c] == kNoClass) id_of_class_[c] = static_cast<ClassId>(classes_.intern(label(c)));
    workers_of_task_.push_back(id_of_worker_[w]);
    classes_of_task_.push_back(id_of_class_[c]);
  }

  void commit() {
    flush();
    RowCounts rows;
    rows.read = writer_.labels();
    writer_.finish(workers_, classes_, rows, Duplicates::last);
    file_.commit();
  }

 private:
  static constexpr WorkerId kNoId = 0xFFFF'FFFF;

  void flush() {
    if (!workers_of_task_.empty()) writer_.add(name_, workers_of_task_, classes_of_task_);
    workers_of_task_.clear();
    classes_of_task_.clear();
  }

  OutputFile file_;
  PackedWriter writer_;
  std::vector<WorkerId> id_of_worker_;
  std::vector<ClassId> id_of_class_;
  NameTable workers_{"workers", kMaxWorkers};
  NameTable classes_{"classes", kMaxClasses};

  // The task whose labels are coming in.
  TaskId task_ = 0;
  std::string name_;
  std::vector<WorkerId> workers_of_task_;
  std::vector<ClassId> classes_of_task_;
};

bool is_for_packed(const std::string& path) { return path.ends_with(".cfp"); }

}  // namespace

void write_simulation(const SimulationOptions& options, const SimulationNames& names, bool shuffle,
                      const SimulationFiles& files, const RunContext& context) {
  if (!names.classes.empty() && names.classes.size() != options.classes) {
    throw Error(ErrorCode::usage,
                fmt::format("{} class names for {} classes", names.classes.size(), options.classes));
  }
  const int task_digits = names.task_digits > 0 ? names.task_digits : digits_for(options.tasks);
  const int worker_digits = names.worker_digits > 0 ? names.worker_digits : digits_for(options.workers);
  const auto task = [&](TaskId t) { return fmt::format("{}{:0{}}", names.task_prefix, t, task_digits); };
  const auto worker = [&](WorkerId w) {
    return fmt::format("{}{:0{}}", names.worker_prefix, w, worker_digits);
  };
  const auto label = [&](ClassId c) {
    return names.classes.empty() ? fmt::format("class_{}", c) : names.classes[c];
  };

  std::optional<RecordFile> labels;
  std::optional<PackedSimulation> packed;
  if (is_for_packed(files.labels)) {
    if (shuffle) {
      throw Error(ErrorCode::usage,
                  "--shuffle is about rows, and packed labels are grouped by task: write a .csv");
    }
    packed.emplace(files.labels, options, context.cancelled);
  } else {
    const std::vector<std::string> columns = {"task", "worker", "label"};
    labels.emplace(files.labels, columns, files.options);
  }
  const auto add = [&](TaskId t, WorkerId w, ClassId c) {
    if (packed)
      packed->add(t, w, c, task, worker, label);
    else
      labels->add().text(task(t)).text(worker(w)).text(label(c)).end();
  };
  struct Drawn {
    TaskId task;
    WorkerId worker;
    ClassId label;
  };
  std::vector<Drawn> drawn;  // only if they are to be shuffled
  std::uint64_t rows = 0;
  const SimulatedCrowd crowd = simulate(options, context.seed, [&](TaskId t, WorkerId w, ClassId c) {
    if (rows++ % kRowsPerReport == 0) {
      context.throw_if_cancelled();
      context.report("simulating", t, options.tasks);
    }
    shuffle ? drawn.push_back({t, w, c}) : add(t, w, c);
  });
  if (shuffle) {
    Random(context.seed).shuffle(drawn);
    for (const Drawn& row : drawn) add(row.task, row.worker, row.label);
  }
  packed ? packed->commit() : labels->commit();

  if (!files.truths.empty()) {
    RecordFile truths(files.truths, {"task", "label"}, files.options);
    for (TaskId t = 0; t < crowd.truths.size(); ++t)
      truths.add().text(task(t)).text(label(crowd.truths[t])).end();
    truths.commit();
  }
  if (!files.workers.empty()) {
    RecordFile workers(files.workers, {"worker", "quality"}, files.options);
    for (WorkerId w = 0; w < crowd.quality.size(); ++w)
      workers.add().text(worker(w)).number(crowd.quality[w]).end();
    workers.commit();
  }
}

}  // namespace crowdfold
