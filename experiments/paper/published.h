// The paper's published figures: data sets, accuracies, seconds and tests.
//
// Yang, Zhao, Bai, Liu, Li: A Light-weight, Effective and Efficient Model for Label Aggregation in
// Crowdsourcing (TKDD 2024), appendix C.3.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace crowdfold::paper {

struct PublishedSet {
  std::string name;
  std::uint64_t tasks = 0;
  std::uint64_t workers = 0;
  std::uint64_t classes = 0;
  std::uint64_t labels = 0;
  std::uint64_t truths = 0;
};
// In the order of the paper, from paper_sets.csv.
const std::vector<PublishedSet>& published_sets();

// NaN where the paper has no figure.
struct PublishedFigure {
  double accuracy;
  double seconds;
};
// From paper_figures.csv.
PublishedFigure published(const std::string& set, const std::string& method);
// The ten methods, in the order of the paper.
const std::vector<std::string>& published_methods();

// Against mv, over 20 data sets. NaN for other methods.
struct PublishedTest {
  double statistic;
  double p;
};
PublishedTest published_test(const std::string& method);

// Between the best and the worst mean accuracy of 25 priors; NaN for other methods.
double published_gap(const std::string& method);

}  // namespace crowdfold::paper
