// Files in and out. Reading is parallel and gives the same Labels for any number of threads;
// files that are written appear whole or not at all.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "crowdfold/labels.h"
#include "crowdfold/result.h"
#include "crowdfold/run_context.h"
#include "crowdfold/simulate.h"

namespace crowdfold {

enum class Format { automatic, csv, tsv, jsonl };
enum class Header { automatic, yes, no };

// Labels that hold several choices, such as "a;b".
enum class MultiSelect {
  refuse,  // where there are many; few are told
  keep,    // each combination is a class of its own
  first,   // the first choice is the label
};

// How to understand an input. Compression (gzip, zstd, bzip2, xz, zip) is recognised by itself; "-" is
// standard input, FILE.zip:NAME a file in an archive.
struct ReadOptions {
  Format format = Format::automatic;
  Header header = Header::automatic;
  // (role, column): {"task", "image_url"}; a column is a name, or a number from 1. Roles that are not
  // mapped are recognised by the usual names.
  std::vector<std::pair<std::string, std::string>> columns;
  // Lines above the table that are no part of it: a title, a date. Those above a header that names all
  // roles are recognised.
  std::uint64_t skip_lines = 0;
  // A table with a column per worker. Which columns these are is worked out from the values, unless they
  // are named here, by names or by numbers from 1.
  bool wide = false;
  std::vector<std::string> wide_workers;
  std::vector<std::string> abstain;          // labels that mean "no label", beside the empty one
  std::vector<std::string> without_workers;  // workers whose labels all mean that
  // Labels that are one class: without regard to case, and to how Unicode and decimal numbers are
  // written.
  bool fold_case = false;
  bool normalize = false;
  MultiSelect multi_select = MultiSelect::refuse;
  Duplicates duplicates = Duplicates::last;
  bool skip_bad_rows = false;
  // Of the text, as iconv calls it: "utf-16le", "latin1"; "": recognised.
  std::string encoding;
  // Exports of platforms (crowdfold/exports.h): the name of a format, else it is recognised; the
  // question to read where there are several; whether predictions of models are answers too.
  std::string platform;
  std::string question;
  bool with_predictions = false;
  // As in RunContext, for the time in which a pipe or terminal has nothing to read.
  const std::atomic<bool>* cancelled = nullptr;
  // As in RunContext, for tables that come without one: truths, workers, estimates.
  std::uint64_t max_memory = 0;
  std::size_t block_bytes = std::size_t{1} << 18;  // read at a time; no result depends on it
};

// The options with the limit of memory and the cancellation of a run, where they have none themselves.
ReadOptions within(const RunContext& context, ReadOptions options);

// What a reader found out, for people.
struct ReadReport {
  std::string source;                  // the input's name
  std::string format;                  // "csv", "tsv, gzip", "csv, utf-16", …
  std::string encoding;                // "utf-16", …; "" for UTF-8
  std::string columns;                 // "task = item_id, worker = annotator, label = answer"
  bool worked_out = false;             // the columns, by the values: people should look at them
  std::uint64_t rows = 0;              // of labels, abstentions among them
  std::uint64_t repeated_headers = 0;  // rows that say the names of the columns again: left out
  std::uint64_t total_rows = 0;        // rows of totals: left out
  std::uint64_t empty_rows = 0;  // separators and nothing else, as spreadsheets write them: left out
  std::uint64_t skipped_rows = 0;
  std::string first_skipped;       // the first skipped row's error
  bool spelled_otherwise = false;  // truths that share no class with the labels: no score means anything
  std::vector<std::string> notes;  // what looks wrong, or was decided for the user; a sentence each
};

// Whether a path can be read a second time: a regular file, not a pipe.
bool is_rereadable(const std::string& path);

// The inputs that these paths stand for. A folder stands for its data files (those of its folders, if it
// has none itself), by name, without hidden ones; a zip archive of several files for FILE.zip:NAME of
// each data file, if they are of one kind; everything else for itself. What a folder or an archive holds
// besides goes to `left_out`. Error(data) for a folder without data.
std::vector<std::string> expand_inputs(const std::vector<std::string>& paths,
                                       std::vector<std::string>* left_out = nullptr);

Labels read_labels(const std::string& path, const ReadOptions& options, const RunContext& context,
                   ReadReport* report = nullptr);
// The same for several inputs, one after another, as one set of labels. Each is understood by itself, so
// their columns may stand in other orders; notes on all labels are in the last report.
Labels read_labels(const std::vector<std::string>& paths, const ReadOptions& options,
                   const RunContext& context, std::vector<ReadReport>* reports = nullptr);

// Known truths (columns task, label), by TaskId. `classes` gains those that it does not have yet.
// A task that is not among `tasks` is Error(data), or counted in the report with skip_bad_rows. Rows
// with an empty truth are left out and told.
std::vector<ClassId> read_truths(const std::string& path, const NameTable& tasks, NameTable& classes,
                                 const ReadOptions& options, ReadReport* report = nullptr);
// The same for the tasks of `labels`, which are replaced by the same labels with more classes.
std::vector<ClassId> read_truths(const std::string& path, Labels& labels, const ReadOptions& options,
                                 ReadReport* report = nullptr);

// The rows of such a file, (task, label), for those who have no Labels to look tasks up in.
std::vector<std::pair<std::string, std::string>> read_truth_rows(const std::string& path,
                                                                 const ReadOptions& options);

// Error(io) if no file could be written there, Error(usage) if its ending promises a kind of file that
// is not written, such as .xlsx: to be told before the work is done. Nothing is left behind; pipes and
// devices are not touched.
void require_writable(const std::string& path);
// Removes the temporary files of outputs that are being written: for a process that is about to end
// without unwinding its stack, as std::terminate() does.
void remove_unfinished_outputs() noexcept;
// Whether the ending of an output's name tells its kind; others get CSV.
bool tells_its_kind(const std::string& path);

// Error(usage) if two outputs, or an output and an input, are one file, also by different names or
// through links: to be told before anything is read. Empty paths are not looked at.
void require_separate(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs);
// Whether two paths of inputs lead to one file.
bool is_same_file(const std::string& a, const std::string& b);

// Names of workers: one per line, or those of a table with a column "worker", as write_workers writes
// it.
std::vector<std::string> read_worker_names(const std::string& path);

// Worker qualities, as write_workers writes them, as counts under the prior Beta(alpha, beta), by
// WorkerId. `workers` gains those that it does not have yet: their history goes on.
std::vector<WorkerCounts> read_workers(const std::string& path, NameTable& workers, double alpha,
                                       double beta, const ReadOptions& options,
                                       ReadReport* report = nullptr);
// The same for the workers of `labels`, which are replaced by the same labels with more workers.
std::vector<WorkerCounts> read_workers(const std::string& path, Labels& labels, double alpha,
                                       double beta, const ReadOptions& options,
                                       ReadReport* report = nullptr);

// A map of judges to families: judge, family, cost (optional; 1).
struct FamilyRow {
  std::string judge;
  std::string family;
  double cost = 1;
};
// Error(data) for a judge who is named twice.
std::vector<FamilyRow> read_families(const std::string& path, const ReadOptions& options,
                                     ReadReport* report = nullptr);

// An estimates file: task, label, confidence (optional), and one column per class (optional).
struct Estimates {
  NameTable tasks;
  NameTable classes;
  FlatArray<ClassId> estimate;
  FlatArray<double> confidence;  // empty if the file has none
  FlatArray<double> posterior;   // T x K, or empty
};
Estimates read_estimates(const std::string& path, const ReadOptions& options,
                         ReadReport* report = nullptr);

struct WriteOptions {
  // In CSV, an apostrophe stands before names that a spreadsheet would take for a formula. That changes
  // the names, so such a file is for people, not for reading it again.
  bool spreadsheet_safe = false;
  // As in RunContext, for the time in which nobody reads the pipe that is written to.
  const std::atomic<bool>* cancelled = nullptr;
};

// Writes to a pipe, terminal or device, as a file is written by write(). While nobody reads the other
// end it looks at `cancelled`, and throws Error(interrupted) once that is true. False if it cannot be
// written to: errno says why.
bool write_to_reader(int descriptor, std::string_view bytes, const std::atomic<bool>* cancelled);

// The path's ending decides: .tsv, .json (one array), .jsonl or .ndjson (JSON lines), CSV otherwise,
// each also with .gz or .zst behind it; "-" is standard output, and gets CSV. A terminal gets names as
// printable() shows them, everything else gets their bytes.
void write_estimates(const std::string& path, const Labels& labels, const Result& result,
                     const RunContext& context, const WriteOptions& options = {});
// `details` adds the posterior's mode and parameters and the paper's bound to quality, interval and
// count.
void write_workers(const std::string& path, const NameTable& workers, const WorkerState& state,
                   bool details, const RunContext& context, const WriteOptions& options = {});

// Result::confusion: worker, truth, label, probability.
void write_confusion(const std::string& path, const NameTable& workers, const NameTable& classes,
                     const Result& result, const RunContext& context, const WriteOptions& options = {});

// Result::trace: iteration, objective.
void write_trace(const std::string& path, const Result& result, const RunContext& context);

// A simulated crowd as files. Empty paths are not written.
struct SimulationNames {
  std::string task_prefix = "task_";
  std::string worker_prefix = "worker_";
  int task_digits = 0;  // 0: as many as the largest number has
  int worker_digits = 0;
  std::vector<std::string> classes;  // empty: class_0, class_1, …
};
struct SimulationFiles {
  std::string labels = "-";
  std::string truths;
  std::string workers;
  WriteOptions options = {};
};
void write_simulation(const SimulationOptions& options, const SimulationNames& names, bool shuffle,
                      const SimulationFiles& files, const RunContext& context);

}  // namespace crowdfold
