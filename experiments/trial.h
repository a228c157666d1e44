// Shared by experiments: data sets with truths, and timed runs of methods on them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "crowdfold/registry.h"

namespace crowdfold {

// A folder with labels.csv and truth.csv, every row counted as in the paper.
struct DataSet {
  explicit DataSet(const std::filesystem::path& folder);

  static bool is_in(const std::filesystem::path& folder);

  std::string name;
  Labels labels;
  std::vector<ClassId> truths;
};

// The settings with which runs of different seeds differ: random order of tasks, random ties.
Settings drawn_anew(const MethodInfo& method);

struct Trial {
  Result result;
  double seconds = 0;  // of the fit alone
};
Trial timed_fit(const Method& method, const Labels& labels, const RunContext& context);

}  // namespace crowdfold
