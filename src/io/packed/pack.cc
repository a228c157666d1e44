// Packs labels: files, in one reading where they are grouped by task, else by ScatteredRows; or labels
// that are in memory.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

#include "crowdfold/error.h"
#include "crowdfold/exports.h"
#include "crowdfold/packed.h"
#include "crowdfold/words.h"
#include "io/encoder.h"
#include "io/exports/export_format.h"
#include "io/grouped_tasks.h"
#include "io/label_notes.h"
#include "io/label_reader.h"
#include "io/output.h"
#include "io/packed/packed_writer.h"
#include "io/packed/read_packed.h"
#include "io/packed/scattered_rows.h"
#include "io/room.h"
#include "io/temporary_file.h"
#include "labels/task_history.h"

namespace crowdfold {
namespace {

constexpr std::uint64_t kHistoryBytes = 8;  // of a task in a TaskHistory
// Where there is no limit: rows wait in memory up to this much.
constexpr std::uint64_t kMemoryWithoutLimit = std::uint64_t{4} << 30;
constexpr double kPackedLabelBytes = 5;
constexpr double kEstimateMayErr = .9;

// Where packed labels go. Nothing of it is seen before it is complete.
class PackedTarget {
 public:
  virtual ~PackedTarget() = default;
  // From the start: what was written before is forgotten.
  PackedWriter& restart() {
    writer_.reset();
    begin();
    writer_.emplace([this](std::string_view bytes) { write(bytes); });
    return *writer_;
  }
  PackedWriter& writer() { return *writer_; }
  virtual std::string folder() const = 0;
  virtual bool is_temporary() const = 0;

 private:
  virtual void begin() = 0;
  virtual void write(std::string_view bytes) = 0;

  std::optional<PackedWriter> writer_;
};

class FileTarget final : public PackedTarget {
 public:
  FileTarget(std::string path, const std::atomic<bool>* cancelled)
      : path_(std::move(path)), cancelled_(cancelled) {
    if (make_encoder(path_) != nullptr) {
      throw Error(ErrorCode::usage, Location{path_, 0, 0},
                  "packed labels are not compressed, as they are read in pieces: leave out the ending "
                  ".gz or .zst");
    }
  }
  std::string folder() const override {
    std::error_code ignored;
    if (path_ == "-" ||
        (std::filesystem::exists(path_, ignored) && !std::filesystem::is_regular_file(path_, ignored)))
      return std::filesystem::temp_directory_path().string();
    return std::filesystem::path(path_).parent_path().string();
  }
  bool is_temporary() const override { return false; }
  void commit() { file_->commit(); }

 private:
  void begin() override {
    file_.reset();  // what it holds goes away before another takes its place
    file_.emplace(path_, OutputFile::When::at_the_end, cancelled_);
  }
  void write(std::string_view bytes) override { file_->write(bytes); }

  std::string path_;
  const std::atomic<bool>* cancelled_;
  std::optional<OutputFile> file_;
};

class TemporaryTarget final : public PackedTarget {
 public:
  explicit TemporaryTarget(std::string folder) : folder_(std::move(folder)) {}
  std::string folder() const override { return folder_; }
  bool is_temporary() const override { return true; }
  PackedLabels open() { return {file_->release(), "temporary file"}; }

 private:
  void begin() override {
    file_.reset();
    file_.emplace(folder_);
  }
  void write(std::string_view bytes) override { file_->append(bytes); }

  std::string folder_;
  std::optional<TemporaryFile> file_;
};

// What notes on labels need to know, task by task.
class PackTally {
 public:
  void add(std::string_view task, std::span<const WorkerId> workers, std::span<const ClassId> classes) {
    workers_meet = workers_meet || std::any_of(workers.begin(), workers.end(),
                                               [&](WorkerId w) { return w != workers.front(); });
    for (const ClassId c : classes) {
      if (c >= class_counts.size()) class_counts.resize(c + std::size_t{1});
      ++class_counts[c];
    }
    last_task.assign(task);
  }

  bool workers_meet = false;
  std::vector<std::uint64_t> class_counts;
  std::string last_task;
};

class Packing {
 public:
  Packing(const PackRequest& request, PackedTarget& target, const RunContext& context,
          const PackListener& listener)
      : request_(request),
        options_(within(context, request.read)),
        context_(context),
        listener_(listener),
        target_(target) {}

  PackSummary run() {
    OpenedPipes pipes;
    if (any_packed(request_.labels)) {
      pack_packed();
    } else if (holds_exports(request_.labels, options_, pipes)) {
      ImportedLabels imported = import_exports(request_.labels, options_, context_, std::move(pipes));
      summary_.reports = {std::move(imported.report)};
      pack(imported.labels, options_.duplicates);
    } else {
      pack_tables(std::move(pipes));
    }
    return std::move(summary_);
  }

