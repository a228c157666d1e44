// A jury as JSON, and as a table of judges.
#include <cmath>
#include <nlohmann/json.hpp>

#include "io/output.h"
#include "io/records.h"
#include "report/jury_parts.h"

namespace crowdfold {
namespace {

using Json = nlohmann::ordered_json;

Json number_or_null(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }

Json text_or_null(std::string_view text) { return text.empty() ? Json(nullptr) : Json(text); }

Json bounded_json(const Bounded& b) {
  if (!b.is_told()) return nullptr;
  return {{"value", b.value}, {"lower", b.interval.lower}, {"upper", b.interval.upper}};
}

Json family_json(const FamilyExcess& family) {
  return {{"pairs", family.pairs}, {"excess", bounded_json(family.excess)}};
}

Json judge_json(const JudgeSummary& judge, const Labels& labels) {
  Json json = {{"judge", labels.workers()[judge.worker]},
               {"family", text_or_null(judge.family)},
               {"model", judge.model},
               {"version", text_or_null(judge.version)},
               {"cost", judge.cost},
               {"votes", judge.votes},
               {"missing", judge.missing},
               {"regular", judge.is_regular},
               {"quality", bounded_json(judge.quality)}};
  json["classes"] = Json::array();
  for (const ClassQuality& c : judge.by_class)
    json["classes"].push_back({{"class", labels.classes()[c.truth]},
                               {"tasks", c.tasks},
                               {"quality", bounded_json(c.quality)}});
  const bool leans = judge.leans_to != kNoClass;
  json["leans_to"] = leans ? Json(labels.classes()[judge.leans_to]) : Json(nullptr);
  json["leaning"] = bounded_json(leans ? judge.leaning : Bounded{});
  const bool left_out = std::isfinite(judge.confidence_without);
  json["without"] = {{"votes", bounded_json(judge.votes_without)},
                     {"accuracy_difference", bounded_json(judge.accuracy_without)},
                     {"changed", left_out ? Json(judge.changed_without) : Json(nullptr)},
                     {"confidence", number_or_null(judge.confidence_without)}};
  return json;
}

Json jury_json(const Jury& jury, const Labels& labels) {
  const auto name = [&](std::uint32_t judge) { return labels.workers()[jury.judges[judge].worker]; };
  Json json = {{"verdict", verdict_of(jury, labels)},
               {"notes", jury.notes},
               {"method", jury.options.method},
               {"tasks", jury.tasks},
               {"labels", jury.labels},
               {"truths", jury.truths},
               {"density", jury.density},
               {"accuracy", bounded_json(jury.accuracy)},
               {"confidence", number_or_null(jury.confidence)},
               {"independent_votes", bounded_json(jury.independent_votes)},
               {"by_class", jury.by_class},
               {"excess",
                {{"all", family_json(jury.all)},
                 {"within_families", family_json(jury.within)},
                 {"between_families", family_json(jury.between)}}}};
  for (const char* list : {"judges", "pairs", "positions", "versions", "panels"})
    json[list] = Json::array();
  for (const JudgeSummary& judge : jury.judges) json["judges"].push_back(judge_json(judge, labels));
  for (const JudgePair& pair : jury.pairs)
    json["pairs"].push_back({{"a", name(pair.a)},
                             {"b", name(pair.b)},
                             {"common", pair.common},
                             {"agreed", pair.agreed},
                             {"expected", number_or_null(pair.expected)},
                             {"excess", bounded_json(pair.excess)},
                             {"marked", pair.marked}});
  for (const PositionBias& bias : jury.positions)
    json["positions"].push_back({{"judge", bias.judge},
                                 {"tasks", bias.tasks},
                                 {"same", bias.same},
                                 {"to_first", bias.to_first},
                                 {"to_second", bias.to_second},
                                 {"chosen_first", bounded_json(bias.chosen_first)},
                                 {"marked", bias.marked}});
  for (const VersionPair& pair : jury.versions)
    json["versions"].push_back({{"model", pair.model},
                                {"a", jury.judges[pair.a].version},
                                {"b", jury.judges[pair.b].version},
                                {"common", pair.common},
                                {"agreement", bounded_json(pair.agreement)},
                                {"difference", bounded_json(pair.difference)},
                                {"marked", pair.marked}});
  for (const Panel& panel : jury.panels) {
    Json judges = Json::array();
    for (const std::uint32_t judge : panel.judges) judges.push_back(name(judge));
    json["panels"].push_back({{"judges", std::move(judges)},
                              {"cost", panel.cost},
                              {"same", bounded_json(panel.same)},
                              {"accuracy", bounded_json(panel.accuracy)},
                              {"confidence", number_or_null(panel.confidence)},
                              {"difference", bounded_json(panel.difference)},
                              {"does_as_well", panel.does_as_well}});
  }
  return json;
}

void add_bounded(Records::Line& line, const Bounded& b) {
  for (const double x : {b.value, b.interval.lower, b.interval.upper})
    b.is_told() ? line.number(x) : line.null();
}

void write_judges(const std::string& path, const Jury& jury, const Labels& labels,
                  const WriteOptions& options) {
  RecordFile file(path,
                  {"judge",
                   "family",
                   "model",
                   "version",
                   "cost",
                   "votes",
                   "missing",
                   "quality",
                   "lower",
                   "upper",
                   "leans_to",
                   "leaning",
                   "leaning_lower",
                   "leaning_upper",
                   "votes_without",
                   "votes_without_lower",
                   "votes_without_upper",
                   "accuracy_without",
                   "accuracy_without_lower",
                   "accuracy_without_upper",
                   "changed_without",
                   "confidence_without"},
                  options);
  for (const JudgeSummary& judge : jury.judges) {
    Records::Line line = file.add();
    line.text(labels.workers()[judge.worker])
        .text(judge.family)
        .text(judge.model)
        .text(judge.version)
        .number(judge.cost)
        .number(static_cast<double>(judge.votes))
        .number(static_cast<double>(judge.missing));
    add_bounded(line, judge.quality);
    line.text(judge.leans_to == kNoClass ? "" : labels.classes()[judge.leans_to]);
    add_bounded(line, judge.leaning);
    add_bounded(line, judge.votes_without);
    add_bounded(line, judge.accuracy_without);
    if (std::isfinite(judge.confidence_without)) {
      line.number(static_cast<double>(judge.changed_without)).number(judge.confidence_without);
    } else {
      line.null().null();
    }
    line.end();
  }
  file.commit();
}

bool is_page(std::string_view path) {
  for (const std::string_view compression : {".gz", ".zst"}) {
    if (path.ends_with(compression)) path.remove_suffix(compression.size());
  }
  return path.ends_with(".html") || path.ends_with(".htm");
}

}  // namespace

std::string to_json(const Jury& jury, const Labels& labels) {
  return jury_json(jury, labels).dump(2, ' ', false, Json::error_handler_t::replace);
}

void require_jury_output(const std::string& path) {
  if (is_page(path)) require_page_for(path);
}

void write_jury(const std::string& path, const Jury& jury, const Labels& labels,
                const std::string& source, const WriteOptions& options) {
  if (is_page(path)) return write_document(path, document_of(jury, labels, source), options);
  if (kind_of(path) != TextKind::json) return write_judges(path, jury, labels, options);
  const std::string text = to_json(jury, labels) + "\n";
  OutputFile file(path, OutputFile::When::at_the_end, options.cancelled);
  file.write(text);
  file.commit();
}

}  // namespace crowdfold
