// Priors: how much do onepass and twopass depend on Beta(alpha, beta)? 25 settings, alpha and beta from
// 1 to 5, on all data sets.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "chart.h"
#include "crowdfold/metrics.h"
#include "experiments.h"
#include "published.h"

namespace crowdfold::paper {
namespace {

using cli::decimal;

constexpr int kMost = 5;
const std::vector<std::string> kMethods = {"onepass", "twopass"};

Results open(const Study& study) {
  return {study.file("priors_runs.csv"), {"method", "alpha", "beta", "set", "seed"}, {"accuracy"}};
}

// Mean accuracy over data sets and runs, by alpha and beta.
struct Grid {
  std::array<std::array<double, kMost>, kMost> mean{};
  int sets = 0;
  int runs = 0;

  double best() const { return extreme(std::max); }
  double worst() const { return extreme(std::min); }

 private:
  double extreme(const double& (*choose)(const double&, const double&)) const {
    double value = mean[0][0];
    for (const auto& row : mean) {
      for (const double cell : row) value = choose(value, cell);
    }
    return value;
  }
};

std::map<std::string, Grid> grids_of(const Study& study) {
  std::map<std::string, Grid> grids;
  std::map<std::string, std::array<std::array<double, kMost>, kMost>> counts;
  std::map<std::string, std::pair<std::set<std::string>, std::set<std::string>>> seen;
  for (const Results::Row& row : open(study).rows()) {
    const auto a = static_cast<std::size_t>(number_of(row[1])) - 1;
    const auto b = static_cast<std::size_t>(number_of(row[2])) - 1;
    grids[row[0]].mean[a][b] += number_of(row[5]);
    counts[row[0]][a][b] += 1;
    seen[row[0]].first.insert(row[3]);
    seen[row[0]].second.insert(row[4]);
  }
  for (auto& [method, grid] : grids) {
    for (std::size_t a = 0; a < kMost; ++a) {
      for (std::size_t b = 0; b < kMost; ++b) grid.mean[a][b] /= counts[method][a][b];
    }
    grid.sets = static_cast<int>(seen[method].first.size());
    grid.runs = static_cast<int>(seen[method].second.size());
  }
  return grids;
}

double accuracy_with(Study& study, const std::string& name, int alpha, int beta, const std::string& set,
                     std::uint64_t seed) {
  const MethodInfo& method = find_method(name);
  Settings settings = settings_of_runs(method);
  settings.emplace_back("alpha", std::to_string(alpha));
  settings.emplace_back("beta", std::to_string(beta));
  const DataSet& data = study.data(set);
  const Result result = aggregate(data.labels, name, settings, {}, study.context(seed));
  return evaluate(result.estimate, data.truths, data.labels.num_classes()).accuracy;
}

void measure_priors(Study& study) {
  Results results = open(study);
  std::vector<Unit> units;
  for (const std::string& method : kMethods) {
    for (int alpha = 1; alpha <= kMost; ++alpha) {
      for (int beta = 1; beta <= kMost; ++beta) {
        for (const std::string& set : study.sets()) {
          for (const std::uint64_t seed : study.seeds()) {
            units.push_back(
                {{method, std::to_string(alpha), std::to_string(beta), set, std::to_string(seed)},
                 [&study, method, alpha, beta, set, seed] {
                   return std::vector<Results::Row>{
                       {text_of(accuracy_with(study, method, alpha, beta, set, seed))}};
                 }});
          }
        }
      }
    }
  }
  study.measure_missing("priors", results, units);
  std::vector<Results::Row> rows;
  for (const auto& [method, grid] : grids_of(study)) {
    for (std::size_t a = 0; a < kMost; ++a) {
      for (std::size_t b = 0; b < kMost; ++b) {
        rows.push_back({method, std::to_string(a + 1), std::to_string(b + 1), std::to_string(grid.sets),
                        std::to_string(grid.runs), text_of(grid.mean[a][b])});
      }
    }
  }
  write_csv(study.file("priors.csv"), {"method", "alpha", "beta", "sets", "runs", "accuracy"}, rows);
}

PageChart map_of(const std::string& method, const Grid& grid) {
  std::vector<std::string> numbers;
  std::vector<std::vector<double>> values;
  for (std::size_t i = 0; i < kMost; ++i) {
    numbers.push_back(std::to_string(i + 1));
    values.emplace_back(grid.mean[i].begin(), grid.mean[i].end());
  }
  return {"priors_" + method, fmt::format("Mean accuracy of {} by prior.", method),
          heat_map(method + ": mean accuracy", "alpha", numbers, "beta", numbers, values)};
}

Section priors_section(const Study& study) {
  Section section{"priors", "How much does the prior matter?", {}};
  const auto grids = grids_of(study);
  if (grids.empty()) return section;
  PageTable table;
  table.caption =
      "Mean accuracy over data sets and runs, for the best and the worst of 25 priors. alpha = 1 with "
      "beta > 1 gives new workers the weight 0; \"gap without\" leaves out those four priors.";
  table.header = {"method",     "sets", "runs", "best", "worst", "gap", "gap without alpha = 1 < beta",
                  "paper's gap"};
  for (const auto& [method, grid] : grids) {
    Grid rest = grid;
    for (std::size_t b = 1; b < kMost; ++b) rest.mean[0][b] = grid.mean[1][1];
    table.rows.push_back({method, std::to_string(grid.sets), std::to_string(grid.runs),
                          decimal(grid.best()), decimal(grid.worst()),
                          decimal(grid.best() - grid.worst()), decimal(rest.best() - rest.worst()),
                          decimal(published_gap(method), 3)});
  }
  section.blocks.emplace_back(std::move(table));
  for (const auto& [method, grid] : grids) section.blocks.emplace_back(map_of(method, grid));
  return section;
}

}  // namespace

Experiment priors() {
  return {"priors", "onepass and twopass with 25 priors", measure_priors, priors_section};
}

}  // namespace crowdfold::paper