  PackSummary run(const Labels& labels, Duplicates duplicates) {
    pack(labels, duplicates);
    return std::move(summary_);
  }

 private:
  void pack(const Labels& labels, Duplicates duplicates) {
    constexpr TaskId kTasksPerReport = 1 << 12;
    PackedWriter& writer = target_.restart();
    for (TaskId t = 0; t < labels.num_tasks(); ++t) {
      if (t % kTasksPerReport == 0) {
        context_.throw_if_cancelled();
        context_.report("packing", t, labels.num_tasks());
      }
      const TaskLabels task = labels.task(t);
      writer.add(labels.tasks()[t], task.workers, task.classes);
    }
    finish(labels.workers(), labels.classes(), labels.rows(), duplicates);
  }

  // Again, perhaps with fewer workers.
  void pack_packed() {
    const PackedLabels packed = open_packed_labels(request_.labels, options_, context_);
    summary_.reports = {report_on(packed, options_)};
    PackedWriter& writer = target_.restart();
    packed.in_order("packing", context_, PackedLabels::Names::yes,
                    [&](const TaskBlock& block, const TaskNames& names) {
                      for (TaskId t = block.first(); t < block.last(); ++t) {
                        const TaskLabels task = block.task(t);
                        writer.add(names[t], task.workers, task.classes);
                      }
                    });
    finish(packed.workers(), packed.classes(), packed.rows(), packed.duplicates());
  }

  void pack_tables(OpenedPipes pipes) {
    require_no_export_options(request_.labels[0], options_);
    try {
      // A pipe cannot be read again where a task comes back.
      const bool again = std::all_of(request_.labels.begin(), request_.labels.end(), is_rereadable);
      if (again && pack_grouped()) return;
      pack_scattered(std::move(pipes));
    } catch (const DuplicateLabel& error) {
      rethrow_with_place(error, request_.labels, options_);
    }
  }

  // In one reading. False if the rows are not grouped by task.
  bool pack_grouped() {
    GroupedTasks tasks(request_.labels, options_, context_, 0);
    const LabelBlock first = tasks.reader().peek();
    if (!looks_grouped(first)) return false;
    const double space = output_bytes(tasks.reader(), first);
    if (target_.is_temporary()) tell_space("labels are packed into", space, target_.folder());
    require_space(space, target_.folder(), "the packed labels");
    PackedWriter& writer = target_.restart();
    PackTally tally;
    TaskHistory history;
    bool too_many = false;  // tasks to remember, where memory is short
    tasks.run(
        [&] {
          too_many = context_.max_memory > 0 && 3 * kHistoryBytes * tasks.tasks() > context_.max_memory;
          return !history.repeated() && !too_many;
        },
        [&](std::string_view task, std::uint64_t hash, const TaskLabels& labels) {
          history.add(hash);
          writer.add(task, labels.workers, labels.classes);
          tally.add(task, labels.workers, labels.classes);
        });
    history.finish();
    if (history.repeated() || too_many) return false;
    tell(tasks.reader(), tasks.rows(), tasks.workers(), tasks.classes(), std::move(tally));
    finish(tasks.workers(), tasks.classes(), tasks.rows(), options_.duplicates);
    return true;
  }

  void pack_scattered(OpenedPipes pipes) {
    LabelReader reader(request_.labels, options_, context_, std::move(pipes));
    const LabelBlock first = reader.peek();
    const std::string folder = request_.folder.empty() ? target_.folder() : request_.folder;
    ScatteredRows::Options options;
    options.duplicates = options_.duplicates;
    options.abstain = options_.abstain;
    options.head = head_of(first);
    options.rows = reader.blocks() * static_cast<double>(first.rows);
    options.memory = context_.max_memory > 0 ? context_.max_memory : kMemoryWithoutLimit;
    options.folder = folder;
    plan_space(reader, first, options);

    ScatteredRows rows(options, context_);
    reader.run([&](int thread) -> ScatteredRows::Writer& { return rows.writer(thread); },
               [&](const BlockSummary& block) {
                 rows.append(block);
                 require_room(reader.source(), "the names of its workers", rows.ids().bytes(),
                              context_.max_memory);
               });
    PackedWriter& writer = target_.restart();
    PackTally tally;
    rows.finish(
        [&](std::string_view task, std::span<const WorkerId> workers, std::span<const ClassId> classes) {
          writer.add(task, workers, classes);
          tally.add(task, workers, classes);
        });
    RowCounts counts{rows.ids().rows, rows.ids().abstentions, rows.duplicates()};
    for (const ReadReport& report : reader.reports()) counts.skipped += report.skipped_rows;
    tell(reader, counts, rows.ids().workers, rows.ids().classes, std::move(tally));
    finish(rows.ids().workers, rows.ids().classes, counts, options_.duplicates);
  }

