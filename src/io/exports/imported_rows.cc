#include "io/exports/imported_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>

#include "crowdfold/error.h"
#include "crowdfold/words.h"
#include "io/room.h"
#include "io/trim.h"
#include "labels/duplicates.h"
#include "labels/grouping/row_grouper.h"

namespace crowdfold {
namespace {

constexpr std::size_t kMostNamesInMessage = 10;
constexpr std::size_t kMostNameBytes = 60;  // of a name in a message
constexpr std::string_view kPrediction = "prediction";

// A name that is not too long for a message. No character is cut in two.
std::string short_name(std::string_view name) {
  if (name.size() <= kMostNameBytes) return std::string(name);
  std::size_t end = kMostNameBytes;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
  return std::string(name.substr(0, end)) + "…";
}

// What can be done about something that is left out; empty if nothing can.
std::string remedy_of(std::string_view noun) {
  if (noun == kPrediction) return " (--with-predictions takes them as workers model:VERSION)";
  return "";
}

// Reads a time from the left. Nothing is taken where it does not fit.
class TimeText {
 public:
  explicit TimeText(std::string_view text) : rest_(text) {}

  bool number(int& value, std::size_t most_digits) {
    std::size_t size = 0;
    value = 0;
    for (; size < std::min(most_digits, rest_.size()); ++size) {
      if (rest_[size] < '0' || rest_[size] > '9') break;
      value = 10 * value + (rest_[size] - '0');
    }
    rest_.remove_prefix(size);
    return size > 0;
  }
  bool one_of(std::string_view characters) {
    if (rest_.empty() || characters.find(rest_[0]) == characters.npos) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view word() {
    const std::size_t size = std::min(rest_.find(' '), rest_.size());
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(std::min(size + 1, rest_.size()));
    return taken;
  }
  // 09:00:42.25, in microseconds.
  bool clock(std::int64_t& microseconds) {
    int hour = 0;
    int minute = 0;
    int second = 0;
    if (!number(hour, 2) || !one_of(":") || !number(minute, 2) || !one_of(":") || !number(second, 2))
      return false;
    microseconds = ((60 * hour + minute) * 60 + second) * std::int64_t{1'000'000};
    if (one_of(".")) {
      int digit = 0;
      for (std::int64_t unit = 100'000; number(digit, 1); unit /= 10) microseconds += unit * digit;
    }
    return hour < 25 && minute < 60 && second < 61;
  }
  // Minutes that "+02:00" is before UTC; 0 for "Z", " UTC" and nothing.
  int zone() {
    const bool behind = !rest_.empty() && rest_[0] == '-';
    int hours = 0;
    int minutes = 0;
    if (!one_of("+-") || !number(hours, 2)) return 0;
    one_of(":");
    number(minutes, 2);
    return (behind ? -1 : 1) * (60 * hours + minutes);
  }

 private:
  std::string_view rest_;
};

std::int64_t microseconds_of(int year, int month, int day, std::int64_t clock, int zone) {
  using namespace std::chrono;
  const year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                            std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok() || year < 1000) return 0;
  const std::int64_t minutes = 24 * 60 * sys_days(date).time_since_epoch().count() - zone;
  return minutes * 60'000'000 + clock;
}

int month_of(std::string_view name) {
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const std::size_t at = name.size() == 3 ? kMonths.find(name) : kMonths.npos;
  return at == kMonths.npos || at % 3 != 0 ? 0 : static_cast<int>(at / 3) + 1;
}

}  // namespace

std::int64_t moment_of(std::string_view text) {
  int year = 0;
  int month = 0;
  int day = 0;
  std::int64_t clock = 0;
  TimeText iso(text);
  if (iso.number(year, 4) && iso.one_of("-") && iso.number(month, 2) && iso.one_of("-") &&
      iso.number(day, 2) && iso.one_of("T ") && iso.clock(clock))
    return microseconds_of(year, month, day, clock, iso.zone());
  TimeText american(text);
  if (american.number(month, 2) && american.one_of("/") && american.number(day, 2) &&
      american.one_of("/") && american.number(year, 4) && american.one_of(" ") && american.clock(clock))
    return microseconds_of(year, month, day, clock, 0);
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (!text.empty() && error == std::errc{} && end == text.data() + text.size())
    return std::abs(seconds) < 1e11 ? static_cast<std::int64_t>(seconds * 1e6) : 0;
  TimeText mturk(text);
  mturk.word();  // the day of the week
  month = month_of(mturk.word());
  if (!mturk.number(day, 2) || !mturk.one_of(" ") || !mturk.clock(clock) || !mturk.one_of(" ")) return 0;
  const std::string_view zone = mturk.word();
  if (!mturk.number(year, 4)) return 0;
  return microseconds_of(year, month, day, clock, zone == "PST" ? -480 : zone == "PDT" ? -420 : 0);
}

ImportedRows::ImportedRows(const ReadOptions& options, const RunContext& context)
    : context_(context),
      with_predictions_(options.with_predictions),
      abstain_(options.abstain),
      without_(options.without_workers),
      abstained_(options.abstain.size()),
      spellings_(options) {
  ask(options.question);
}

void ImportedRows::ask(std::string question) {
  asked_ = std::move(question);
  const std::size_t equals = asked_.rfind('=');
  asked_question_ = equals == std::string::npos ? "" : asked_.substr(0, equals);
  asked_class_ = equals == std::string::npos ? "" : asked_.substr(equals + 1);
}

std::uint32_t ImportedRows::question_id(std::string_view name) {
  if (last_question_ < questions_.size() && questions_[last_question_].name == name)
    return last_question_;
  const auto [found, is_new] =
      question_ids_.try_emplace(std::string(name), static_cast<std::uint32_t>(questions_.size()));
  if (is_new) {
    questions_.push_back({.name = std::string(name)});
    hold(2 * name.size());
  }
  return last_question_ = found->second;
}

// Answers on a task often come one after another.
bool ImportedRows::is_last_task(std::string_view name) const {
  return last_task_ < tasks_.size() && tasks_[last_task_] == name;
}

std::uint32_t ImportedRows::task_id(std::string_view name) {
  if (!is_last_task(name)) last_task_ = tasks_.intern(name);
  return last_task_;
}

std::pair<std::uint32_t, std::uint32_t> ImportedRows::understand(std::string_view question,
                                                                 Classes classes) {
  if (!asked_class_.empty() && question == asked_question_) {
    const bool said = std::find(classes.begin(), classes.end(), asked_class_) != classes.end();
    meet(classes);
    return {question_id(asked_), classes.empty() ? kNone : labels_.intern(said ? "yes" : "no")};
  }
  const std::uint32_t id = question_id(question);
  const std::string_view label = classes.size() == 1 ? trimmed(classes[0]) : "";
  const bool given = !label.empty() && !is_abstention(label);
  return {id, given ? labels_.intern(spellings_.class_of(label)) : kNone};
}

bool ImportedRows::is_abstention(std::string_view label) {
  const auto found = std::find(abstain_.begin(), abstain_.end(), label);
  if (found == abstain_.end()) return false;
  abstained_[static_cast<std::size_t>(found - abstain_.begin())] = true;
  return true;
}

std::vector<std::string> ImportedRows::unmet_abstentions() const {
  std::vector<std::string> unmet;
  for (std::size_t i = 0; i < abstain_.size(); ++i) {
    if (!abstained_[i]) unmet.push_back(abstain_[i]);
  }
  return unmet;
}

// Remembers a few classes, for messages, and the one that is asked for.
void ImportedRows::meet(Classes classes) {
  for (const std::string& name : classes) {
    const bool wanted = classes_met_.size() < kMostNamesInMessage || name == asked_class_;
    if (wanted && std::find(classes_met_.begin(), classes_met_.end(), name) == classes_met_.end())
      classes_met_.push_back(name);
  }
}

void ImportedRows::answer(const ImportedAnswer& answer, Classes classes) {
  if (answer.task.empty()) return leave_out(kNoTask);
  if (answer.worker.empty()) return leave_out(kNoWorker);
  const bool is_new = !is_last_task(answer.task);
  const std::uint64_t task_hash = is_new ? NameTable::hash(answer.task) : 0;
  if (is_new) tasks_.prefetch(task_hash);  // there are many: its place is not in a cache, mostly
  const auto [question, label] = understand(answer.question, classes);
  Question& known = questions_[question];
  if (label == kNone && classes.size() > 1) {
    ++known.several;
    return;
  }
  const std::uint32_t worker = workers_.intern(answer.worker);
  if (is_new) last_task_ = tasks_.intern(answer.task, task_hash);
  add({question, last_task_, worker, label, answer.time});
  known.labels += label == kNone ? 0 : 1;
}

void ImportedRows::abstain(std::string_view task, std::string_view worker, std::int64_t time) {
  if (task.empty()) return leave_out(kNoTask);
  if (worker.empty()) return leave_out(kNoWorker);
  add({kEveryQuestion, task_id(task), workers_.intern(worker), kNone, time});
}

void ImportedRows::truth(std::string_view question, std::string_view task, Classes classes) {
  if (task.empty()) return leave_out("truth without a task");
  const auto [id, label] = understand(question, classes);
  if (label != kNone) {
    truths_.push_back({id, task_id(task), label});
    require_room();
  } else if (classes.size() > 1) {
    leave_out("truth with several classes");
  }
}

void ImportedRows::prediction(std::string_view question, std::string_view task, std::string_view version,
                              Classes classes) {
  if (!with_predictions_) return leave_out(kPrediction);
  answer({question, task, fmt::format("model:{}", version.empty() ? "unnamed" : version), 0}, classes);
}

void ImportedRows::leave_out(std::string_view noun, std::uint64_t count) {
  if (count == 0) return;
  for (auto& [known, sum] : left_out_) {
    if (known != noun) continue;
    sum += count;
    return;
  }
  left_out_.emplace_back(noun, count);
}

void ImportedRows::same_worker(std::string_view id, std::string_view name) {
  if (id.empty() || name.empty()) return;
  if (worker_names_.insert_or_assign(std::string(id), std::string(name)).second)
    hold(id.size() + name.size());
}

void ImportedRows::only_if_asked(std::string_view question) {
  questions_[question_id(question)].only_if_asked = true;
}

void ImportedRows::surely_question(std::string_view question) {
  questions_[question_id(question)].sure = true;
}

void ImportedRows::note(std::string_view sentence) {
  if (std::find(notes_.begin(), notes_.end(), sentence) == notes_.end()) notes_.emplace_back(sentence);
}

void ImportedRows::skip(const Error& error) {
  if (skipped_++ == 0) first_skipped_ = error.what();
}

void ImportedRows::add(const Row& row) {
  require_room();
  rows_.push_back(row);
}

void ImportedRows::hold(std::size_t bytes) {
  constexpr std::size_t kAround = 150;  // of an element: its strings, its place in the index
  named_bytes_ += bytes + kAround;
  require_room();
}

void ImportedRows::require_room() const {
  const std::uint64_t bytes = sizeof(Row) * rows_.size() + sizeof(Truth) * truths_.size() +
                              tasks_.bytes() + workers_.bytes() + labels_.bytes() + named_bytes_;
  crowdfold::require_room("", "the answers in this export", bytes, context_.max_memory);
}

bool ImportedRows::is_of_tasks(std::uint32_t question) const {
  std::vector<std::uint32_t> label_of(tasks_.size(), kNone);
  std::unordered_map<std::uint32_t, std::uint32_t> task_of;
  for (const Row& row : rows_) {
    if (row.question != question || row.label == kNone) continue;
    std::uint32_t& label = label_of[row.task];
    if (label == kNone) label = row.label;
    if (label != row.label || task_of.try_emplace(label, row.task).first->second != row.task)
      return false;
  }
  return true;
}

void ImportedRows::drop_data() {
  for (std::uint32_t q = 0; q < questions_.size(); ++q) {
    Question& question = questions_[q];
    const bool told = question.sure || question.several > 0 || question.name == asked_;
    if (!told && question.labels > 0 && is_of_tasks(q)) question.labels = 0;
  }
}

std::string ImportedRows::questions_text(bool asked_ones) const {
  std::vector<const Question*> those;
  for (const Question& question : questions_) {
    if (question.labels > 0 && (asked_ones || !question.only_if_asked)) those.push_back(&question);
  }
  std::string text;
  for (std::size_t i = 0; i < those.size() && i < kMostNamesInMessage; ++i) {
    text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", short_name(those[i]->name),
                        count_noun(those[i]->labels, "label"));
  }
  if (those.size() > kMostNamesInMessage)
    text += fmt::format(" and {} more", with_commas(those.size() - kMostNamesInMessage));
  return text;
}

// A class that nobody chose would make all answers "no".
void ImportedRows::require_asked_class(const Location& place) const {
  if (classes_met_.empty() ||
      std::find(classes_met_.begin(), classes_met_.end(), asked_class_) != classes_met_.end())
    return;
  std::vector<std::string> names;
  for (const std::string& name : classes_met_) names.push_back(short_name(name));
  throw Error(
      ErrorCode::usage, place,
      fmt::format("no answer to '{}' has the class '{}'; there are: {}", short_name(asked_question_),
                  short_name(asked_class_), fmt::join(names, ", ")));
}

std::uint32_t ImportedRows::chosen_question(const std::string& source) const {
  const Location place{source, 0, 0};
  if (!asked_.empty()) {
    const auto found = question_ids_.find(asked_);
    if (found != question_ids_.end() && questions_[found->second].labels > 0) {
      require_asked_class(place);
      return found->second;
    }
    const std::string there = questions_text(true);
    throw Error(ErrorCode::usage, place,
                fmt::format("no question '{}' that has labels; {}", short_name(asked_),
                            there.empty() ? "there is none at all" : "there are: " + there));
  }
  std::vector<std::uint32_t> usual;
  std::vector<std::uint32_t> rest;
  for (std::uint32_t q = 0; q < questions_.size(); ++q) {
    if (questions_[q].labels > 0) (questions_[q].only_if_asked ? rest : usual).push_back(q);
  }
  if (usual.size() == 1) return usual[0];
  if (usual.empty() && rest.size() == 1) return rest[0];
  if (usual.empty() && rest.empty()) {
    std::string why = left_out_text(kNone);
    for (std::uint32_t q = 0; q < questions_.size() && why.empty(); ++q) why = left_out_text(q);
    throw Error(ErrorCode::data, place, "no labels in it" + (why.empty() ? "" : "; left out: " + why));
  }
  throw Error(ErrorCode::usage, place,
              fmt::format("several questions: {}; choose one with --question NAME{}",
                          questions_text(usual.empty()), advice_.empty() ? "" : "; " + advice_));
}

// Of a worker's answers on a task, the later come behind the earlier. Other rows stay in their places.
void ImportedRows::order_by_time(std::vector<Row>& rows) const {
  if (std::none_of(rows.begin(), rows.end(), [](const Row& row) { return row.time != 0; })) return;
  std::vector<std::uint32_t> order(rows.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto pair_of = [&](std::uint32_t i) { return std::pair(rows[i].task, rows[i].worker); };
  const auto is_before = [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(pair_of(a), a) < std::tuple(pair_of(b), b);
  };
  // Most exports come task by task: then it is enough to sort within tasks.
  const bool by_task = std::is_sorted(rows.begin(), rows.end(),
                                      [](const Row& a, const Row& b) { return a.task < b.task; });
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    end = by_task ? begin + 1 : order.size();
    while (end < order.size() && rows[end].task == rows[begin].task) ++end;
    std::sort(order.begin() + static_cast<std::ptrdiff_t>(begin),
              order.begin() + static_cast<std::ptrdiff_t>(end), is_before);
  }
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && pair_of(order[end]) == pair_of(order[begin])) ++end;
    if (end - begin == 1) continue;
    std::vector<Row> of_pair;
    for (std::size_t i = begin; i < end; ++i) of_pair.push_back(rows[order[i]]);
    if (std::any_of(of_pair.begin(), of_pair.end(), [](const Row& row) { return row.time == 0; }))
      continue;  // as they come
    std::stable_sort(of_pair.begin(), of_pair.end(),
                     [](const Row& a, const Row& b) { return a.time < b.time; });
    for (std::size_t i = begin; i < end; ++i) rows[order[i]] = of_pair[i - begin];
  }
}

