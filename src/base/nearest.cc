// Which of some names was meant: the number of typing errors between two words.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "crowdfold/words.h"

namespace crowdfold {
namespace {

// Longer words are not compared: nobody mistypes them, and the time grows with the square.
constexpr std::size_t kMostLetters = 100;
constexpr std::size_t kLeastCut = 3;  // letters of a word that was cut short

// Without what people leave out or exchange: case, blanks, hyphens and underscores.
std::string letters_of(std::string_view text) {
  std::string letters;
  for (const char c : text) {
    if (c == ' ' || c == '-' || c == '_') continue;
    letters.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  }
  return letters;
}

// Letters to insert, delete or replace, and pairs of neighbours to exchange (optimal string alignment).
std::size_t typing_errors(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> now(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

// "agg" of "aggregate", "img" of "image": the same first letter, and the others in their order.
bool is_cut_short(std::string_view text, std::string_view name) {
  if (text.size() < kLeastCut || name.empty() || text[0] != name[0]) return false;
  std::size_t found = 0;
  for (const char c : name) found += found < text.size() && text[found] == c ? 1 : 0;
  return found == text.size();
}

}  // namespace

bool is_alike(std::string_view a, std::string_view b) { return letters_of(a) == letters_of(b); }

std::string nearest(std::string_view text, const std::vector<std::string>& names) {
  if (text.empty() || text.size() > kMostLetters) return "";
  const std::string typed = letters_of(text);
  std::tuple<bool, std::size_t, std::string> best{true, kMostLetters, ""};
  for (const std::string& name : names) {
    if (name.size() > kMostLetters || name == text) continue;
    const std::string meant = letters_of(name);
    const std::size_t errors = typing_errors(typed, meant);
    const bool mistyped =
        errors <= std::max(typed.size(), meant.size()) / 3 || (errors == 1 && typed.size() > 1);
    if (!mistyped && !is_cut_short(typed, meant)) continue;
    best = std::min(best, std::tuple(!mistyped, errors, name));
  }
  return std::get<std::string>(best);
}

std::string did_you_mean(std::string_view text, const std::vector<std::string>& names) {
  const std::string name = nearest(text, names);
  return name.empty() ? "" : fmt::format(" (did you mean '{}'?)", name);
}

}  // namespace crowdfold
