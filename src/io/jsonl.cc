#include "io/jsonl.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "io/block_reader.h"

namespace crowdfold {

static_assert(kBlockPadding >= simdjson::SIMDJSON_PADDING);

struct JsonlParser::Parser {
  simdjson::ondemand::parser json;
  std::vector<std::string> texts;  // values, which must outlive the parser's own buffers
};

JsonlParser::JsonlParser(std::vector<std::string> wanted, bool skip_bad_rows)
    : wanted_(std::move(wanted)), skip_bad_rows_(skip_bad_rows), parser_(std::make_unique<Parser>()) {
  nested_ = std::any_of(wanted_.begin(), wanted_.end(),
                        [](const std::string& key) { return key.find('.') != key.npos; });
  fields_.resize(wanted_.size());
  parser_->texts.resize(wanted_.size());
}
JsonlParser::~JsonlParser() = default;
JsonlParser::JsonlParser(JsonlParser&&) noexcept = default;

namespace {

// The value as text; false for arrays and objects.
bool read_value(simdjson::ondemand::value value, std::string& to) {
  using simdjson::ondemand::json_type;
  switch (value.type()) {
    case json_type::string: to = std::string_view(value.get_string()); return true;
    case json_type::number:
    case json_type::boolean: {
      std::string_view token = value.raw_json_token();
      const std::size_t end = token.find_last_not_of(" \t\r\n");
      to = token.substr(0, end + 1);
      return true;
    }
    case json_type::null: to.clear(); return true;
    default: return false;
  }
}

std::size_t find_wanted(const std::vector<std::string>& wanted, std::string_view key) {
  return static_cast<std::size_t>(std::find(wanted.begin(), wanted.end(), key) - wanted.begin());
}

// Adds the keys of an object, and of objects directly in it, that are not there yet.
void add_keys(simdjson::ondemand::parser& parser, const simdjson::padded_string& line,
              std::vector<std::string>& keys) {
  const auto add = [&](std::string key) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(std::move(key));
  };
  simdjson::ondemand::document document = parser.iterate(line);
  for (auto field : document.get_object()) {
    const std::string key(std::string_view(field.unescaped_key()));
    simdjson::ondemand::value value = field.value();
    if (value.type() != simdjson::ondemand::json_type::object) {
      add(key);
      continue;
    }
    for (auto inner : value.get_object())
      add(fmt::format("{}.{}", key, std::string_view(inner.unescaped_key())));
  }
}

}  // namespace

Complaint JsonlParser::read_line(std::string_view line) {
  for (std::string& text : parser_->texts) text.clear();
  try {
    simdjson::ondemand::document document =
        parser_->json.iterate(line.data(), line.size(), line.size() + simdjson::SIMDJSON_PADDING);
    for (auto field : document.get_object()) {
      const std::string_view key = field.unescaped_key();
      simdjson::ondemand::value value = field.value();
      if (const std::size_t i = find_wanted(wanted_, key); i < wanted_.size()) {
        if (!read_value(value, parser_->texts[i])) {
          return {1, fmt::format("'{}' must be a string, a number, a boolean or null", key)};
        }
      } else if (nested_ && value.type() == simdjson::ondemand::json_type::object) {
        for (auto inner : value.get_object()) {
          const std::string path =
              fmt::format("{}.{}", std::string(key), std::string_view(inner.unescaped_key()));
          const std::size_t j = find_wanted(wanted_, path);
          if (j < wanted_.size() && !read_value(inner.value(), parser_->texts[j])) {
            return {1, fmt::format("'{}' must be a string, a number, a boolean or null", path)};
          }
        }
      }
    }
    const char* beyond = nullptr;
    if (document.current_location().get(beyond) != simdjson::OUT_OF_BOUNDS)
      return {1, "more than one JSON value on a line"};
  } catch (const simdjson::simdjson_error& error) {
    return {1, fmt::format("not a JSON object: {}", error.what())};
  }
  std::copy(parser_->texts.begin(), parser_->texts.end(), fields_.begin());
  return {};
}

std::vector<std::string> JsonlParser::keys_of_first_objects(std::string_view text) {
  constexpr int kObjects = 100;  // enough to meet a key that only some have
  std::vector<std::string> keys;
  simdjson::ondemand::parser parser;
  for (int object = 0; object < kObjects; ++object) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find('\n'), text.size());
    const simdjson::padded_string line(text.substr(0, end));
    text.remove_prefix(end);
    try {
      add_keys(parser, line, keys);
    } catch (const simdjson::simdjson_error&) {
      break;  // the parser of the rows will say what is wrong, and where
    }
  }
  return keys;
}

}  // namespace crowdfold
