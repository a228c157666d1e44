// Makes data sets from copies of the public repositories that they come from.
#pragma once

#include <filesystem>

namespace crowdfold::paper {

struct ImportOptions {
  std::filesystem::path from;
  std::filesystem::path to;
  bool quiet = false;
};

// Looks for known layouts anywhere below `from`, and writes NAME/labels.csv and NAME/truth.csv to `to`
// for each of the paper's data sets. Prints how their sizes compare with the paper's.
// Error(usage) if it finds none.
void import_sets(const ImportOptions& options);

}  // namespace crowdfold::paper
