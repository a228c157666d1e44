// Whether the labels show anything at all about the answers.
#include <algorithm>

#include "report/parts.h"

namespace crowdfold {
namespace {

// Guesses are taken for knowledge in less than 1 of 20 crowds: 1 of 40 by the evidence, and about as
// many by agreement, whose standard errors have few degrees of freedom where tasks are few.
constexpr double kOddsAgainstGuesses = 3.6888794541139363;  // log 40
constexpr double kErrorsAgainstGuesses = 2.33;

// Whether too few of the tasks that would be settled are right.
bool truths_contradict(const ReportInput& input) {
  std::uint64_t known = 0;
  std::uint64_t right = 0;
  for (TaskId t = 0; t < input.labels.num_tasks(); ++t) {
    const ClassId truth = input.truth(t);
    if (truth == kNoClass || !(input.result.certainty(t) >= input.options.settled)) continue;
    ++known;
    right += input.result.estimate[t] == truth ? 1 : 0;
  }
  return share_interval(right, known).upper < input.settled_confidence;
}

}  // namespace

Footing footing_of(const CrowdHabits& crowd) {
  const auto named =
      std::count_if(crowd.shares.begin(), crowd.shares.end(), [](double share) { return share > 0; });
  if (crowd.common.tasks == 0) return Footing::no_overlap;
  if (named < 2) return Footing::one_class;
  const bool known =
      crowd.common.log_evidence >= kOddsAgainstGuesses || crowd.common.errors >= kErrorsAgainstGuesses;
  return known ? Footing::sound : Footing::no_agreement;
}

Footing footing_of(const Labels& labels) { return footing_of(CrowdHabits(labels)); }

std::string words_of(Footing footing) {
  switch (footing) {
    case Footing::no_overlap:
      return "no task has labels of two workers, so nothing shows how good a worker or an answer is";
    case Footing::one_class:
      return "all labels are the same, so nothing shows whether workers look at the tasks";
    case Footing::no_agreement:
      return "the labels agree no more often than guesses may, so nothing shows that workers know the "
             "answers";
    case Footing::contradicted:
      return "answers are right less often than their confidence promises, by the truths";
    case Footing::sound: break;
  }
  return "";
}

Footing footing_by_truths(const ReportInput& input) {
  std::uint64_t known = 0;
  std::uint64_t right = 0;
  std::vector<std::uint64_t> counts(input.labels.num_classes());
  for (TaskId t = 0; t < input.labels.num_tasks(); ++t) {
    const ClassId truth = input.truth(t);
    if (truth == kNoClass) continue;
    ++known;
    ++counts[truth];
    right += input.result.estimate[t] == truth ? 1 : 0;
  }
  if (known == 0) return input.footing;
  const double by_one_class =
      static_cast<double>(*std::max_element(counts.begin(), counts.end())) / static_cast<double>(known);
  const bool shown = share_interval(right, known).lower > by_one_class;
  const Footing footing =
      input.footing == Footing::no_agreement && shown ? Footing::sound : input.footing;
  return truths_contradict(input) ? Footing::contradicted : footing;
}

}  // namespace crowdfold
