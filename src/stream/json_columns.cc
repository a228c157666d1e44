#include "stream/json_columns.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

namespace crowdfold {
namespace {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}

  bool is_at_end() const { return at_ == end_; }
  bool skip(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  template <class Number>
  bool read(Number& number) {
    const auto [next, error] = std::from_chars(at_, end_, number);
    at_ = next;
    return error == std::errc();
  }
  // item() for each, with commas between them, until `close`.
  template <class Item>
  bool read_list(char open, char close, const Item& item) {
    if (!skip(open)) return false;
    for (bool first = true; !skip(close); first = false) {
      if ((!first && !skip(',')) || !item()) return false;
    }
    return is_at_end();
  }

 private:
  const char* at_;
  const char* end_;
};

}  // namespace

bool is_count(double number) { return number >= 0 && number <= kMostCounted; }

std::string& put_labels(std::span<const LiveLabel> labels, std::string& text) {
  text = "[";
  for (const LiveLabel& label : labels) {
    if (text.size() > 1) text += ',';
    const auto to = std::back_inserter(text);
    if (label.tick == 0)
      fmt::format_to(to, FMT_COMPILE("[{},{}]"), label.worker, label.label);
    else
      fmt::format_to(to, FMT_COMPILE("[{},{},{}]"), label.worker, label.label, label.tick);
  }
  return text += ']';
}

std::string& put_counts(SparseConfusion::Part part, const SparseConfusion& history, std::string& text) {
  text = "[";
  for (const SparseConfusion::Cell& cell : part) {
    if (text.size() > 1) text += ',';
    const auto to = std::back_inserter(text);
    if (const double before = history.at(cell.truth, cell.label); before == 0)
      fmt::format_to(to, FMT_COMPILE("[{},{},{}]"), cell.truth, cell.label, cell.count);
    else
      fmt::format_to(to, FMT_COMPILE("[{},{},{},{}]"), cell.truth, cell.label, cell.count, before);
  }
  return text += ']';
}

std::string& put_credits(std::span<const Credit> credits, std::string& text) {
  text = "{";
  for (const Credit& credit : credits) {
    if (text.size() > 1) text += ',';
    fmt::format_to(std::back_inserter(text), FMT_COMPILE("\"{}\":{}"), credit.truth, credit.share);
  }
  return text += '}';
}

bool read_labels(std::string_view text, std::vector<LiveLabel>& labels, const KnownIds& known) {
  Scanner scan(text);
  return scan.read_list('[', ']', [&] {
    LiveLabel label;
    if (!scan.skip('[') || !scan.read(label.worker) || !scan.skip(',') || !scan.read(label.label))
      return false;
    if (scan.skip(',') && !scan.read(label.tick)) return false;
    if (label.worker >= known.workers || label.label >= known.classes) return false;
    if (!labels.empty() && labels.back().worker >= label.worker) return false;
    labels.push_back(label);
    return scan.skip(']');
  });
}

bool read_counts(std::string_view text, const Confusions& to, const KnownIds& known) {
  Scanner scan(text);
  return scan.read_list('[', ']', [&] {
    ClassId truth = 0;
    ClassId label = 0;
    double count = 0;
    double history = 0;
    if (!scan.skip('[') || !scan.read(truth) || !scan.skip(',') || !scan.read(label) ||
        !scan.skip(',') || !scan.read(count))
      return false;
    if (scan.skip(',') && !scan.read(history)) return false;
    if (truth >= known.classes || label >= known.classes || !is_count(count) || !is_count(history))
      return false;
    if (!to.now.cells().empty()) {
      const SparseConfusion::Cell& last = to.now.cells().back();
      if (std::pair(last.truth, last.label) >= std::pair(truth, label)) return false;
    }
    to.now.append(truth, label, count);
    if (history != 0) to.history.append(truth, label, history);
    return scan.skip(']');
  });
}

bool read_credits(std::string_view text, std::vector<Credit>& credits, const KnownIds& known) {
  Scanner scan(text);
  return scan.read_list('{', '}', [&] {
    Credit credit;
    if (!scan.skip('"') || !scan.read(credit.truth) || !scan.skip('"') || !scan.skip(':') ||
        !scan.read(credit.share))
      return false;
    if (credit.truth >= known.classes || credit.share > kWhole) return false;
    credits.push_back(credit);
    return true;
  });
}

}  // namespace crowdfold
