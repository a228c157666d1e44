// Exports of platforms: every importer on any bytes, whatever they are; and the same by recognition.
#include "crowdfold/exports.h"

#include <fmt/format.h>

#include <vector>

#include "fuzz.h"

namespace crowdfold::fuzz {
namespace {

std::string imported_text(const std::string& path, const ReadOptions& options) {
  return outcome(path, [&] {
    const ImportedLabels imported = import_labels({path}, options, {});
    const Labels& labels = imported.labels;
    std::string text = text_of(labels.tasks()) + text_of(labels.workers()) + text_of(labels.classes());
    for (TaskId t = 0; t < labels.num_tasks(); ++t) {
      const TaskLabels task = labels.task(t);
      for (std::size_t j = 0; j < task.size(); ++j)
        text += fmt::format("{}={} ", task.workers[j], task.classes[j]);
    }
    for (const auto& [task, label] : imported.truths) text += fmt::format("'{}' '{}'\n", task, label);
    for (const std::string& note : imported.report.notes) text += note + "\n";
    return text;
  });
}

}  // namespace

void exports(std::string_view input) {
  static const std::vector<ExportInfo> formats = export_formats();
  Choices choices(input);
  ReadOptions options;
  options.platform = choices.below(2) == 0 ? "" : formats[choices.below(formats.size())].name;
  options.with_predictions = choices.below(2) == 1;
  options.skip_bad_rows = choices.below(2) == 1;
  options.question = choices.of({"", "animal", "animal=cat", "a"});
  options.block_bytes = 1 << 14;
  const MemoryFile file(input);
  const std::string once = imported_text(file.path(), options);
  options.block_bytes = choices.of<std::size_t>({1, 7, 40, 1000});
  expect_same("an export, in large and small blocks", once, imported_text(file.path(), options));
}

}  // namespace crowdfold::fuzz
