// FIELD OPERATOR NUMBER [and …]
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "crowdfold/error.h"
#include "crowdfold/words.h"
#include "crowdfold/write_back.h"

namespace crowdfold {
namespace {

const std::vector<std::string> kRuleFields = {"quality", "lower", "upper", "labels"};

struct Operator {
  std::string_view text;
  bool (*compare)(double, double);
};
constexpr std::array<Operator, 7> kOperators = {{{"<", [](double a, double b) { return a < b; }},
                                                 {"<=", [](double a, double b) { return a <= b; }},
                                                 {">", [](double a, double b) { return a > b; }},
                                                 {">=", [](double a, double b) { return a >= b; }},
                                                 {"=", [](double a, double b) { return a == b; }},
                                                 {"==", [](double a, double b) { return a == b; }},
                                                 {"!=", [](double a, double b) { return a != b; }}}};

bool is_operator_character(char c) { return c == '<' || c == '>' || c == '=' || c == '!'; }

// Words and operators, with or without blanks between them.
std::vector<std::string> tokens_of(std::string_view text) {
  std::vector<std::string> tokens;
  for (std::size_t at = 0; at < text.size();) {
    const bool blank = text[at] == ' ' || text[at] == '\t';
    const bool sign = is_operator_character(text[at]);
    std::size_t end = at;
    while (end < text.size() && (text[end] == ' ' || text[end] == '\t') == blank &&
           is_operator_character(text[end]) == sign)
      ++end;
    if (!blank) tokens.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return tokens;
}

[[noreturn]] void refuse_rule(const std::string& rule, const std::string& why) {
  throw Error(ErrorCode::usage, fmt::format("rule '{}': {}", rule, why));
}

std::size_t field_named(const std::string& rule, const std::string& name) {
  const auto found = std::find_if(kRuleFields.begin(), kRuleFields.end(),
                                  [&](const std::string& field) { return is_alike(field, name); });
  if (found == kRuleFields.end()) {
    refuse_rule(rule, fmt::format("no field '{}'{}; there are: {}", name,
                                  did_you_mean(name, kRuleFields), fmt::join(kRuleFields, ", ")));
  }
  return static_cast<std::size_t>(found - kRuleFields.begin());
}

double number_in(const std::string& rule, const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size())
    refuse_rule(rule, fmt::format("'{}' is not a number", text));
  return number;
}

}  // namespace

WorkerRule::WorkerRule(const std::string& text) {
  const std::vector<std::string> tokens = tokens_of(text);
  constexpr std::size_t kPart = 4;  // field, operator, number, `and`
  if (tokens.size() % kPart != kPart - 1)
    refuse_rule(text, "a rule is FIELD OPERATOR NUMBER, such as upper < 0.6, with `and` before another");
  for (std::size_t at = 0; at < tokens.size(); at += kPart) {
    Condition condition;
    condition.field = field_named(text, tokens[at]);
    const auto known = std::find_if(kOperators.begin(), kOperators.end(),
                                    [&](const Operator& one) { return one.text == tokens[at + 1]; });
    if (known == kOperators.end())
      refuse_rule(text, fmt::format("'{}' is none of <, <=, >, >=, = and !=", tokens[at + 1]));
    condition.compare = known->compare;
    condition.number = number_in(text, tokens[at + 2]);
    conditions_.push_back(condition);
    if (at + 3 < tokens.size() && !is_alike(tokens[at + 3], "and"))
      refuse_rule(text, fmt::format("'{}' where `and` is expected", tokens[at + 3]));
  }
}

bool WorkerRule::holds(const BetaQuality& quality, const WorkerCounts& counts) const {
  const Interval interval = quality.credible_interval();
  const double values[] = {quality.mean(), interval.lower, interval.upper, counts.seen};
  return std::all_of(conditions_.begin(), conditions_.end(), [&](const Condition& condition) {
    return condition.compare(values[condition.field], condition.number);
  });
}

}  // namespace crowdfold
