// Data sets with truths, for experiments. Runs of methods on them: crowdfold/aggregate.h.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "crowdfold/aggregate.h"

namespace crowdfold {

// A folder with labels.csv and truth.csv. Every row counts, as in the paper, or only the last label of a
// worker on a task.
struct DataSet {
  explicit DataSet(const std::filesystem::path& folder, Duplicates duplicates = Duplicates::keep);

  static bool is_in(const std::filesystem::path& folder);

  std::string name;
  Labels labels;
  std::vector<ClassId> truths;
};

}  // namespace crowdfold
