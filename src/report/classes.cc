// How frequent classes are, and which ones workers mix up.
#include <algorithm>
#include <unordered_map>

#include "report/parts.h"

namespace crowdfold {
namespace {

constexpr std::uint32_t kMostShown = 15;  // nobody reads a larger matrix
constexpr std::size_t kMostMixUps = 50;

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
  for (const auto& [pair, count] : counts) {
    const auto estimate = static_cast<ClassId>(pair >> 16);
    report.mix_ups.push_back({estimate, static_cast<ClassId>(pair & 0xFFFF), count,
                              static_cast<double>(count) / static_cast<double>(labels_of[estimate])});
  }
  std::sort(report.mix_ups.begin(), report.mix_ups.end(), [](const MixUp& a, const MixUp& b) {
    if (a.labels != b.labels) return a.labels > b.labels;
    return a.estimate != b.estimate ? a.estimate < b.estimate : a.label < b.label;
  });
  if (report.mix_ups.size() > kMostMixUps) report.mix_ups.resize(kMostMixUps);
}

}  // namespace crowdfold
