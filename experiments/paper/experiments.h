// The paper's experiments, one file each. measure() writes CSV files to the study's folder, and the
// sections of the report are made from these files alone.
#pragma once

#include <string>
#include <vector>

#include "page.h"
#include "study.h"

namespace crowdfold::paper {

struct Experiment {
  std::string name;
  std::string summary;
  void (*measure)(Study& study);
  // Without blocks if nothing was measured.
  Section (*section)(const Study& study);
};

// Of the data sets that were used.
Section sets_section(const Study& study);

Experiment offline();
Experiment wilcoxon();
Experiment priors();
Experiment convergence();
Experiment online();

// In the order of the paper.
inline std::vector<Experiment> experiments() {
  return {offline(), wilcoxon(), priors(), convergence(), online()};
}

}  // namespace crowdfold::paper
