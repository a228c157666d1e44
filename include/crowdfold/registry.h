// The list of methods. Command line, documentation and bindings are made from it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "crowdfold/method.h"

namespace crowdfold {

// An option as its method declares it; text, for help pages and bindings.
struct OptionInfo {
  std::string name;
  std::string type;      // "real", "integer", "choice", "flag"
  std::string fallback;  // the default
  std::string range;     // "1 to 1e+09", "first | random"
  std::string help;
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

struct MethodInfo {
  std::string name;
  std::string summary;
  std::string citation;
  std::vector<OptionInfo> options;
  // What it takes. The rest is Error(usage) from fit().
  std::uint32_t most_classes = kMaxClasses;
  bool takes_truths = true;
  bool takes_workers = true;
  std::vector<ExtraInfo> takes;  // in Knowledge::extras
  bool has_confusion = false;    // fills Result::confusion
  std::vector<ExtraInfo> gives;  // in Result::extras
  std::function<std::unique_ptr<Method>(const Settings&)> make;
  // Null for methods that only work on whole data sets. The seed decides ties.
  std::function<std::unique_ptr<OnlineMethod>(const Settings&, std::uint64_t seed)> make_online;
  // Whether the online method, given all tasks, says what the batch method says.
  bool online_equals_batch = true;
  // Whether states of the online method can be merged.
  bool can_merge = true;

  bool has_option(const std::string& option) const;
};

const std::vector<MethodInfo>& methods();
// Error(usage) that names the known methods if there is none of that name.
const MethodInfo& find_method(const std::string& name);

}  // namespace crowdfold
