// The data sets that were used, and whether they have the sizes that the paper gives.
#include <algorithm>

#include "crowdfold/words.h"
#include "experiments.h"
#include "published.h"

namespace crowdfold::paper {

Section sets_section(const Study& study) {
  Section section{"sets", "Data sets", {}};
  PageTable table{
      "The data sets of the experiments. Where a number differs from the paper's, the paper's stands "
      "beside it.",
      {"set", "tasks", "workers", "classes", "labels", "truths"},
      {}};
  std::string missing;
  const Results used = study.sizes();
  if (used.empty()) return section;
  for (const PublishedSet& set : published_sets()) {
    const auto found = std::find_if(used.rows().begin(), used.rows().end(),
                                    [&](const Results::Row& row) { return row[0] == set.name; });
    if (found == used.rows().end()) {
      missing += (missing.empty() ? "" : ", ") + set.name;
      continue;
    }
    std::vector<std::string> row = {set.name};
    std::size_t column = 1;
    for (const std::uint64_t paper : {set.tasks, set.workers, set.classes, set.labels, set.truths}) {
      const auto ours = static_cast<std::uint64_t>(number_of((*found)[column++]));
      row.push_back(with_commas(ours) + (ours == paper ? "" : " (paper: " + with_commas(paper) + ")"));
    }
    table.rows.push_back(std::move(row));
  }
  section.blocks.emplace_back(std::move(table));
  if (!missing.empty()) section.blocks.emplace_back("Not there: " + missing + ".");
  return section;
}

}  // namespace crowdfold::paper
