// Documents as JSON: the schema is web/document.schema.json.
#include "crowdfold/document.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "crowdfold/error.h"
#include "crowdfold/version.h"

namespace crowdfold {
namespace {

using Json = nlohmann::ordered_json;

const char* name_of(Tone tone) {
  switch (tone) {
    case Tone::accent: return "accent";
    case Tone::good: return "good";
    case Tone::warning: return "warning";
    case Tone::bad: return "bad";
    case Tone::muted: return "muted";
    case Tone::plain: break;
  }
  return "plain";
}

const char* name_of(Column::Format format) {
  switch (format) {
    case Column::Format::integer: return "integer";
    case Column::Format::number: return "number";
    case Column::Format::percent: return "percent";
    case Column::Format::signed_number: return "signed";
    case Column::Format::interval: return "interval";
    case Column::Format::text: break;
  }
  return "text";
}

const char* name_of(Chart::Kind kind) {
  switch (kind) {
    case Chart::Kind::dots: return "dots";
    case Chart::Kind::histogram: return "histogram";
    case Chart::Kind::lines: return "lines";
    case Chart::Kind::scatter: return "scatter";
    case Chart::Kind::heatmap: return "heatmap";
    case Chart::Kind::intervals: return "intervals";
    case Chart::Kind::bars: break;
  }
  return "bars";
}

const char* name_of(Reference::Axis axis) {
  return axis == Reference::Axis::x ? "x" : axis == Reference::Axis::y ? "y" : "diagonal";
}

void add_text(Json& to, const char* name, const std::string& text) {
  if (!text.empty()) to[name] = text;
}

// Whole numbers are written as such: "3", not "3.0".
Json number(double x) {
  constexpr double kExact = 9e15;  // below 2^53
  if (!std::isfinite(x)) return nullptr;
  if (x == std::floor(x) && std::abs(x) < kExact) return static_cast<std::int64_t>(x);
  return x;
}

Json tones_json(const Tones& tones) {
  Json json = Json::object();
  for (const auto& [text, tone] : tones) json[text] = name_of(tone);
  return json;
}

// Texts that repeat are written once, as levels.
void add_texts(Json& json, const std::vector<std::string>& texts) {
  std::unordered_map<std::string, std::size_t> places;
  Json levels = Json::array();
  Json values = Json::array();
  for (const std::string& text : texts) {
    const auto [found, is_new] = places.try_emplace(text, places.size());
    if (is_new) levels.push_back(text);
    values.push_back(found->second);
  }
  if (2 * places.size() > texts.size()) {
    json["values"] = texts;
    return;
  }
  json["levels"] = std::move(levels);
  json["values"] = std::move(values);
}

Json column_json(const Column& column) {
  Json json = {{"name", column.name}, {"title", column.title}, {"format", name_of(column.format)}};
  if (column.format == Column::Format::text) {
    add_texts(json, column.texts);
  } else if (column.format == Column::Format::interval) {
    Json values = Json::array();
    for (const Column::Triple& t : column.intervals)
      values.push_back({number(t.lower), number(t.value), number(t.upper)});
    json["values"] = std::move(values);
  } else {
    Json values = Json::array();
    for (const double x : column.numbers) values.push_back(number(x));
    json["values"] = std::move(values);
  }
  if (!column.tones.empty()) json["tones"] = tones_json(column.tones);
  return json;
}

Json columns_json(const std::string& id, const std::vector<Column>& columns) {
  Json json = Json::array();
  for (const Column& column : columns) {
    if (column.size() != columns.front().size()) {
      throw Error(ErrorCode::internal,
                  fmt::format("column '{}' of '{}' has {} rows, the first one {}", column.name, id,
                              column.size(), columns.front().size()));
    }
    json.push_back(column_json(column));
  }
  return json;
}

void add_left_out(Json& json, const LeftOut& left_out) {
  if (left_out.rows > 0) json["left_out"] = {{"rows", left_out.rows}, {"where", left_out.where}};
}

void add_scale(Json& json, const char* name, const Chart::Scale& scale) {
  Json object = Json::object();
  if (scale.logarithmic) object["type"] = "log";
  if (scale.domain) object["domain"] = {number(scale.domain->first), number(scale.domain->second)};
  if (!object.empty()) json[name] = std::move(object);
}

Json block_json(const Prose& prose) { return {{"type", "prose"}, {"text", prose.text}}; }

Json block_json(const Facts& facts) {
  Json list = Json::array();
  for (const Facts::Fact& fact : facts.facts) {
    Json item = {{"value", fact.value}, {"label", fact.label}};
    add_text(item, "note", fact.note);
    list.push_back(std::move(item));
  }
  return {{"type", "facts"}, {"facts", std::move(list)}};
}

Json block_json(const Advice& advice) {
  Json list = Json::array();
  for (const Advice::Item& entry : advice.items) {
    Json item = {{"tone", name_of(entry.tone)}, {"text", entry.text}};
    add_text(item, "section", entry.section);
    list.push_back(std::move(item));
  }
  return {{"type", "advice"}, {"items", std::move(list)}};
}

Json block_json(const Table& table) {
  Json json = {{"type", "table"},
               {"id", table.id},
               {"title", table.title},
               {"description", table.description},
               {"columns", columns_json(table.id, table.columns)}};
  add_text(json, "sorted_by", table.sorted_by);
  if (table.descending) json["descending"] = true;
  if (table.details) {
    json["details"] = {{"title", table.details->title},
                       {"offsets", table.details->offsets},
                       {"columns", columns_json(table.id, table.details->columns)}};
  }
  add_left_out(json, table.left_out);
  add_text(json, "copied", table.copied);
  return json;
}

Json block_json(const Chart& chart) {
  Json json = {{"type", "chart"},
               {"id", chart.id},
               {"title", chart.title},
               {"description", chart.description},
               {"kind", name_of(chart.kind)},
               {"columns", columns_json(chart.id, chart.columns)}};
  add_scale(json, "x", chart.x);
  add_scale(json, "y", chart.y);
  add_scale(json, "value", chart.value);
  // Never a null that becomes an array: where that fails for want of memory, its destructor crashes.
  Json references = Json::array();
  for (const Reference& reference : chart.references) {
    Json item = {{"axis", name_of(reference.axis)}};
    if (reference.axis != Reference::Axis::diagonal) item["value"] = number(reference.value);
    add_text(item, "label", reference.label);
    references.push_back(std::move(item));
  }
  if (!references.empty()) json["references"] = std::move(references);
  if (!chart.tones.empty()) json["tones"] = tones_json(chart.tones);
  add_left_out(json, chart.left_out);
  return json;
}

}  // namespace

std::size_t Column::size() const {
  switch (format) {
    case Format::text: return texts.size();
    case Format::interval: return intervals.size();
    default: return numbers.size();
  }
}

std::string to_json(const Document& document) {
  Json json = {{"schema", "crowdfold/document"},
               {"version", kDocumentVersion},
               {"generator", std::string("crowdfold ") + kVersion},
               {"title", document.title},
               {"headline", document.headline}};
  add_text(json, "subtitle", document.subtitle);
  json["sections"] = Json::array();
  for (const Section& section : document.sections) {
    Json blocks = Json::array();
    for (const Block& block : section.blocks)
      blocks.push_back(std::visit([](const auto& kind) { return block_json(kind); }, block));
    json["sections"].push_back(
        {{"id", section.id}, {"title", section.title}, {"blocks", std::move(blocks)}});
  }
  add_text(json, "footnote", document.footnote);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace crowdfold
