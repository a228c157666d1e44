// Records as text, CSV or JSON lines: columns are named once, values follow in their order. All files
// that are written record by record are written through here.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "crowdfold/names.h"
#include "crowdfold/result.h"
#include "io/output.h"

namespace crowdfold {

class Records {
 public:
  // In JSON lines, `nested` columns (names and values) are an object `object` behind the others.
  Records(TextKind kind, const std::vector<std::string>& columns, std::string_view object = {},
          const std::vector<std::string>& nested = {});

  // Nothing in JSON lines.
  void append_header(std::string& to) const { to += header_; }

  // One record on its way: a value for every column, then end().
  class Line {
   public:
    Line(const Records& records, std::string& to) : records_(records), to_(to) {}
    Line& text(std::string_view value) {
      begin();
      records_.kind_ == TextKind::csv ? append_csv(to_, value) : records_.append_text(to_, value);
      return *this;
    }
    Line& number(double value) {
      begin();
      append_number(to_, value);
      return *this;
    }
    // An empty field; null in JSON.
    Line& null() {
      begin();
      if (records_.is_json()) to_ += "null";
      return *this;
    }
    void end() { to_ += records_.after_; }

   private:
    [[gnu::always_inline]] void begin() {  // called per value, and not inlined by itself in a large unit
      if (records_.is_json()) {
        to_.append(records_.before_[field_]);
      } else if (field_ > 0) {
        to_.append(1, ',');
      }
      ++field_;
    }

    const Records& records_;
    std::string& to_;
    std::size_t field_ = 0;
  };
  Line line(std::string& to) const { return {*this, to}; }

 private:
  bool is_json() const { return kind_ == TextKind::jsonl; }
  void append_text(std::string& to, std::string_view value) const;

  TextKind kind_;
  std::string header_;
  std::vector<std::string> before_;  // JSON: what stands before a column's value
  std::string after_;                // and behind the last one
};

// Records that are written one after another to a file (see OutputFile).
class RecordFile {
 public:
  RecordFile(const std::string& path, const std::vector<std::string>& columns,
             const WriteOptions& options = {});

  Records::Line add() {
    if (text_.size() >= kWriteBytes) flush();
    return records_.line(text_);
  }
  void commit();

 private:
  static constexpr std::size_t kWriteBytes = 1 << 20;
  void flush();

  OutputFile file_;
  Records records_;
  std::string text_;
};

// task, label, confidence and, with `posterior`, a column per class: those there are now.
class EstimateFormat {
 public:
  EstimateFormat(TextKind kind, const NameTable& classes, bool posterior);

  const Records& records() const { return records_; }
  void append_header(std::string& to) const { records_.append_header(to); }
  // `posterior` is a probability per class, or empty.
  void append(std::string& to, std::string_view task, const Estimate& estimate,
              std::span<const double> posterior) const;

 private:
  Records records_;
  const NameTable& classes_;
};

}  // namespace crowdfold
