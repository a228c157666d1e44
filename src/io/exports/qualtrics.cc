// Qualtrics: a survey as a row per person.
#include <algorithm>

#include "io/exports/export_table.h"
#include "io/exports/formats.h"

namespace crowdfold {
namespace {

// Columns that Qualtrics has by itself.
bool is_of_qualtrics(std::string_view name) {
  constexpr std::string_view kNames[] = {
      "StartDate",          "EndDate",           "Status",
      "IPAddress",          "Progress",          "Finished",
      "RecordedDate",       "ResponseId",        "RecipientLastName",
      "RecipientFirstName", "RecipientEmail",    "ExternalReference",
      "LocationLatitude",   "LocationLongitude", "DistributionChannel",
      "UserLanguage",       "PROLIFIC_PID",      "Duration (in seconds)"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

// "Q1" of Q1_2, the second statement of a matrix, and of 2_Q1, the second turn of a loop.
std::string question_of_column(std::string_view name) {
  const std::size_t q = name.find('Q');
  if (q != std::string_view::npos && q > 1 && name[q - 1] == '_') name.remove_prefix(q);
  return std::string(name.substr(0, name.find('_')));
}

// A row per person, a column per task. Below the names stand the questions' texts and ids.
void read_qualtrics(ExportInput& input, ImportedRows& rows) {
  ExportTable table(input);
  const std::size_t response = table.need("ResponseId");
  const std::size_t participant = table.find("PROLIFIC_PID");
  const std::size_t status = table.find("Status");
  const std::size_t finished = table.find("Finished");
  bool in_header = true;
  table.for_each(rows, [&](Row row) {
    if (in_header) {
      in_header = row[response].find("ImportId") == std::string_view::npos;
      return;
    }
    if (ExportTable::field(row, status) == "Survey Preview")
      return rows.leave_out("preview of the survey");
    if (equals_ignoring_case(ExportTable::field(row, finished), "false"))
      return rows.leave_out("response that is not finished");
    const std::string_view id = ExportTable::field(row, participant);
    const std::string_view worker = id.empty() ? ExportTable::field(row, response) : id;
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (is_of_qualtrics(table.names()[c])) continue;
      const std::string label(ExportTable::field(row, c));
      rows.answer({question_of_column(table.names()[c]), table.names()[c], worker, 0},
                  {&label, label.empty() ? std::size_t{0} : std::size_t{1}});
    }
  });
}

}  // namespace

ExportFormat qualtrics_survey() {
  return {{"qualtrics", "Qualtrics survey",
           "columns `StartDate`, `ResponseId` and `Finished`, and a third row with `ImportId`",
           "the column, as in Q1_2", "PROLIFIC_PID (else ResponseId)",
           "its answer; the question is Q1 of Q1_2 and of 2_Q1",
           "previews, responses that are not finished"},
          [](const ExportGlimpse& g) {
            return g.kind == ExportGlimpse::Kind::table &&
                   g.has_all({"StartDate", "ResponseId", "Finished"}) &&
                   g.start.find("ImportId") != std::string::npos;
          },
          read_qualtrics};
}

}  // namespace crowdfold
