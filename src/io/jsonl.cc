#include "io/jsonl.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "io/block_reader.h"
#include "io/json_memory.h"

namespace crowdfold {

static_assert(kBlockPadding >= simdjson::SIMDJSON_PADDING);

namespace {

using JsonType = simdjson::ondemand::json_type;
using JsonValue = simdjson::ondemand::value;

constexpr int kMostDepth = 100;  // of arrays and objects in one another

struct BadLine {
  std::string why;
};

// Whether all of the text is a JSON number. (simdjson's own check refuses those that fit no machine
// word.)
bool is_json_number(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto skip = [&](char a, char b) {
    const bool there = at != end && (*at == a || *at == b);
    at += there ? 1 : 0;
    return there;
  };
  const auto skip_digits = [&] {
    const char* const begin = at;
    while (at != end && *at >= '0' && *at <= '9') ++at;
    return at != begin;
  };
  skip('-', '-');
  if (!skip('0', '0') && !skip_digits()) return false;
  if (skip('.', '.') && !skip_digits()) return false;
  if (skip('e', 'E')) {
    skip('+', '-');
    if (!skip_digits()) return false;
  }
  return at == end;
}

// A scalar as it is written.
std::string_view json_token(JsonValue scalar) {
  std::string_view token = scalar.raw_json_token();
  while (token.back() == ' ' || token.back() == '\t' || token.back() == '\r' || token.back() == '\n')
    token.remove_suffix(1);
  return token;
}

// A number, a boolean or null as it is written. simdjson tells them by their first characters alone: the
// others are checked here.
std::string_view checked_token(JsonValue scalar, JsonType type) {
  const std::string_view token = json_token(scalar);
  const bool valid = type == JsonType::number    ? is_json_number(token)
                     : type == JsonType::boolean ? token == "true" || token == "false"
                                                 : token == "null";
  if (!valid) throw BadLine{fmt::format("not a JSON object: '{}' is no JSON value", token)};
  return token;
}

// Reads a value that nobody wants: simdjson checks only what is read. Quotes, control characters and
// UTF-8 are checked before, so a string can be wrong only where the line has `escapes`.
void check_json(JsonValue unwanted, bool escapes, int depth = 1) {
  const JsonType type = unwanted.type();
  if (type == JsonType::string) {
    escapes ? void(unwanted.get_string().value()) : void(unwanted.get_raw_json_string().value());
  } else if (type != JsonType::array && type != JsonType::object) {
    checked_token(unwanted, type);
  } else if (depth == kMostDepth) {
    throw BadLine{fmt::format("arrays and objects inside one another, more than {}", kMostDepth)};
  } else if (type == JsonType::array) {
    for (auto element : unwanted.get_array()) check_json(element.value(), escapes, depth + 1);
  } else {
    for (auto field : unwanted.get_object()) {
      if (escapes) field.unescaped_key().value();
      check_json(field.value(), escapes, depth + 1);
    }
  }
}

std::size_t find_wanted(const std::vector<std::string>& wanted, std::string_view key) {
  return static_cast<std::size_t>(std::find(wanted.begin(), wanted.end(), key) - wanted.begin());
}

// The same for a key that has no escapes, as it is written.
std::size_t find_wanted(const std::vector<std::string>& wanted,
                        simdjson::ondemand::raw_json_string key) {
  const auto found = std::find_if(wanted.begin(), wanted.end(), [&](const std::string& one) {
    return key.unsafe_is_equal(std::string_view(one));
  });
  return static_cast<std::size_t>(found - wanted.begin());
}

// The keys of an object, and of objects directly in it.
std::vector<std::string> keys_of_object(simdjson::ondemand::parser& parser,
                                        const simdjson::padded_string& line) {
  std::vector<std::string> keys;
  simdjson::ondemand::document document = parser.iterate(line);
  for (auto field : document.get_object()) {
    const std::string key(std::string_view(field.unescaped_key()));
    JsonValue held = field.value();
    if (held.type() != JsonType::object) {
      check_json(held, true);
      keys.push_back(key);
      continue;
    }
    for (auto inner : held.get_object()) {
      keys.push_back(fmt::format("{}.{}", key, std::string_view(inner.unescaped_key())));
      check_json(inner.value(), true, 2);
    }
  }
  return keys;
}

}  // namespace

struct JsonlParser::Parser {
  simdjson::ondemand::parser json;
  std::vector<std::string> texts;         // values with escapes, by wanted key
  std::vector<std::uint64_t> last_lines;  // by wanted key: the last line that has it
  std::uint64_t line = 0;                 // the present one, from 1
  bool escapes = false;                   // in the present line

