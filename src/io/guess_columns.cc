#include "io/guess_columns.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <initializer_list>
#include <map>
#include <string_view>
#include <utility>

namespace crowdfold {
namespace {

// --- weights of evidence ------------------------------------------------------------------
// Found by trying crowds of all kinds (guess_columns_test.cc): what matters is that a wrong guess is
// never this much better than the right one.

constexpr double kClearMargin = 1.5;     // over the next best guess
constexpr double kClearScore = 1.0;      // of the guess itself
constexpr double kClearHints = 3;        // names and looks alone suffice
constexpr double kClearAgreement = 0.8;  // … and so does agreement,
constexpr std::size_t kClearRows = 20;   // in that many rows, or fewer if a hint is for it
constexpr std::size_t kClearRowsWithHint = 8;
constexpr double kSomeHint = 1;
constexpr double kClearLast = -1;       // instead of kClearScore, where two of the columns are known
constexpr double kNameHint = 2;         // the column's name has a word for the role
constexpr double kOtherName = -3;       // … or for something that is no role: "timestamp"
constexpr double kLookHint = 2;         // values look like those of the role: addresses of mail
constexpr double kPrefixHint = 1;       // "w17"
constexpr double kAgreement = 4;        // labels agree within the group, beyond chance: times kappa
constexpr double kMostCountHint = 1.4;  // there are more tasks than workers, more workers than classes
constexpr double kCountHint = 0.7;      // … times the logarithm of how many times as many
constexpr double kUniquePairs =
    0.9;  // share of rows whose task and worker come together for the first time
constexpr double kAttribute = -6;  // a column that says the same in all rows of a task, or of a worker
constexpr double kLonelyAttribute = -1;  // … where there is no other column for labels
constexpr std::size_t kMostClasses = 64;
constexpr std::size_t kRowsCompared = 10'000;
constexpr std::size_t kMostCandidates = 24;  // columns for each role
constexpr std::size_t kValuesLookedAt = 60;

// --- words in names -----------------------------------------------------------------------

using Words = std::vector<std::string_view>;

Words split_words(std::string_view text) {
  Words words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

const Words& task_words() {
  static const Words words = split_words(
      "task item question unit object example instance sample document doc image img photo "
      "picture pic video clip audio recording hit sentence text tweet post article page url "
      "uri link file filename path query pair passage paragraph snippet prompt stimulus entity "
      "product sku aufgabe frage bild foto objekt beispiel satz dokument datei tache tâche "
      "tarea pregunta imagen domanda immagine tarefa pergunta imagem taak vraag zadanie");
  return words;
}
const Words& worker_words() {
  static const Words words = split_words(
      "worker annotator performer user labeler labeller rater coder judge contributor assessor "
      "observer reviewer participant expert email mail person who login account evaluator "
      "turker volunteer respondent student member tagger by mitarbeiter bearbeiter nutzer "
      "teilnehmer annotateur utilisateur personne trabajador usuario anotador persona utente "
      "pessoa medewerker gebruiker");
  return words;
}
const Words& label_words() {
  static const Words words = split_words(
      "label answer class annotation response rating judgment judgement category choice vote "
      "output result value verdict decision opinion grade tag sentiment assessment evaluation "
      "diagnosis selection antwort urteil klasse kategorie bewertung wertung entscheidung "
      "reponse réponse etiquette étiquette classe categorie catégorie respuesta etiqueta clase "
      "categoria risposta etichetta resposta antwoord");
  return words;
}
const Words& other_words() {
  static const Words words = split_words(
      "time date timestamp created updated duration seconds status country city region "
      "confidence session batch project split notes note remark version ip age gender language "
      "lang device browser platform reward bonus index datum zeit dauer workflow");
  return words;
}
// Of what is known, or decided already.
const Words& truth_words() {
  static const Words words = split_words(
      "truth gold golden groundtruth correct expected majority consensus adjudicated final gt "
      "truelabel");
  return words;
}

// "imageURL_2" -> image, url.
std::vector<std::string> words_of_name(const std::string& name) {
  std::vector<std::string> words;
  bool inside = false;
  bool was_lower = false;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = std::isalpha(byte) != 0 || byte >= 0x80;
    const bool upper = std::isupper(byte) != 0;
    if (letter && (!inside || (upper && was_lower))) words.emplace_back();
    if (letter) words.back().push_back(static_cast<char>(std::tolower(byte)));
    inside = letter;
    was_lower = letter && !upper;
  }
  return words;
}

// Whether a word of the list is in the name: as one of its words, or in the middle if it is a long one.
bool has_word(const std::string& name, const Words& list) {
  constexpr std::size_t kLong = 5;
  const std::vector<std::string> words = words_of_name(name);
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::any_of(list.begin(), list.end(), [&](std::string_view known) {
      return word == known || word == std::string(known) + "s" ||
             (known.size() >= kLong && word.find(known) != word.npos);
    });
  });
}

