// Formats of research tools and data sets, a few lines each: WRENCH, LeWiDi, peerannot, Potato,
// Get-Another-Label, lists of annotators beside lists of annotations, one column per class and rater.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "crowdfold/error.h"
#include "io/exports/export_json.h"
#include "io/exports/export_table.h"
#include "io/exports/formats.h"

namespace crowdfold {
namespace {

constexpr std::string_view kUnequal = "item with unequal numbers of annotators and annotations";

bool is_integer_text(std::string_view text) {
  if (text.starts_with("-")) text.remove_prefix(1);
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

// --- WRENCH: {"0": {"label": 1, "weak_labels": [-1, 1, 0]}, …} ------------------------------

void read_wrench(ExportInput& input, ImportedRows& rows) {
  for_each_member(input, rows, [&](std::string_view task, const Json& item) {
    Json list;
    if (!get_json(item, "weak_labels", list)) return rows.leave_out("item without weak labels");
    const std::vector<Json> weak = elements_of(list);
    for (std::size_t i = 0; i < weak.size(); ++i) {
      const std::string label = text_of_json(weak[i]);
      const bool abstains = label == "-1";
      rows.answer({"weak_labels", task, fmt::format("lf_{}", i), 0},
                  {&label, abstains ? std::size_t{0} : std::size_t{1}});
    }
    const std::string truth = text_at(item, "label");
    if (!truth.empty() && truth != "-1") rows.truth("weak_labels", task, {&truth, 1});
  });
}

// --- LeWiDi: {"1": {"annotators": "Ann1,Ann2", "annotations": "0,1"}, …} --------------------

void read_lewidi(ExportInput& input, ImportedRows& rows) {
  for_each_member(input, rows, [&](std::string_view task, const Json& item) {
    Json said;
    if (!get_json(item, "annotations", said)) return rows.leave_out("item without annotations");
    for (const JsonMember& one : members_of(said)) {  // by annotator, since 2025
      std::vector<std::string> classes;
      if (one.value.is_string())
        classes = split_text(text_of_json(one.value), ',');
      else
        classes_of_json(one.value, classes);
      rows.answer({"annotations", task, one.key, 0}, classes);
    }
    if (said.is_object()) return;
    const std::vector<std::string> workers = split_text(text_at(item, "annotators"), ',');
    const std::vector<std::string> labels = split_text(text_of_json(said), ',');
    if (workers.size() != labels.size()) return rows.leave_out(kUnequal);
    for (std::size_t i = 0; i < labels.size(); ++i)
      rows.answer({"annotations", task, workers[i], 0}, {&labels[i], 1});
  });
}

// --- peerannot: {"0": {"2": 1}} ---------------------------------------------------------------

void read_peerannot(ExportInput& input, ImportedRows& rows) {
  for_each_member(input, rows, [&](std::string_view task, const Json& answers) {
    for (const JsonMember& one : members_of(answers)) {
      const std::string label = text_of_json(one.value);
      rows.answer({"answer", task, one.key, 0},
                  {&label, label.empty() ? std::size_t{0} : std::size_t{1}});
    }
  });
}

// --- Potato: annotation_output/USER/user_state.json -------------------------------------------

// {"labels": {"positive": true}}, or the inner object alone. What is not true is a text.
void read_potato_schema(const Json& schema, const ImportedAnswer& answer, ImportedRows& rows) {
  Json labels;
  if (!get_json(schema, "labels", labels) || !labels.is_object()) labels = schema;
  std::vector<std::string> classes;
  for (const JsonMember& label : members_of(labels)) {
    const std::string value = text_of_json(label.value);
    if (equals_ignoring_case(value, "true"))
      classes.emplace_back(label.key);
    else if (!value.empty() && !equals_ignoring_case(value, "false"))
      classes.push_back(value);
  }
  rows.answer(answer, classes);
}

void read_potato(ExportInput& input, ImportedRows& rows) {
  for_each_record(input, rows, [&](const Json& state) {
    const std::string worker = text_at(state, "user_id");
    Json items;
    if (get_json(state, "instance_id_to_label_to_value", items)) {
      for (const JsonMember& item : members_of(items)) {
        for (const JsonMember& schema : members_of(item.value))
          read_potato_schema(schema.value, {schema.key, item.key, worker, 0}, rows);
      }
    }
    if (!get_json(state, "instance_id_to_span_to_value", items)) return;
    for (const JsonMember& item : members_of(items)) {
      for (const JsonMember& schema : members_of(item.value))
        rows.leave_out("span in a text", elements_of(schema.value).size());
    }
  });
}

// --- Get-Another-Label: worker, task, label, no header ----------------------------------------

void read_get_another_label(ExportInput& input, ImportedRows& rows) {
  ReadOptions options = input.options;
  options.format = Format::tsv;
  options.header = Header::no;
  options.columns = {{"worker", "1"}, {"task", "2"}, {"label", "3"}};
  TableInput table(std::move(input.source), input.path, options,
                   {task_role(), worker_role(), label_role()});
  table.for_each_row([&](Row row, bool) -> Complaint {
    const std::string label(stripped(row[2]));
    rows.answer({"label", stripped(row[0]), stripped(row[1]), 0},
                {&label, label.empty() ? std::size_t{0} : std::size_t{1}});
    return {};
  });
}

// --- {"annotators": ["a", "b"], "annotations": [1, 0]} ----------------------------------------

void read_parallel_lists(ExportInput& input, ImportedRows& rows) {
  for_each_record(input, rows, [&](const Json& record) {
    std::string task = text_at(record, "id");
    if (task.empty()) task = text_at(record, "uid");
    Json list;
    if (!get_json(record, "annotators", list)) {
      return rows.leave_out(get_json(record, "annotator_labels", list)
                                ? "item whose list of labels names no annotators"
                                : "item without annotators");
    }
    const std::vector<Json> workers = elements_of(list);
    if (!get_json(record, "annotations", list)) return rows.leave_out("item without annotations");
    const std::vector<Json> labels = elements_of(list);
    if (workers.size() != labels.size()) return rows.leave_out(kUnequal);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      std::vector<std::string> classes;
      classes_of_json(labels[i], classes)
          ? rows.answer({"annotations", task, text_of_json(workers[i]), 0}, classes)
          : rows.leave_out(ImportedRows::kOtherKind);
    }
  });
}

// --- one column per class, 1 where the rater chose it (GoEmotions) ----------------------------

void read_one_hot(ExportInput& input, ImportedRows& rows) {
  ExportTable table(input);
  const std::size_t task = table.need("id");
  const std::size_t worker = table.need("rater_id");
  const std::size_t unclear = table.need("example_very_unclear");
  table.for_each(rows, [&](Row row) {
    std::vector<std::string> classes;
    for (std::size_t c = unclear + 1; c < row.size(); ++c) {
      if (ExportTable::field(row, c) == "1") classes.push_back(table.names()[c]);
    }
    rows.answer({"label", ExportTable::field(row, task), ExportTable::field(row, worker), 0}, classes);
  });
}

}  // namespace

ExportFormat wrench_json() {
  return {
      {"wrench", "WRENCH", "a JSON object by item, whose items have `weak_labels`", "key of the item",
       "position in the list: lf_0, lf_1, …", "`weak_labels`; -1 abstains", "`label` is a truth"},
      [](const ExportGlimpse& g) {
        return g.kind == ExportGlimpse::Kind::json_object && g.has_inner("weak_labels");
      },
      read_wrench};
}

ExportFormat lewidi_json() {
  return {{"lewidi", "LeWiDi", "a JSON object by item, whose items have `annotators` and `annotations`",
           "key of the item", "annotators", "`annotations`; a comma separates several classes",
           "items whose lists differ in length; `hard_label` is a majority and no truth"},
          [](const ExportGlimpse& g) {
            return g.kind == ExportGlimpse::Kind::json_object && g.has_inner("annotators") &&
                   g.has_inner("annotations");
          },
          read_lewidi};
}

ExportFormat peerannot_answers() {
  return {{"peerannot", "peerannot", "a JSON object {task: {worker: class}}, all of them whole numbers",
           "outer key", "inner key", "the number", "nothing"},
          [](const ExportGlimpse& g) {
            return g.kind == ExportGlimpse::Kind::json_object && !g.inner_names.empty() &&
                   g.inner_numbers && std::all_of(g.names.begin(), g.names.end(), is_integer_text) &&
                   std::all_of(g.inner_names.begin(), g.inner_names.end(), is_integer_text);
          },
          read_peerannot};
}

ExportFormat potato_state() {
  return {
      {"potato", "Potato", "JSON with `user_id` and `instance_id_to_label_to_value`; a folder of them",
       "key of the item", "user_id", "the labels of a schema that are true", "spans"},
      [](const ExportGlimpse& g) {
        return g.kind == ExportGlimpse::Kind::json_object &&
               g.has_all({"user_id", "instance_id_to_label_to_value"});
      },
      read_potato};
}

ExportFormat get_another_label() {
  return {{"gal", "Get-Another-Label", "only by `--format gal`: it has no header", "second column",
           "first column", "third column", "nothing"},
          [](const ExportGlimpse&) { return false; },
          read_get_another_label};
}

ExportFormat parallel_lists() {
  return {{"lists", "lists of annotators and annotations",
           "JSON records with lists `annotators` and `annotations`, or `annotator_labels`", "id",
           "annotators", "`annotations`, in the same order",
           "records without names of annotators: `annotator_labels` are positions, not people"},
          [](const ExportGlimpse& g) {
            return g.is_json() && ((g.has_list("annotators") && g.has_list("annotations")) ||
                                   g.has_list("annotator_labels"));
          },
          read_parallel_lists};
}

ExportFormat rater_one_hot() {
  return {{"goemotions", "GoEmotions raw", "columns `id`, `rater_id` and `example_very_unclear`", "id",
           "rater_id", "the columns behind `example_very_unclear`, the one that holds 1",
           "nothing; rows of zeros abstain"},
          [](const ExportGlimpse& g) {
            return g.kind == ExportGlimpse::Kind::table &&
                   g.has_all({"id", "rater_id", "example_very_unclear"});
          },
          read_one_hot};
}

}  // namespace crowdfold
