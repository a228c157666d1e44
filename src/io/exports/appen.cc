// Appen, formerly Figure Eight and CrowdFlower: the full report has a row per judgment. Columns of the
// platform begin with an underscore; a question has a column NAME_gold beside it.
#include "io/exports/export_table.h"
#include "io/exports/formats.h"

namespace crowdfold {
namespace {

struct AppenQuestion {
  std::size_t column = kNoColumn;
  std::size_t gold = kNoColumn;
};

bool is_of_platform(std::string_view name) {
  return name.starts_with("_") || name.starts_with("orig_") || name.ends_with("_gold") ||
         name.ends_with("_gold_reason");
}

// Columns with a gold column are questions. If no column has one, the job had no test questions, and all
// columns may be.
std::vector<AppenQuestion> appen_questions(const ExportTable& table, const std::string& asked) {
  std::vector<AppenQuestion> with_gold;
  std::vector<AppenQuestion> all;
  for (std::size_t c = 0; c < table.names().size(); ++c) {
    const std::string& name = table.names()[c];
    if (is_of_platform(name)) continue;
    const std::size_t gold = table.find(name + "_gold");
    all.push_back({c, gold});
    if (gold != kNoColumn || name == asked) with_gold.push_back(all.back());
  }
  return with_gold.empty() ? all : with_gold;
}

void read_appen(ExportInput& input, ImportedRows& rows) {
  ExportTable table(input);
  const std::size_t task = table.need("_unit_id");
  const std::size_t worker = table.need("_worker_id");
  const std::size_t time = table.find("_created_at");
  const std::size_t golden = table.find("_golden");
  const std::size_t tainted = table.find("_tainted");
  const std::vector<AppenQuestion> questions = appen_questions(table, rows.asked());
  table.for_each(rows, [&](Row row) {
    const std::string_view unit = ExportTable::field(row, task);
    const bool is_gold =
        golden == kNoColumn || equals_ignoring_case(ExportTable::field(row, golden), "true");
    for (const AppenQuestion& question : questions) {
      const std::vector<std::string> accepted = split_text(ExportTable::field(row, question.gold), '\n');
      if (is_gold && !accepted.empty()) rows.truth(table.names()[question.column], unit, accepted);
    }
    if (equals_ignoring_case(ExportTable::field(row, tainted), "true"))
      return rows.leave_out("judgment of untrusted contributors (_tainted)");
    for (const AppenQuestion& question : questions) {
      rows.answer({table.names()[question.column], unit, ExportTable::field(row, worker),
                   moment_of(ExportTable::field(row, time))},
                  split_text(ExportTable::field(row, question.column), '\n'));
    }
  });
  if (!questions.empty() && questions.front().gold == kNoColumn) rows.data_among_answers();
}

}  // namespace

ExportFormat appen_full() {
  return {{"appen", "Appen full report", "columns `_unit_id` and `_worker_id`", "_unit_id", "_worker_id",
           "a column `NAME` that has a `NAME_gold`",
           "judgments of untrusted contributors (`_tainted`); `NAME_gold` is a truth, unless several "
           "answers are accepted"},
          [](const ExportGlimpse& g) {
            return g.kind == ExportGlimpse::Kind::table && g.has_all({"_unit_id", "_worker_id"});
          },
          read_appen};
}

}  // namespace crowdfold
