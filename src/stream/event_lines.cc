// A batch of events as JSON, all of it at hand: taken as a whole, or without the lines that are refused.
#include <algorithm>
#include <cstring>
#include <utility>

#include "crowdfold/error.h"
#include "crowdfold/events.h"
#include "io/block_reader.h"
#include "io/json_documents.h"
#include "io/jsonl.h"
#include "stream/event_fields.h"

namespace crowdfold {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

// Bytes in memory, as a source.
class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes) : bytes_(bytes) {}
  void wait(int) const override {}
  std::uint64_t file_position() const override { return 0; }
  std::uint64_t file_size() const override { return bytes_.size(); }

 protected:
  std::size_t read_next(char* to, std::size_t size) override {
    const std::string_view some = bytes_.substr(0, size);
    std::memcpy(to, some.data(), some.size());
    bytes_.remove_prefix(some.size());
    return some.size();
  }

 private:
  std::string_view bytes_;
};

// The elements of an array, a line each, up to what is wrong with the array, in words.
struct ArrayLines {
  std::string lines;
  std::string wrong = {};
};
ArrayLines lines_of_array(std::string_view array) {
  ArrayLines result;
  std::string& lines = result.lines;
  constexpr std::size_t kAtOnce = 1 << 18;
  std::size_t size = 0;
  try {
    const auto elements = as_json_records(std::make_unique<MemorySource>(array), "");
    for (std::size_t count = kAtOnce; count > 0; size += count) {
      lines.resize(size + kAtOnce);
      count = elements->read(lines.data() + size, kAtOnce);
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::data) throw;
    const std::string place = to_string(error.location()) + ": ";
    result.wrong = error.what();
    if (result.wrong.starts_with(place)) result.wrong.erase(0, place.size());
  }
  lines.resize(size);
  // What was read of the element that is wrong.
  if (!result.wrong.empty()) lines.erase(lines.rfind('\n') + 1);
  return result;
}

class BatchLines {
 public:
  explicit BatchLines(std::string_view text)
      : names_(kFieldNames.begin(), kFieldNames.end()), parser_(names_, true) {
    for (std::size_t field = 0; field < num_event_fields; ++field) rows_.place[field] = field;
    rows_.names = names_;
    rows_.json = true;
    const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
    if (begin < text.size() && text[begin] == '[') {
      ArrayLines array = lines_of_array(text);
      const auto whole = std::count(array.lines.begin(), array.lines.end(), '\n');
      read(std::move(array.lines));
      if (array.wrong.empty() || is_broken_) return;
      refused_.push_back({static_cast<std::uint64_t>(whole) + 1, "", array.wrong});
      is_broken_ = true;
    } else {
      read(std::string(text));
    }
  }

  std::span<const StreamEvent> events() const { return batch_.events(); }
  std::uint64_t line_of(std::size_t event) const { return lines_[event]; }
  std::vector<RefusedLine> refused() { return std::move(refused_); }
  // Whether there are lines that were not even looked at.
  bool is_broken() const { return is_broken_; }

 private:
  // Whole lines, with room for the parser behind them.
  void read(std::string text) {
    if (!text.empty() && text.back() != '\n') text += '\n';
    const std::size_t size = text.size();
    text.resize(size + kBlockPadding);
    std::string_view rest(text.data(), size);
    for (std::uint64_t line = 1; !rest.empty(); ++line) {
      const std::size_t end = rest.find('\n') + 1;
      read_line(rest.substr(0, end), line);
      rest.remove_prefix(end);
      is_broken_ = refused_.size() >= most_refused_lines;
      if (is_broken_) return;
    }
  }

  void read_line(std::string_view text, std::uint64_t line) {
    std::size_t field = 0;
    const BlockOutcome outcome = parser_.parse(text, [&](Row row, bool) {
      StreamEvent event;
      Complaint complaint = read_event(rows_, row, event);
      field = complaint.field;
      if (field != 0) return complaint;
      batch_.add_copy(event);
      lines_.push_back(line);
      return Complaint{};
    });
    if (!outcome.error) return;
    RefusedLine refused{line, "", outcome.error->message};
    for (const EventField one : kLabelFields) {
      if (refused.why != no_key(names_[one])) continue;
      refused.why += what_it_has(text, names_[one], event_roles(true)[one]);
    }
    if (field != 0 && refused.why != kTwoEvents) refused.field = names_[field - 1];
    refused_.push_back(std::move(refused));
  }

  std::vector<std::string> names_;
  JsonlParser parser_;
  EventRows rows_;
  EventBatch batch_;
  std::vector<std::uint64_t> lines_;  // by event
  std::vector<RefusedLine> refused_;
  bool is_broken_ = false;
};

// The field that a stream refuses an event for.
const char* field_of(const StreamEvent& event, const std::vector<std::string>& names) {
  using Kind = StreamEvent::Kind;
  switch (event.kind) {
    case Kind::label: return names[label_field].c_str();
    case Kind::retract: return names[retract_task_field].c_str();
    case Kind::truth: return names[truth_label_field].c_str();
    case Kind::close: return names[close_field].c_str();
    case Kind::reopen: return names[reopen_field].c_str();
    case Kind::summary: return "";
  }
  return "";
}

}  // namespace

TakenLines take_lines(LiveStream& stream, std::string_view lines, Acceptance acceptance) {
  BatchLines batch(lines);
  TakenLines taken;
  taken.refused = batch.refused();
  const std::vector<std::string> names(kFieldNames.begin(), kFieldNames.end());
  std::vector<StreamEvent> accepted;
  std::size_t next = 0;  // event
  for (const Refusal& refusal : stream.refusals(batch.events())) {
    accepted.insert(accepted.end(), batch.events().begin() + static_cast<std::ptrdiff_t>(next),
                    batch.events().begin() + static_cast<std::ptrdiff_t>(refusal.event));
    next = refusal.event + 1;
    taken.refused.push_back(
        {batch.line_of(refusal.event), field_of(batch.events()[refusal.event], names), refusal.why});
  }
  std::sort(taken.refused.begin(), taken.refused.end(),
            [](const RefusedLine& a, const RefusedLine& b) { return a.line < b.line; });
  const bool none_refused = taken.refused.empty();
  if (batch.is_broken() || (acceptance == Acceptance::whole && !none_refused) ||
      taken.refused.size() >= most_refused_lines)
    return taken;
  const StreamTotals before = stream.totals();
  if (none_refused) {
    stream.consume(batch.events());
  } else {
    accepted.insert(accepted.end(), batch.events().begin() + static_cast<std::ptrdiff_t>(next),
                    batch.events().end());
    stream.consume(accepted);
  }
  const StreamTotals after = stream.totals();
  taken.accepted = after.events - before.events;
  taken.repeated = after.repeated - before.repeated;
  return taken;
}

}  // namespace crowdfold
