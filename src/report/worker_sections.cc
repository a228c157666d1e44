// Sections about workers and classes.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "report/columns.h"
#include "report/sections.h"
#include "report/words.h"

namespace crowdfold {
namespace {

constexpr std::size_t kMostWorkersDrawn = 400;  // workers in the chart
constexpr std::size_t kMostBalanced = 30;       // classes in the chart

const char* name_of(WorkerMark mark) {
  switch (mark) {
    case WorkerMark::useful: return "useful";
    case WorkerMark::random: return "answers at random";
    case WorkerMark::adversary: return "worse than chance";
    case WorkerMark::unsure: break;
  }
  return "cannot be told";
}

Tones mark_tones() {
  return {{"useful", Tone::good},
          {"answers at random", Tone::warning},
          {"worse than chance", Tone::bad},
          {"cannot be told", Tone::muted}};
}

double share_or_none(double part, std::uint64_t whole) {
  return whole == 0 ? std::numeric_limits<double>::quiet_NaN() : part / static_cast<double>(whole);
}

Chart quality_chart(const ReportView& shown) {
  const std::vector<ReportedWorker>& workers = shown.report.workers;
  struct Point {
    std::size_t rank;
    const ReportedWorker* worker;
  };
  std::vector<Point> points;
  const std::size_t drawn = std::min(kMostWorkersDrawn, workers.size());
  for (std::size_t i = 0; i < drawn; ++i) {
    const std::size_t rank = i * workers.size() / drawn;
    points.push_back({rank + 1, &workers[rank]});
  }
  Chart chart;
  chart.id = "quality";
  chart.title = "Workers by what is sure about them";
  chart.description =
      "Quality with its 95 % interval, ranked by the interval's lower end. Colours are the marks of the "
      "table below.";
  chart.kind = Chart::Kind::intervals;
  chart.columns = {
      number_column("x", "Rank", Column::Format::integer, points, [](const Point& p) { return p.rank; }),
      number_column("y", "Quality", Column::Format::percent, points,
                    [](const Point& p) { return p.worker->quality; }),
      number_column("lower", "Lower end", Column::Format::percent, points,
                    [](const Point& p) { return p.worker->interval.lower; }),
      number_column("upper", "Upper end", Column::Format::percent, points,
                    [](const Point& p) { return p.worker->interval.upper; }),
      text_column("label", "Worker", points,
                  [&](const Point& p) { return shown.worker_name(p.worker->worker); }),
      text_column("series", "Mark", points, [](const Point& p) { return name_of(p.worker->mark); })};
  chart.y.domain = {0, 1};
  chart.tones = mark_tones();
  if (shown.report.classes.size() > 1)
    chart.references = {
        {Reference::Axis::y, 1.0 / static_cast<double>(shown.report.classes.size()), "weighs nothing"}};
  chart.left_out = {workers.size() - drawn, "ranks between those that are drawn; the table has them"};
  return chart;
}

Table worker_table(const ReportView& shown) {
  std::vector<ReportedWorker> workers = shown.report.workers;
  std::stable_sort(workers.begin(), workers.end(),
                   [](const auto& a, const auto& b) { return a.interval.upper < b.interval.upper; });
  const std::size_t kept = std::min<std::size_t>(shown.report.options.most_workers, workers.size());
  workers.resize(kept);
  using W = const ReportedWorker&;
  Column interval{"quality", "0 to 100 %", Column::Format::interval};
  for (W w : workers) interval.intervals.push_back({w.interval.lower, w.quality, w.interval.upper});
  Table table;
  table.id = "workers-table";
  table.title = "Workers";
  table.description =
      "Worst first, by the upper end of the interval. Press a head for another order: Lower puts the "
      "best "
      "first. How marks are given is told at the end.";
  table.columns = {
      text_column("worker", "Worker", workers, [&](W w) { return shown.worker_name(w.worker); }),
      text_column("mark", "Mark", workers, [](W w) { return name_of(w.mark); }),
      interval,
      number_column("lower", "Lower", Column::Format::percent, workers,
                    [](W w) { return w.interval.lower; }),
      number_column("mean", "Quality", Column::Format::percent, workers, [](W w) { return w.quality; }),
      number_column("upper", "Upper", Column::Format::percent, workers,
                    [](W w) { return w.interval.upper; }),
      number_column("labels", "Labels", Column::Format::integer, workers, [](W w) { return w.labels; }),
      number_column("log_odds", "Log-odds", Column::Format::signed_number, workers,
                    [](W w) { return w.log_odds; }),
      number_column("agreed", "Agrees with others", Column::Format::percent, workers,
                    [](W w) { return share_or_none(static_cast<double>(w.agreed), w.compared); }),
      number_column("by_chance", "By chance", Column::Format::percent, workers,
                    [](W w) { return share_or_none(w.by_chance, w.compared); })};
  table.columns[1].tones = mark_tones();
  if (shown.report.has_truths) {
    table.columns.push_back(number_column("accuracy", "Right, by truths", Column::Format::percent,
                                          workers, [](W w) { return w.accuracy; }));
    table.columns.push_back(number_column("truths", "Truths", Column::Format::integer, workers,
                                          [](W w) { return w.truths; }));
  }
  table.sorted_by = "upper";
  table.left_out = {shown.report.workers.size() - kept,
                    "`crowdfold aggregate --workers-out workers.csv` writes all of them"};
  return table;
}

Chart agreement_chart(const ReportView& shown) {
  const Report& report = shown.report;
  const auto name = [&](std::uint32_t place) {
    return shown.worker_name(report.workers[report.busiest[place]].worker);
  };
  struct Cell {
    std::uint32_t row;
    std::uint32_t column;
    const WorkerPair* pair;
  };
  std::vector<Cell> cells;
  for (const WorkerPair& pair : report.pairs) {
    cells.push_back({pair.a, pair.b, &pair});
    cells.push_back({pair.b, pair.a, &pair});
  }
  std::sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
    return a.row != b.row ? a.row < b.row : a.column < b.column;
  });
  Chart chart;
  chart.id = "agreement";
  chart.title = "Who agrees with whom";
  chart.description = fmt::format(
      "The share of common tasks on which two workers gave the same label: {} busy workers who share "
      "many tasks, best "
      "first. Empty fields have fewer than 5 tasks in common.",
      report.busiest.size());
  chart.kind = Chart::Kind::heatmap;
  chart.columns = {text_column("x", "Worker", cells, [&](const Cell& c) { return name(c.column); }),
                   text_column("y", "Worker", cells, [&](const Cell& c) { return name(c.row); }),
                   number_column("value", "Same label", Column::Format::percent, cells,
                                 [](const Cell& c) {
                                   return share_or_none(static_cast<double>(c.pair->agreed),
                                                        c.pair->common);
                                 }),
                   number_column("common", "Common tasks", Column::Format::integer, cells,
                                 [](const Cell& c) { return c.pair->common; })};
  chart.value.domain = {0, 1};
  return chart;
}

