#include "io/column_looks.h"

#include <algorithm>
#include <cctype>

namespace crowdfold {
namespace {

Words split_words(std::string_view text) {
  Words words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
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

std::size_t count_digits(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), is_digit));
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

}  // namespace

const Words& task_words() {
  static const Words words = split_words(
      "task item question unit object example instance sample document doc image img photo "
      "picture pic video clip audio recording hit sentence text tweet post article page url "
      "uri link file filename path query pair passage paragraph snippet prompt stimulus entity "
      "product sku aufgabe frage bild foto objekt beispiel satz dokument datei tache tâche "
      "tarea pregunta imagen domanda immagine tarefa pergunta imagem taak vraag zadanie obraz "
      "задание вопрос фото изображение картинка текст 画像 質問 課題 文 任务 图片 问题 文本");
  return words;
}
const Words& worker_words() {
  static const Words words = split_words(
      "worker annotator performer user labeler labeller rater coder judge contributor assessor "
      "observer reviewer participant expert email mail person who login account evaluator "
      "turker volunteer respondent student member tagger by mitarbeiter bearbeiter nutzer "
      "teilnehmer annotateur utilisateur personne trabajador usuario anotador persona utente "
      "pessoa medewerker gebruiker prüfer codierer coderin annotierer osoba кто работник "
      "разметчик аннотатор пользователь эксперт 担当者 作業者 評価者 回答者 标注者 标注员 用户");
  return words;
}
const Words& label_words() {
  static const Words words = split_words(
      "label answer class annotation response rating judgment judgement category choice vote "
      "output result value verdict decision opinion grade tag sentiment assessment evaluation "
      "diagnosis selection score stars stance severity relevance emotion polarity points antwort urteil "
      "klasse kategorie bewertung wertung entscheidung "
      "reponse réponse etiquette étiquette classe categorie catégorie respuesta etiqueta clase "
      "categoria risposta etichetta resposta antwoord odpowiedź ответ метка класс оценка "
      "ラベル 回答 判定 評価 标签 答案 类别 判断");
  return words;
}
const Words& other_words() {
  static const Words words = split_words(
      "time date timestamp created updated duration seconds status country city region "
      "confidence comment feedback explanation kommentar session batch project split notes note remark "
      "version ip age gender language "
      "lang device browser platform type kind genre dataset reward bonus index datum zeit dauer "
      "workflow");
  return words;
}
const Words& truth_names() {
  static const Words names = split_words(
      "truth truelabel trueclass trueanswer truthlabel groundtruth gold goldlabel goldanswer "
      "goldstandard golden gt correct correctlabel correctanswer expected expectedlabel expertlabel "
      "answerkey solution reference referencelabel target adjudicated adjudicatedlabel y ytrue");
  return names;
}

bool has_truth_name(const std::string& name) {
  // What was decided, by somebody or by counting.
  static const Words decided = split_words(
      "majority consensus final agreed mehrheit konsens referenz wahrheit consenso promedio vérité "
      "verdad");
  constexpr std::size_t kShort = 2;  // "y" is a name, but no word
  constexpr std::size_t kLong = 5;   // "reference" begins "referencelabel", but is not in "preference"
  const std::string whole = plain_name(name);
  const Words& names = truth_names();
  if (std::find(names.begin(), names.end(), whole) != names.end()) return true;
  const std::vector<std::string> words = words_of_name(name);
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    const auto fits = [&](std::string_view known) {
      return known.size() >= kShort &&
             (word == known || (known.size() >= kLong && word.starts_with(known)));
    };
    return std::any_of(names.begin(), names.end(), fits) ||
           std::any_of(decided.begin(), decided.end(), fits);
  });
}

bool names_truth(const std::string& name) {
  static const Words ambiguous = split_words("correct expected solution reference target adjudicated y");
  const std::string plain = plain_name(name);
  const auto is_in = [&](const Words& names) {
    return std::find(names.begin(), names.end(), plain) != names.end();
  };
  return is_in(truth_names()) && !is_in(ambiguous);
}

bool is_beside_workers(const std::string& name) {
  static const Words computed = split_words(
      "mode modus modal median mean average avg aggregated aggregate durchschnitt mittelwert moyenne "
      "médiane mediana agreement entropy kappa disagreement");
  static const Words of_task = split_words(
      "votes count counts num number nr length len size width height difficulty page previous total "
      "sum summe annotators raters workers position rank order");
  // A column for each of several models holds labels; one that is called so holds a guess.
  static const Words whole = split_words(
      "model pred prediction predicted predictedlabel predictedclass modelprediction modellabel ypred "
      "yhat label finallabel");
  const std::string plain = plain_name(name);
  if (has_truth_name(name) || std::find(whole.begin(), whole.end(), plain) != whole.end()) return true;
  const std::vector<std::string> words = words_of_name(name);
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(computed.begin(), computed.end(), word) != computed.end() ||
           std::find(of_task.begin(), of_task.end(), word) != of_task.end();
  });
}

bool names_file(const std::string& name) {
  static const Words files = split_words(
      "file filename filepath image img photo picture pic video clip audio recording url uri path bild "
      "foto datei imagen immagine imagem obraz");
  const std::vector<std::string> words = words_of_name(name);
  return !has_word(name, other_words()) && !has_word(name, worker_words()) &&
         std::any_of(words.begin(), words.end(), [](const std::string& word) {
           return std::find(files.begin(), files.end(), word) != files.end();
         });
}

std::string plain_name(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || byte >= 0x80) text.push_back(static_cast<char>(std::tolower(byte)));
  }
  return text;
}

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

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_number(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  return !text.empty() && count_digits(text) > 0 &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_digit(c) || c == '.'; }) &&
         std::count(text.begin(), text.end(), '.') <= 1;
}

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

}  // namespace crowdfold
