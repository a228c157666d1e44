#include "run/counts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

#include "crowdfold/words.h"

namespace crowdfold {

std::uint64_t counted_workers(const NameTable& workers, const ReadOptions& options) {
  const std::set<std::string> without(options.without_workers.begin(), options.without_workers.end());
  const auto is_known = [&](const std::string& name) { return workers.find(name).has_value(); };
  return workers.size() -
         static_cast<std::uint64_t>(std::count_if(without.begin(), without.end(), is_known));
}

bool has_small_posteriors(const RunContext& context, std::uint64_t tasks, std::uint64_t classes) {
  return context.posterior || tasks * classes <= kSmallTable;
}

std::string note_on_many_classes(const MethodInfo& method, const LabelCounts& counts) {
  constexpr std::uint64_t kMost = 500'000'000;  // that are weighed in some ten seconds
  if (!method.traits.weighs_every_class || counts.tasks * counts.classes < kMost) return "";
  std::vector<std::string> quick;
  for (const MethodInfo& other : methods()) {
    if (!other.traits.weighs_every_class && other.traits.most_classes >= counts.classes)
      quick.push_back(other.name);
  }
  return fmt::format(
      "{} weighs every class on every task, here {} on {}, which may take minutes; methods that do not: "
      "{}",
      method.name, count_noun(counts.classes, "class"), count_noun(counts.tasks, "task"),
      fmt::join(quick, ", "));
}

}  // namespace crowdfold