// --- looks of values ----------------------------------------------------------------------

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t count_digits(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), is_digit));
}

bool is_number(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  return !text.empty() && count_digits(text) > 0 &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_digit(c) || c == '.'; }) &&
         std::count(text.begin(), text.end(), '.') <= 1;
}

bool is_mail(std::string_view text) {
  const std::size_t at = text.find('@');
  return at != text.npos && at > 0 && text.find('.', at) != text.npos && text.find(' ') == text.npos;
}

bool is_file(std::string_view text) {
  if (text.find("://") != text.npos) return true;
  const std::size_t dot = text.rfind('.');
  if (dot == text.npos || dot == 0 || text.find('@') != text.npos || is_number(text)) return false;
  const std::string_view ending = text.substr(dot + 1);
  return ending.size() >= 2 && ending.size() <= 5 &&
         std::isalpha(static_cast<unsigned char>(ending[0])) &&
         std::all_of(ending.begin(), ending.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; });
}

bool is_time(std::string_view text) {
  const std::size_t digits = count_digits(text);
  if (digits == text.size()) return (digits == 10 || digits == 13) && text[0] == '1';  // Unix time
  if (digits < 6 || text.find("://") != text.npos || text.find('_') != text.npos) return false;
  const auto marks =
      std::count_if(text.begin(), text.end(), [](char c) { return c == '-' || c == ':' || c == '/'; });
  const std::size_t colon = text.find(':');
  const bool clock = colon != text.npos && colon > 0 && colon + 1 < text.size() &&
                     is_digit(text[colon - 1]) && is_digit(text[colon + 1]);
  const bool date =
      is_digit(text[0]) && marks >= 2 && std::all_of(text.begin(), text.end(), [](char c) {
        return is_digit(c) || std::string_view("-:/.TZ +,").find(c) != std::string_view::npos;
      });
  return clock || date;
}

// The letters that all values begin with, before a number: "w" of w1, w17.
std::string common_prefix(const GlimpseColumn& column) {
  std::string prefix;
  const auto looked_at = static_cast<std::uint32_t>(std::min(column.distinct(), kValuesLookedAt));
  for (std::uint32_t v = 0; v < looked_at; ++v) {
    const std::string_view text = column.values[v];
    std::string letters;
    std::size_t i = 0;
    for (; i < text.size() && std::isalpha(static_cast<unsigned char>(text[i])) != 0; ++i)
      letters.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(text[i]))));
    while (i < text.size() && std::string_view("_-# ").find(text[i]) != std::string_view::npos) ++i;
    if (letters.empty() || i == text.size() || !is_digit(text[i]) || (v > 0 && letters != prefix))
      return "";
    prefix = letters;
  }
  return prefix;
}

struct Looks {
  bool mail = false;
  bool file = false;
  bool time = false;
  bool decimal = false;
  bool long_text = false;
  std::string prefix;
};

