// Data sets out of copies of the public repositories that they come from.
#pragma once

#include <filesystem>

namespace crowdfold::paper {

struct ImportOptions {
  std::filesystem::path from;
  std::filesystem::path to;
  bool quiet = false;
};

// Looks for layouts that it knows anywhere below `from`, and makes NAME/labels.csv and NAME/truth.csv in
// `to` of each of the paper's data sets that it finds. Says how their sizes compare with the paper's.
// Error(usage) if it finds none.
void import_sets(const ImportOptions& options);

}  // namespace crowdfold::paper