Chart balance_chart(const ReportView& shown) {
  const Report& report = shown.report;
  std::uint64_t estimates = 0;
  for (const ReportedClass& c : report.classes) estimates += c.estimates;
  Column x{"x", "Share", Column::Format::percent};
  Column y{"y", "Class"};
  Column series{"series", "Of"};
  const std::size_t drawn = std::min(kMostBalanced, report.classes.size());
  for (std::size_t i = 0; i < drawn; ++i) {
    const ReportedClass& c = report.classes[i];
    const auto add = [&](const char* what, std::uint64_t part, std::uint64_t whole) {
      if (whole == 0) return;
      x.numbers.push_back(static_cast<double>(part) / static_cast<double>(whole));
      y.texts.push_back(shown.class_name(c.label));
      series.texts.emplace_back(what);
    };
    add("labels", c.labels, report.labels);
    add("answers", c.estimates, estimates);
    if (report.has_truths) add("truths", c.truths, report.evaluation.tasks);
  }
  Chart chart;
  chart.id = "balance";
  chart.title = "How frequent classes are";
  chart.description =
      "Shares of all labels and of all answers. Where they lie apart, workers name a class too often or "
      "too rarely.";
  chart.kind = Chart::Kind::dots;
  chart.columns = {x, y, series};
  chart.tones = {{"labels", Tone::muted}, {"answers", Tone::accent}, {"truths", Tone::warning}};
  chart.left_out = {report.classes.size() - drawn, "classes with fewer answers"};
  return chart;
}

