// How frequent classes are, which ones workers mix up, and which look like one.
#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "io/spellings.h"
#include "report/parts.h"

namespace crowdfold {
namespace {

constexpr std::uint32_t kMostShown = 15;  // nobody reads a larger matrix
constexpr std::size_t kMostMixUps = 50;
constexpr double kWrongPairs = 0.05;  // reports with a pair that is called asymmetric, but is not
constexpr double kSureAnswer = 0.8;   // answers below may be wrong themselves, which looks like a mix-up
constexpr std::uint64_t kEnoughTasks = 10;  // for a normal distribution of their mean

// Sums over tasks of one answer, of n labels, m of them for another class.
struct PairSums {
  double named = 0;     // m
  double squares = 0;   // m^2
  double products = 0;  // m n
};
struct AnswerSums {
  std::uint64_t tasks = 0;
  double labels = 0;   // n
  double squares = 0;  // n^2
};

// Whether a class gets more of the labels on tasks of an answer than if errors fell on all other classes
// alike, at the rate of the whole crowd. Labels of one task are not independent, so tasks are the units:
// the sum over tasks of d = m - b n, in standard errors, where b is that rate over K - 1.
class Asymmetry {
 public:
  // Without workers who are named themselves: what they do is no fault of the guidelines.
  Asymmetry(const ReportInput& input, const std::vector<ReportedWorker>& workers)
      : answers_(input.labels.num_classes()) {
    std::vector<bool> heard(input.labels.num_workers());
    for (const ReportedWorker& w : workers) {
      const bool named = w.mark == WorkerMark::random || w.mark == WorkerMark::adversary;
      heard[w.worker] = !named && w.constant == kNoClass;
    }
    double all = 0;
    double wrong = 0;
    std::map<ClassId, double> here;
    for (TaskId t = 0; t < input.labels.num_tasks(); ++t) {
      const ClassId answer = input.result.estimate[t];
      if (answer == kNoClass) continue;
      const TaskLabels task = input.labels.task(t);
      here.clear();
      double n = 0;
      for (std::size_t j = 0; j < task.size(); ++j) {
        if (!heard[task.workers[j]]) continue;
        n += 1;
        if (task.classes[j] != answer) here[task.classes[j]] += 1;
      }
      all += n;
      for (const auto& [c, m] : here) wrong += m;
      if (!(input.result.confidence[t] >= kSureAnswer)) continue;
      ++answers_[answer].tasks;
      answers_[answer].labels += n;
      answers_[answer].squares += n * n;
      for (const auto& [c, m] : here) {
        PairSums& sums = pairs_[(std::uint32_t{answer} << 16) | c];
        sums.named += m;
        sums.squares += m * m;
        sums.products += m * n;
      }
    }
    const auto named = static_cast<double>(std::count_if(
        input.crowd.shares.begin(), input.crowd.shares.end(), [](double share) { return share > 0; }));
    if (named < 2 || all == 0) return;
    rate_ = wrong / all / (named - 1);
    errors_ = normal_quantile_above(kWrongPairs / (named * (named - 1)));
  }

  // The share that symmetric errors give.
  double rate() const { return rate_; }

  bool holds(std::uint32_t pair) const {
    const auto found = pairs_.find(pair);
    if (found == pairs_.end()) return false;
    const AnswerSums& answer = answers_[pair >> 16];
    if (answer.tasks < kEnoughTasks) return false;
    const PairSums& sums = found->second;
    const double excess = sums.named - rate_ * answer.labels;
    const double variance = sums.squares - 2 * rate_ * sums.products + rate_ * rate_ * answer.squares;
    return excess > errors_ * std::sqrt(variance);
  }

