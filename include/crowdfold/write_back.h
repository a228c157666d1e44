// Results in the forms that platforms and training take them back: suggestions for tasks, soft labels,
// and the payment of workers by a rule. Files appear whole or not at all, see io.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crowdfold/io.h"
#include "crowdfold/worker_state.h"

namespace crowdfold {

// "label-studio", "appen", "argilla", "prodigy", "soft-labels".
const std::vector<std::string>& write_back_formats();

struct ExportOptions {
  std::string question = {};  // that the estimates answer, as the platform calls it
  std::string object = {};    // Label Studio: the tag that the question is about (toName)
  // Label Studio: tasks are new ones, whose data have the task's name under this key. Empty: tasks are
  // there already, and their names are ids.
  std::string data_key = {};
  std::string agent = "crowdfold";  // who suggests it
  WriteOptions write = {};
};

// Error(usage) if there is no such format, it needs an option that is not given, or the path's ending
// promises another kind of file: to be told before anything is read.
void require_exportable(const std::string& path, const std::string& format,
                        const ExportOptions& options);
// Tasks without an estimate are left out; their number is returned. Error(data) if soft labels are
// wanted of estimates without probabilities.
std::uint64_t export_estimates(const std::string& path, const std::string& format,
                               const Estimates& estimates, const ExportOptions& options);

// A condition on a worker, such as "upper < 0.6 and labels >= 20".
class WorkerRule {
 public:
  // FIELD OPERATOR NUMBER, several of them with `and` between them. Fields are quality, lower, upper
  // (its interval) and labels; operators <, <=, >, >=, = and !=. Error(usage) for anything else.
  explicit WorkerRule(const std::string& text);

  bool holds(const BetaQuality& quality, const WorkerCounts& counts) const;

 private:
  struct Condition {
    std::size_t field = 0;
    bool (*compare)(double, double) = nullptr;
    double number = 0;
  };
  std::vector<Condition> conditions_;
};

// What became of the assignments of a batch.
struct ReviewCounts {
  std::uint64_t approved = 0;
  std::uint64_t rejected = 0;
  std::uint64_t decided_before = 0;  // approved or rejected already: left as they are
  std::uint64_t unknown = 0;         // of workers that nothing is known about: left open
};
// A batch file of MTurk with an x under Approve, or `reason` under Reject. is_bad(worker) is nullopt for
// a worker that it does not know. Error(data) if the batch is malformed, Error(usage) if it has no
// column WorkerId.
ReviewCounts write_mturk_review(const std::string& path, const std::string& batch,
                                const std::function<std::optional<bool>(std::string_view)>& is_bad,
                                const std::string& reason, const WriteOptions& options = {});

}  // namespace crowdfold
