// Convergence: does a worker's estimated quality come as close to the true one as Corollary 1 says?
//
//   P(|w_hat - w| <= eps / sqrt(t)) >= Phi(eps) - Phi(-eps)      t: tasks that the worker labelled
//
// 20 workers label each of 1000 tasks of 4 classes; wrong labels are uniform over the other classes. All
// workers of quality .6, or qualities uniform in [.4, .7]. onepass with alpha = 3, beta = 2, as the
// authors ran it. Points are the estimates of all workers after each task; the first run is drawn.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "chart.h"
#include "crowdfold/simulate.h"
#include "experiments.h"

namespace crowdfold::paper {
namespace {

using cli::decimal;

constexpr std::uint64_t kTasks = 1000;
constexpr std::uint32_t kWorkers = 20;
constexpr std::uint32_t kClasses = 4;

struct Simulation {
  std::string name;
  QualityDistribution quality;
  std::string what;
};
const std::vector<Simulation>& simulations() {
  using Kind = QualityDistribution::Kind;
  static const std::vector<Simulation> both = {
      {"same", {Kind::fixed, .6, .6}, "all workers of quality .6"},
      {"different", {Kind::uniform, .4, .7}, "qualities uniform in [.4, .7]"}};
  return both;
}

struct Bound {
  double epsilon;
  double promised;  // share of points inside, at least
};
constexpr Bound kBounds[] = {{1, .6827}, {2, .9545}};

// estimate[w][t]: worker w's quality after t + 1 tasks.
struct Traces {
  std::vector<double> quality;
  std::vector<std::vector<double>> estimate;

