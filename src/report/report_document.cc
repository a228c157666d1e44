// A report as a document: its frame, and the sections about the data and the rules.
#include <fmt/format.h>

#include <algorithm>

#include "crowdfold/report.h"
#include "report/columns.h"
#include "report/sections.h"
#include "report/words.h"

namespace crowdfold {
namespace {

constexpr std::size_t kMostBars = 40;  // of the histogram of labels per task

Chart labels_per_task(const std::vector<std::uint64_t>& tasks_by_labels) {
  struct Bar {
    double lower;
    double upper;
    std::uint64_t tasks;
  };
  const std::size_t width = (tasks_by_labels.size() + kMostBars - 1) / kMostBars;
  std::vector<Bar> bars;
  for (std::size_t from = 0; from < tasks_by_labels.size(); from += width) {
    const double lower = static_cast<double>(from) - 0.5;
    bars.push_back({lower, lower + static_cast<double>(width), 0});
    for (std::size_t n = from; n < std::min(from + width, tasks_by_labels.size()); ++n)
      bars.back().tasks += tasks_by_labels[n];
  }
  std::erase_if(bars, [](const Bar& bar) { return bar.tasks == 0; });
  Chart chart;
  chart.id = "labels-per-task";
  chart.title = "Labels per task";
  chart.description = "How many tasks have how many labels.";
  chart.kind = Chart::Kind::histogram;
  chart.columns = {number_column("lower", "Labels on the task", Column::Format::number, bars,
                                 [](const Bar& b) { return b.lower; }),
                   number_column("upper", "Up to", Column::Format::number, bars,
                                 [](const Bar& b) { return b.upper; }),
                   number_column("count", "Tasks", Column::Format::integer, bars,
                                 [](const Bar& b) { return b.tasks; })};
  if (!bars.empty()) chart.x.domain = {bars.front().lower, bars.back().upper};
  return chart;
}

}  // namespace

Section data_section(const ReportView& shown) {
  const Report& report = shown.report;
  const auto tasks = static_cast<double>(std::max<std::uint64_t>(report.tasks.tasks, 1));
  Facts facts;
  facts.facts = {{with_commas(report.tasks.tasks), "tasks"},
                 {with_commas(report.workers.size()), "workers"},
                 {with_commas(report.classes.size()), "classes"},
                 {with_commas(report.labels), "labels"},
                 {fmt::format("{:.1f}", static_cast<double>(report.labels) / tasks), "labels per task"}};
  if (report.abstentions > 0) facts.facts.push_back({with_commas(report.abstentions), "abstentions"});
  if (report.duplicates > 0) facts.facts.push_back({with_commas(report.duplicates), "repeated labels"});
  if (report.skipped_rows > 0)
    facts.facts.push_back({with_commas(report.skipped_rows), "rows left out"});
  if (report.has_truths) facts.facts.push_back({with_commas(report.evaluation.tasks), "known truths"});
  Section section{"data", "What was read", {facts}};
  const std::vector<std::uint64_t>& by_number = report.tasks.labels_per_task;
  if (by_number.size() - static_cast<std::size_t>(std::count(by_number.begin(), by_number.end(), 0)) > 1)
    section.blocks.emplace_back(labels_per_task(by_number));
  return section;
}

Section rules_section(const ReportView& shown) {
  const ReportOptions& options = shown.report.options;
  const double settled = shown.report.settled_confidence;
  return {
      "rules",
      "How to read this",
      {Prose{fmt::format(
           "Answers, confidences and qualities are those of the method {}. A confidence is the "
           "probability that the answer is right, not a share of votes. A task is settled at a "
           "certainty of {} or more{}; "
           "none is where the labels do not show that workers know the answers.",
           options.method, percent(options.settled),
           settled == options.settled
               ? ""
               : fmt::format(", which with the method's doubt is a confidence of {}",
                             percent(settled)))},
       Prose{"A task needs one more label if a further label that agrees with its answer is likely to "
             "settle it: a label that weighs as much as the crowd's labels do (the median of their "
             "log-odds), followed by the method as far as it follows such labels now."},
       Prose{"A worker's quality is the probability that a label of theirs is right, with its 95 % "
             "interval. The log-odds of a label, ln(q (K − 1) / (1 − q)) for quality q and K classes, "
             "are what it weighs: 0 is a "
             "guess, below 0 it speaks against itself."},
       Prose{fmt::format("Marks come from another comparison: each label of a worker with what the "
                         "others make of the same task, or with its truth where that is known. A "
                         "worker who answers at random follows a habit of their own, so chance is "
                         "what this habit gives. Named as answering at random is only who surely "
                         "knows less than {} of the answers; as worse than chance, who surely "
                         "contradicts the others. All workers of a report are considered together: "
                         "in 20 reports, less than one worker is named wrongly on average. Whose "
                         "labels agree more often than by chance is useful; of others nothing can be "
                         "told yet.",
                         percent(kLittleKnowledge))},
       Prose{"One class is called often taken for another only if that happens more often than "
             "errors that fall on all classes alike would give, with 95 % for all pairs of classes "
             "together."},
       Prose{"Order is that in which tasks appear first in the file. Truths, where given, are "
             "compared with and never learned from."}}};
}

Document document_of(const Report& report, const Labels& labels, std::span<const ClassId> truths,
                     const std::string& source) {
  const ReportView shown{report, labels, truths, source};
  Document document;
  document.title = fmt::format("Labels of {}", source);
  document.headline = headline_of(report);
  document.subtitle = fmt::format("{} by {} on {}, judged by {}.", count_noun(report.labels, "label"),
                                  count_noun(report.workers.size(), "worker"),
                                  count_noun(report.tasks.tasks, "task"), report.options.method);
  Section next{"next", "What to do next", {advice_of(report, labels)}};
  Table leave_out = workers_to_leave_out(shown);
  if (leave_out.columns[0].size() > 0) next.blocks.emplace_back(std::move(leave_out));
  document.sections.push_back(std::move(next));
  document.sections.push_back(data_section(shown));
  document.sections.push_back(tasks_section(shown));
  document.sections.push_back(workers_section(shown));
  if (report.jury) document.sections.push_back(jury_section(*report.jury, labels));
  document.sections.push_back(classes_section(shown));
  document.sections.push_back(order_section(shown));
  if (report.has_truths) document.sections.push_back(truth_section(shown));
  if (!report.methods.empty() && shown.has_choice()) document.sections.push_back(methods_section(shown));
  document.sections.push_back(rules_section(shown));
  std::erase_if(document.sections, [](const Section& section) { return section.blocks.empty(); });
  return document;
}

}  // namespace crowdfold
