// Amazon Mechanical Turk, batch results: a row per assignment, Input.* and Answer.* columns.
//
// The same input may be in several HITs, so the task is what was shown: a column of Input.* that tells
// all inputs apart, or the first HIT that showed them. A HIT may show several items, where inputs and
// answers are numbered (Input.image_2, Answer.choice_2): then each item is a task. Where only answers
// are numbered (Answer.q1, Answer.q2), they may be different questions; --question 'q*' says that each
// is a task.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <unordered_map>

#include "crowdfold/error.h"
#include "io/exports/export_json.h"
#include "io/exports/export_table.h"
#include "io/exports/formats.h"

namespace crowdfold {
namespace {

constexpr std::string_view kInputPrefix = "Input.";
constexpr std::string_view kAnswerPrefix = "Answer.";
constexpr char kBetweenInputs = '\x1f';
constexpr char kBeforeAnswer = '\x1e';  // in a task that is an answer's
// In tables with more columns of answers, one for each item, blank ones are no abstentions.
constexpr std::size_t kMostDenseAnswers = 100;

bool has_prefix_of(std::string_view name, std::string_view prefix) {
  return name.size() > prefix.size() && equals_ignoring_case(name.substr(0, prefix.size()), prefix);
}

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// "choice_12" -> "choice" and "12"; an empty number if there is none at the end.
std::pair<std::string, std::string> split_number(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && is_digit(name[end - 1])) --end;
  const std::string number(name.substr(end));
  while (end > 0 && (name[end - 1] == '_' || name[end - 1] == '-' || name[end - 1] == '.')) --end;
  return {std::string(name.substr(0, end)), number};
}

// The first number in a name: of field_2_1, the first field of the second item, it is 2.
std::string first_number(std::string_view name) {
  const auto begin = std::find_if(name.begin(), name.end(), is_digit);
  return {begin, std::find_if_not(begin, name.end(), is_digit)};
}

class MturkResults {
 public:
  MturkResults(ExportInput& input, ImportedRows& rows) : table_(input), rows_(rows) {
    if (worker_ == kNoColumn) {
      throw Error(ErrorCode::data, Location{display_name(input.path), 0, 0},
                  "no column WorkerId: without workers there is nothing to weigh; download the results "
                  "again from the requester's site");
    }
    for (std::size_t c = 0; c < table_.names().size(); ++c) {
      const std::string_view name = table_.names()[c];
      if (has_prefix_of(name, kInputPrefix)) inputs_.push_back(c);
      if (has_prefix_of(name, kAnswerPrefix)) answers_.push_back(answer_column(c));
    }
    for (AnswerColumn& answer : answers_) {
      answer.one_of_several =
          !answer.option.empty() &&
          std::count_if(answers_.begin(), answers_.end(), [&](const AnswerColumn& other) {
            return !other.option.empty() && other.question == answer.question;
          }) > 1;
    }
    meaning_of_.resize(inputs_.size());
    is_key_.assign(inputs_.size(), true);
    find_items();
    // People may copy the name of the column.
    std::string_view asked = rows.asked();
    if (has_prefix_of(asked, kAnswerPrefix)) asked.remove_prefix(kAnswerPrefix.size());
    if (asked.ends_with(".label")) asked.remove_suffix(std::string_view(".label").size());
    rows.ask(std::string(asked));
    asked = asked.substr(0, asked.find('='));
    if (asked.ends_with('*')) pattern_ = asked;
    advise_pattern();
  }

  void run() {
    const std::size_t status = table_.find("AssignmentStatus");
    table_.for_each(rows_, [&](Row row) {
      if (equals_ignoring_case(ExportTable::field(row, status), "Rejected"))
        rows_.leave_out(ImportedRows::kRejected);
      else
        read_row(row);
    });
    const std::size_t key = key_input();
    rows_.rename_tasks([&](std::string_view task) { return name_of(std::string(task), key); });
    const std::string_view shown = key == inputs_.size()
                                       ? std::string_view("HITId")
                                       : std::string_view(table_.names()[inputs_[key]]);
    rows_.task_is(!pattern_.empty()          ? fmt::format("{}{}", kAnswerPrefix, pattern_)
                  : !item_questions_.empty() ? "Input.…"
                                             : std::string(shown));
  }

 private:
  struct AnswerColumn {
    std::size_t column = 0;
    std::string question;
    std::string option;           // of a column for one option: is_cat.yes
    bool json = false;            // several questions in one cell
    bool one_of_several = false;  // options of the question; else false is an answer, too
  };
  using Answers = std::vector<std::pair<std::string, std::vector<std::string>>>;