Looks looks_of(const GlimpseColumn& column) {
  const std::size_t count = std::min(column.distinct(), kValuesLookedAt);
  if (count == 0) return {};
  constexpr double kMost = 0.8;
  const auto most = [&](const auto& is) {
    std::size_t found = 0;
    for (std::uint32_t v = 0; v < count; ++v) found += is(column.values[v]) ? 1 : 0;
    return static_cast<double>(found) >= kMost * static_cast<double>(count);
  };
  Looks looks;
  looks.mail = most(is_mail);
  looks.file = most(is_file);
  looks.time = most(is_time);
  looks.decimal = most(is_number) && !most([](std::string_view text) {
                    const std::size_t dot = text.find('.');
                    return dot == text.npos || text.find_first_not_of('0', dot + 1) == text.npos;
                  });
  looks.long_text = most([](std::string_view text) {
    constexpr std::size_t kLong = 25;
    return text.size() >= kLong && std::count(text.begin(), text.end(), ' ') >= 3;
  });
  looks.prefix = common_prefix(column);
  return looks;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool has_task_prefix(const Looks& looks) {
  return is_one_of(looks.prefix, {"task", "t", "img", "image", "q", "item", "doc", "question", "photo"});
}
bool has_worker_prefix(const Looks& looks) {
  return is_one_of(looks.prefix,
                   {"worker", "w", "user", "u", "annotator", "ann", "rater", "coder", "a"});
}
bool looks_like_task(const Looks& looks) { return looks.file || has_task_prefix(looks); }
bool looks_like_worker(const Looks& looks) { return looks.mail || has_worker_prefix(looks); }

// --- agreement ----------------------------------------------------------------------------

double pairs_of(double n) { return n * (n - 1) / 2; }

// Counts of the pairs of values that come together in a row.
std::vector<std::uint32_t> pair_counts(const GlimpseColumn& a, const GlimpseColumn& b,
                                       std::size_t rows) {
  std::vector<std::uint64_t> pairs;
  for (std::size_t row = 0; row < rows; ++row) {
    if (a.ids[row] == GlimpseColumn::kNothing || b.ids[row] == GlimpseColumn::kNothing) continue;
    pairs.push_back(std::uint64_t{a.ids[row]} << 32 | b.ids[row]);
  }
  std::sort(pairs.begin(), pairs.end());
  std::vector<std::uint32_t> counts;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (i == 0 || pairs[i] != pairs[i - 1]) counts.push_back(0);
    ++counts.back();
  }
  return counts;
}

// How much more often rows of one group have the same value than any two rows.
struct Agreement {
  double kappa = 0;       // 1: always, 0: as by chance
  double certainty = 0;   // 0 to 1: whether this can be chance
  bool complete = false;  // no group has two values, and there are groups enough to say so
};

Agreement agreement_within(const GlimpseColumn& group, const GlimpseColumn& value, std::size_t rows) {
  std::vector<std::uint32_t> group_sizes(group.distinct());
  std::vector<std::uint32_t> value_sizes(value.distinct());
  for (std::size_t row = 0; row < rows; ++row) {
    if (group.ids[row] == GlimpseColumn::kNothing || value.ids[row] == GlimpseColumn::kNothing) continue;
    ++group_sizes[group.ids[row]];
    ++value_sizes[value.ids[row]];
  }
  double all = 0;
  double within = 0;
  double repeats = 0;  // rows that are not the first of their group
  double large_groups = 0;
  for (const std::uint32_t n : group_sizes) {
    all += n;
    within += pairs_of(n);
    repeats += n > 0 ? n - 1 : 0;
    large_groups += n > 1 ? 1 : 0;
  }
  double same = 0;
  for (const std::uint32_t n : value_sizes) same += pairs_of(n);
  double same_within = 0;
  for (const std::uint32_t n : pair_counts(group, value, rows)) same_within += pairs_of(n);
  if (within == 0 || all < 2) return {};
  const double chance = same / pairs_of(all);
  if (chance >= 1) return {};
  const double share = same_within / within;
  const double deviation = std::sqrt(std::max(chance * (1 - chance), 0.01) / repeats);
  Agreement agreement;
  agreement.kappa = (share - chance) / (1 - chance);
  agreement.certainty = std::min(std::abs(share - chance) / deviation / 2, 1.0);
  agreement.complete = same_within == within && large_groups >= 3;
  return agreement;
}

