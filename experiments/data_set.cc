#include "data_set.h"

#include "crowdfold/io.h"

namespace crowdfold {
namespace {

ReadOptions every_row() {
  ReadOptions options;
  options.duplicates = Duplicates::keep;
  return options;
}

}  // namespace

DataSet::DataSet(const std::filesystem::path& folder)
    : name(folder.filename()),
      labels(read_labels((folder / "labels.csv").string(), every_row(), {})),
      truths(read_truths((folder / "truth.csv").string(), labels, every_row())) {}

bool DataSet::is_in(const std::filesystem::path& folder) {
  return std::filesystem::is_regular_file(folder / "labels.csv") &&
         std::filesystem::is_regular_file(folder / "truth.csv");
}

}  // namespace crowdfold