Chart mix_up_chart(const ReportView& shown) {
  const Report& report = shown.report;
  const std::size_t n = report.shown_classes;
  Column x{"x", "Label given"};
  Column y{"y", "Answer"};
  Column value{"value", "Share of labels", Column::Format::percent};
  Column count{"labels", "Labels", Column::Format::integer};
  for (std::size_t row = 0; row < n; ++row) {
    std::uint64_t sum = 0;
    for (std::size_t column = 0; column < n; ++column) sum += report.confusion[row * n + column];
    for (std::size_t column = 0; column < n; ++column) {
      x.texts.push_back(shown.class_name(report.classes[column].label));
      y.texts.push_back(shown.class_name(report.classes[row].label));
      value.numbers.push_back(
          share_or_none(static_cast<double>(report.confusion[row * n + column]), sum));
      count.numbers.push_back(static_cast<double>(report.confusion[row * n + column]));
    }
  }
  Chart chart;
  chart.id = "mix-ups";
  chart.title = "What is taken for what";
  chart.description =
      "For tasks of each answer (rows), the labels that workers gave (columns). The diagonal is "
      "agreement.";
  chart.kind = Chart::Kind::heatmap;
  chart.columns = {x, y, value, count};
  chart.value.domain = {0, 1};
  chart.left_out = {report.classes.size() - n, "classes with fewer answers"};
  return chart;
}

Table mix_up_table(const ReportView& shown) {
  const std::vector<MixUp>& mix_ups = shown.report.mix_ups;
  Table table;
  table.id = "mix-ups-table";
  table.title = "Most frequent mix-ups";
  table.description = "Labels for one class on tasks whose answer is another.";
  table.columns = {text_column("estimate", "Answer", mix_ups,
                               [&](const MixUp& m) { return shown.class_name(m.estimate); }),
                   text_column("label", "Taken for", mix_ups,
                               [&](const MixUp& m) { return shown.class_name(m.label); }),
                   number_column("labels", "Labels", Column::Format::integer, mix_ups,
                                 [](const MixUp& m) { return m.labels; }),
                   number_column("share", "Share of labels on such tasks", Column::Format::percent,
                                 mix_ups, [](const MixUp& m) { return m.share; })};
  table.sorted_by = "labels";
  table.descending = true;
  return table;
}

}  // namespace

Table workers_to_leave_out(const ReportView& shown) {
  std::vector<const ReportedWorker*> named;
  for (const ReportedWorker& worker : shown.report.workers) {
    if (worker.mark == WorkerMark::random || worker.mark == WorkerMark::adversary)
      named.push_back(&worker);
  }
  std::stable_sort(named.begin(), named.end(),
                   [](const auto* a, const auto* b) { return a->labels > b->labels; });
  using W = const ReportedWorker*;
  Table table;
  table.id = "leave-out";
  table.title = "Workers to leave out";
  table.description =
      "A method that weighs workers gives their labels little weight already. To leave them out for "
      "good, "
      "save the names and add --without-workers FILE to any command that reads labels.";
  table.columns = {
      text_column("worker", "Worker", named, [&](W w) { return shown.worker_name(w->worker); }),
      text_column("mark", "Why", named, [](W w) { return name_of(w->mark); }),
      number_column("labels", "Labels", Column::Format::integer, named, [](W w) { return w->labels; }),
      number_column("agreed", "Agrees with others", Column::Format::percent, named,
                    [](W w) { return share_or_none(static_cast<double>(w->agreed), w->compared); }),
      number_column("by_chance", "By chance", Column::Format::percent, named,
                    [](W w) { return share_or_none(w->by_chance, w->compared); })};
  table.columns[1].tones = mark_tones();
  table.copied = "worker";
  return table;
}

Section workers_section(const ReportView& shown) {
  if (shown.report.workers.empty()) return {"workers", "Workers", {}};
  Section section{"workers", "Workers", {quality_chart(shown), worker_table(shown)}};
  if (!shown.has_choice()) return section;
  if (!shown.report.pairs.empty()) {
    section.blocks.emplace_back(agreement_chart(shown));
  } else if (shown.report.workers.size() > 1) {
    section.blocks.emplace_back(
        Prose{"Who agrees with whom is not shown: hardly any two of the busiest workers have five tasks "
              "in common."});
  }
  return section;
}

Section classes_section(const ReportView& shown) {
  if (shown.report.classes.empty()) return {"classes", "Classes", {}};
  Section section{"classes", "Classes", {balance_chart(shown)}};
  if (shown.report.mix_ups.empty()) return section;
  section.blocks.emplace_back(mix_up_chart(shown));
  section.blocks.emplace_back(mix_up_table(shown));
  return section;
}

}  // namespace crowdfold
