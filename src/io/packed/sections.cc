#include "io/packed/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace crowdfold {
namespace {

constexpr std::size_t kMostShared = 255;

unsigned width_of_counts(std::uint64_t largest) {
  return largest <= 0xFF ? 1 : largest <= 0xFFFF ? 2 : largest <= 0xFFFF'FFFF ? 4 : 8;
}

bool is_width_of_counts(unsigned width) { return width == 1 || width == 2 || width == 4 || width == 8; }

unsigned width_of_workers(WorkerId largest) {
  return 1U + (largest > 0xFF) + (largest > 0xFFFF) + (largest > 0xFF'FFFF);
}

// Numbers as `Stored`, one after another.
template <class Stored, class Number>
void append_as(std::span<const Number> numbers, std::string& to, unsigned shift = 0) {
  const std::size_t at = to.size();
  to.resize(at + sizeof(Stored) * numbers.size());
  char* place = to.data() + at;
  for (const Number number : numbers) {
    const auto stored = static_cast<Stored>(number >> shift);
    std::memcpy(place, &stored, sizeof stored);
    place += sizeof stored;
  }
}

template <class Stored>
Stored stored_at(const char* from, std::uint64_t i) {
  Stored stored;
  std::memcpy(&stored, from + i * sizeof(Stored), sizeof stored);
  return stored;
}

template <class Number>
void append_counts(std::span<const Number> numbers, unsigned width, std::string& to) {
  switch (width) {
    case 1: return append_as<std::uint8_t>(numbers, to);
    case 2: return append_as<std::uint16_t>(numbers, to);
    case 4: return append_as<std::uint32_t>(numbers, to);
    default: return append_as<std::uint64_t>(numbers, to);
  }
}

std::uint64_t count_at(const char* from, std::uint64_t i, unsigned width) {
  switch (width) {
    case 1: return stored_at<std::uint8_t>(from, i);
    case 2: return stored_at<std::uint16_t>(from, i);
    case 4: return stored_at<std::uint32_t>(from, i);
    default: return stored_at<std::uint64_t>(from, i);
  }
}

// Numbers of `Stored` as wider ones; returns the largest. Nothing is read back and nothing branches, so
// that loops become vector instructions: they are what a round over labels costs.
template <class Stored, class Number>
Number widen(const char* __restrict from, std::uint64_t count, Number* __restrict to) {
  Number largest = 0;
  for (std::uint64_t j = 0; j < count; ++j) {
    const Number number = stored_at<Stored>(from, j);
    to[j] = number;
    largest = largest < number ? number : largest;
  }
  return largest;
}

WorkerId widen_three(const char* __restrict from, std::uint64_t count, WorkerId* __restrict to) {
  const char* const third = from + 2 * count;
  WorkerId largest = 0;
  for (std::uint64_t j = 0; j < count; ++j) {
    const WorkerId number = stored_at<std::uint16_t>(from, j) |
                            static_cast<WorkerId>(stored_at<std::uint8_t>(third, j)) << 16;
    to[j] = number;
    largest = largest < number ? number : largest;
  }
  return largest;
}

WorkerId decode_workers(const char* from, std::uint64_t count, unsigned width, WorkerId* to) {
  switch (width) {
    case 1: return widen<std::uint8_t>(from, count, to);
    case 2: return widen<std::uint16_t>(from, count, to);
    case 3: return widen_three(from, count, to);
    default: return widen<std::uint32_t>(from, count, to);
  }
}

}  // namespace

void encode_labels(std::span<const std::uint64_t> sizes, std::span<const WorkerId> workers,
                   std::span<const ClassId> classes, std::string& to) {
  std::uint64_t most = 0;
  for (const std::uint64_t size : sizes) most = std::max(most, size);
  WorkerId last_worker = 0;
  for (const WorkerId w : workers) last_worker = std::max(last_worker, w);
  ClassId last_class = 0;
  for (const ClassId c : classes) last_class = std::max(last_class, c);

  const unsigned count_width = width_of_counts(most);
  const unsigned worker_width = width_of_workers(last_worker);
  const unsigned class_width = last_class <= 0xFF ? 1 : 2;
  to += static_cast<char>(count_width);
  to += static_cast<char>(worker_width);
  to += static_cast<char>(class_width);
  append_counts(sizes, count_width, to);
  switch (worker_width) {
    case 1: append_as<std::uint8_t>(workers, to); break;
    case 4: append_as<std::uint32_t>(workers, to); break;
    default: append_as<std::uint16_t>(workers, to);
  }
  if (worker_width == 3) append_as<std::uint8_t>(workers, to, 16);
  class_width == 1 ? append_as<std::uint8_t>(classes, to) : append_as<std::uint16_t>(classes, to);
}

std::string decode_labels(std::string_view section, const SectionLimits& limits, const LabelRoom& room) {
  constexpr std::uint64_t kHead = 3;
  if (section.size() < kHead) return "it has no widths";
  const auto count_width = static_cast<unsigned char>(section[0]);
  const auto worker_width = static_cast<unsigned char>(section[1]);
  const auto class_width = static_cast<unsigned char>(section[2]);
  if (!is_width_of_counts(count_width) || worker_width < 1 || worker_width > 4 || class_width < 1 ||
      class_width > 2)
    return fmt::format("numbers of {}, {} and {} bytes", count_width, worker_width, class_width);
  // None of the products is too large: numbers of tasks and labels are not above the section's bytes.
  if (limits.tasks > section.size() || limits.labels > section.size() ||
      section.size() != kHead + count_width * limits.tasks +
                            std::uint64_t{worker_width} * limits.labels +
                            std::uint64_t{class_width} * limits.labels)
    return fmt::format("its {} bytes do not fit {} labels of {} tasks", section.size(), limits.labels,
                       limits.tasks);
  const char* from = section.data() + kHead;
  std::uint64_t left = limits.labels;
  std::uint64_t end = room.first;
  for (std::uint64_t t = 0; t < limits.tasks; ++t) {
    const std::uint64_t count = count_at(from, t, count_width);
    if (count > left) return fmt::format("its tasks have more than its {} labels", limits.labels);
    left -= count;
    room.ends[t] = end += count;
  }
  if (left > 0) return fmt::format("its tasks have fewer than its {} labels", limits.labels);
  if (limits.labels == 0) return "";
  from += count_width * limits.tasks;
  const WorkerId last_worker = decode_workers(from, limits.labels, worker_width, room.workers);
  if (last_worker >= limits.workers)
    return fmt::format("worker number {}, and there are {}", last_worker, limits.workers);
  from += worker_width * limits.labels;
  const ClassId last_class = class_width == 1 ? widen<std::uint8_t>(from, limits.labels, room.classes)
                                              : widen<std::uint16_t>(from, limits.labels, room.classes);
  if (last_class >= limits.classes)
    return fmt::format("class number {}, and there are {}", last_class, limits.classes);
  return "";
}

void NameEncoder::add(std::string_view name) {
  const std::size_t most = std::min({name.size(), last_.size(), kMostShared});
  std::size_t shared = 0;
  while (shared < most && name[shared] == last_[shared]) ++shared;
  shared_ += static_cast<char>(shared);
  lengths_.push_back(name.size() - shared);
  longest_ = std::max(longest_, lengths_.back());
  rests_ += name.substr(shared);
  last_.assign(name);
  text_bytes_ += name.size();
}

void NameEncoder::finish(std::string& to) {
  const unsigned width = width_of_counts(longest_);
  to += static_cast<char>(width);
  to += shared_;
  append_counts(std::span<const std::uint64_t>(lengths_), width, to);
  to += rests_;
  last_.clear();
  shared_.clear();
  lengths_.clear();
  rests_.clear();
  longest_ = 0;
  text_bytes_ = 0;
}

std::string decode_names(std::string_view section, std::uint64_t count, std::uint64_t text_bytes,
                         char* text, std::uint64_t first, std::uint64_t* ends) {
  if (section.empty()) return "it has no width";
  const auto width = static_cast<unsigned char>(section[0]);
  if (!is_width_of_counts(width)) return fmt::format("lengths of {} bytes", width);
  const std::uint64_t left = section.size() - 1;
  if (count > left || (1ULL + width) * count > left)
    return fmt::format("its {} bytes are too few for {} names", section.size(), count);
  const char* const shared = section.data() + 1;
  const char* const lengths = shared + count;
  const char* rest = lengths + width * count;
  const char* const end = section.data() + section.size();
  const char* const text_end = text + text_bytes;
  const char* last = text;
  std::uint64_t last_size = 0;
  char* to = text;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto same = static_cast<unsigned char>(shared[i]);
    const std::uint64_t length = count_at(lengths, i, width);
    if (same > last_size || length > static_cast<std::uint64_t>(end - rest) ||
        same + length > static_cast<std::uint64_t>(text_end - to))
      return fmt::format("name {} is longer than there are bytes", i);
    char* const begin = to;
    if (same > 0) std::memcpy(to, last, same);
    if (length > 0) std::memcpy(to + same, rest, length);
    rest += length;
    to += same + length;
    last = begin;
    last_size = same + length;
    ends[i] = first += last_size;
  }
  if (rest != end || to != text_end) return "its names have fewer bytes than it says";
  if (text_bytes > 0 && std::memchr(text, '\0', text_bytes) != nullptr)
    return "a NUL character in a name";
  return "";
}

}  // namespace crowdfold
