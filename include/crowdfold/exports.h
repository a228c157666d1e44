// Exports of annotation platforms: files whose rows are not simply task, worker and label. read_labels
// reads them too; here are the truths that come with them, and several files at once.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "crowdfold/io.h"

namespace crowdfold {

// A format, in words for people: docs/formats.md shows them as a table.
struct ExportInfo {
  std::string name;   // for --format; formats of one platform share it
  std::string title;  // "Label Studio JSON"
  std::string recognised_by;
  std::string task;
  std::string worker;
  std::string label;
  std::string left_out;
};
std::vector<ExportInfo> export_formats();

// Whether read_labels would take the input for an export. Looks at its first megabyte. False where that
// cannot be read twice, unless ReadOptions::platform says so.
bool is_export(const std::string& path, const ReadOptions& options);

struct ImportedLabels {
  Labels labels;
  // (task, label) of tasks that have labels, in order of appearance.
  std::vector<std::pair<std::string, std::string>> truths;
  ReadReport report;
};
// The labels of several inputs, which make one data set: files, folders and zip archives of one export
// format, also on pipes, or tables.
ImportedLabels import_labels(const std::vector<std::string>& paths, const ReadOptions& options,
                             const RunContext& context);

// Rows task, worker, label and rows task, label; see write_estimates.
void write_labels(const std::string& path, const Labels& labels, const WriteOptions& options = {});
void write_truths(const std::string& path,
                  const std::vector<std::pair<std::string, std::string>>& truths,
                  const WriteOptions& options = {});

}  // namespace crowdfold