std::string_view ImportedRows::worker_name(std::uint32_t worker) const {
  const auto known = worker_names_.find(std::string(workers_[worker]));
  return known == worker_names_.end() ? workers_[worker] : std::string_view(known->second);
}

std::string_view ImportedRows::task_name(std::uint32_t task) const {
  return task < renamed_tasks_.size() ? std::string_view(renamed_tasks_[task]) : tasks_[task];
}

// Whether all tasks come, for the first time in the order of their ids.
bool ImportedRows::are_in_order(const std::vector<Row>& rows) const {
  std::uint32_t next = 0;
  for (const Row& row : rows) {
    if (row.task > next) return false;
    if (row.task == next) ++next;
  }
  return next == tasks_.size();
}

Labels ImportedRows::make_labels(std::vector<Row> rows, Duplicates duplicates,
                                 const std::string& source) {
  LabelNames names;
  const bool same_tasks = renamed_tasks_.empty() && are_in_order(rows);
  if (same_tasks && truths_.empty())
    names.tasks = std::move(tasks_);  // truths are the last to ask for them
  else if (same_tasks)
    names.tasks = tasks_;
  // Other names are looked up once each, in order of appearance.
  std::vector<std::uint32_t> new_tasks(same_tasks ? 0 : tasks_.size(), kNone);
  std::vector<std::uint32_t> new_workers(workers_.size(), kNone);
  std::vector<std::uint32_t> new_classes(labels_.size(), kNone);
  std::vector<bool> left_out;  // by new worker
  for (Row& row : rows) {
    std::uint32_t& worker = new_workers[row.worker];
    if (worker == kNone) {
      const std::string_view name = worker_name(row.worker);
      worker = names.workers.intern(name);
      left_out.resize(names.workers.size());
      left_out[worker] = std::find(without_.begin(), without_.end(), name) != without_.end();
    }
    row.worker = worker;
    if (left_out[worker]) row.label = kNone;
    if (same_tasks) continue;
    std::uint32_t& task = new_tasks[row.task];
    if (task == kNone) task = names.tasks.intern(task_name(row.task));
    row.task = task;
  }
  order_by_time(rows);
  std::vector<TaskId> tasks;
  std::vector<WorkerId> workers;
  std::vector<ClassId> classes;
  tasks.reserve(rows.size());
  workers.reserve(rows.size());
  classes.reserve(rows.size());
  for (const Row& row : rows) {
    tasks.push_back(row.task);
    workers.push_back(row.worker);
    classes.push_back(kNoClass);
    if (row.label == kNone) continue;
    std::uint32_t& name = new_classes[row.label];
    if (name == kNone) name = names.classes.intern(labels_[row.label]);
    classes.back() = static_cast<ClassId>(name);
  }
  RowGrouper grouper(duplicates);
  grouper.add({tasks, workers, classes});
  try {
    return grouper.build(std::move(names), context_.threads);
  } catch (const DuplicateLabel& error) {
    throw DuplicateLabel(error.task, error.worker, Location{source, 0, 0});
  }
}

