// What importers of exports say, and the rules that all exports share: which of several questions is
// read, what is left out and counted, whose later answer counts, which name a worker has.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "crowdfold/error.h"
#include "crowdfold/exports.h"
#include "io/spellings.h"

namespace crowdfold {

// A worker's answer to a question about a task. `time` is as in moment_of().
struct ImportedAnswer {
  std::string_view question;
  std::string_view task;
  std::string_view worker;
  std::int64_t time = 0;
};

// Microseconds, comparable within one export; 0 if the text is no time. Unix seconds, ISO 8601,
// "3/2/2026 09:00:30" (month first) and "Sun Mar 08 04:18:20 PDT 2026".
std::int64_t moment_of(std::string_view text);

class ImportedRows {
 public:
  // The classes of an answer. No class is an abstention; several are left out, unless the question that
  // is asked for is "question=class": then an answer is "yes" or "no".
  using Classes = std::span<const std::string>;

  // Reasons to leave something out that several formats have.
  static constexpr std::string_view kNoWorker = "answer without a worker";
  static constexpr std::string_view kNoTask = "answer without a task";
  static constexpr std::string_view kOtherKind = "answer without a class (a region, span, rank or mark)";
  static constexpr std::string_view kDraft = "draft";
  static constexpr std::string_view kRejected = "answer of rejected assignments";

  ImportedRows(const ReadOptions& options, const RunContext& context);

  void answer(const ImportedAnswer& answer, Classes classes);
  // To every question.
  void abstain(std::string_view task, std::string_view worker, std::int64_t time);
  void truth(std::string_view question, std::string_view task, Classes classes);
  // Of a model: the answer of a worker "model:VERSION" if predictions are wanted, else left out.
  void prediction(std::string_view question, std::string_view task, std::string_view version,
                  Classes classes);
  // Counted by what it is. The first word has a plural: "answer without a worker".
  void leave_out(std::string_view noun, std::uint64_t count = 1);
  // One person: wherever `id` is a worker, the name is written instead.
  void same_worker(std::string_view id, std::string_view name);
  // The question is read only if it is asked for, or if there is no other: a comment, an attribute.
  void only_if_asked(std::string_view question);
  // It is one, also where its answers look like data.
  void surely_question(std::string_view question);
  // Which column or key the tasks are, where a format has several.
  void task_is(std::string_view column) { task_column_ = column; }
  // What to do about several questions, beside choosing one.
  void advise(std::string_view advice) { advice_ = advice; }
  // A sentence for people, behind the summary.
  void note(std::string_view sentence);
  // For malformed records that the caller chose to skip.
  void skip(const Error& error);

  // Gives the tasks of the file just read other names; two that get the same become one.
  template <class Rename>
  void rename_tasks(const Rename& rename) {
    for (auto t = static_cast<std::uint32_t>(renamed_tasks_.size()); t < tasks_.size(); ++t)
      renamed_tasks_.push_back(rename(tasks_[t]));
  }
  // In the end, forgets questions that are properties of tasks: those whose answers all say of a task
  // the same and of each task something else. For tables in which the data stand beside the answers.
  void data_among_answers() { data_among_answers_ = true; }

  // The question that was asked for, as formats spell it.
  const std::string& asked() const { return asked_; }
  void ask(std::string question);

  // Values of ReadOptions::abstain that no answer had.
  std::vector<std::string> unmet_abstentions() const;

  // Labels of the question that is read. Error(usage) if there are several and none is asked for.
  ImportedLabels finish(const ExportInfo& format, const std::string& source, Duplicates duplicates);

 private:
  struct Question {
    std::string name;
    std::uint64_t labels = 0;
    std::uint64_t several = 0;  // answers with several classes
    bool only_if_asked = false;
    bool sure = false;
  };
  struct Row {
    std::uint32_t question;
    std::uint32_t task;
    std::uint32_t worker;
    std::uint32_t label;  // kNone: an abstention
    std::int64_t time;
  };
  struct Truth {
    std::uint32_t question;
    std::uint32_t task;
    std::uint32_t label;
  };
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;
  static constexpr std::uint32_t kEveryQuestion = 0xFFFF'FFFF;

  std::uint32_t question_id(std::string_view name);
  bool is_last_task(std::string_view name) const;
  std::uint32_t task_id(std::string_view name);
  // The question's id and label of an answer; kNone as label for no class or several.
  std::pair<std::uint32_t, std::uint32_t> understand(std::string_view question, Classes classes);
  bool is_abstention(std::string_view label);
  void meet(Classes classes);
  void add(const Row& row);
  // For names that are kept beside those of the tables.
  void hold(std::size_t bytes);
  void require_room() const;

  void drop_data();
  bool is_of_tasks(std::uint32_t question) const;
  std::uint32_t chosen_question(const std::string& source) const;
  void require_asked_class(const Location& place) const;
  std::string questions_text(bool asked_ones) const;
  void order_by_time(std::vector<Row>& rows) const;
  std::string_view worker_name(std::uint32_t worker) const;
  std::string_view task_name(std::uint32_t task) const;
  bool are_in_order(const std::vector<Row>& rows) const;
  Labels make_labels(std::vector<Row> rows, Duplicates duplicates, const std::string& source);
  std::vector<std::pair<std::string, std::string>> make_truths(std::uint32_t question,
                                                               const NameTable& tasks);
  std::string summary(std::uint32_t question, const Labels& labels, std::uint64_t truths) const;
  std::string left_out_text(std::uint32_t question) const;
  std::string unread_text(std::uint32_t question) const;

  const RunContext& context_;
  bool with_predictions_;
  std::vector<std::string> abstain_;  // as in ReadOptions
  std::vector<std::string> without_;  // workers whose answers are none
  std::vector<bool> abstained_;       // which of abstain_ were met
  ClassSpellings spellings_;
  std::string asked_;
  std::string asked_question_;  // of "question=class"
  std::string asked_class_;
  std::vector<std::string> classes_met_;  // of that question, some of them

  std::vector<Question> questions_;
  std::uint32_t last_question_ = 0;
  std::uint32_t last_task_ = 0;
  std::unordered_map<std::string, std::uint32_t> question_ids_;
  NameTable tasks_{"tasks", kMaxTasks};
  NameTable workers_{"workers", kMaxWorkers};
  NameTable labels_{"labels", kMaxTasks};   // of all questions
  std::vector<std::string> renamed_tasks_;  // by task, if there are
  std::unordered_map<std::string, std::string> worker_names_;
  std::uint64_t named_bytes_ = 0;  // of questions and names of workers
  std::vector<Row> rows_;
  std::vector<Truth> truths_;
  std::vector<std::pair<std::string, std::uint64_t>> left_out_;
  std::vector<std::string> notes_;
  std::string task_column_;
  std::string advice_;
  bool data_among_answers_ = false;
  std::uint64_t skipped_ = 0;
  std::string first_skipped_;
};

}  // namespace crowdfold