double unique_pairs(const GlimpseColumn& task, const GlimpseColumn& worker, std::size_t rows) {
  const std::vector<std::uint32_t> counts = pair_counts(task, worker, rows);
  double total = 0;
  for (const std::uint32_t n : counts) total += n;
  return total == 0 ? 0 : static_cast<double>(counts.size()) / total;
}

// --- guesses ------------------------------------------------------------------------------

class Guesser {
 public:
  Guesser(const Glimpse& glimpse, const LabelColumns& known)
      : glimpse_(glimpse), known_(known), rows_(std::min(glimpse.rows, kRowsCompared)) {
    for (const GlimpseColumn& column : glimpse.columns) looks_.push_back(looks_of(column));
  }

  ColumnGuess guess() {
    // A task that comes once can be told from a row's own number only where nothing else could be it.
    score_all(candidates_for_task(false));
    if (scored_.empty()) {
      const std::vector<std::size_t> unique = candidates_for_task(true);
      score_all(unique);
      if (unique.size() > 1) return {best(), false};
    }
    return {best(), is_clear()};
  }

 private:
  struct Scored {
    LabelColumns columns;
    double score;
  };

  bool is_known(std::size_t c) const {
    return c == known_.task || c == known_.worker || c == known_.label;
  }
  int num_known() const {
    return (known_.task != kUnknown) + (known_.worker != kUnknown) + (known_.label != kUnknown);
  }
  const GlimpseColumn& column(std::size_t c) const { return glimpse_.columns[c]; }

  template <class Fits>
  std::vector<std::size_t> candidates(std::size_t known, const Fits& fits) const {
    if (known != kUnknown) return {known};
    std::vector<std::size_t> found;
    for (std::size_t c = 0; c < glimpse_.columns.size() && found.size() < kMostCandidates; ++c) {
      const bool usable = !is_known(c) && !column(c).is_constant() && !looks_[c].time;
      if (usable && fits(c)) found.push_back(c);
    }
    return found;
  }

  std::vector<std::size_t> candidates_for_task(bool unique) const {
    return candidates(known_.task, [&](std::size_t c) {
      const bool filled = 10 * column(c).filled >= 9 * glimpse_.rows;
      return filled && !looks_[c].decimal && column(c).is_unique() == unique;
    });
  }
  std::vector<std::size_t> candidates_for_worker() const {
    return candidates(known_.worker, [&](std::size_t c) {
      const bool filled = 10 * column(c).filled >= 9 * glimpse_.rows;
      return filled && !looks_[c].decimal && !looks_[c].long_text &&
             5 * column(c).filled >= 6 * column(c).distinct();
    });
  }
  std::vector<std::size_t> candidates_for_label() const {
    return candidates(known_.label, [&](std::size_t c) {
      return !looks_[c].long_text && column(c).distinct() <= kMostClasses && !column(c).is_unique() &&
             (!looks_[c].decimal || column(c).distinct() <= 11) &&
             5 * column(c).filled >= 6 * column(c).distinct();
    });
  }

  void score_all(const std::vector<std::size_t>& tasks) {
    const std::vector<std::size_t> workers = candidates_for_worker();
    const std::vector<std::size_t> labels = candidates_for_label();
    for (const std::size_t task : tasks) {
      for (const std::size_t worker : workers) {
        if (task == worker) continue;
        const double unique = unique_pairs(column(task), column(worker), rows_);
        if (unique < kUniquePairs) continue;
        for (const std::size_t label : labels) {
          if (label != task && label != worker)
            scored_.push_back({{task, worker, label}, unique - 1 + score({task, worker, label})});
        }
      }
    }
    discount_attributes();
    std::stable_sort(scored_.begin(), scored_.end(),
                     [](const Scored& a, const Scored& b) { return a.score > b.score; });
  }