  AnswerColumn answer_column(std::size_t column) const {
    const std::string name = table_.names()[column].substr(kAnswerPrefix.size());
    if (equals_ignoring_case(name, "taskAnswers")) return {column, "", "", true, false};
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos) return {column, name, "", false, false};
    const std::string last = name.substr(dot + 1);
    const bool is_label = last == "label" || last == "labels";
    return {column, name.substr(0, dot), is_label ? "" : last, false, false};
  }

  // Items are there if inputs have the numbers that answers of one name have.
  void find_items() {
    std::map<std::string, std::set<std::string>> numbers;  // by question
    for (const AnswerColumn& answer : answers_) {
      const auto [stem, number] = split_number(answer.question);
      if (!number.empty()) numbers[stem].insert(number);
    }
    std::set<std::string> of_inputs;
    for (const std::size_t c : inputs_)
      of_inputs.insert(first_number(std::string_view(table_.names()[c]).substr(kInputPrefix.size())));
    for (const auto& [stem, of_answers] : numbers) {
      if (of_answers.size() > 1 &&
          std::includes(of_inputs.begin(), of_inputs.end(), of_answers.begin(), of_answers.end()))
        item_questions_.insert(stem);
    }
  }

  // Whether the question is one of those that are tasks.
  bool is_task(std::string_view question) const {
    return !pattern_.empty() &&
           question.starts_with(std::string_view(pattern_).substr(0, pattern_.size() - 1));
  }

  // Of numbered answers that are no items.
  void advise_pattern() {
    std::map<std::string, int> numbered;
    for (const AnswerColumn& answer : answers_) {
      const auto [stem, number] = split_number(answer.question);
      if (number.empty() || stem.empty() || item_questions_.contains(stem)) continue;
      if (++numbered[stem] == 2)
        rows_.advise(fmt::format("--question '{}*' takes each {}… for a task of its own", stem, stem));
    }
  }

  void read_row(Row row) {
    const std::string_view worker = ExportTable::field(row, worker_);
    const std::int64_t time = moment_of(ExportTable::field(row, time_));
    const std::string task = task_of(row);
    for (const auto& [question, classes] : answers_of(row)) {
      const auto [stem, number] = split_number(question);
      if (is_task(question))
        rows_.answer({pattern_, fmt::format("{}{}{}", task, kBeforeAnswer, question), worker, time},
                     classes);
      else if (!number.empty() && item_questions_.contains(stem))
        rows_.answer({stem, item_of(row, number), worker, time}, classes);
      else
        rows_.answer({question, task, worker, time}, classes);
    }
  }