  static double name_bytes(const LabelBlock& first) {
    return static_cast<double>(first.names.size()) /
           static_cast<double>(std::max<std::size_t>(1, first.num_runs()));
  }

  // About, of the output; 0 where the size of the input is not known.
  static double output_bytes(const LabelReader& reader, const LabelBlock& first) {
    return reader.blocks() * (kPackedLabelBytes * static_cast<double>(first.rows) +
                              static_cast<double>(first.names.size()) / 2);
  }

  void plan_space(const LabelReader& reader, const LabelBlock& first,
                  const ScatteredRows::Options& options) const {
    const double numbered = sizeof(std::uint32_t);
    const double name =
        std::max(numbered, name_bytes(first) - static_cast<double>(options.head.text().size()));
    const auto rows =
        static_cast<double>(ScatteredRows::space_needed(options.rows, name, options.memory));
    const double output = output_bytes(reader, first);
    const bool one_disk = options.folder == target_.folder();
    if (rows > 0) {
      tell_space("rows are not grouped by task, and are more than memory may hold: they wait in",
                 rows + (target_.is_temporary() && one_disk ? output : 0), options.folder);
    } else if (target_.is_temporary()) {
      tell_space("labels are packed into", output, target_.folder());
    }
    if (rows > 0) require_space(rows + (one_disk ? output : 0), options.folder, "temporary files");
    if (rows == 0 || !one_disk) require_space(output, target_.folder(), "the packed labels");
  }

  // Where the input's size is not known, neither is the space.
  void tell_space(const char* why, double bytes, const std::string& folder) const {
    if (!listener_.on_space) return;
    listener_.on_space(fmt::format(
        "{} temporary files in {}{}, where {} are free", why, folder.empty() ? "this folder" : folder,
        bytes > 0 ? fmt::format(", about {}", memory_size(static_cast<std::uint64_t>(bytes))) : "",
        memory_size(free_space(folder))));
  }

  // Error(io) if the disk is surely too small: an estimate may be a little too large, and of compressed
  // input it is a guess.
  void require_space(double bytes, const std::string& folder, const char* what) const {
    const std::uint64_t free = free_space(folder);
    if (free == 0 || kEstimateMayErr * bytes < static_cast<double>(free)) return;
    throw Error(ErrorCode::io, Location{folder.empty() ? "." : folder, 0, 0},
                fmt::format("{} need about {}, and {} are free there: make room, or name another "
                            "folder",
                            what, memory_size(static_cast<std::uint64_t>(bytes)), memory_size(free)));
  }

  // Notes on all labels. Error(data) as in read_labels().
  void tell(const LabelReader& reader, const RowCounts& rows, const NameTable& workers,
            const NameTable& classes, PackTally tally) {
    summary_.reports = reader.reports();
    require_labels(summary_.reports, rows.read);
    tally.class_counts.resize(classes.size());
    const PackedWriter& writer = target_.writer();
    append_notes(
        summary_.reports.back().notes,
        {reader.source(), writer.labels(), rows.duplicates, writer.tasks(), workers, classes,
         tally.workers_meet, tally.last_task, reader.header()},
        [&] { return tally.class_counts; }, reader.unmet_abstentions(), options_);
  }

  void finish(const NameTable& workers, const NameTable& classes, const RowCounts& rows,
              Duplicates duplicates) {
    PackedWriter& writer = target_.writer();
    writer.finish(workers, classes, rows, duplicates);
    summary_.labels = writer.labels();
    summary_.tasks = writer.tasks();
    summary_.workers = workers.size();
    summary_.classes = classes.size();
    summary_.rows = rows;
    summary_.bytes = writer.bytes();
  }

  const PackRequest& request_;
  ReadOptions options_;
  const RunContext& context_;
  const PackListener& listener_;
  PackedTarget& target_;
  PackSummary summary_;
};

}  // namespace

PackSummary pack_labels(const PackRequest& request, const std::string& output, const RunContext& context,
                        const PackListener& listener) {
  FileTarget target(output, context.cancelled);
  PackSummary summary = Packing(request, target, context, listener).run();
  target.commit();
  return summary;
}

PackedLabels pack_temporarily(const PackRequest& request, const RunContext& context,
                              PackSummary* summary, const PackListener& listener) {
  TemporaryTarget target(request.folder);
  PackSummary packed = Packing(request, target, context, listener).run();
  if (summary != nullptr) *summary = std::move(packed);
  return target.open();
}

PackSummary write_packed(const Labels& labels, Duplicates duplicates, const std::string& output,
                         const RunContext& context) {
  FileTarget target(output, context.cancelled);
  const PackRequest request;
  const PackListener nobody;
  PackSummary summary = Packing(request, target, context, nobody).run(labels, duplicates);
  target.commit();
  return summary;
}

}  // namespace crowdfold
