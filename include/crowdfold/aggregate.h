// The one door from labels to answers: the method, its knowledge, and whether labels are held in
// memory or read task by task. The command line, Python, reports and experiments come in here.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "crowdfold/io.h"
#include "crowdfold/method.h"
#include "crowdfold/registry.h"

namespace crowdfold {

// The method where nobody chooses one: the most accurate on average, see docs/choosing.md.
inline constexpr const char* kDefaultMethod = "threepass";

// The context within the limits of this machine. threads 0 becomes the number of its cores, max_memory 0
// becomes 80 % of its memory. Error(usage) for more than kMaxThreads.
inline constexpr int kMaxThreads = 1024;
RunContext within_machine(RunContext wanted);

// The context that also asks for posteriors and confusion matrices where they are small, at most 32
// million numbers each.
RunContext with_small_tables(RunContext context, const MethodInfo& method, const Labels& labels);

// --- labels in memory ---------------------------------------------------------------------

Result aggregate(const Labels& labels, const std::string& method, const Settings& settings,
                 const Knowledge& given, const RunContext& context);

// --- labels in a file ---------------------------------------------------------------------

// Where labels are while the method works.
enum class Road {
  // Task by task if the method then gives the same answers in one reading; else in memory; else, for
  // methods that work in rounds, spilled.
  automatic,
  in_memory,
  low_memory,  // task by task, twice if the method needs it; in memory if the input is not grouped by
               // task
  grouped,     // task by task; the caller vouches that the input is grouped
  spilled,     // packed into a temporary file, and read from there in every round
};

struct AggregateRequest {
  std::string method = kDefaultMethod;
  Settings settings = {};

  std::vector<std::string> labels = {};  // files, one after another; "-": standard input
  ReadOptions read = {};
  std::vector<std::string> classes = {};  // known beforehand, also those that no label names

  // Files of truths and of worker qualities; empty: none.
  std::string truths = {};
  std::string workers = {};
  ReadOptions read_known = {};

  Road road = Road::automatic;
  std::string spill = {};    // the folder for labels that are spilled; "": that of the output, or TMPDIR
  bool keep_labels = false;  // the caller needs them afterwards, so they must be in memory
  std::string output = {};   // where estimates are written; empty: the summary keeps them
  WriteOptions write = {};
};

struct LabelCounts {
  std::uint64_t labels = 0;
  std::uint64_t tasks = 0;
  std::uint64_t workers = 0;  // without those that ReadOptions::without_workers leaves out
  std::uint64_t classes = 0;
  RowCounts rows = {};
  bool in_memory = true;
};

struct AggregateSummary {
  LabelCounts counts;
  std::uint64_t tasks_without_estimate = 0;
  Result result;  // task by task: `learned`, and estimates if they are kept
  // If they were held in memory. Of packed labels that the caller does not keep, and whose estimates
  // were written, tasks have no names.
  std::optional<Labels> labels;
  LabelNames names;  // if not; tasks only if estimates are kept

  const NameTable& tasks() const { return labels ? labels->tasks() : names.tasks; }
  const NameTable& workers() const { return labels ? labels->workers() : names.workers; }
  const NameTable& classes() const { return labels ? labels->classes() : names.classes; }

  // Where the time went; task by task, nobody knows.
  double reading_seconds = 0;
  double fitting_seconds = 0;
  double writing_seconds = 0;
};

// Told as it happens, so that people see it before a long fit.
struct AggregateListener {
  std::function<void(const ReadReport&)> on_read = {};  // the labels, then the truths
  std::function<void(const LabelCounts&)> on_labels = {};
  std::function<void()> on_ungrouped = {};  // a task came back: the labels are held in memory after all
  std::function<void(const std::string&)> on_space = {};  // a sentence on the disk space to be taken
  std::function<void(const std::string&)> on_note = {};   // a sentence on a run that takes minutes
};

// Why the labels of this request must be in memory; empty if they need not.
std::string why_in_memory(const AggregateRequest& request, const RunContext& context);

// The road for labels that are not to be in memory: task by task where the method can, else spilled.
// Error(usage) if it can do neither, which names methods that can.
Road road_beside_memory(AggregateRequest request, const RunContext& context);

// Error(usage) for settings that the method does not have, and for a road that does not fit.
AggregateSummary aggregate(const AggregateRequest& request, const RunContext& context,
                           const AggregateListener& listener = {});

// --- methods side by side -----------------------------------------------------------------

// The settings of a method in runs that are to differ by their seed: the order of tasks and who wins a
// tie are drawn. Of `asked`, those that the method has; they win.
Settings settings_of_runs(const MethodInfo& method, const Settings& asked = {});

struct TimedResult {
  Result result;
  double seconds = 0;  // of the fit alone
};
TimedResult timed_fit(const Method& method, const Labels& labels, const RunContext& context);

// How a method does against truths, over runs with the seeds context.seed, context.seed + 1, …
struct Score {
  double accuracy = 0;   // mean
  double deviation = 0;  // its standard deviation over runs
  double log_loss = 0;   // mean
  double seconds = 0;    // of one run, the median
};
Score score_method(const MethodInfo& method, const Settings& asked, const Labels& labels,
                   std::span<const ClassId> truths, int runs, const RunContext& context);

struct ComparisonRequest {
  std::vector<std::string> labels = {};
  ReadOptions read = {};
  std::string truths = {};
  ReadOptions read_known = {};
  // Labels that are not to be held in memory are packed into a temporary file in this folder. "": only
  // where memory does not suffice, in TMPDIR.
  std::string spill = {};
};

// Labels with truths, for methods one after another: in memory; or on a disk, for methods in rounds.
class MethodComparison {
 public:
  // listener.on_read: the labels, then the truths. Error(usage) where no way fits.
  MethodComparison(const ComparisonRequest& request, const RunContext& context,
                   const AggregateListener& listener = {});
  ~MethodComparison();
  MethodComparison(MethodComparison&&) noexcept;

  bool in_memory() const;
  std::uint32_t num_classes() const;
  // As score_method(): the same figures on both ways. Error(usage) for labels on a disk and a method
  // that needs them in memory; it names those that do not.
  Score score(const MethodInfo& method, const Settings& asked, int runs,
              const RunContext& context) const;

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

}  // namespace crowdfold
