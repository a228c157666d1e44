// Offline: every method on every data set, all labels at once; the paper's table C.3.
//
// alpha = beta = 2, every row counted, random ties and, where it matters, a shuffled order of tasks; the
// mean of the runs. Accuracy is over the tasks with a known truth, seconds are of the fit alone.
#include "offline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "chart.h"
#include "crowdfold/metrics.h"
#include "experiments.h"
#include "published.h"

namespace crowdfold::paper {
namespace {

using cli::decimal;

const char* const kEbccStarts = "40";  // the best of them counts, as published

// A difference to the published accuracy is marked if it is larger. With fewer than 350 truths, one of
// them is worth .003 or more.
constexpr double kTolerance = .01;
constexpr double kToleranceOfFewTruths = .02;
constexpr std::uint64_t kFewTruths = 350;

Results open(const Study& study) {
  return {study.file("offline_runs.csv"), {"set", "method", "seed"}, {"accuracy", "seconds"}};
}

Settings settings_of(const MethodInfo& method) {
  Settings settings = settings_of_runs(method);
  if (method.name == "ebcc") settings.emplace_back("starts", kEbccStarts);
  return settings;
}

Results::Row measure_one(Study& study, const MethodInfo& method, const std::string& set,
                         std::uint64_t seed) {
  const DataSet& data = study.data(set);
  const TimedResult trial =
      timed_fit(*method.make(settings_of(method)), data.labels, study.context(seed));
  const Evaluation evaluation = evaluate(trial.result.estimate, data.truths, data.labels.num_classes());
  return {text_of(evaluation.accuracy), fmt::format("{:.6f}", trial.seconds)};
}

std::string published_name(const std::string& set) { return set == kSmileOnce ? "smile" : set; }

double tolerance(const std::string& set) {
  for (const PublishedSet& one : published_sets()) {
    if (one.name == published_name(set) && one.truths < kFewTruths) return kToleranceOfFewTruths;
  }
  return kTolerance;
}

// "above" or "below" where the difference is more than that, otherwise empty.
std::string mark(const std::string& set, double accuracy, double paper) {
  if (std::isnan(paper) || std::abs(accuracy - paper) <= tolerance(set)) return "";
  return accuracy > paper ? "above" : "below";
}

// Over the data sets that both have, but for smile_once, which is smile again.
struct Mean {
  int sets = 0;
  int least_runs = 0;
  int most_runs = 0;
  double accuracy = 0;
  double seconds = 0;
  int paper_sets = 0;
  double accuracy_there = 0;  // ours on the paper's
  double paper_accuracy = 0;
  double paper_seconds = 0;
};

Mean mean_of(const OfflineFigures& figures, const std::string& method) {
  Mean mean;
  for (const std::string& set : figures.sets()) {
    const OfflineFigure* ours = figures.find(set, method);
    if (ours == nullptr || set == kSmileOnce) continue;
    mean.least_runs = mean.sets == 0 ? ours->runs : std::min(mean.least_runs, ours->runs);
    mean.most_runs = std::max(mean.most_runs, ours->runs);
    ++mean.sets;
    mean.accuracy += ours->accuracy;
    mean.seconds += ours->seconds;
    const PublishedFigure paper = published(set, method);
    if (std::isnan(paper.accuracy)) continue;
    ++mean.paper_sets;
    mean.accuracy_there += ours->accuracy;
    mean.paper_accuracy += paper.accuracy;
    mean.paper_seconds += paper.seconds;
  }
  mean.accuracy /= mean.sets;
  mean.seconds /= mean.sets;
  mean.accuracy_there /= mean.paper_sets;  // NaN if there are none
  mean.paper_accuracy /= mean.paper_sets;
  mean.paper_seconds /= mean.paper_sets;
  return mean;
}

void write_summary(const Study& study) {
  const OfflineFigures figures(study);
  std::vector<Results::Row> rows;
  for (const std::string& set : figures.sets()) {
    for (const std::string& method : figures.methods()) {
      const OfflineFigure* ours = figures.find(set, method);
      if (ours == nullptr) continue;
      const PublishedFigure paper = published(published_name(set), method);
      rows.push_back(
          {set, method, std::to_string(ours->runs), text_of(ours->accuracy), text_of(ours->deviation),
           text_of(paper.accuracy), text_of(ours->accuracy - paper.accuracy),
           mark(set, ours->accuracy, paper.accuracy), text_of(ours->seconds), text_of(paper.seconds)});
    }
  }
  write_csv(study.file("offline.csv"),
            {"set", "method", "runs", "accuracy", "accuracy_sd", "paper_accuracy", "difference",
             "marked", "seconds", "paper_seconds"},
            rows);
}

std::string runs_text(const Mean& mean) {
  return mean.least_runs == mean.most_runs ? std::to_string(mean.most_runs)
                                           : fmt::format("{} to {}", mean.least_runs, mean.most_runs);
}

std::string seconds_text(double seconds) {
  if (std::isnan(seconds)) return "";
  return fmt::format("{:.{}f}", seconds, seconds < .001 ? 6 : seconds < 1 ? 4 : 1);
}

std::string or_nothing(double value) { return std::isnan(value) ? "" : decimal(value); }

PageTable means_table(const OfflineFigures& figures) {
  PageTable table;
  table.caption =
      "Means over the data sets. The paper's means and the differences are over the sets for which the "
      "paper has figures. A method for two classes has fewer sets, so its mean cannot be compared with "
      "the others.";
  table.header = {"method", "sets", "runs", "accuracy", "paper", "difference", "seconds", "paper"};
  for (const std::string& method : figures.methods()) {
    const Mean mean = mean_of(figures, method);
    const double difference = mean.accuracy_there - mean.paper_accuracy;
    table.rows.push_back({method, std::to_string(mean.sets), runs_text(mean), decimal(mean.accuracy),
                          or_nothing(mean.paper_accuracy),
                          std::isnan(difference) ? "" : fmt::format("{:+.4f}", difference),
                          seconds_text(mean.seconds), seconds_text(mean.paper_seconds)});
  }
  return table;
}

// One row per data set, one column per method of the paper.
template <class Cell>
PageTable by_set(const OfflineFigures& figures, std::string caption, const Cell& cell) {
  PageTable table{std::move(caption), {"set"}, {}};
  for (const std::string& method : published_methods()) table.header.push_back(method);
  for (const std::string& set : figures.sets()) {
    std::vector<std::string> row = {set};
    for (const std::string& method : published_methods()) {
      const OfflineFigure* ours = figures.find(set, method);
      row.push_back(ours == nullptr ? "" : cell(set, *ours, published(published_name(set), method)));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

PageTable accuracy_table(const OfflineFigures& figures) {
  return by_set(
      figures,
      "Accuracy, ours / the paper's. ▲ and ▼ mark figures of ours that are above or below by more than "
      ".01 (.02 with fewer than 350 truths).",
      [](const std::string& set, const OfflineFigure& ours, const PublishedFigure& paper) {
        const std::string how = mark(set, ours.accuracy, paper.accuracy);
        return fmt::format("{} / {}{}", decimal(ours.accuracy), decimal(paper.accuracy),
                           how.empty()      ? ""
                           : how == "above" ? " ▲"
                                            : " ▼");
      });
}

PageTable seconds_table(const OfflineFigures& figures) {
  return by_set(figures, "Seconds, ours / the paper's.",
                [](const std::string&, const OfflineFigure& ours, const PublishedFigure& paper) {
                  return fmt::format("{} / {}", seconds_text(ours.seconds),
                                     std::isnan(paper.seconds) ? "-" : seconds_text(paper.seconds));
                });
}

PageChart scatter(const OfflineFigures& figures) {
  Axis x{"lg(seconds), mean over data sets", 0, 0};
  Axis y{"mean accuracy", 1, 0};
  struct Pair {
    std::string method;
    Point ours;
    Point paper;
  };
  std::vector<Pair> pairs;
  bool first = true;
  const int all_sets = mean_of(figures, figures.methods().front()).sets;
  for (const std::string& method : figures.methods()) {
    const Mean mean = mean_of(figures, method);
    if (mean.sets < all_sets) continue;  // it would not compare
    pairs.push_back({method,
                     {std::log10(mean.seconds), mean.accuracy},
                     {std::log10(mean.paper_seconds), mean.paper_accuracy}});
    for (const Point& point : {pairs.back().ours, pairs.back().paper}) {
      if (std::isnan(point.x) || std::isnan(point.y)) continue;
      x.low = first ? point.x : std::min(x.low, point.x);
      x.high = first ? point.x : std::max(x.high, point.x);
      y.low = std::min(y.low, point.y);
      y.high = std::max(y.high, point.y);
      first = false;
    }
  }
  const double margin_x = 0.05 * (x.high - x.low) + 0.1;
  const double margin_y = 0.08 * (y.high - y.low) + 0.001;
  x.low -= margin_x;
  x.high += margin_x;
  y.low -= margin_y;
  y.high += margin_y;
  Chart chart("Accuracy against time: dots ours, rings the paper's", x, y, 760, 460, 96);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto& [method, ours, paper] = pairs[i];
    if (!std::isnan(paper.y)) {
      chart.line({ours, paper}, {color_of(i), 0.7, 0.5, ""});
      chart.dot(paper, color_of(i), false);
    }
    chart.dot(ours, color_of(i), true, method);
  }
  return {"scatter", "Mean accuracy against lg(seconds), ours and the paper's, joined by a line.",
          chart.svg()};
}

Section offline_section(const Study& study) {
  Section section{"offline", "Offline: accuracy and time", {}};
  const OfflineFigures figures(study);
  if (figures.sets().empty()) return section;
  std::string extra;
  if (std::find(figures.sets().begin(), figures.sets().end(), kSmileOnce) != figures.sets().end())
    extra = " smile_once is smile with repeated rows counted once; it is not in the means.";
  section.blocks = {means_table(figures), scatter(figures), accuracy_table(figures),
                    "Every row of the files is counted." + extra, seconds_table(figures)};
  return section;
}

}  // namespace

OfflineFigures::OfflineFigures(const Study& study) {
  std::map<std::pair<std::string, std::string>, std::vector<std::pair<double, double>>> runs;
  std::set<std::string> others;
  for (const Results::Row& row : open(study).rows()) {
    runs[{row[0], row[1]}].emplace_back(number_of(row[3]), number_of(row[4]));
    others.insert(row[1]);
  }
  for (const auto& [key, values] : runs) {
    OfflineFigure& figure = figures_[key];
    const auto count = static_cast<double>(values.size());
    figure.runs = static_cast<int>(values.size());
    for (const auto& [accuracy, seconds] : values) {
      figure.accuracy += accuracy / count;
      figure.seconds += seconds / count;
    }
    for (const auto& [accuracy, seconds] : values)
      figure.deviation += std::pow(accuracy - figure.accuracy, 2) / std::max(1.0, count - 1);
    figure.deviation = std::sqrt(figure.deviation);
  }
  for (const std::string& method : published_methods()) {
    if (others.erase(method) > 0) methods_.push_back(method);
  }
  methods_.insert(methods_.end(), others.begin(), others.end());
  std::vector<std::string> all;
  for (const PublishedSet& set : published_sets()) all.push_back(set.name);
  all.push_back(kSmileOnce);
  for (const std::string& set : all) {
    if (std::any_of(figures_.begin(), figures_.end(),
                    [&](const auto& figure) { return figure.first.first == set; }))
      sets_.push_back(set);
  }
}

const OfflineFigure* OfflineFigures::find(const std::string& set, const std::string& method) const {
  const auto found = figures_.find({set, method});
  return found == figures_.end() ? nullptr : &found->second;
}

void measure_offline(Study& study) {
  Results results = open(study);
  std::vector<std::string> sets = study.sets();
  if (std::find(sets.begin(), sets.end(), "smile") != sets.end()) sets.push_back(kSmileOnce);
  // The slowest come last.
  std::vector<std::string> names = study.methods(published_methods());
  std::stable_partition(names.begin(), names.end(),
                        [](const std::string& name) { return name != "ebcc"; });
  std::vector<Unit> units;
  for (const std::string& name : names) {
    const MethodInfo& method = find_method(name);
    for (const std::string& set : sets) {
      if (study.data(set).labels.num_classes() > method.traits.most_classes) continue;
      for (const std::uint64_t seed : study.seeds()) {
        units.push_back({{set, name, std::to_string(seed)}, [&study, &method, set, seed] {
                           return std::vector<Results::Row>{measure_one(study, method, set, seed)};
                         }});
      }
    }
  }
  study.measure_missing("offline", results, units);
  write_summary(study);
}

Experiment offline() {
  return {"offline", "accuracy and seconds of every method on every data set", measure_offline,
          offline_section};
}

}  // namespace crowdfold::paper
