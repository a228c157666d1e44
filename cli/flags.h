// Options that several sub-commands share, declared once.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crowdfold/io.h"
#include "crowdfold/registry.h"
#include "crowdfold/run_context.h"
#include "crowdfold/stream.h"
#include "terminal.h"

namespace crowdfold::cli {

// Of LiveStream::one_label_prevails().
inline constexpr const char* kOneLabelPrevails =
    "note: most labels are by workers who give one label and no other, as labelling functions do; a "
    "stream cannot know that, and its answers may be worse than a majority vote: give all labels to "
    "'crowdfold aggregate'";

// A check of options that name a file: an empty name, as from a variable of the shell that is not set,
// is none.
std::string is_file_name(const std::string& value);

// Error(usage) if the user asks for more labels at least than at most. 0: no limit.
void require_least_below_most(const CLI::Option& least_option, std::uint32_t least, std::uint32_t most);

class RunFlags;

// How to read an input. A command adds the parts that it honours.
class InputFlags {
 public:
  // The files of labels themselves, which come first on the command line.
  void add_files_to(CLI::App& command);
  // What these stand for (see expand_and_tell); standard input where none is named. Error(usage) if that
  // is a terminal.
  std::vector<std::string> files(const RunFlags& run) const;
  // As they were named.
  const std::vector<std::string>& named() const { return files_; }
  // What people call them.
  std::string files_name() const;

  // All parts: for files of labels.
  void add_to(CLI::App& command);

  // --format, --encoding, --header, --no-header, --skip-lines and --map. `roles` are in the order that
  // columns have without a header; `named` are roles that only a header has.
  void add_columns_to(CLI::App& command, const std::vector<std::string>& roles,
                      const std::vector<std::string>& named = {}, bool exports = false);
  // --question and --with-predictions, of exports.
  void add_exports_to(CLI::App& command);
  void add_wide_to(CLI::App& command);
  void add_abstain_to(CLI::App& command);
  void add_without_workers_to(CLI::App& command);
  void add_spellings_to(CLI::App& command);
  void add_multi_select_to(CLI::App& command);
  void add_duplicates_to(CLI::App& command);
  void add_skip_to(CLI::App& command);

  ReadOptions options() const;
  bool leaves_workers_out() const { return !without_workers_.empty(); }
  // For a second file (truths, workers): the same rules, but for the mapping, which is about labels.
  ReadOptions options_for_tables() const;

 private:
  std::vector<std::string> files_;
  std::string format_ = "auto";
  std::string encoding_;
  bool header_ = false;
  bool no_header_ = false;
  std::vector<std::string> map_;
  std::string question_;
  bool with_predictions_ = false;
  std::uint64_t skip_lines_ = 0;
  bool wide_ = false;
  std::vector<std::string> wide_workers_;
  std::vector<std::string> abstain_;
  std::vector<std::string> without_workers_;
  bool fold_case_ = false;
  bool normalize_ = false;
  std::string multi_select_ = "refuse";
  std::string duplicates_ = "last";
  bool skip_bad_rows_ = false;
};

// The inputs that paths stand for (see expand_inputs); says what of a folder is left out. A folder that
// a platform exported stands for itself.
std::vector<std::string> expand_and_tell(const std::vector<std::string>& paths,
                                         const ReadOptions& options, const RunFlags& run);

// How to write files.
class OutputFlags {
 public:
  void add_to(CLI::App& command);
  WriteOptions options() const { return {spreadsheet_safe_, &interrupted()}; }

 private:
  bool spreadsheet_safe_ = false;
};

// How to run: seed, threads, memory, and how much to say. A command adds the parts that it honours.
class RunFlags {
 public:
  void add_seed_to(CLI::App& command);
  void add_threads_to(CLI::App& command);
  void add_quiet_to(CLI::App& command);
  void add_verbose_to(CLI::App& command);  // behind quiet, which it excludes
  void add_memory_to(CLI::App& command);

  // With a progress bar where there is someone to see it; cancelled by Ctrl-C.
  RunContext context() const;
  bool verbose() const { return verbose_; }
  // A line for people, on standard error.
  void say(const std::string& line) const;
  // What the reader recognised, what it left out, and what looks wrong.
  void say(const ReadReport& report, bool one_of_several = false) const;
  void say_recognised(const ReadReport& report) const;
  void say_skipped(const ReadReport& report) const;
  void say_notes(const ReadReport& report) const;
  void end_progress() const { progress_->end(); }

 private:
  std::uint64_t seed_ = 0;
  int threads_ = 0;
  std::uint64_t max_memory_ = 0;  // 0: most of the machine's
  bool quiet_ = false;
  bool verbose_ = false;
  std::shared_ptr<ProgressBar> progress_ = std::make_shared<ProgressBar>();
};

// What a stream's state is made with.
class ConfigFlags {
 public:
  void add_to(CLI::App& command);
  // How labels count, without how they are kept: --alpha, --beta and --half-life.
  void add_judging_to(CLI::App& command);
  // Applies the flags that the user gave.
  std::function<void(StreamConfig&)> overrides() const;
  // Those of them that the method `live` has.
  Settings settings() const;

 private:
  std::optional<double> alpha_;
  std::optional<double> beta_;
  std::optional<double> half_life_;
  bool forget_closed_ = false;
  std::vector<std::string> classes_;
};

struct LabelsAndTruths {
  Labels labels;
  std::vector<ClassId> truths;  // by TaskId
};
// Reads both and says what it recognised. An empty path of truths: none.
LabelsAndTruths read_with_truths(const InputFlags& input, const std::string& truths, const RunFlags& run,
                                 const RunContext& context);
// Error(data) if the truths share no class with what they are compared with: a score would be 0 whatever
// it is of.
void require_same_spelling(const ReadReport& truths);
// The labels alone.
Labels read_and_tell(const InputFlags& input, const RunFlags& run, const RunContext& context);

// Error if one of these outputs could not be written, or is written or read by another name: before
// anything is read. Empty paths are left out.
void require_outputs(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs);
// What became of the outputs that were required, for those who interrupt a command: ": only a.csv was
// written". Empty where that cannot be said, as a part may have gone to standard output or a pipe.
std::string outcome_of_outputs();

// "name=value", as --set takes them. Error(usage) without an equals sign.
Settings parse_settings(const std::vector<std::string>& texts);

}  // namespace crowdfold::cli