  const Agreement& agreement(std::size_t group, std::size_t value) {
    const auto [found, missing] = agreements_.try_emplace({group, value});
    if (missing) found->second = agreement_within(column(group), column(value), rows_);
    return found->second;
  }

  static double strength(const Agreement& a) { return kAgreement * a.kappa * a.certainty; }

  double score(const LabelColumns& c) {
    const auto outnumber = [&](std::size_t many, std::size_t few) {
      const double ratio =
          static_cast<double>(column(many).distinct()) / static_cast<double>(column(few).distinct());
      return std::clamp(kCountHint * std::log(ratio), -kMostCountHint, kMostCountHint);
    };
    return strength(agreement(c.task, c.label)) - strength(agreement(c.worker, c.label)) +
           outnumber(c.task, c.worker) + outnumber(c.worker, c.label) + hint_task(c.task) +
           hint_worker(c.worker) + hint_label(c.label);
  }

  // By a column's name: for the role, or against it.
  double hint_name(std::size_t c, const Words& own, const Words& a, const Words& b) const {
    if (is_known(c)) return 0;
    const std::string& name = column(c).name;
    const bool by = has_word(name, {"by"});  // "labeled_by" is a worker
    if (has_word(name, other_words())) return kOtherName;
    if (by) return &own == &worker_words() ? kNameHint : -kNameHint;
    if (has_word(name, own)) return has_word(name, a) || has_word(name, b) ? 0 : kNameHint;
    return has_word(name, a) || has_word(name, b) ? -kNameHint : 0;
  }
  double hint_task(std::size_t c) const {
    const Looks& looks = looks_[c];
    return hint_name(c, task_words(), worker_words(), label_words()) +
           (looks.file || looks.long_text ? kLookHint
            : looks.mail                  ? -kLookHint
                                          : 0) +
           (has_task_prefix(looks) ? kPrefixHint : 0);
  }
  double hint_worker(std::size_t c) const {
    const Looks& looks = looks_[c];
    return hint_name(c, worker_words(), task_words(), label_words()) +
           (looks.mail   ? kLookHint
            : looks.file ? -kLookHint
                         : 0) +
           (has_worker_prefix(looks) ? kPrefixHint : 0);
  }
  double hint_label(std::size_t c) const {
    const Looks& looks = looks_[c];
    return hint_name(c, label_words(), task_words(), worker_words()) +
           (has_word(column(c).name, truth_words()) ? 2 * kOtherName : 0) +
           (looks.mail || looks.file ? -kLookHint : 0);
  }

  // A column that says the same in all rows of a task belongs to the task: its kind, its truth. Only
  // where nothing else could be the label may all workers agree.
  void discount_attributes() {
    const auto is_attribute = [&](const LabelColumns& c) {
      return agreement(c.task, c.label).complete || agreement(c.worker, c.label).complete;
    };
    for (Scored& scored : scored_) {
      if (known_.label != kUnknown || !is_attribute(scored.columns)) continue;
      const bool lonely = std::none_of(scored_.begin(), scored_.end(), [&](const Scored& other) {
        return other.columns.task == scored.columns.task &&
               other.columns.worker == scored.columns.worker && !is_attribute(other.columns);
      });
      scored.score += lonely ? (glimpse_.columns.size() > 3 ? kLonelyAttribute : 0) : kAttribute;
    }
  }

