#include "data_set.h"

#include "crowdfold/io.h"

namespace crowdfold {
namespace {

ReadOptions rows_that_count(Duplicates duplicates) {
  ReadOptions options;
  options.duplicates = duplicates;
  return options;
}

}  // namespace

DataSet::DataSet(const std::filesystem::path& folder, Duplicates duplicates)
    : name(folder.filename()),
      labels(read_labels((folder / "labels.csv").string(), rows_that_count(duplicates), {})),
      truths(read_truths((folder / "truth.csv").string(), labels, rows_that_count(Duplicates::keep))) {}

bool DataSet::is_in(const std::filesystem::path& folder) {
  return std::filesystem::is_regular_file(folder / "labels.csv") &&
         std::filesystem::is_regular_file(folder / "truth.csv");
}

}  // namespace crowdfold