std::vector<std::pair<std::string, std::string>> ImportedRows::make_truths(std::uint32_t question,
                                                                           const NameTable& tasks) {
  std::vector<std::pair<std::string, std::string>> truths;
  std::unordered_map<std::string_view, std::uint32_t> label_of;
  for (const Truth& truth : truths_) {
    if (truth.question != question) continue;
    const std::string_view task = task_name(truth.task);
    if (!tasks.find(task)) {
      leave_out("truth of tasks without labels");
      continue;
    }
    const auto [known, is_new] = label_of.try_emplace(task, truth.label);
    if (is_new)
      truths.emplace_back(task, labels_[truth.label]);
    else if (known->second != truth.label)
      leave_out("truth in conflict with an earlier one");
  }
  return truths;
}

std::string ImportedRows::left_out_text(std::uint32_t question) const {
  std::string text;
  const auto append = [&](std::uint64_t count, std::string_view noun, const std::string& remedy) {
    // The plural is that of the first word: "2 answers without a worker".
    const std::size_t end = std::min(noun.find(' '), noun.size());
    const std::string counted =
        count_noun(count, std::string(noun.substr(0, end))) + std::string(noun.substr(end));
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", counted, remedy);
  };
  if (question != kNone && questions_[question].several > 0) {
    append(questions_[question].several, "answer with several classes",
           fmt::format(" (--question '{}=CLASS' reads one class of them as yes or no)",
                       short_name(questions_[question].name)));
  }
  for (const auto& [noun, count] : left_out_) append(count, noun, remedy_of(noun));
  return text;
}

