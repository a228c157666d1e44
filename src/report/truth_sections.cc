// Sections that compare: with truths, and between methods.
#include <fmt/format.h>

#include <algorithm>

#include "report/columns.h"
#include "report/sections.h"
#include "report/words.h"

namespace crowdfold {
namespace {

constexpr std::uint32_t kMostScored = 200;  // classes
constexpr std::size_t kMostDrawn = 1000;    // workers

Chart calibration_chart(const Evaluation& evaluation) {
  std::vector<CalibrationBin> bins = evaluation.bins;
  std::erase_if(bins, [](const CalibrationBin& bin) { return bin.tasks == 0; });
  using Bin = const CalibrationBin&;
  Chart chart;
  chart.id = "calibration";
  chart.title = "Can confidences be trusted?";
  chart.description =
      "Answers of similar confidence, and how many of them are right. Points below the dashed line: too "
      "sure. Large points "
      "stand for many tasks.";
  chart.kind = Chart::Kind::scatter;
  chart.columns = {
      number_column("x", "Mean confidence", Column::Format::percent, bins,
                    [](Bin b) { return b.confidence; }),
      number_column("y", "Right", Column::Format::percent, bins, [](Bin b) { return b.accuracy; }),
      number_column("size", "Tasks", Column::Format::integer, bins, [](Bin b) { return b.tasks; })};
  chart.x.domain = {0, 1};
  chart.y.domain = {0, 1};
  chart.references = {{Reference::Axis::diagonal}};
  return chart;
}

Chart confusion_chart(const ReportView& shown) {
  const Report& report = shown.report;
  const std::size_t k = shown.labels.num_classes();
  Column x{"x", "Answer"};
  Column y{"y", "Truth"};
  Column value{"value", "Share of the truth's tasks", Column::Format::percent};
  Column count{"tasks", "Tasks", Column::Format::integer};
  for (std::uint32_t row = 0; row < report.shown_classes; ++row) {
    const ClassId truth = report.classes[row].label;
    if (report.evaluation.classes[truth].truths == 0) continue;
    for (std::uint32_t column = 0; column < report.shown_classes; ++column) {
      const ClassId answer = report.classes[column].label;
      const auto tasks = static_cast<double>(report.evaluation.confusion[truth * k + answer]);
      x.texts.push_back(shown.class_name(answer));
      y.texts.push_back(shown.class_name(truth));
      value.numbers.push_back(tasks / static_cast<double>(report.evaluation.classes[truth].truths));
      count.numbers.push_back(tasks);
    }
  }
  Chart chart;
  chart.id = "confusion";
  chart.title = "Answers by truth";
  chart.description = "For tasks of each truth (rows), the answers (columns). The diagonal is right.";
  chart.kind = Chart::Kind::heatmap;
  chart.columns = {x, y, value, count};
  chart.value.domain = {0, 1};
  return chart;
}

Table score_table(const ReportView& shown) {
  const Evaluation& evaluation = shown.report.evaluation;
  std::vector<ClassId> classes;
  for (const ReportedClass& c : shown.report.classes) {
    if (c.truths + c.estimates > 0 && classes.size() < kMostScored) classes.push_back(c.label);
  }
  const auto score = [&](double ClassScores::*field) {
    return [&evaluation, field](ClassId c) { return evaluation.classes[c].*field; };
  };
  Table table;
  table.id = "scores";
  table.title = "Classes, by truths";
  table.description =
      "Precision: how many answers of the class are right. Recall: how many of its tasks were found.";
  table.columns = {
      text_column("class", "Class", classes, [&](ClassId c) { return shown.class_name(c); }),
      number_column("truths", "Truths", Column::Format::integer, classes,
                    [&](ClassId c) { return evaluation.classes[c].truths; }),
      number_column("estimates", "Answers", Column::Format::integer, classes,
                    [&](ClassId c) { return evaluation.classes[c].estimates; }),
      number_column("precision", "Precision", Column::Format::percent, classes,
                    score(&ClassScores::precision)),
      number_column("recall", "Recall", Column::Format::percent, classes, score(&ClassScores::recall)),
      number_column("f1", "F1", Column::Format::percent, classes, score(&ClassScores::f1))};
  return table;
}

// Whether the workers' qualities, which were estimated without truths, are right.
Chart quality_truth_chart(const ReportView& shown) {
  constexpr std::uint64_t kEnough = 5;  // truths
  std::vector<const ReportedWorker*> workers;
  for (const ReportedWorker& worker : shown.report.workers) {
    if (worker.truths >= kEnough && workers.size() < kMostDrawn) workers.push_back(&worker);
  }
  using W = const ReportedWorker*;
  Chart chart;
  chart.id = "quality-truth";
  chart.title = "Are the workers' qualities right?";
  chart.description = fmt::format(
      "Quality, estimated without truths, against the share of right labels by truths; workers with {} "
      "truths or "
      "more.",
      kEnough);
  chart.kind = Chart::Kind::scatter;
  chart.columns = {
      number_column("x", "Estimated quality", Column::Format::percent, workers,
                    [](W w) { return w->quality; }),
      number_column("y", "Right, by truths", Column::Format::percent, workers,
                    [](W w) { return w->accuracy; }),
      number_column("size", "Truths", Column::Format::integer, workers, [](W w) { return w->truths; }),
      text_column("worker", "Worker", workers, [&](W w) { return shown.worker_name(w->worker); })};
  chart.x.domain = {0, 1};
  chart.y.domain = {0, 1};
  chart.references = {{Reference::Axis::diagonal}};
  return chart;
}

Table method_table(const Report& report) {
  std::vector<const ComparedMethod*> run;
  std::size_t own = report.methods.size();
  for (std::size_t i = 0; i < report.methods.size(); ++i) {
    if (report.methods[i].method == report.options.method) own = i;
    if (report.methods[i].left_out.empty()) run.push_back(&report.methods[i]);
  }
  using M = const ComparedMethod*;
  Table table;
  table.id = "methods-table";
  table.title = "Methods side by side";
  table.description =
      report.has_truths
          ? "On the same labels, judged by the truths."
          : "On the same labels. Without truths nobody knows which is right; where they differ, look.";
  table.columns = {text_column("method", "Method", run, [](M m) { return m->method; })};
  if (own < report.methods.size()) {
    table.columns.push_back(number_column("same", "Same answer as " + report.options.method,
                                          Column::Format::percent, run,
                                          [&](M m) { return m->same[own]; }));
  }
  table.columns.push_back(number_column("confidence", "Mean confidence", Column::Format::percent, run,
                                        [](M m) { return m->confidence; }));
  table.columns.push_back(
      number_column("settled", "Settled", Column::Format::percent, run, [](M m) { return m->settled; }));
  if (report.has_truths) {
    table.columns.push_back(number_column("accuracy", "Accuracy", Column::Format::percent, run,
                                          [](M m) { return m->evaluation.accuracy; }));
    table.columns.push_back(number_column("macro_f1", "Macro F1", Column::Format::percent, run,
                                          [](M m) { return m->evaluation.macro_f1; }));
    table.columns.push_back(number_column("log_loss", "Log-loss", Column::Format::number, run,
                                          [](M m) { return m->evaluation.log_loss; }));
    table.columns.push_back(number_column("calibration_error", "Calibration error",
                                          Column::Format::percent, run,
                                          [](M m) { return m->evaluation.calibration_error; }));
    table.sorted_by = "accuracy";
    table.descending = true;
  }
  return table;
}

Chart method_chart(const Report& report) {
  Column x{"x", "Method"};
  Column y{"y", "Method"};
  Column value{"value", "Same answer", Column::Format::percent};
  double least = 1;
  for (const ComparedMethod& row : report.methods) {
    for (std::size_t i = 0; i < report.methods.size(); ++i) {
      if (!row.left_out.empty() || !report.methods[i].left_out.empty()) continue;
      x.texts.push_back(report.methods[i].method);
      y.texts.push_back(row.method);
      value.numbers.push_back(row.same[i]);
      least = std::min(least, row.same[i]);
    }
  }
  Chart chart;
  chart.id = "method-agreement";
  chart.title = "Do methods agree?";
  chart.description = "The share of tasks on which two methods give the same answer.";
  chart.kind = Chart::Kind::heatmap;
  chart.columns = {x, y, value};
  chart.value.domain = {std::min(least, 0.99), 1};
  return chart;
}

}  // namespace

Section truth_section(const ReportView& shown) {
  const Report& report = shown.report;
  const Evaluation& evaluation = report.evaluation;
  Facts facts;
  facts.facts = {{fmt::format("{:.1f} %", 100 * evaluation.accuracy), "accuracy",
                  count_noun(evaluation.tasks, "truth")}};
  if (!shown.has_choice()) return {"truth", "Against the truth", {facts}};
  facts.facts.insert(
      facts.facts.end(),
      {{fmt::format("{:.1f} %", 100 * evaluation.macro_f1), "macro F1"},
       {fmt::format("{:.3f}", evaluation.log_loss), "log-loss"},
       {fmt::format("{:.1f} %", 100 * evaluation.calibration_error), "calibration error"}});
  Section section{"truth",
                  "Against the truth",
                  {facts, calibration_chart(evaluation), quality_truth_chart(shown),
                   confusion_chart(shown), score_table(shown)}};
  if (report.tasks.mistakes.empty()) return section;
  Table mistakes = task_table(shown, "mistakes", report.tasks.mistakes);
  mistakes.title = "Surest mistakes";
  mistakes.description =
      "Answers that differ from the truth, the most confident first. Some of them may be errors in the "
      "truth.";
  mistakes.sorted_by = "confidence";
  mistakes.descending = true;
  mistakes.left_out = {evaluation.tasks - evaluation.correct - report.tasks.mistakes.size(),
                       "`crowdfold aggregate -o answers.csv` writes all answers"};
  section.blocks.emplace_back(mistakes);
  return section;
}

Section methods_section(const ReportView& shown) {
  Section section{"methods", "Other methods", {method_table(shown.report), method_chart(shown.report)}};
  for (const ComparedMethod& method : shown.report.methods) {
    if (!method.left_out.empty())
      section.blocks.emplace_back(
          Prose{fmt::format("{} was left out: {}.", method.method, method.left_out)});
  }
  return section;
}

}  // namespace crowdfold