  // The value of wanted key number i, as text that lasts until the next line.
  std::string_view text_of(std::size_t i, std::string_view key, JsonValue wanted) {
    if (std::exchange(last_lines[i], line) == line)
      throw BadLine{fmt::format("the key '{}' comes twice", key)};
    const JsonType type = wanted.type();
    if (type == JsonType::array)
      throw BadLine{fmt::format("'{}' is a list, and a row has one value of it", key)};
    if (type == JsonType::object)
      throw BadLine{fmt::format("'{}' must be a string, a number, a boolean or null", key)};
    if (type == JsonType::string && escapes) {
      texts[i] = std::string_view(wanted.get_string());
      if (texts[i].find('\0') != std::string::npos)
        throw BadLine{fmt::format("a NUL character (\\u0000) in '{}': no name may hold one", key)};
      return texts[i];
    }
    if (type == JsonType::string) {
      const std::string_view token = json_token(wanted);
      wanted.get_raw_json_string().value();  // else it could be taken for a key
      return token.substr(1, token.size() - 2);
    }
    const std::string_view token = checked_token(wanted, type);
    return type == JsonType::null ? token.substr(0, 0) : token;
  }
};

JsonlParser::JsonlParser(std::vector<std::string> wanted, bool skip_bad_rows)
    : wanted_(std::move(wanted)), skip_bad_rows_(skip_bad_rows), parser_(std::make_unique<Parser>()) {
  nested_ = std::any_of(wanted_.begin(), wanted_.end(),
                        [](const std::string& key) { return key.find('.') != key.npos; });
  fields_.resize(wanted_.size());
  parser_->texts.resize(wanted_.size());
  parser_->last_lines.resize(wanted_.size());
}
JsonlParser::~JsonlParser() = default;
JsonlParser::JsonlParser(JsonlParser&&) noexcept = default;

Complaint JsonlParser::read_line(std::string_view line) {
  std::fill(fields_.begin(), fields_.end(), std::string_view());
  ++parser_->line;
  parser_->escapes = line.find('\\') != line.npos;
  try {
    simdjson::ondemand::document document =
        parser_->json.iterate(line.data(), line.size(), line.size() + simdjson::SIMDJSON_PADDING);
    for (auto field : document.get_object()) {
      std::string_view key;
      const bool as_written = !parser_->escapes && !nested_;
      if (!as_written) key = field.unescaped_key();
      const std::size_t i = as_written ? find_wanted(wanted_, field.key()) : find_wanted(wanted_, key);
      JsonValue held = field.value();
      if (i < wanted_.size()) {
        fields_[i] = parser_->text_of(i, wanted_[i], held);
      } else if (nested_ && held.type() == JsonType::object) {
        for (auto inner : held.get_object()) {
          const std::string path = fmt::format("{}.{}", key, std::string_view(inner.unescaped_key()));
          const std::size_t j = find_wanted(wanted_, path);
          if (j < wanted_.size())
            fields_[j] = parser_->text_of(j, path, inner.value());
          else
            check_json(inner.value(), parser_->escapes, 2);
        }
      } else {
        check_json(held, parser_->escapes);
      }
    }
    const char* beyond = nullptr;
    if (document.current_location().get(beyond) != simdjson::OUT_OF_BOUNDS)
      return {1, "more than one JSON value on a line"};
  } catch (const BadLine& bad) {
    return {1, bad.why};
  } catch (const simdjson::simdjson_error& error) {
    require_memory(error.error());
    return {1, fmt::format("not a JSON object: {}", error.what())};
  }
  return {};
}

std::vector<std::string> JsonlParser::keys_of_first_objects(std::string_view text,
                                                            std::size_t most_objects) {
  std::vector<std::string> keys;
  std::unordered_set<std::string> known;
  simdjson::ondemand::parser parser;
  for (std::size_t object = 0; object < most_objects; ++object) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find('\n'), text.size());
    const simdjson::padded_string line = padded(text.substr(0, end));
    text.remove_prefix(end);
    try {
      for (std::string& key : keys_of_object(parser, line)) {
        if (known.insert(key).second) keys.push_back(std::move(key));
      }
    } catch (const BadLine&) {
      // The parser of the rows says what is wrong, and where.
    } catch (const simdjson::simdjson_error& error) {
      require_memory(error.error());
    }
  }
  return keys;
}

}  // namespace crowdfold
