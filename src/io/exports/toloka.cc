// Toloka, assignments: tabs, a row per task and assignment, columns with the prefixes INPUT, OUTPUT,
// GOLDEN, HINT and ASSIGNMENT. Blank lines separate task suites.
#include <fmt/format.h>

#include "io/exports/export_json.h"
#include "io/exports/export_table.h"
#include "io/exports/formats.h"

namespace crowdfold {
namespace {

struct TolokaQuestion {
  std::string name;
  std::size_t output = kNoColumn;
  std::size_t golden = kNoColumn;
};

// A text, or a JSON array of several. False for other JSON.
bool add_toloka_classes(std::string_view cell, JsonText& json, std::vector<std::string>& classes) {
  if (cell.empty()) return true;
  if ((cell[0] == '[' || cell[0] == '{') && json.parse(cell))
    return classes_of_json(json.value(), classes);
  classes.emplace_back(cell);
  return true;
}

void read_toloka(ExportInput& input, ImportedRows& rows) {
  ExportTable table(input);
  const std::size_t task_id = table.find("ASSIGNMENT:task_id");
  const std::size_t worker = table.need("ASSIGNMENT:worker_id");
  const std::size_t status = table.find("ASSIGNMENT:status");
  const std::size_t submitted = table.find("ASSIGNMENT:submitted");
  const std::size_t hint = table.find("HINT:text");
  std::vector<std::size_t> inputs;
  std::vector<TolokaQuestion> questions;
  for (std::size_t c = 0; c < table.names().size(); ++c) {
    const std::string& name = table.names()[c];
    if (name.starts_with("INPUT:")) inputs.push_back(c);
    if (!name.starts_with("OUTPUT:")) continue;
    const std::string question = name.substr(name.find(':') + 1);
    questions.push_back({question, c, table.find("GOLDEN:" + question)});
  }
  rows.task_is(task_id != kNoColumn ? "ASSIGNMENT:task_id" : "INPUT:…");
  // Without an id, a task is what was shown.
  const auto task_of = [&](Row row) {
    if (!ExportTable::field(row, task_id).empty()) return std::string(ExportTable::field(row, task_id));
    std::vector<std::string_view> shown;
    for (const std::size_t c : inputs) shown.push_back(ExportTable::field(row, c));
    return fmt::format("{}", fmt::join(shown, " | "));
  };
  JsonText json;
  std::vector<std::string> classes;
  table.for_each(rows, [&](Row row) {
    const std::string task = task_of(row);
    const std::string_view who = ExportTable::field(row, worker);
    const std::string_view state = ExportTable::field(row, status);
    const std::int64_t time = moment_of(ExportTable::field(row, submitted));
    for (const TolokaQuestion& question : questions) {
      classes.clear();
      if (add_toloka_classes(ExportTable::field(row, question.golden), json, classes) &&
          !classes.empty())
        rows.truth(question.name, task, classes);
    }
    if (state == "REJECTED") return rows.leave_out(ImportedRows::kRejected);
    if (state == "EXPIRED" || state == "ACTIVE")
      return rows.leave_out("answer of unfinished assignments");
    if (state == "SKIPPED") return rows.abstain(task, who, time);
    if (!ExportTable::field(row, hint).empty())
      return rows.leave_out("answer to training tasks (with a hint)");
    for (const TolokaQuestion& question : questions) {
      classes.clear();
      add_toloka_classes(ExportTable::field(row, question.output), json, classes)
          ? rows.answer({question.name, task, who, time}, classes)
          : rows.leave_out(ImportedRows::kOtherKind);
    }
  });
}

}  // namespace

ExportFormat toloka_assignments() {
  return {{"toloka", "Toloka assignments", "columns `OUTPUT:…` and `ASSIGNMENT:worker_id`",
           "ASSIGNMENT:task_id (else INPUT:…)", "ASSIGNMENT:worker_id", "`OUTPUT:NAME`",
           "rejected, expired and active assignments, training tasks; skipped ones abstain; `GOLDEN:…` "
           "is a truth"},
          [](const ExportGlimpse& g) {
            return g.kind == ExportGlimpse::Kind::table && g.has("ASSIGNMENT:worker_id") &&
                   g.has_prefix("OUTPUT:");
          },
          read_toloka};
}

}  // namespace crowdfold
