// Records as text, CSV, TSV, JSON lines or a JSON array: columns are named once, values follow in their
// order. All files that are written record by record are written through here.
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
  // In JSON, `nested` columns (names and values) are an object `object` behind the others.
  Records(TextKind kind, const std::vector<std::string>& columns, std::string_view object = {},
          const std::vector<std::string>& nested = {});

  // What stands before the first record, and behind the last one: see RecordOutput.
  const std::string& header() const { return header_; }
  std::string_view footer() const { return kind_ == TextKind::json ? "\n]\n" : ""; }
  // Of what stands between records, their text begins with this many bytes. The first one goes without.
  std::size_t bytes_between() const { return kind_ == TextKind::json ? 1 : 0; }
  // Whether texts stand between separators as they are, but for those that need quotes.
  bool is_delimited() const { return kind_ == TextKind::csv || kind_ == TextKind::tsv; }
  char separator() const { return separator_; }

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
        to_.push_back(records_.separator_);
      }
      ++field_;
    }

    const Records& records_;
    std::string& to_;
    std::size_t field_ = 0;
  };
  Line line(std::string& to) const { return {*this, to}; }

 private:
  bool is_json() const { return is_json_; }
  void append_text(std::string& to, std::string_view value) const;

  TextKind kind_;
  bool is_json_;
  char separator_;
  std::string header_;
  std::vector<std::string> before_;  // JSON: what stands before a column's value
  std::string after_;                // and behind the last one
};

// A file of records (see OutputFile), with what stands before, between and behind them.
class RecordOutput {
 public:
  RecordOutput(const std::string& path, const Records& records, OutputFile::When when,
               const std::atomic<bool>* cancelled);
  // Texts of whole records.
  void write(std::string_view text);
  void commit();

 private:
  bool begin();

  const Records& records_;
  OutputFile file_;
  bool is_first_ = true;
};

// Records that are written to it one after another.
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

  Records records_;
  RecordOutput file_;
  std::string text_;
};

// task, label, confidence and, with `posterior`, a column per class: those there are now.
class EstimateFormat {
 public:
  EstimateFormat(TextKind kind, const NameTable& classes, bool posterior);

  const Records& records() const { return records_; }
  // `posterior` is a probability per class, or empty.
  void append(std::string& to, std::string_view task, const Estimate& estimate,
              std::span<const double> posterior) const;

 private:
  // What most records are, in one piece and without a call for each value. False: it is not one of
  // these.
  bool append_plain(std::string& to, std::string_view task, const Estimate& estimate) const;

  Records records_;
  const NameTable& classes_;
  std::vector<std::string> cells_;  // by class, between separators; empty if records are not delimited
};

}  // namespace crowdfold