  bool is_same(std::size_t a, std::size_t b) const {
    return a == b || are_bijective(column(a), column(b));
  }
  // Of columns that say the same, a short name is better than a long text.
  std::optional<LabelColumns> best() const {
    if (scored_.empty()) return std::nullopt;
    LabelColumns best = scored_.front().columns;
    for (std::size_t c = 0; known_.task == kUnknown && c < looks_.size(); ++c) {
      if (looks_[best.task].long_text && !looks_[c].long_text && is_same(c, best.task)) best.task = c;
    }
    return best;
  }
  // That there are many of something is no reason by itself: names and looks have to speak for the
  // guess, or workers who agree.
  bool is_supported(const LabelColumns& c) {
    const double hints = (known_.task == kUnknown ? hint_task(c.task) : 0) +
                         (known_.worker == kUnknown ? hint_worker(c.worker) : 0) +
                         (known_.label == kUnknown ? hint_label(c.label) : 0);
    const bool agrees = strength(agreement(c.task, c.label)) >= kClearAgreement;
    if (num_known() == 2) {
      const bool attribute = agreement(c.task, c.label).complete && glimpse_.columns.size() > 3;
      const bool open_label = known_.label == kUnknown;
      return hints >= 0 && !(open_label && attribute && hints == 0) &&
             (hints > 0 || rows_ >= kClearRowsWithHint);
    }
    return hints >= kClearHints ||
           (agrees && rows_ >= (hints >= kSomeHint ? kClearRowsWithHint : kClearRows));
  }
  bool is_clear() {
    if (scored_.empty() || scored_.front().score < (num_known() == 2 ? kClearLast : kClearScore))
      return false;
    const LabelColumns& best = scored_.front().columns;
    if (!is_supported(best)) return false;
    const auto other = std::find_if(scored_.begin(), scored_.end(), [&](const Scored& s) {
      return !is_same(s.columns.task, best.task) || !is_same(s.columns.worker, best.worker) ||
             !is_same(s.columns.label, best.label);
    });
    return other == scored_.end() || scored_.front().score - other->score >= kClearMargin;
  }

  const Glimpse& glimpse_;
  LabelColumns known_;
  std::size_t rows_;
  std::vector<Looks> looks_;
  std::vector<Scored> scored_;
  std::map<std::pair<std::size_t, std::size_t>, Agreement> agreements_;
};

// --- first rows ---------------------------------------------------------------------------

// Letters, digits and the rest, each run of them once: "img_17.jpg" -> "a_9.a".
std::string shape_of(std::string_view text) {
  std::string shape;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const char kind = is_digit(c) ? '9' : std::isalpha(byte) != 0 || byte >= 0x80 ? 'a' : c;
    if (shape.empty() || shape.back() != kind) shape.push_back(kind);
  }
  return shape;
}

// The shape that nearly all values have; empty if there is none, or if any word has it.
std::string common_shape(const GlimpseColumn& column) {
  constexpr double kNearlyAll = 0.9;
  const std::size_t count = std::min(column.distinct(), kValuesLookedAt);
  if (count < 2) return "";
  std::map<std::string, std::size_t> shapes;
  for (std::uint32_t v = 0; v < count; ++v) ++shapes[shape_of(column.values[v])];
  for (const auto& [shape, times] : shapes) {
    const bool special = shape.find_first_of("9@/.") != shape.npos;
    if (special && static_cast<double>(times) >= kNearlyAll * static_cast<double>(count)) return shape;
  }
  return "";
}

bool are_numbers(const GlimpseColumn& column) {
  const std::size_t count = std::min(column.distinct(), kValuesLookedAt);
  for (std::uint32_t v = 0; v < count; ++v) {
    if (!is_number(column.values[v])) return false;
  }
  return count > 0 && column.filled >= 2;
}

// --- wide tables --------------------------------------------------------------------------

// Cells of `a` whose value `b` has as well.
std::size_t cells_shared(const GlimpseColumn& a, const GlimpseColumn& b) {
  std::size_t shared = 0;
  for (std::uint32_t v = 0; v < a.distinct(); ++v)
    shared += b.values.find(a.values[v]) ? a.counts[v] : 0;
  return shared;
}

