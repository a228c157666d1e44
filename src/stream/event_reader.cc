#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory_resource>

#include "crowdfold/error.h"
#include "crowdfold/events.h"
#include "io/block_reader.h"
#include "io/byte_source.h"
#include "io/columns.h"
#include "io/csv.h"
#include "io/jsonl.h"

namespace crowdfold {
namespace {

constexpr std::size_t kReadAtOnce = 1 << 18;
constexpr std::size_t kLongestLine = 1 << 24;

}  // namespace

// Events that were parsed, with their texts.
class EventReader::Batch {
 public:
  void clear() {
    events_.clear();
    texts_.release();
  }
  void add(StreamEvent event) { events_.push_back(event); }
  // Its texts will be gone.
  void add_copy(StreamEvent event) {
    for (std::string_view* text : {&event.task, &event.worker, &event.label, &event.id}) {
      if (text->empty()) continue;
      auto* const copy = static_cast<char*>(texts_.allocate(text->size(), 1));
      std::memcpy(copy, text->data(), text->size());
      *text = {copy, text->size()};
    }
    add(event);
  }
  std::span<const StreamEvent> events() const { return events_; }

 private:
  std::vector<StreamEvent> events_;
  std::pmr::monotonic_buffer_resource texts_{kReadAtOnce};
};

class EventReader::Format {
 public:
  virtual ~Format() = default;
  // `text` is whole lines.
  virtual BlockOutcome parse(std::string_view text, Batch& batch) = 0;
  // How much of the text is whole rows.
  virtual std::size_t whole(std::string_view text) const { return text.rfind('\n') + 1; }
};

class EventReader::Json final : public Format {
 public:
  explicit Json(bool skip_bad_rows)
      : parser_({"task", "worker", "label", "id", "retract.task", "retract.worker", "truth.task",
                 "truth.label", "close", "summary"},
                skip_bad_rows) {}

  BlockOutcome parse(std::string_view text, Batch& batch) override {
    using Kind = StreamEvent::Kind;
    return parser_.parse(text, [&](const Row& row, bool) -> Complaint {
      const auto is_there = [&](Wanted a, Wanted b) { return !row[a].empty() || !row[b].empty(); };
      StreamEvent event{Kind::label, row[task], row[worker], row[label], row[id]};
      if (is_there(retract_task, retract_worker))
        event = {Kind::retract, row[retract_task], row[retract_worker], {}, row[id]};
      else if (is_there(truth_task, truth_label))
        event = {Kind::truth, row[truth_task], {}, row[truth_label], row[id]};
      else if (!row[close].empty())
        event = {Kind::close, row[close], {}, {}, row[id]};
      else if (row[summary] == "true")
        event = {Kind::summary, {}, {}, {}, row[id]};
      if (event.task.empty() && event.kind != Kind::summary) return {1, "an event needs a task"};
      if (event.worker.empty() && (event.kind == Kind::label || event.kind == Kind::retract))
        return {1, "this event needs a worker"};
      if (event.label.empty() && event.kind == Kind::truth) return {1, "a truth needs a label"};
      batch.add_copy(event);
      return {};
    });
  }

 private:
  enum Wanted {
    task,
    worker,
    label,
    id,
    retract_task,
    retract_worker,
    truth_task,
    truth_label,
    close,
    summary
  };
  JsonlParser parser_;
};

class EventReader::Csv final : public Format {
 public:
  Csv(CsvLayout layout, bool has_id, bool skip_bad_rows)
      : has_id_(has_id), parser_(std::move(layout), skip_bad_rows) {}

  BlockOutcome parse(std::string_view text, Batch& batch) override {
    return parser_.parse(text, [&](const Row& row, bool lasting) -> Complaint {
      if (row[0].empty()) return {1, "the task is empty"};
      if (row[1].empty()) return {2, "the worker is empty"};
      const StreamEvent event{StreamEvent::Kind::label, row[0], row[1], row[2],
                              has_id_ ? row[3] : std::string_view()};
      lasting ? batch.add(event) : batch.add_copy(event);
      return {};
    });
  }
  // A line may end inside quotes.
  std::size_t whole(std::string_view text) const override {
    const std::size_t end = Format::whole(text);
    return std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '"') % 2 == 0 ? end
                                                                                                   : 0;
  }

 private:
  bool has_id_;
  CsvParser parser_;
};

EventReader::EventReader(const std::string& path, const ReadOptions& options, bool follow)
    : path_(path),
      source_(display_name(path)),
      options_(options),
      follow_(follow),
      batch_(std::make_unique<Batch>()) {
  descriptor_ = path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0)
    throw Error(ErrorCode::io, Location{source_, 0, 0},
                fmt::format("cannot be opened: {}", std::strerror(errno)));
}

EventReader::~EventReader() { ::close(descriptor_); }

