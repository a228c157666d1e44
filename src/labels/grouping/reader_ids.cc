#include "labels/grouping/reader_ids.h"

#include <algorithm>
#include <span>

namespace crowdfold {
namespace {

// What the names of workers begin with, if all that follows are numbers.
std::optional<NameHead> head_of_numbers(const RowBatch& rows) {
  const std::span names(rows.workers.data(), rows.size);
  NameHead head({names.begin(), names.end()});
  const auto is_numbered = [&](std::string_view name) { return head.number_of(name) != kNoNumber; };
  if (!std::all_of(names.begin(), names.end(), is_numbered)) return std::nullopt;
  return head;
}

}  // namespace

void BlockSummary::restart(int by_reader) {
  reader = by_reader;
  rows = 0;
  abstentions = 0;
  packed_bytes = 0;
  abstained = 0;
  new_workers.clear();
  new_classes.clear();
}

ReaderIds::ReaderIds(std::vector<std::string> abstain)
    : abstain_(std::move(abstain)),
      known_workers_("workers", kMaxWorkers),
      known_classes_("classes", kMaxClasses) {}

void ReaderIds::look_up(const RowBatch& rows, BlockSummary& block) {
  block.rows += rows.size;
  look_up_classes(rows, block);
  look_up_workers(rows, block);
}

void ReaderIds::look_up_classes(const RowBatch& rows, BlockSummary& block) {
  for (std::size_t i = 0; i < rows.size; ++i) {
    const std::string_view label = rows.labels[i];
    const std::uint64_t first = first_bytes(label);
    const std::uint64_t last = last_bytes(label);
    MetLabel& met = met_[met_at(first, last)];
    if (met.first == first && met.last == last && met.size == label.size() && !label.empty())
        [[likely]] {
      classes[i] = met.id;
      continue;
    }
    classes[i] = class_of(label, block);
    if (classes[i] != kNoClass && label.size() <= kMostMetBytes)
      met = {first, last, label.size(), classes[i]};
  }
}

ClassId ReaderIds::class_of(std::string_view label, BlockSummary& block) {
  const std::size_t abstention_number = abstention(label);
  if (label.empty() || abstention_number != abstain_.size()) {
    ++block.abstentions;
    if (abstention_number < abstain_.size())
      block.abstained |= std::uint64_t{1} << abstention_number % 64;
    return kNoClass;
  }
  const std::uint32_t known = known_classes_.size();
  const auto id = static_cast<ClassId>(known_classes_.intern(label));
  if (id == known) block.new_classes.emplace_back(label);
  return id;
}

void ReaderIds::look_up_workers(const RowBatch& rows, BlockSummary& block) {
  if (known_workers_.size() == 0) numbered_ = head_of_numbers(rows);
  std::array<std::uint32_t, RowBatch::kRows> numbers;
  std::array<std::uint64_t, RowBatch::kRows> hashes;
  for (std::size_t i = 0; i < rows.size; ++i) {
    numbers[i] = numbered_ ? numbered_->number_of(rows.workers[i]) : kNoNumber;
    if (numbers[i] != kNoNumber) continue;
    hashes[i] = hash_name(rows.workers[i]);
    known_workers_.prefetch(hashes[i]);
  }
  for (std::size_t i = 0; i < rows.size; ++i) {
    const std::string_view name = rows.workers[i];
    const std::uint32_t known = known_workers_.size();
    workers[i] = numbers[i] != kNoNumber ? known_workers_.intern_number(numbers[i])
                                         : known_workers_.intern(name, hashes[i]);
    if (workers[i] == known) [[unlikely]]
      block.new_workers.emplace_back(name);
  }
}

IdMap::IdMap() : workers("workers", kMaxWorkers), classes("classes", kMaxClasses) {}

void IdMap::absorb(const BlockSummary& block) {
  const auto reader = static_cast<std::size_t>(block.reader);
  if (reader >= workers_of_.size()) {
    workers_of_.resize(reader + 1);
    classes_of_.resize(reader + 1);
  }
  for (const std::string& name : block.new_workers) workers_of_[reader].push_back(workers.intern(name));
  for (const std::string& name : block.new_classes) {
    classes_of_[reader].push_back(static_cast<ClassId>(classes.intern(name)));
  }
  rows += block.rows;
  abstentions += block.abstentions;
}

std::uint64_t IdMap::bytes() const {
  constexpr std::uint64_t kReaderBytes = 100;  // for each worker in a reader's table, on average
  std::uint64_t bytes = workers.bytes() + classes.bytes();
  for (const std::vector<WorkerId>& ids : workers_of_) bytes += kReaderBytes * ids.size();
  return bytes;
}

}  // namespace crowdfold