  // All inputs, or the HIT if there are none.
  std::string task_of(Row row) {
    std::string hit(ExportTable::field(row, hit_));
    if (inputs_.empty()) return hit;
    std::string task;
    for (const std::size_t c : inputs_)
      task.append(ExportTable::field(row, c)).push_back(kBetweenInputs);
    first_hit_.try_emplace(task, hit);
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (!is_key_[i]) continue;
      const std::string value(ExportTable::field(row, inputs_[i]));
      is_key_[i] = !value.empty() && meaning_of_[i].try_emplace(value, task).first->second == task;
      if (!is_key_[i]) meaning_of_[i].clear();
    }
    return task;
  }

  std::string item_of(Row row, const std::string& number) const {
    std::vector<std::string_view> parts;
    for (const std::size_t c : inputs_) {
      if (first_number(std::string_view(table_.names()[c]).substr(kInputPrefix.size())) == number)
        parts.push_back(ExportTable::field(row, c));
    }
    return fmt::format("{}", fmt::join(parts, " | "));
  }

  // The input that tells all apart, rather one that is called an id; the number of inputs if none does.
  std::size_t key_input() const {
    std::size_t key = inputs_.size();
    for (std::size_t i = inputs_.size(); i-- > 0;) {
      if (is_key_[i] && (key == inputs_.size() || is_id(i) || !is_id(key))) key = i;
    }
    return key;
  }
  bool is_id(std::size_t input) const {
    const std::string_view name = table_.names()[inputs_[input]];
    return equals_ignoring_case(name.substr(name.size() - 2), "id");
  }

  // A task as people know it.
  std::string name_of(const std::string& task, std::size_t key) const {
    if (const std::size_t end = task.rfind(kBeforeAnswer); end != task.npos) {
      const std::string answer = task.substr(end + 1);
      // Without inputs, all HITs are the same.
      return inputs_.empty() ? answer
                             : fmt::format("{} | {}", name_of(task.substr(0, end), key), answer);
    }
    const auto hit = first_hit_.find(task);
    if (hit == first_hit_.end()) return task;  // an item, or a HIT without inputs
    if (key == inputs_.size()) return hit->second;
    std::string_view rest = task;
    for (std::size_t i = 0; i < key; ++i) rest.remove_prefix(rest.find(kBetweenInputs) + 1);
    return std::string(rest.substr(0, rest.find(kBetweenInputs)));
  }

  Answers answers_of(Row row) {
    Answers answers;
    places_.clear();
    for (const AnswerColumn& answer : answers_) {
      const std::string_view cell = ExportTable::field(row, answer.column);
      if (cell.empty() && answers_.size() > kMostDenseAnswers) continue;
      const bool yes = equals_ignoring_case(cell, "true");
      if (answer.json && json_.parse(cell)) {
        for (const Json& form : elements_of(json_.value())) add_form(form, answers);
      } else if (answer.one_of_several && (yes || equals_ignoring_case(cell, "false"))) {
        std::vector<std::string>& classes = classes_for(answers, answer.question);
        if (yes) classes.push_back(answer.option);
      } else {
        const std::string question =
            answer.option.empty() ? answer.question : answer.question + "." + answer.option;
        add_cell(cell, classes_for(answers, question));
      }
    }
    return answers;
  }

  std::vector<std::string>& classes_for(Answers& answers, const std::string& question) {
    const auto [place, is_new] = places_.try_emplace(question, answers.size());
    if (is_new) answers.emplace_back(question, std::vector<std::string>());
    return answers[place->second].second;
  }

  // "cat", "cat|dog" of check boxes, "" and "{}" for nothing, or JSON.
  void add_cell(std::string_view cell, std::vector<std::string>& classes) {
    if (cell.empty()) return;
    if ((cell[0] == '{' || cell[0] == '[') && json_.parse(cell)) {
      if (!add_value(json_.value(), classes)) rows_.leave_out(ImportedRows::kOtherKind);
      return;
    }
    for (std::string& part : split_text(cell, '|')) classes.push_back(std::move(part));
  }

  // A crowd form: {"category": {"label": "cat"}, "is_cat": {"yes": true, "no": false}}.
  void add_form(const Json& form, Answers& answers) {
    for (const JsonMember& member : members_of(form)) {
      std::vector<std::string>& classes = classes_for(answers, std::string(member.key));
      if (!add_value(member.value, classes)) rows_.leave_out(ImportedRows::kOtherKind);
    }
  }

  static bool add_value(const Json& value, std::vector<std::string>& classes) {
    Json held;
    if (get_json(value, "label", held) || get_json(value, "labels", held))
      return classes_of_json(held, classes);
    if (!value.is_object()) return classes_of_json(value, classes);
    const std::vector<JsonMember> options = members_of(value);
    for (const JsonMember& option : options) {
      if (!option.value.is_bool()) return false;
      if (options.size() == 1)
        classes.push_back(text_of_json(option.value));
      else if (is_true(option.value))
        classes.emplace_back(option.key);
    }
    return true;
  }

  ExportTable table_;
  ImportedRows& rows_;
  JsonText json_;
  std::size_t worker_ = table_.find("WorkerId");
  std::size_t time_ = table_.find("SubmitTime");
  std::size_t hit_ = table_.find("HITId");
  std::vector<std::size_t> inputs_;
  std::vector<AnswerColumn> answers_;
  std::set<std::string> item_questions_;
  std::string pattern_;  // "q*" if answers to questions of such names are tasks
  std::unordered_map<std::string, std::size_t> places_;     // of questions among a row's answers
  std::unordered_map<std::string, std::string> first_hit_;  // by task
  // By input: the task that a value belongs to, and whether each belongs to one only.
  std::vector<std::unordered_map<std::string, std::string>> meaning_of_;
  std::vector<bool> is_key_;
};

}  // namespace

ExportFormat mturk_results() {
  return {{"mturk", "MTurk batch results", "columns `HITId`, `AssignmentId` and `Answer.…`",
           "an `Input.…` that tells all inputs apart (else HITId)", "WorkerId",
           "`Answer.NAME`; `Answer.taskAnswers`; numbered answers are items if inputs have the same "
           "numbers, "
           "or with `--question 'NAME*'`",
           "rejected assignments; `{}` and blank answers abstain"},
          [](const ExportGlimpse& g) {
            bool hit = false;
            bool assignment = false;
            bool answer = false;
            for (const std::string& name : g.names) {
              hit = hit || equals_ignoring_case(name, "HITId");
              assignment = assignment || equals_ignoring_case(name, "AssignmentId");
              answer = answer || has_prefix_of(name, kAnswerPrefix);
            }
            return g.kind == ExportGlimpse::Kind::table && hit && assignment && answer;
          },
          [](ExportInput& input, ImportedRows& rows) { MturkResults(input, rows).run(); }};
}

}  // namespace crowdfold