// Other questions, where nobody asked for this one.
std::string ImportedRows::unread_text(std::uint32_t question) const {
  std::string text;
  for (std::uint32_t q = 0; asked_.empty() && q < questions_.size(); ++q) {
    const Question& other = questions_[q];
    if (q == question || other.labels + other.several == 0) continue;
    text +=
        fmt::format("{}{} ({})", text.empty() ? "" : ", ", short_name(other.name),
                    other.labels > 0 ? count_noun(other.labels, "label")
                                     : count_noun(other.several, "answer") + " with several classes");
  }
  return text;
}

std::string ImportedRows::summary(std::uint32_t question, const Labels& labels,
                                  std::uint64_t truths) const {
  const RowCounts& counts = labels.rows();
  std::string text = fmt::format("{} read: {}, {}", count_noun(counts.read, "row"),
                                 count_noun(counts.read - counts.abstentions, "label"),
                                 count_noun(counts.abstentions, "abstention"));
  if (truths > 0) {
    text += fmt::format("; {} (for 'crowdfold import --truth-out')", count_noun(truths, "truth"));
  }
  const std::string left_out = left_out_text(question);
  text += left_out.empty() ? "; nothing left out" : "; left out: " + left_out;
  const std::string unread = unread_text(question);
  if (!unread.empty()) text += "; other questions: " + unread;
  return text;
}

ImportedLabels ImportedRows::finish(const ExportInfo& format, const std::string& source,
                                    Duplicates duplicates) {
  require_room();
  if (data_among_answers_) drop_data();
  const std::uint32_t question = chosen_question(source);
  std::vector<Row> rows = std::move(rows_);
  std::erase_if(
      rows, [&](const Row& row) { return row.question != question && row.question != kEveryQuestion; });
  ImportedLabels imported;
  imported.labels = make_labels(std::move(rows), duplicates, source).with_skipped_rows(skipped_);
  imported.truths = make_truths(question, imported.labels.tasks());
  imported.report.source = source;
  imported.report.format = format.title;
  imported.report.columns = fmt::format(
      "task = {}, worker = {}, label = {}", task_column_.empty() ? format.task : task_column_,
      format.worker,
      questions_[question].name.empty() ? format.label : short_name(questions_[question].name));
  imported.report.skipped_rows = skipped_;
  imported.report.first_skipped = first_skipped_;
  imported.report.notes = {summary(question, imported.labels, imported.truths.size())};
  imported.report.notes.insert(imported.report.notes.end(), notes_.begin(), notes_.end());
  return imported;
}

}  // namespace crowdfold
