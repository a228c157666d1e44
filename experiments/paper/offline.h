// The results of the offline experiment, for the Wilcoxon test.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "study.h"

namespace crowdfold::paper {

// Of one method on one data set, over the runs.
struct OfflineFigure {
  int runs = 0;
  double accuracy = 0;
  double deviation = 0;  // standard, of one run
  double seconds = 0;
};

class OfflineFigures {
 public:
  explicit OfflineFigures(const Study& study);

  // In the order of the paper; other methods after its own.
  const std::vector<std::string>& sets() const { return sets_; }
  const std::vector<std::string>& methods() const { return methods_; }
  // Null if it was not measured.
  const OfflineFigure* find(const std::string& set, const std::string& method) const;

 private:
  std::vector<std::string> sets_;
  std::vector<std::string> methods_;
  std::map<std::pair<std::string, std::string>, OfflineFigure> figures_;
};

void measure_offline(Study& study);

}  // namespace crowdfold::paper