bool share_classes(const GlimpseColumn& a, const GlimpseColumn& b) {
  const std::size_t of_a = cells_shared(a, b);
  const std::size_t of_b = cells_shared(b, a);
  const bool within =
      (of_a == a.filled && 3 * of_b >= b.filled) || (of_b == b.filled && 3 * of_a >= a.filled);
  return within || (3 * of_a >= 2 * a.filled && 3 * of_b >= 2 * b.filled);
}

bool may_hold_labels(const GlimpseColumn& column) {
  const Looks looks = looks_of(column);
  return column.filled > 0 && column.distinct() <= kMostClasses && !looks.time && !looks.mail &&
         !looks.file && !looks.long_text && !has_word(column.name, truth_words()) &&
         !has_word(column.name, other_words());
}

// The largest set of columns that share their classes with its first one.
std::vector<std::size_t> columns_alike(const Glimpse& glimpse, std::size_t task) {
  std::vector<std::size_t> best;
  for (std::size_t first = 0; first < glimpse.columns.size(); ++first) {
    if (first == task || !may_hold_labels(glimpse.columns[first])) continue;
    std::vector<std::size_t> alike = {first};
    for (std::size_t c = first + 1; c < glimpse.columns.size(); ++c) {
      if (c != task && may_hold_labels(glimpse.columns[c]) &&
          share_classes(glimpse.columns[first], glimpse.columns[c]))
        alike.push_back(c);
    }
    if (alike.size() > best.size()) best = std::move(alike);
  }
  return best;
}

// The cells of some columns, row by row, as a table of (row, cell).
std::pair<GlimpseColumn, GlimpseColumn> unfolded(const Glimpse& glimpse,
                                                 const std::vector<std::size_t>& columns) {
  GlimpseColumn row_numbers;
  GlimpseColumn cells;
  for (std::size_t row = 0; row < std::min(glimpse.rows, kRowsCompared); ++row) {
    for (const std::size_t c : columns) {
      const std::uint32_t id = glimpse.columns[c].ids[row];
      if (id == GlimpseColumn::kNothing) continue;
      row_numbers.add(std::to_string(row));
      cells.add(glimpse.columns[c].values[id]);
    }
  }
  return {std::move(row_numbers), std::move(cells)};
}

// "w1, w2, w3" and "annotator_a, annotator_b": names of the same kind.
bool are_names_of_workers(const Glimpse& glimpse, const std::vector<std::size_t>& columns) {
  GlimpseColumn names;
  bool all = true;
  for (const std::size_t c : columns) {
    names.add(glimpse.columns[c].name);
    all = all && has_word(glimpse.columns[c].name, worker_words());
  }
  return (all && columns.size() >= 2) ||
         (columns.size() >= 2 &&
          is_one_of(common_prefix(names),
                    {"w", "worker", "a", "ann", "anno", "annot", "annotator", "r", "rater", "u", "user",
                     "coder", "labeler", "judge", "expert"}));
}

std::size_t task_of_wide(const Glimpse& glimpse) {
  for (const bool named : {true, false}) {
    for (std::size_t c = 0; c < glimpse.columns.size(); ++c) {
      const GlimpseColumn& column = glimpse.columns[c];
      if (column.is_unique() && (!named || has_word(column.name, task_words())) &&
          !looks_of(column).time)
        return c;
    }
  }
  return kUnknown;
}

}  // namespace