  double share_inside(double epsilon) const {
    double inside = 0;
    for (std::size_t w = 0; w < quality.size(); ++w) {
      for (std::size_t t = 0; t < estimate[w].size(); ++t) {
        const Interval bound = error_bound(estimate[w][t], static_cast<double>(t + 1), epsilon);
        inside += bound.lower <= quality[w] && quality[w] <= bound.upper ? 1 : 0;
      }
    }
    return inside / static_cast<double>(quality.size() * estimate[0].size());
  }
};

Traces trace(const Simulation& simulation, std::uint64_t seed) {
  SimulationOptions options;
  options.tasks = kTasks;
  options.workers = kWorkers;
  options.classes = kClasses;
  options.min_labels = options.max_labels = kWorkers;
  options.quality = simulation.quality;
  SimulatedCrowd crowd;
  const Labels labels = simulate_labels(options, seed, &crowd);

  const auto method =
      find_method("onepass").make_online({{"alpha", "3"}, {"beta", "2"}, {"ties", "random"}}, seed);
  method->expect(kWorkers, kClasses);
  Traces traces{crowd.quality, std::vector<std::vector<double>>(kWorkers)};
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    method->observe(labels.task(t));
    const WorkerState state = method->state();
    for (WorkerId w = 0; w < kWorkers; ++w) traces.estimate[w].push_back(state.quality(w).mode());
  }
  return traces;
}

Results open_shares(const Study& study) {
  return {study.file("convergence.csv"), {"simulation", "seed"}, {"points", "inside_1", "inside_2"}};
}

Results open_traces(const Study& study) {
  return {study.file("convergence_traces.csv"),
          {"simulation", "worker", "quality"},
          {"tasks", "estimate"},
          kTasks};
}

void write_traces(const Study& study) {
  std::vector<Results::Row> rows;
  for (const Simulation& simulation : simulations()) {
    const Traces traces = trace(simulation, study.seeds().front());
    for (std::size_t w = 0; w < kWorkers; ++w) {
      for (std::size_t t = 0; t < kTasks; ++t) {
        rows.push_back({simulation.name, std::to_string(w), text_of(traces.quality[w]),
                        std::to_string(t + 1), text_of(traces.estimate[w][t])});
      }
    }
  }
  write_csv(study.file("convergence_traces.csv"),
            {"simulation", "worker", "quality", "tasks", "estimate"}, rows);
}

void measure_convergence(Study& study) {
  Results results = open_shares(study);
  std::vector<Unit> units;
  for (const Simulation& simulation : simulations()) {
    for (const std::uint64_t seed : study.seeds()) {
      units.push_back({{simulation.name, std::to_string(seed)}, [&simulation, seed] {
                         const Traces traces = trace(simulation, seed);
                         return std::vector<Results::Row>{
                             {std::to_string(kWorkers * kTasks),
                              text_of(traces.share_inside(kBounds[0].epsilon)),
                              text_of(traces.share_inside(kBounds[1].epsilon))}};
                       }});
    }
  }
  study.measure_missing("convergence", results, units);
  write_traces(study);
}

PageTable shares_table(const Results& shares) {
  PageTable table;
  table.caption =
      "Share of the estimates that lie within eps / sqrt(t) of the true quality: mean over the runs, "
      "and the run "
      "with the lowest.";
  table.header = {"simulation", "runs", "eps", "inside", "lowest run", "promised"};
  for (const Simulation& simulation : simulations()) {
    for (std::size_t i = 0; i < std::size(kBounds); ++i) {
      double sum = 0;
      double lowest = 1;
      int runs = 0;
      for (const Results::Row& row : shares.rows()) {
        if (row[0] != simulation.name) continue;
        const double inside = number_of(row[3 + i]);
        sum += inside;
        lowest = std::min(lowest, inside);
        ++runs;
      }
      if (runs == 0) continue;
      table.rows.push_back({simulation.what, std::to_string(runs),
                            fmt::format("{:g}", kBounds[i].epsilon), decimal(sum / runs),
                            decimal(lowest), fmt::format("at least {}", decimal(kBounds[i].promised))});
    }
  }
  return table;
}

// Lines of some hundred points: more cannot be seen.
constexpr std::size_t kDrawEvery = 4;

void draw_bounds(Chart& chart, double quality) {
  chart.line({{0, quality}, {kTasks, quality}}, {"#d62728", 1.5, 1, "true quality"});
  for (const Bound& bound : kBounds) {
    for (const double side : {-1.0, 1.0}) {
      std::vector<Point> points;
      for (double t = 1; t <= kTasks; t += t < 40 ? 1 : kDrawEvery)
        points.push_back({t, quality + side * bound.epsilon / std::sqrt(t)});
      chart.line(points, {bound.epsilon == 1 ? "#1f77b4" : "#ff7f0e", 1.2, 1,
                          side < 0 ? fmt::format("bound, eps = {:g}", bound.epsilon) : ""});
    }
  }
}

struct Worker {
  double quality = 0;
  std::vector<Point> points;
};

std::map<std::string, std::vector<Worker>> read_traces(const Study& study) {
  std::map<std::string, std::vector<Worker>> simulated;
  for (const Results::Row& row : open_traces(study).rows()) {
    auto& workers = simulated[row[0]];
    workers.resize(kWorkers);
    Worker& worker = workers[static_cast<std::size_t>(number_of(row[1]))];
    worker.quality = number_of(row[2]);
    const Point point{number_of(row[3]), number_of(row[4])};
    if (point.x < 40 || std::fmod(point.x, kDrawEvery) == 0) worker.points.push_back(point);
  }
  return simulated;
}

Section convergence_section(const Study& study) {
  Section section{"convergence", "Do estimates of quality keep within the bounds?", {}};
  const Results shares = open_shares(study);
  if (shares.empty()) return section;
  section.blocks.emplace_back(shares_table(shares));

  const Axis tasks{"tasks", 0, kTasks};
  const auto traces = read_traces(study);
  if (const auto same = traces.find("same"); same != traces.end()) {
    Chart chart("Estimates of 20 workers of quality .6", tasks, {"estimated quality", .2, 1});
    draw_bounds(chart, same->second[0].quality);
    for (const Worker& worker : same->second) chart.line(worker.points, {"#2ca02c", 0.8, 0.45, ""});
    section.blocks.emplace_back(PageChart{
        "convergence", "Estimated qualities of 20 workers of quality .6, and the bounds.", chart.svg()});
  }
  if (const auto different = traces.find("different"); different != traces.end()) {
    const std::vector<Worker>& workers = different->second;
    for (std::size_t w = 0; w < workers.size(); ++w) {
      Chart chart(fmt::format("Worker {} of quality {}", w + 1, decimal(workers[w].quality, 2)), tasks,
                  {"", 0, 1}, 420, 260);
      draw_bounds(chart, workers[w].quality);
      chart.line(workers[w].points, {"#2ca02c", 1.2, 1, ""});
      section.blocks.emplace_back(
          PageChart{fmt::format("convergence_{}", w + 1), "", chart.svg(), true});
    }
  }
  return section;
}

}  // namespace

Experiment convergence() {
  return {"convergence", "estimates of quality in two simulations, and the paper's bounds",
          measure_convergence, convergence_section};
}

}  // namespace crowdfold::paper
