// doccano: a zip or folder with a file per member; the file's name is the worker.
#include "crowdfold/error.h"
#include "io/exports/export_json.h"
#include "io/exports/export_table.h"
#include "io/exports/formats.h"

namespace crowdfold {
namespace {

constexpr std::string_view kNotDone = "example without a label";

// With collaborative annotation all members share one file.
std::string doccano_worker(const ExportInput& input) {
  std::string stem = stem_of(input.path);
  if (!is_rereadable(input.path))
    throw Error(ErrorCode::data, Location{display_name(input.path), 0, 0},
                "a doccano export names workers by files, and a pipe has no name: give the zip archive, "
                "or files with their workers' names");
  if (stem != "all") return stem;
  throw Error(ErrorCode::data, Location{display_name(input.path), 0, 0},
              "a doccano export names workers by files, one for each, and this one is for all: switch "
              "'share annotations' of the project off, or give the file its worker's name");
}

void read_doccano(ExportInput& input, ImportedRows& rows) {
  const std::string worker = doccano_worker(input);
  std::string room;
  std::vector<std::string> classes;
  for_each_record(input, rows, [&](const Json& record) {
    const auto [id, label, cats] = pick_json(record, {"id", "label", "cats"});
    const std::string_view task = text_of_json(id, room);
    classes.clear();
    if (!label && !cats) return rows.leave_out(kNotDone);
    if (!classes_of_json(label ? *label : *cats, classes))
      return rows.leave_out(ImportedRows::kOtherKind);
    classes.empty() ? rows.leave_out(kNotDone) : rows.answer({"label", task, worker, 0}, classes);
  });
}

void read_doccano_csv(ExportInput& input, ImportedRows& rows) {
  const std::string worker = doccano_worker(input);
  ExportTable table(input);
  const std::size_t task = table.need("id");
  const std::size_t label = table.need("label");
  table.for_each(rows, [&](Row row) {
    const std::vector<std::string> classes = split_text(ExportTable::field(row, label), '#');
    classes.empty() ? rows.leave_out(kNotDone)
                    : rows.answer({"label", ExportTable::field(row, task), worker, 0}, classes);
  });
}

}  // namespace

ExportFormat doccano_lines() {
  return {{"doccano", "doccano JSONL", "JSON lines with `id`, `label` (or `cats`) and `Comments`", "id",
           "the file's name", "`label`",
           "spans, examples without a label; `all.jsonl` is refused: it has no workers"},
          [](const ExportGlimpse& g) {
            return g.kind == ExportGlimpse::Kind::json_object && g.has("id") && g.has_list("Comments") &&
                   (g.has_list("label") || g.has_list("cats"));
          },
          read_doccano};
}

ExportFormat doccano_csv() {
  return {
      {"doccano", "doccano CSV", "columns `id`, `text`, `label` and `Comments`, and none for a worker",
       "id", "the file's name", "`label`; `A#B` are several classes", "examples without a label"},
      [](const ExportGlimpse& g) {
        return g.kind == ExportGlimpse::Kind::table && g.has_all({"id", "text", "label", "Comments"}) &&
               !match_columns(g.names, {worker_role()}, {}, {});
      },
      read_doccano_csv};
}

}  // namespace crowdfold
