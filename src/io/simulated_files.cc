// A simulated crowd as files.
#include <fmt/format.h>

#include <limits>

#include "base/random.h"
#include "crowdfold/error.h"
#include "crowdfold/io.h"
#include "crowdfold/simulate.h"
#include "io/output.h"

namespace crowdfold {
namespace {

constexpr std::size_t kWriteBytes = 1 << 20;
constexpr std::uint64_t kRowsPerReport = 1 << 20;

int digits_for(std::uint64_t count) {
  return static_cast<int>(fmt::formatted_size("{}", count == 0 ? 0 : count - 1));
}

// Lines of one kind: CSV with a header, or JSON objects.
class LineWriter {
 public:
  LineWriter(const std::string& path, std::vector<std::string> columns)
      : file_(path), jsonl_(kind_of(path) == TextKind::jsonl), columns_(std::move(columns)) {
    if (!jsonl_) text_ = fmt::format("{}\n", fmt::join(columns_, ","));
  }

  // Numbers are written as they are, names as strings.
  void add(std::initializer_list<std::string_view> fields,
           std::size_t first_number = std::numeric_limits<std::size_t>::max()) {
    std::size_t i = 0;
    if (jsonl_) text_.push_back('{');
    for (const std::string_view field : fields) {
      if (i > 0) text_.push_back(',');
      if (jsonl_) {
        append_json(text_, columns_[i]);
        text_.push_back(':');
        i >= first_number ? void(text_.append(field)) : append_json(text_, field);
      } else {
        append_csv(text_, field);
      }
      ++i;
    }
    text_ += jsonl_ ? "}\n" : "\n";
    if (text_.size() >= kWriteBytes) flush();
  }

  void commit() {
    flush();
    file_.commit();
  }

 private:
  void flush() {
    file_.write(text_);
    text_.clear();
  }

  OutputFile file_;
  bool jsonl_;
  std::vector<std::string> columns_;
  std::string text_;
};

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

  LineWriter labels(files.labels, {"task", "worker", "label"});
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
    shuffle ? drawn.push_back({t, w, c}) : labels.add({task(t), worker(w), label(c)});
  });
  if (shuffle) {
    Random(context.seed).shuffle(drawn);
    for (const Drawn& row : drawn) labels.add({task(row.task), worker(row.worker), label(row.label)});
  }
  labels.commit();

  if (!files.truths.empty()) {
    LineWriter truths(files.truths, {"task", "label"});
    for (TaskId t = 0; t < crowd.truths.size(); ++t) truths.add({task(t), label(crowd.truths[t])});
    truths.commit();
  }
  if (!files.workers.empty()) {
    LineWriter workers(files.workers, {"worker", "quality"});
    for (WorkerId w = 0; w < crowd.quality.size(); ++w) {
      std::string quality;
      append_number(quality, crowd.quality[w]);
      workers.add({worker(w), quality}, 1);
    }
    workers.commit();
  }
}

}  // namespace crowdfold