EventReader::ReadStatus EventReader::read(const Body& body) {
  if (ended_) return ReadStatus::end;
  pollfd ready{descriptor_, POLLIN, 0};
  if (::poll(&ready, 1, 0) == 0) return ReadStatus::none_yet;
  if (buffer_.size() < filled_ + kReadAtOnce + kBlockPadding)
    buffer_.resize(filled_ + kReadAtOnce + kBlockPadding);
  const ssize_t size = ::read(descriptor_, buffer_.data() + filled_, kReadAtOnce);
  if (size < 0) {
    if (errno == EINTR || errno == EAGAIN) return ReadStatus::none_yet;
    throw Error(ErrorCode::io, Location{source_, 0, 0}, std::strerror(errno));
  }
  at_end_ = size == 0;
  if (at_end_) {
    if (follow_) return ReadStatus::none_yet;
    ended_ = true;
    if (filled_ > 0 && buffer_[filled_ - 1] != '\n') buffer_[filled_++] = '\n';
  }
  filled_ += static_cast<std::size_t>(size);
  const std::string_view text(buffer_.data(), filled_);
  if (!format_) recognise();
  if (!format_) return ended_ ? ReadStatus::end : ReadStatus::some;
  const std::size_t whole = ended_ ? filled_ : format_->whole(text);
  if (whole == 0 && filled_ > kLongestLine)
    throw Error(ErrorCode::data, Location{source_, lines_ + 1, 1}, "the line is too long");
  parse(whole, body);
  return ended_ ? ReadStatus::end : ReadStatus::some;
}

void EventReader::parse(std::size_t size, const Body& body) {
  // Parsers may look behind the end, where more lines are.
  const std::string rest(buffer_, size, filled_ - size);
  std::memset(buffer_.data() + size, 0, std::min(buffer_.size() - size, kBlockPadding));
  batch_->clear();
  const BlockOutcome outcome = format_->parse({buffer_.data(), size}, *batch_);
  body(batch_->events());
  buffer_.replace(0, rest.size(), rest);
  filled_ = rest.size();
  if (outcome.error) {
    const Location where{source_, lines_ + outcome.error->line + 1, outcome.error->column};
    if (outcome.failed) throw Error(ErrorCode::data, where, outcome.error->message);
    if (skipped_ == 0) first_skipped_ = Error(ErrorCode::data, where, outcome.error->message).what();
  }
  lines_ += outcome.lines;
  skipped_ += outcome.skipped;
}

// By the first line, once it is there: an object, or the header of a table.
void EventReader::recognise() {
  std::string_view text(buffer_.data(), filled_);
  if (text.starts_with("\x1f\x8b") || text.starts_with("\x28\xb5\x2f\xfd"))
    throw Error(ErrorCode::data, Location{source_, 0, 0},
                "compressed events cannot be followed; give them uncompressed: zcat FILE | crowdfold "
                "stream");
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return;
  if (options_.format == crowdfold::Format::jsonl ||
      (options_.format == crowdfold::Format::automatic && text[begin] == '{')) {
    format_ = std::make_unique<Json>(options_.skip_bad_rows);
    return;
  }
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return;
  constexpr std::string_view kMark = "\xef\xbb\xbf";  // byte order
  const std::size_t first = text.starts_with(kMark) ? kMark.size() : 0;
  const std::string_view line = text.substr(first, end - first);
  const bool tabs =
      options_.format == crowdfold::Format::tsv ||
      (options_.format == crowdfold::Format::automatic && line.find('\t') != std::string_view::npos);
  const char separator = tabs ? '\t' : ',';
  CsvRecord record;
  record.parse(text.substr(first, end + 1 - first), 0, separator);
  if (!record.ok()) throw Error(ErrorCode::data, Location{source_, 1, 1}, record.error());
  std::vector<std::string> header;
  for (std::size_t i = 0; i < record.num_fields(); ++i) header.emplace_back(record.field(i));
  Role id{"id", {"event"}, false};
  std::optional<std::vector<std::size_t>> columns;
  if (options_.header != Header::no)
    columns = match_columns(header, {task_role(), worker_role(), label_role(), id}, options_, source_);
  const bool has_header = columns.has_value();
  if (!has_header && options_.header == Header::yes)
    throw Error(ErrorCode::data, Location{source_, 1, 1}, "no column of the header is known");
  if (!has_header)
    columns = columns_by_position(header.size(), {task_role(), worker_role(), label_role()}, options_,
                                  source_);
  const bool has_id = columns->size() > 3 && (*columns)[3] != kNoColumn;
  columns->resize(has_id ? 4 : 3);
  format_ = std::make_unique<Csv>(CsvLayout{separator, header.size(), *columns}, has_id,
                                  options_.skip_bad_rows);
  if (!has_header) return;
  lines_ = 1;
  buffer_.erase(0, end + 1);
  filled_ -= end + 1;
}

void EventReader::wait() const {
  constexpr int kMilliseconds = 100;
  pollfd ready{descriptor_, POLLIN, 0};
  // Where a file that may grow ends, there is always something to read: nothing.
  if (at_end_)
    ::poll(nullptr, 0, kMilliseconds);
  else
    ::poll(&ready, 1, kMilliseconds);
}

}  // namespace crowdfold
