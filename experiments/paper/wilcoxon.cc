// Wilcoxon: is a method more accurate than a majority vote on such data sets? The one-sided signed-rank
// test over the mean accuracies of the offline experiment, one pair per data set.
#include <fmt/format.h>

#include <cmath>

#include "experiments.h"
#include "offline.h"
#include "published.h"
#include "signed_rank.h"

namespace crowdfold::paper {
namespace {

using cli::decimal;

const std::string kYardstick = "mv";

SignedRank test_ours(const OfflineFigures& figures, const std::string& method) {
  std::vector<double> differences;
  for (const std::string& set : figures.sets()) {
    const OfflineFigure* found = figures.find(set, method);
    const OfflineFigure* vote = figures.find(set, kYardstick);
    if (set != kSmileOnce && found != nullptr && vote != nullptr)
      differences.push_back(found->accuracy - vote->accuracy);
  }
  return signed_rank(differences);
}

// Our test on the accuracies that the paper printed.
SignedRank test_published(const std::string& method) {
  std::vector<double> differences;
  for (const PublishedSet& set : published_sets()) {
    const double difference =
        published(set.name, method).accuracy - published(set.name, kYardstick).accuracy;
    if (!std::isnan(difference)) differences.push_back(difference);
  }
  return signed_rank(differences);
}

struct Line {
  std::string method;
  SignedRank ours;
  PublishedTest paper;
  SignedRank again;
};

std::vector<Line> lines_of(const Study& study) {
  const OfflineFigures figures(study);
  std::vector<Line> lines;
  for (const std::string& method : figures.methods()) {
    if (method == kYardstick) continue;
    lines.push_back(
        {method, test_ours(figures, method), published_test(method), test_published(method)});
  }
  return lines;
}

void measure_wilcoxon(Study& study) {
  measure_offline(study);
  std::vector<Results::Row> rows;
  for (const auto& [method, ours, paper, again] : lines_of(study)) {
    const bool known = again.pairs > 0;
    rows.push_back({method, std::to_string(ours.pairs), text_of(ours.statistic), text_of(ours.p),
                    text_of(paper.statistic), text_of(paper.p), known ? std::to_string(again.pairs) : "",
                    known ? text_of(again.statistic) : "", known ? text_of(again.p) : ""});
  }
  write_csv(study.file("wilcoxon.csv"),
            {"method", "pairs", "statistic", "p", "paper_statistic", "paper_p", "paper_table_pairs",
             "paper_table_statistic", "paper_table_p"},
            rows);
}

Section wilcoxon_section(const Study& study) {
  Section section{"wilcoxon", "Is it better than a majority vote?", {}};
  PageTable table;
  table.caption =
      "One-sided Wilcoxon signed-rank test against mv, exact: the number of pairs that differ, the sum "
      "W of positive ranks, and the probability p of a sum at least that high. \"Paper's table\" is our "
      "test on the accuracies that the paper printed.";
  table.header = {"method", "pairs", "W", "p", "paper W", "paper p", "paper's table: pairs", "W", "p"};
  for (const auto& [method, ours, paper, again] : lines_of(study)) {
    const bool known = again.pairs > 0;
    const auto statistic = [](double w) {
      return std::isnan(w) ? std::string() : fmt::format("{:g}", w);
    };
    const auto p = [](double value) { return std::isnan(value) ? std::string() : decimal(value); };
    table.rows.push_back({method, std::to_string(ours.pairs), statistic(ours.statistic), p(ours.p),
                          statistic(paper.statistic), p(paper.p),
                          known ? std::to_string(again.pairs) : "",
                          known ? statistic(again.statistic) : "", known ? p(again.p) : ""});
  }
  if (!table.rows.empty()) section.blocks.emplace_back(std::move(table));
  return section;
}

}  // namespace

Experiment wilcoxon() {
  return {"wilcoxon", "signed-rank test of every method against a majority vote", measure_wilcoxon,
          wilcoxon_section};
}

}  // namespace crowdfold::paper
