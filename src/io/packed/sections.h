// What a section of packed labels holds: the labels of some tasks, or names. Encoding and decoding,
// where nothing of what is decoded is trusted.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "crowdfold/labels.h"

namespace crowdfold {

// The labels of some tasks, with the ids of the data set.
//
//   1 byte each   width of counts (1, 2, 4 or 8), of workers (1 to 4) and of classes (1 or 2)
//   counts        labels by task
//   workers       by label: the low two bytes of each (or the one, or all four); then, where they have
//                 three, the third of each
//   classes       by label
//
// `sizes`: labels by task.
void encode_labels(std::span<const std::uint64_t> sizes, std::span<const WorkerId> workers,
                   std::span<const ClassId> classes, std::string& to);

// What a section may hold at most.
struct SectionLimits {
  std::uint64_t tasks = 0;    // exactly
  std::uint64_t labels = 0;   // exactly
  std::uint64_t workers = 0;  // ids are below
  std::uint64_t classes = 0;  // ids are below
};

// Where labels go; the arrays have the room that the limits say.
struct LabelRoom {
  std::uint64_t* ends = nullptr;  // by task: where its labels end, counted from `first`
  std::uint64_t first = 0;
  WorkerId* workers = nullptr;
  ClassId* classes = nullptr;
};

// What is wrong; empty if nothing is.
std::string decode_labels(std::string_view section, const SectionLimits& limits, const LabelRoom& room);

// Names, one after another. Each says how many bytes it has in common with the name before, as names of
// tasks are often numbered.
//
//   1 byte     width of lengths (1, 2, 4 or 8)
//   shared     1 byte each: bytes that it begins with as the name before
//   lengths    of the rest
//   rests
class NameEncoder {
 public:
  void add(std::string_view name);
  std::size_t size() const { return shared_.size(); }
  std::uint64_t bytes() const {
    return rests_.size() + 5 * shared_.size();
  }  // at most, but for long names
  std::uint64_t text_bytes() const { return text_bytes_; }
  // Appends the section, and is empty again.
  void finish(std::string& to);

 private:
  std::string last_;
  std::string shared_;
  std::vector<std::uint64_t> lengths_;
  std::string rests_;
  std::uint64_t longest_ = 0;  // rest
  std::uint64_t text_bytes_ = 0;
};

// Writes `count` names, `text_bytes` in all, to `text`, and where each ends to `ends`, counted from
// `first`. What is wrong; empty if nothing is.
std::string decode_names(std::string_view section, std::uint64_t count, std::uint64_t text_bytes,
                         char* text, std::uint64_t first, std::uint64_t* ends);

}  // namespace crowdfold
