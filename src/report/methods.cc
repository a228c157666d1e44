// The estimates of other methods on the same labels.
#include <limits>
#include <optional>

#include "crowdfold/aggregate.h"
#include "crowdfold/error.h"
#include "report/parts.h"

namespace crowdfold {
namespace {

double share_or_zero(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

double share_same(const Result& a, const Result& b) {
  std::uint64_t same = 0;
  for (std::size_t t = 0; t < a.estimate.size(); ++t) same += a.estimate[t] == b.estimate[t] ? 1 : 0;
  return share_or_zero(same, a.estimate.size());
}

void describe(const ReportInput& reported, const Result& result, ComparedMethod& method) {
  const std::size_t tasks = result.estimate.size();
  std::uint64_t settled = 0;
  for (TaskId t = 0; t < tasks; ++t) {
    method.confidence += result.confidence[t];
    settled += reported.settles(result, t) ? 1 : 0;
    const ClassId truth = reported.truth(t);
    if (truth == kNoClass) continue;
    const bool right = result.estimate[t] == truth;
    const bool reference = reported.result.estimate[t] == truth;
    method.better += right && !reference ? 1 : 0;
    method.worse += reference && !right ? 1 : 0;
  }
  if (tasks > 0) method.confidence /= static_cast<double>(tasks);
  method.settled = share_or_zero(settled, tasks);
  if (reported.truths.empty()) return;
  method.evaluation =
      evaluate(result.estimate, reported.truths, reported.labels.num_classes(), result.confidence);
  method.evaluation.confusion = {};  // K x K; only that of the report's method is shown
}

}  // namespace

std::vector<ComparedMethod> compare_methods(const ReportInput& reported, const RunContext& context) {
  const std::vector<std::string>& names = reported.options.compared;
  std::vector<ComparedMethod> methods(names.size());
  std::vector<std::optional<Result>> others(names.size());
  std::vector<const Result*> results(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    methods[i].method = names[i];
    results[i] = &reported.result;
    if (names[i] != reported.options.method) {
      try {
        others[i] = aggregate(reported.labels, names[i], {}, {}, context);
      } catch (const Error& error) {
        if (error.code() != ErrorCode::usage) throw;
        methods[i].left_out = error.what();  // too many classes for it, or too little memory
        results[i] = nullptr;
        continue;
      }
      results[i] = &*others[i];
    }
    describe(reported, *results[i], methods[i]);
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t j = 0; j < names.size(); ++j)
      methods[i].same.push_back(results[i] && results[j] ? share_same(*results[i], *results[j]) : kNone);
  }
  return methods;
}

}  // namespace crowdfold
