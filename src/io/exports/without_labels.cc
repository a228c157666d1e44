// Files of platforms that hold no labels by workers: refused with what to read instead.
#include <algorithm>

#include "io/exports/export_table.h"
#include "io/exports/formats.h"

namespace crowdfold {
namespace {

ExportInfo refused(const char* name, const char* title, const char* recognised_by) {
  return {name, title, recognised_by, "", "", "", "refused"};
}

}  // namespace

ExportFormat appen_aggregate() {
  return {refused("appen", "Appen aggregate report",
                  "columns `_unit_id` and `NAME:confidence`, no `_worker_id`"),
          [](const ExportGlimpse& g) {
            return g.kind == ExportGlimpse::Kind::table && g.has("_unit_id") && !g.has("_worker_id") &&
                   g.has_suffix(":confidence");
          },
          nullptr,
          "an aggregate report of Appen: it has one answer per unit and no workers; download the full "
          "report "
          "(f….csv) instead"};
}

ExportFormat caesar_reductions() {
  return {refused("caesar", "Zooniverse Caesar reductions", "columns `reducer_key` and `reducible_id`"),
          [](const ExportGlimpse& g) {
            return g.kind == ExportGlimpse::Kind::table && g.has_all({"reducer_key", "reducible_id"});
          },
          nullptr,
          "reductions of Caesar: one answer per subject and no workers; download the extracts or the "
          "classification export instead"};
}

ExportFormat mturk_review() {
  return {refused("mturk", "MTurk review file",
                  "columns `AssignmentId`, `Approve` and `Reject`, no `Answer.…`"),
          [](const ExportGlimpse& g) {
            return g.kind == ExportGlimpse::Kind::table &&
                   g.has_all({"AssignmentId", "Approve", "Reject"}) && !g.has_prefix("Answer.");
          },
          nullptr,
          "a file for MTurk that approves and rejects assignments: it has no answers; read the batch "
          "results "
          "(Batch_…_batch_results.csv) instead"};
}

ExportFormat prolific_submissions() {
  return {refused("prolific", "Prolific submissions",
                  "columns `Submission id`, `Participant id` and `Status`"),
          [](const ExportGlimpse& g) {
            return g.kind == ExportGlimpse::Kind::table &&
                   g.has_all({"Submission id", "Participant id", "Status"});
          },
          nullptr,
          "a list of Prolific's participants: it has no answers; read the file that your survey tool "
          "exported, "
          "and use this one to leave people out"};
}

ExportFormat doccano_fasttext() {
  return {refused("doccano", "doccano fastText", "a text that begins with `__label__`"),
          [](const ExportGlimpse& g) {
            return g.kind == ExportGlimpse::Kind::table && stripped(g.start).starts_with("__label__");
          },
          nullptr,
          "a fastText file: it has neither tasks nor workers; export JSONL from doccano instead"};
}

ExportFormat label_studio_event() {
  return {refused("label-studio", "Label Studio webhook", "JSON with `action` and `project`"),
          [](const ExportGlimpse& g) {
            return g.kind == ExportGlimpse::Kind::json_object && g.has_all({"action", "project"}) &&
                   (g.has("annotation") || g.has("annotations") || g.has("tasks"));
          },
          nullptr,
          "an event that Label Studio sent to a webhook, not an export: export the project as JSON"};
}

ExportFormat argilla_event() {
  return {refused("argilla", "Argilla webhook", "JSON with `type`, `version`, `timestamp` and `data`"),
          [](const ExportGlimpse& g) {
            return g.kind == ExportGlimpse::Kind::json_object &&
                   g.has_all({"type", "version", "timestamp", "data"}) &&
                   (g.has_inner("record") || g.has_inner("fields"));
          },
          nullptr,
          "an event that Argilla sent to a webhook, not an export: export the records, with "
          "to_dict(flatten=True) or to_datasets()"};
}

}  // namespace crowdfold