 private:
  std::vector<AnswerSums> answers_;                    // by class
  std::unordered_map<std::uint32_t, PairSums> pairs_;  // by answer and label
  double rate_ = 0;
  double errors_ = 0;  // standard errors that are no chance, for all pairs together
};

std::vector<Report::Spellings> find_spellings(const ReportInput& reported) {
  std::map<std::string, std::vector<ClassId>> alike;
  for (std::uint32_t c = 0; c < reported.labels.num_classes(); ++c) {
    if (reported.crowd.shares[c] > 0)
      alike[loose_spelling(reported.labels.classes()[c])].push_back(static_cast<ClassId>(c));
  }
  std::vector<Report::Spellings> found;
  for (auto& [spelling, classes] : alike) {
    if (classes.size() < 2) continue;
    std::vector<std::string_view> names;
    for (const ClassId c : classes) names.push_back(reported.labels.classes()[c]);
    found.push_back({std::move(classes), options_that_merge(names)});
  }
  return found;
}

}  // namespace

std::vector<ReportedClass> count_classes(const ReportInput& reported) {
  const Labels& labels = reported.labels;
  std::vector<ReportedClass> classes(labels.num_classes());
  for (std::uint32_t c = 0; c < labels.num_classes(); ++c) classes[c].label = static_cast<ClassId>(c);
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    for (const ClassId c : labels.task(t).classes) ++classes[c].labels;
    const ClassId estimate = reported.result.estimate[t];
    if (estimate != kNoClass) ++classes[estimate].estimates;
    const ClassId truth = reported.truth(t);
    if (truth != kNoClass) ++classes[truth].truths;
  }
  std::stable_sort(classes.begin(), classes.end(), [](const ReportedClass& a, const ReportedClass& b) {
    return a.estimates != b.estimates ? a.estimates > b.estimates : a.labels > b.labels;
  });
  return classes;
}

void count_mix_ups(const ReportInput& reported, Report& report) {
  const Labels& labels = reported.labels;
  const std::uint32_t shown = std::min(labels.num_classes(), kMostShown);
  report.shown_classes = shown;
  report.confusion.assign(std::size_t{shown} * shown, 0);
  std::vector<std::uint32_t> place(labels.num_classes());
  for (std::uint32_t i = 0; i < report.classes.size(); ++i) place[report.classes[i].label] = i;

  std::unordered_map<std::uint32_t, std::uint64_t> counts;     // by estimate and label
  std::vector<std::uint64_t> labels_of(labels.num_classes());  // by estimate
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const ClassId estimate = reported.result.estimate[t];
    if (estimate == kNoClass) continue;
    for (const ClassId c : labels.task(t).classes) {
      ++labels_of[estimate];
      if (place[estimate] < shown && place[c] < shown)
        ++report.confusion[std::size_t{place[estimate]} * shown + place[c]];
      if (c != estimate) ++counts[(std::uint32_t{estimate} << 16) | c];
    }
  }

  report.spellings = find_spellings(reported);
  std::unordered_map<ClassId, std::size_t> spelled;
  for (std::size_t i = 0; i < report.spellings.size(); ++i) {
    for (const ClassId c : report.spellings[i].classes) spelled.emplace(c, i);
  }
  const Asymmetry asymmetry(reported, report.workers);
  for (const auto& [pair, count] : counts) {
    MixUp mix_up;
    mix_up.estimate = static_cast<ClassId>(pair >> 16);
    mix_up.label = static_cast<ClassId>(pair & 0xFFFF);
    mix_up.labels = count;
    mix_up.share = static_cast<double>(count) / static_cast<double>(labels_of[mix_up.estimate]);
    mix_up.symmetric = asymmetry.rate();
    const auto group = spelled.find(mix_up.estimate);
    const auto other = spelled.find(mix_up.label);
    mix_up.spelling = group != spelled.end() && other != spelled.end() && group->second == other->second;
    mix_up.asymmetric = reported.footing != Footing::no_overlap &&
                        reported.footing != Footing::no_agreement && asymmetry.holds(pair);
    report.mix_ups.push_back(mix_up);
  }
  std::sort(report.mix_ups.begin(), report.mix_ups.end(), [](const MixUp& a, const MixUp& b) {
    if (a.labels != b.labels) return a.labels > b.labels;
    return a.estimate != b.estimate ? a.estimate < b.estimate : a.label < b.label;
  });
  if (report.mix_ups.size() > kMostMixUps) report.mix_ups.resize(kMostMixUps);
}

}  // namespace crowdfold
