// Sections about tasks: how sure, which to look at first, how they changed in time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/columns.h"
#include "report/parts.h"
#include "report/sections.h"
#include "report/words.h"

namespace crowdfold {
namespace {

// "cat ×3, dog ×2", the most frequent first.
std::string votes_of(const ReportView& shown, TaskId t) {
  std::map<ClassId, std::size_t> counts;
  for (const ClassId c : shown.labels.task(t).classes) ++counts[c];
  std::vector<std::pair<ClassId, std::size_t>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [c, count] : order)
    text += fmt::format("{}{} ×{}", text.empty() ? "" : ", ", shown.class_name(c), count);
  return text;
}

Details votes(const ReportView& shown, const std::vector<ReportedTask>& tasks) {
  std::vector<const ReportedWorker*> by_id(shown.labels.num_workers());
  for (const ReportedWorker& worker : shown.report.workers) by_id[worker.worker] = &worker;
  struct Vote {
    const ReportedWorker* worker;
    ClassId label;
  };
  std::vector<Vote> all;
  Details details{"Who said what", {0}, {}};
  for (const ReportedTask& reported : tasks) {
    const TaskLabels task = shown.labels.task(reported.task);
    for (std::size_t j = 0; j < task.size(); ++j)
      all.push_back({by_id[task.workers[j]], task.classes[j]});
    details.offsets.push_back(all.size());
  }
  details.columns = {
      text_column("worker", "Worker", all,
                  [&](const Vote& v) { return shown.worker_name(v.worker->worker); }),
      text_column("label", "Label", all, [&](const Vote& v) { return shown.class_name(v.label); }),
      number_column("log_odds", "Log-odds", Column::Format::signed_number, all,
                    [](const Vote& v) { return v.worker->log_odds; }),
      number_column("quality", "Quality", Column::Format::percent, all,
                    [](const Vote& v) { return v.worker->quality; })};
  return details;
}

std::string wanted_words(const ReportedTask& task) {
  return task.wanted == 0            ? "none"
         : task.wanted == 1          ? "one"
         : task.wanted < kMostWanted ? "two"
                                     : "three or more";
}

Chart confidence_chart(const ReportView& shown) {
  const Report& report = shown.report;
  struct Bar {
    double lower;
    double upper;
    std::uint64_t tasks;
    const char* series;
  };
  std::vector<Bar> bars;
  const auto add = [&](const char* series, const auto& tasks_of) {
    for (const TaskSummary::Bin& bin : report.tasks.confidence) {
      if (tasks_of(bin) > 0) bars.push_back({bin.lower, bin.upper, tasks_of(bin), series});
    }
  };
  using Bin = const TaskSummary::Bin&;
  if (report.has_truths) {
    add("right", [](Bin bin) { return bin.right; });
    add("wrong", [](Bin bin) { return bin.wrong; });
    add("no truth known", [](Bin bin) { return bin.tasks - bin.right - bin.wrong; });
  } else {
    add("", [](Bin bin) { return bin.tasks; });
  }
  double lowest = 1;
  for (const Bar& bar : bars) lowest = std::min(lowest, bar.lower);
  Chart chart;
  chart.id = "confidence";
  chart.title = "How sure the answers are";
  chart.description = fmt::format(
      "Tasks by the confidence of their answer. {} of {} {} settled.", with_commas(report.tasks.settled),
      count_noun(report.tasks.tasks, "task"), report.tasks.settled == 1 ? "is" : "are");
  chart.kind = Chart::Kind::histogram;
  chart.columns = {number_column("lower", "Confidence", Column::Format::percent, bars,
                                 [](const Bar& b) { return b.lower; }),
                   number_column("upper", "Up to", Column::Format::percent, bars,
                                 [](const Bar& b) { return b.upper; }),
                   number_column("count", "Tasks", Column::Format::integer, bars,
                                 [](const Bar& b) { return b.tasks; })};
  if (report.has_truths) {
    chart.columns.push_back(
        text_column("series", "Answer", bars, [](const Bar& b) { return b.series; }));
    chart.tones = {{"right", Tone::accent}, {"wrong", Tone::bad}, {"no truth known", Tone::muted}};
  }
  chart.x.domain = {bars.empty() ? 0 : lowest, 1};
  if (report.footing == Footing::sound)
    chart.references = {{Reference::Axis::x, report.settled_confidence, "settled"}};
  return chart;
}

Chart drift_chart(const Report& report) {
  const auto middle = [](const DriftChunk& c) {
    return static_cast<double>(c.first_task) + static_cast<double>(c.tasks) / 2;
  };
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    return static_cast<double>(part) / static_cast<double>(std::max<std::uint64_t>(whole, 1));
  };
  Chart chart;
  chart.id = "drift";
  chart.title = "Labels that agree with the answer, as the tasks go on";
  chart.description = "A falling line means that labels got worse or tasks got harder.";
  chart.kind = Chart::Kind::lines;
  Column x{"x", "Tasks, in the order of their first appearance", Column::Format::integer};
  Column y{"y", "Share", Column::Format::percent};
  Column series{"series", "What"};
  for (const bool labels : {true, false}) {
    for (const DriftChunk& chunk : report.drift) {
      x.numbers.push_back(middle(chunk));
      y.numbers.push_back(labels ? share(chunk.agreed, chunk.labels) : chunk.confidence);
      series.texts.emplace_back(labels ? "labels that agree" : "mean confidence");
    }
  }
  chart.columns = {x, y, series};
  chart.tones = {{"labels that agree", Tone::accent}, {"mean confidence", Tone::muted}};
  const double least = *std::min_element(y.numbers.begin(), y.numbers.end());
  chart.y.domain = {std::floor(10 * std::max(0.0, least - 0.1)) / 10, 1};
  return chart;
}