FirstRow guess_first_row(const std::vector<std::string>& first_row, const Glimpse& below) {
  // Rows that repeat the first one as a whole say nothing: a header comes again where files were joined.
  std::size_t identical = 0;
  std::vector<std::uint32_t> first_ids;
  for (std::size_t c = 0; c < first_row.size(); ++c) {
    const auto id = below.columns[c].values.find(first_row[c]);
    first_ids.push_back(id && !first_row[c].empty() ? *id : GlimpseColumn::kNothing);
  }
  for (std::size_t row = 0; row < below.rows; ++row) {
    bool same = true;
    for (std::size_t c = 0; same && c < first_row.size(); ++c)
      same = below.columns[c].ids[row] == first_ids[c];
    identical += same ? 1 : 0;
  }

  std::size_t for_data = 0;
  std::size_t for_header = 0;
  std::size_t again = 0;
  for (std::size_t c = 0; c < first_row.size(); ++c) {
    const GlimpseColumn& column = below.columns[c];
    if (first_row[c].empty()) continue;
    const std::string shape = common_shape(column);
    if (first_ids[c] != GlimpseColumn::kNothing && column.counts[first_ids[c]] > identical) {
      ++again;
    } else if (are_numbers(column)) {
      ++(is_number(first_row[c]) ? for_data : for_header);
    } else if (!shape.empty()) {
      ++(shape_of(first_row[c]) == shape ? for_data : for_header);
    }
  }
  if (again > 0 && for_header > 0) return FirstRow::unclear;
  if (again > 0) return FirstRow::data;
  if (for_data > 0 && for_header > 0) return FirstRow::unclear;
  return for_data > 0 ? FirstRow::data : for_header > 0 ? FirstRow::header : FirstRow::no_matter;
}

bool may_name_tasks(const GlimpseColumn& column) {
  return has_word(column.name, task_words()) || looks_like_task(looks_of(column));
}

bool is_out_of_order(const Glimpse& glimpse, const LabelColumns& columns) {
  const auto looks = [&](std::size_t c) { return looks_of(glimpse.columns[c]); };
  return looks_like_worker(looks(columns.task)) || looks_like_task(looks(columns.worker)) ||
         looks_like_task(looks(columns.label));
}

ColumnGuess guess_columns(const Glimpse& glimpse, const LabelColumns& known) {
  if (glimpse.rows == 0) return {};
  return Guesser(glimpse, known).guess();
}

bool are_bijective(const GlimpseColumn& a, const GlimpseColumn& b) {
  if (a.distinct() != b.distinct()) return false;
  std::vector<std::uint32_t> other(a.distinct(), GlimpseColumn::kNothing);
  for (std::size_t row = 0; row < a.ids.size(); ++row) {
    if ((a.ids[row] == GlimpseColumn::kNothing) != (b.ids[row] == GlimpseColumn::kNothing)) return false;
    if (a.ids[row] == GlimpseColumn::kNothing) continue;
    std::uint32_t& known = other[a.ids[row]];
    if (known == GlimpseColumn::kNothing) known = b.ids[row];
    if (known != b.ids[row]) return false;
  }
  return true;
}

WideGuess guess_wide(const Glimpse& glimpse, std::size_t task, bool asked) {
  WideColumns wide;
  wide.task = task != kUnknown ? task : task_of_wide(glimpse);
  if (wide.task == kUnknown && asked) wide.task = 0;
  if (wide.task == kUnknown || (!asked && !glimpse.columns[wide.task].is_unique())) return {};
  std::vector<std::size_t> all;
  for (std::size_t c = 0; c < glimpse.columns.size(); ++c) {
    if (c != wide.task && may_hold_labels(glimpse.columns[c])) all.push_back(c);
  }
  wide.workers = columns_alike(glimpse, wide.task);
  if (are_names_of_workers(glimpse, all) || (asked && wide.workers.size() < 2)) wide.workers = all;
  if (wide.workers.size() < 2) return {};
  const auto [rows, cells] = unfolded(glimpse, wide.workers);
  const Agreement agreement = agreement_within(rows, cells, rows.ids.size());
  const bool agree = (agreement.kappa >= 0.1 && agreement.certainty >= 1) ||
                     (agreement.kappa >= 0.3 && agreement.certainty >= 0.7);
  return {wide, asked || agree || are_names_of_workers(glimpse, wide.workers)};
}

}  // namespace crowdfold
