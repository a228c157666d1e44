// Online: tasks come in 10 chunks of equal size, in a shuffled order; each chunk is judged when it has
// been learned from, and its labels are not looked at again. Accuracy is over all tasks so far, seconds
// are of the chunk alone. The paper's 15 data sets; SBIC where there are two classes.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>

#include "base/random.h"
#include "chart.h"
#include "experiments.h"
#include "published.h"

namespace crowdfold::paper {
namespace {

using cli::decimal;

constexpr std::size_t kChunks = 10;
const std::vector<std::string> kSets = {"CF",    "CF_amt", "MS",     "dog",    "face",
                                        "web",   "SP",     "SP_amt", "ZC_all", "ZC_in",
                                        "ZC_us", "prod",   "tweet",  "bird",   "rte"};
const std::vector<std::string> kMethods = {"mv", "bila", "onepass", "twopass", "sbic"};

Results open(const Study& study) {
  return {study.file("online_runs.csv"),
          {"set", "method", "seed"},
          {"chunk", "tasks", "accuracy", "seconds"},
          kChunks};
}

// All tasks, shuffled, in parts that differ by one at most.
std::vector<std::vector<TaskId>> chunks_of(TaskId num_tasks, std::uint64_t seed) {
  std::vector<TaskId> tasks(num_tasks);
  std::iota(tasks.begin(), tasks.end(), 0);
  Random(seed).shuffle(tasks);
  std::vector<std::vector<TaskId>> chunks;
  for (std::size_t i = 0; i < kChunks; ++i) {
    const auto end = [&](std::size_t chunk) {
      return tasks.begin() + static_cast<std::ptrdiff_t>(chunk * num_tasks / kChunks);
    };
    chunks.emplace_back(end(i), end(i + 1));
  }
  return chunks;
}

std::vector<Results::Row> measure_one(const DataSet& data, const MethodInfo& info, std::uint64_t seed) {
  using Clock = std::chrono::steady_clock;
  const Labels& labels = data.labels;
  const auto method = info.make_online(settings_of_runs(info), seed);
  method->expect(labels.num_workers(), labels.num_classes());
  std::vector<Results::Row> rows;
  double known = 0;
  double right = 0;
  std::size_t so_far = 0;
  for (const std::vector<TaskId>& chunk : chunks_of(labels.num_tasks(), seed)) {
    std::vector<TaskLabels> tasks;
    for (const TaskId t : chunk) tasks.push_back(labels.task(t));
    const Clock::time_point start = Clock::now();
    const std::vector<Estimate> estimates = method->observe_chunk(tasks);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      const ClassId truth = data.truths[chunk[i]];
      known += truth != kNoClass ? 1 : 0;
      right += truth != kNoClass && estimates[i].label == truth ? 1 : 0;
    }
    so_far += chunk.size();
    rows.push_back({std::to_string(rows.size() + 1), std::to_string(so_far), text_of(right / known),
                    fmt::format("{:.6f}", seconds)});
  }
  return rows;
}

// Means over the runs, by chunk.
struct Curve {
  std::vector<double> accuracy = std::vector<double>(kChunks);
  std::vector<double> seconds = std::vector<double>(kChunks);
  int parts = 0;  // runs, or data sets

