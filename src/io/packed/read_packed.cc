#include "io/packed/read_packed.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "crowdfold/error.h"
#include "crowdfold/words.h"
#include "io/label_notes.h"
#include "io/packed/layout.h"

namespace crowdfold {
namespace {

// An option that packed labels do not take; empty if there is none.
std::string option_of_rows(const ReadOptions& options, Duplicates packed) {
  if (options.format != Format::automatic || !options.platform.empty()) return "--format";
  if (!options.encoding.empty()) return "--encoding";
  if (options.header == Header::yes) return "--header";
  if (options.header == Header::no) return "--no-header";
  if (options.skip_lines > 0) return "--skip-lines";
  if (!options.columns.empty()) return "--map";
  if (!options.question.empty()) return "--question";
  if (options.with_predictions) return "--with-predictions";
  if (options.wide || !options.wide_workers.empty()) return "--wide";
  if (!options.abstain.empty()) return "--abstain";
  if (options.fold_case) return "--fold-case";
  if (options.normalize) return "--normalize";
  if (options.multi_select != MultiSelect::refuse) return "--multi-select";
  // The default cannot be told from being asked for.
  if (options.duplicates != Duplicates::last && options.duplicates != packed) return "--duplicates";
  return "";
}

}  // namespace

bool any_packed(const std::vector<std::string>& paths) {
  return std::any_of(paths.begin(), paths.end(), is_packed);
}

PackedLabels open_packed_labels(const std::vector<std::string>& paths, const ReadOptions& options,
                                const RunContext& context) {
  const auto rows = std::find_if_not(paths.begin(), paths.end(), is_packed);
  if (rows != paths.end()) {
    throw Error(
        ErrorCode::usage,
        fmt::format("{} holds packed labels, {} does not: pack it, too (crowdfold pack), or read "
                    "them one after the other",
                    *std::find_if(paths.begin(), paths.end(), is_packed), *rows));
  }
  PackedLabels labels(paths, context);
  if (const std::string option = option_of_rows(options, labels.duplicates()); !option.empty()) {
    throw Error(
        ErrorCode::usage, Location{labels.name(), 0, 0},
        fmt::format("{} is for rows, and these labels are packed: give it to 'crowdfold pack'", option));
  }
  labels.leave_out(options.without_workers, context);
  return labels;
}

ReadReport report_on(const PackedLabels& labels, const ReadOptions& options) {
  ReadReport report;
  report.source = labels.name();
  report.format = "packed labels";
  report.columns = fmt::format("version {}, {}", kPackedVersion, memory_size(labels.file_bytes()));
  report.rows = labels.rows().read;
  for (const std::string& name : options.without_workers) {
    if (!labels.workers().find(name))
      report.notes.push_back(fmt::format("--without-workers={}: no worker is called that", name));
  }
  return report;
}

Labels read_packed(const std::vector<std::string>& paths, const ReadOptions& options,
                   const RunContext& context, std::vector<ReadReport>* reports) {
  const PackedLabels packed = open_packed_labels(paths, options, context);
  std::vector<ReadReport> read = {report_on(packed, options)};
  require_labels(read, packed.rows().read);
  Labels labels = packed.to_labels(context);
  if (reports != nullptr) *reports = std::move(read);
  return labels;
}

}  // namespace crowdfold