Chart class_drift_chart(const ReportView& shown) {
  Chart chart;
  chart.id = "class-drift";
  chart.title = "Answers by class, as the tasks go on";
  chart.description =
      "Shares of the most frequent classes among the answers. A jump means that other tasks came, or "
      "other workers.";
  chart.kind = Chart::Kind::lines;
  Column x{"x", "Tasks, in the order of their first appearance", Column::Format::integer};
  Column y{"y", "Share of answers", Column::Format::percent};
  Column series{"series", "Class"};
  const std::vector<DriftChunk>& drift = shown.report.drift;
  for (std::size_t k = 0; k < drift.front().classes.size(); ++k) {
    for (const DriftChunk& chunk : drift) {
      const auto tasks = static_cast<double>(chunk.tasks);
      x.numbers.push_back(static_cast<double>(chunk.first_task) + tasks / 2);
      y.numbers.push_back(static_cast<double>(chunk.classes[k]) / tasks);
      series.texts.push_back(shown.class_name(shown.report.classes[k].label));
    }
  }
  const double most = *std::max_element(y.numbers.begin(), y.numbers.end());
  chart.y.domain = {0, std::ceil(10 * most) / 10};
  chart.columns = {x, y, series};
  return chart;
}

// Six digits, and never 1 for less than 1.
double rounded_confidence(double confidence) {
  constexpr double kDigits = 1e6;
  const double rounded = std::round(confidence * kDigits) / kDigits;
  return rounded >= 1 && confidence < 1 ? 1 - 1 / kDigits : rounded;
}

// All answers, to be found and saved: as CSV it is a file of estimates.
Table answer_table(const ReportView& shown) {
  const std::vector<ReportedTask>& answers = shown.report.tasks.answers;
  using T = const ReportedTask&;
  Table table;
  table.id = "answers";
  table.title = "All answers";
  table.description =
      "Find a task by a part of its name, or save all answers: the file is one of estimates, as "
      "crowdfold aggregate writes it.";
  table.columns = {
      text_column("task", "Task", answers,
                  [&](T t) { return std::string(shown.labels.tasks()[t.task]); }),
      text_column("label", "Answer", answers, [&](T t) { return shown.class_name(t.estimate); })};
  if (shown.has_choice()) {
    table.columns.push_back(number_column(
        "confidence", "Confidence", Column::Format::percent, answers,
        [](T t) { return t.estimate == kNoClass ? kNone : rounded_confidence(t.confidence); }));
  }
  table.left_out = {shown.report.tasks.tasks - answers.size(),
                    "`crowdfold aggregate -o answers.csv` writes all answers"};
  return table;
}

}  // namespace

Table task_table(const ReportView& shown, const std::string& id,
                 const std::vector<ReportedTask>& tasks) {
  Table table;
  table.id = id;
  table.columns = {
      text_column("task", "Task", tasks,
                  [&](const ReportedTask& t) { return std::string(shown.labels.tasks()[t.task]); }),
      text_column("estimate", "Answer", tasks,
                  [&](const ReportedTask& t) { return shown.class_name(t.estimate); }),
      number_column("confidence", "Confidence", Column::Format::percent, tasks,
                    [](const ReportedTask& t) { return t.confidence; }),
      text_column("said", "Labels", tasks,
                  [&](const ReportedTask& t) { return votes_of(shown, t.task); })};
  if (shown.report.has_truths) {
    table.columns.push_back(text_column("truth", "Truth", tasks, [&](const ReportedTask& t) {
      return shown.class_name(shown.truth(t.task));
    }));
  }
  table.details = votes(shown, tasks);
  return table;
}

Section tasks_section(const ReportView& shown) {
  const TaskSummary& tasks = shown.report.tasks;
  if (!shown.has_choice()) {
    return {
        "tasks",
        "Tasks",
        {Prose{"There is only one class, so no answer can be another one. Confidences would be 100 % "
               "whatever the workers know, and are not shown."},
         answer_table(shown)}};
  }
  Section section{"tasks", "Tasks", {confidence_chart(shown)}};
  if (tasks.first.empty()) {
    section.blocks.emplace_back(answer_table(shown));
    return section;
  }
  Table table = task_table(shown, "first-tasks", tasks.first);
  table.title = "Tasks to look at first";
  table.description =
      "The least certain answers. Unfold a row to see who said what, and what each label weighs.";
  if (shown.report.footing == Footing::sound)
    table.columns.push_back(text_column("wanted", "Labels needed", tasks.first, wanted_words));
  table.sorted_by = "confidence";
  table.left_out = {tasks.open - tasks.first.size(),
                    fmt::format("`crowdfold report --tasks {}` shows them", tasks.open)};
  section.blocks.emplace_back(table);
  section.blocks.emplace_back(answer_table(shown));
  return section;
}

Section order_section(const ReportView& shown) {
  if (shown.report.drift.empty() || !shown.has_choice()) return {"order", "Over time", {}};
  return {"order", "Over time", {drift_chart(shown.report), class_drift_chart(shown)}};
}

}  // namespace crowdfold
