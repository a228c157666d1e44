#include "trial.h"

#include <chrono>

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

Settings drawn_anew(const MethodInfo& method) {
  Settings settings;
  for (const auto& [option, value] : Settings{{"ties", "random"}, {"order", "shuffled"}}) {
    if (method.has_option(option)) settings.emplace_back(option, value);
  }
  return settings;
}

Trial timed_fit(const Method& method, const Labels& labels, const RunContext& context) {
  const auto start = std::chrono::steady_clock::now();
  Trial trial;
  trial.result = method.fit(labels, context);
  trial.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return trial;
}

}  // namespace crowdfold