  void add(std::size_t chunk, double right, double time) {
    accuracy[chunk] += right;
    seconds[chunk] += time;
  }
  void add(const Curve& other) {
    for (std::size_t i = 0; i < kChunks; ++i) add(i, other.accuracy[i], other.seconds[i]);
    ++parts;
  }
  void divide() {
    for (std::size_t i = 0; i < kChunks; ++i) {
      accuracy[i] /= parts;
      seconds[i] /= parts;
    }
  }
};
// By data set and method.
using Curves = std::map<std::string, std::map<std::string, Curve>>;

Curves read_curves(const Study& study) {
  Curves curves;
  for (const Results::Row& row : open(study).rows()) {
    Curve& curve = curves[row[0]][row[1]];
    const auto chunk = static_cast<std::size_t>(number_of(row[3])) - 1;
    curve.add(chunk, number_of(row[5]), number_of(row[6]));
    if (chunk == 0) ++curve.parts;
  }
  for (auto& [set, by_method] : curves) {
    for (auto& [method, curve] : by_method) curve.divide();
  }
  return curves;
}

bool is_binary(const std::string& set) {
  const auto& all = published_sets();
  return std::any_of(all.begin(), all.end(),
                     [&](const PublishedSet& s) { return s.name == set && s.classes == 2; });
}

// Means over data sets, of the methods that have all of them.
std::map<std::string, Curve> mean_curves(const Curves& curves, bool binary_only) {
  std::map<std::string, Curve> means;
  int sets = 0;
  for (const auto& [set, by_method] : curves) {
    if (binary_only && !is_binary(set)) continue;
    ++sets;
    for (const auto& [method, curve] : by_method) means[method].add(curve);
  }
  std::erase_if(means, [&](const auto& mean) { return mean.second.parts != sets; });
  for (auto& [method, curve] : means) curve.divide();
  return means;
}

void write_summary(const Study& study) {
  const Curves curves = read_curves(study);
  std::vector<Results::Row> rows;
  const auto add = [&](const std::string& set, const std::map<std::string, Curve>& by_method) {
    for (const auto& [method, curve] : by_method) {
      for (std::size_t i = 0; i < kChunks; ++i) {
        rows.push_back({set, method, std::to_string(i + 1), std::to_string(curve.parts),
                        text_of(curve.accuracy[i]), text_of(curve.seconds[i])});
      }
    }
  };
  for (const auto& [set, by_method] : curves) add(set, by_method);
  add("mean", mean_curves(curves, false));
  add("mean_binary", mean_curves(curves, true));
  write_csv(study.file("online.csv"), {"set", "method", "chunk", "runs_or_sets", "accuracy", "seconds"},
            rows);
}

void measure_online(Study& study) {
  Results results = open(study);
  const std::vector<std::string> there = study.sets();
  std::vector<Unit> units;
  for (const std::string& set : kSets) {
    if (std::find(there.begin(), there.end(), set) == there.end()) continue;
    for (const std::string& name : study.methods(kMethods)) {
      const MethodInfo& method = find_method(name);
      if (!method.make_online || study.data(set).labels.num_classes() > method.traits.most_classes)
        continue;
      for (const std::uint64_t seed : study.seeds()) {
        units.push_back({{set, name, std::to_string(seed)}, [&study, &method, set, seed] {
                           return measure_one(study.data(set), method, seed);
                         }});
      }
    }
  }
  study.measure_missing("online", results, units);
  write_summary(study);
}

// The order in which methods are named, and their colours.
std::vector<std::string> methods_in(const std::map<std::string, Curve>& by_method) {
  std::vector<std::string> names;
  for (const std::string& method : kMethods) {
    if (by_method.contains(method)) names.push_back(method);
  }
  for (const auto& [method, curve] : by_method) {
    if (std::find(names.begin(), names.end(), method) == names.end()) names.push_back(method);
  }
  return names;
}

std::string chart_of(const std::string& title, const std::map<std::string, Curve>& by_method, int width,
                     int height) {
  Axis y{"accuracy so far", 1, 0};
  for (const auto& [method, curve] : by_method) {
    for (const double accuracy : curve.accuracy) {
      y.low = std::min(y.low, accuracy - .005);
      y.high = std::max(y.high, accuracy + .005);
    }
  }
  Chart chart(title, {"chunk", 1, kChunks}, y, width, height);
  static constexpr const char* kColors[] = {"#7f7f7f", "#9467bd", "#1f77b4", "#d62728", "#2ca02c"};
  std::size_t i = 0;
  for (const std::string& method : methods_in(by_method)) {
    std::vector<Point> points;
    for (std::size_t chunk = 0; chunk < kChunks; ++chunk)
      points.push_back({static_cast<double>(chunk + 1), by_method.at(method).accuracy[chunk]});
    chart.line(points, {i < std::size(kColors) ? kColors[i] : color_of(i), 2, 1, method});
    ++i;
  }
  return chart.svg();
}

PageTable table_of(const std::string& caption, const std::map<std::string, Curve>& by_method,
                   const std::vector<double> Curve::*values, const auto& text) {
  PageTable table{caption, {"method"}, {}};
  for (std::size_t i = 1; i <= kChunks; ++i) table.header.push_back(std::to_string(i));
  for (const std::string& method : methods_in(by_method)) {
    std::vector<std::string> row = {method};
    for (const double value : by_method.at(method).*values) row.push_back(text(value));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Section online_section(const Study& study) {
  Section section{"online", "Online: chunk by chunk", {}};
  const Curves curves = read_curves(study);
  if (curves.empty()) return section;
  const auto all = mean_curves(curves, false);
  const auto binary = mean_curves(curves, true);
  const auto accuracy = [](double value) { return decimal(value); };
  const auto milliseconds = [](double value) { return fmt::format("{:.3f}", 1000 * value); };
  section.blocks = {
      table_of(
          fmt::format("Accuracy over all tasks so far, after each of 10 chunks: mean of {} data sets.",
                      curves.size()),
          all, &Curve::accuracy, accuracy),
      PageChart{"online", "Accuracy so far, mean of the data sets.",
                chart_of(fmt::format("Mean of {} data sets", curves.size()), all, 760, 400)},
      table_of("Milliseconds per chunk, mean of the same data sets.", all, &Curve::seconds,
               milliseconds)};
  if (!binary.empty()) {
    section.blocks.emplace_back(
        table_of("The data sets of two classes alone, with sbic: accuracy so far.", binary,
                 &Curve::accuracy, accuracy));
    section.blocks.emplace_back(
        PageChart{"online_binary", "Accuracy so far, mean of the data sets of two classes.",
                  chart_of("Mean of the data sets of two classes", binary, 760, 400)});
  }
  PageTable last{"Accuracy after the last chunk.", {"set"}, {}};
  std::map<std::string, Curve> every;
  for (const auto& [set, by_method] : curves) every.insert(by_method.begin(), by_method.end());
  for (const std::string& method : methods_in(every)) last.header.push_back(method);
  for (const std::string& set : kSets) {
    const auto found = curves.find(set);
    if (found == curves.end()) continue;
    std::vector<std::string> row = {set};
    for (const std::string& method : methods_in(every)) {
      const auto curve = found->second.find(method);
      row.push_back(curve == found->second.end() ? "" : decimal(curve->second.accuracy.back()));
    }
    last.rows.push_back(std::move(row));
    section.blocks.emplace_back(
        PageChart{"online_" + set, "", chart_of(set, found->second, 460, 280), true});
  }
  section.blocks.insert(section.blocks.begin() + 3, std::move(last));
  return section;
}

}  // namespace

Experiment online() {
  return {"online", "10 chunks of tasks, one after another, on 15 data sets", measure_online,
          online_section};
}

}  // namespace crowdfold::paper
