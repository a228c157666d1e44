// The list of methods. Command line, documentation and bindings are made from it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "crowdfold/method.h"
#include "crowdfold/rounds.h"

namespace crowdfold {

// An option as its method declares it; text, for help pages and bindings.
struct OptionInfo {
  std::string name;
  std::string type;      // "real", "integer", "choice", "flag"
  std::string fallback;  // the default
  std::string range;     // "1 to 1e+09", "first | random"
  std::string help;
  bool fitted = false;  // known truths say what it is, unless it is set
};

// An Extra that a method takes or gives.
struct ExtraInfo {
  std::string name;
  Per per = Per::task;
  int class_axes = 0;  // its width is K to the power of this
  std::string help;
};

// What a user set: (name, value) pairs, as text. Unknown names and values out of range are
// Error(usage) when a method is made.
using Settings = std::vector<std::pair<std::string, std::string>>;

// Inputs and results of a method, and properties of its answers. tests/contract checks them.
struct Traits {
  // What it takes besides labels. The rest is Error(usage) from fit().
  std::uint32_t most_classes = kMaxClasses;
  bool takes_truths = true;           // in Knowledge::truths
  bool takes_workers = false;         // in Knowledge::workers
  std::vector<ExtraInfo> takes = {};  // in Knowledge::extras

  // What it gives besides estimates.
  bool has_confusion = false;         // fills Result::confusion
  bool has_trace = false;             // fills Result::trace
  std::vector<ExtraInfo> gives = {};  // in Result::extras

  // Its answers.
  bool draws = false;      // they depend on the seed, not only through ties and the order of tasks
  bool climbs = false;     // its trace never falls
  bool by_shares = false;  // they stay the same if every task is there twice
  bool estimate_is_argmax = true;  // the estimate is the most probable class
  bool has_free_matrices = false;  // a worker's confusion matrix may be any
  // Why two of three equals may lose, by its equations: a worker who was right on the first tasks may
  // outweigh two who were not; or a majority may be taken for one shared error.
  bool trusts_first_tasks = false;
  bool errors_may_be_shared = false;
  bool compares_pairs = false;     // time grows with the square of a task's labels
  bool weighs_every_class = true;  // time grows with classes times tasks

  // Its online method, where there is one.
  bool online_equals_batch = true;  // given all tasks, it says what the batch method says
  bool can_merge = true;            // its states can be merged
  bool resumes_exactly = true;      // it goes on from a saved state as if it had never stopped
};

struct MethodInfo {
  std::string name;
  std::string summary;
  std::string citation;
  std::vector<OptionInfo> options;
  Traits traits;
  std::vector<std::string> aliases = {};  // other names that find_method() takes
  std::function<std::unique_ptr<Method>(const Settings&)> make = {};
  // Null for methods that only work on whole data sets. The seed decides ties.
  std::function<std::unique_ptr<OnlineMethod>(const Settings&, std::uint64_t seed)> make_online = {};
  // What make(settings)->fit() says of labels, by an online method that has learned from all of their
  // tasks in their order and from nothing else. Null for methods that learn from labels in other ways.
  std::function<Result(OnlineMethod&, const Labels&, const RunContext&)> answer_learned = {};
  // Judges further tasks by a Result::learned. For methods whose states hold more than counts and
  // matrices; else null.
  std::function<std::unique_ptr<Judge>(const Settings&)> make_judge = {};

  // Works in rounds (crowdfold/rounds.h): on labels that are in memory, on a disk or on other machines,
  // with the same answers. Null for methods that cannot; returns null for settings that cannot.
  std::function<std::unique_ptr<RoundModel>(const Settings&, const RoundsInput&)> make_rounds = {};

  bool has_option(const std::string& option) const;
  // What the settings come to.
  // Error(usage) for an unknown option or a value out of range.
  void check(const Settings& settings) const { make(settings); }
  // The prior of worker qualities: Beta(alpha, beta), or that of a WorkerState without such options.
  BetaQuality prior(const Settings& settings) const;
  // Whether tasks are taken in a drawn order, for which all of them must be there.
  bool shuffles(const Settings& settings) const;
  // Whether it learns in rounds from a majority vote, and not task after task as it could.
  bool learns_from_votes(const Settings& settings) const;
  // Whether the online method judges tasks only after it has learned from all of them, so that they must
  // be there twice. False for methods that only work on whole data sets.
  bool needs_second_look(const Settings& settings) const;
  // Whether it judges tasks in rounds (crowdfold/rounds.h), so that labels may lie on a disk.
  bool works_in_rounds(const Settings& settings) const;
};

const std::vector<MethodInfo>& methods();
// Error(usage) in one sentence for a method, or settings of it, that cannot go in rounds; it names those
// that can.
void require_rounds(const MethodInfo& method, const Settings& settings);
// The method of that name or alias, whatever its case, blanks, hyphens and underscores. Error(usage)
// with the nearest name, and all of them, if there is none.
const MethodInfo& find_method(const std::string& name);

}  // namespace crowdfold
