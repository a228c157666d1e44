#include "core/label_block.h"

#include <algorithm>

namespace crowdfold {

namespace {

constexpr std::uint64_t kNoTask = NameKey::kMostBytes + 1;

}  // namespace

void LabelBlock::clear() {
  names.clear();
  name_ends.clear();
  hashes.clear();
  label_ends.clear();
  workers.clear();
  classes.clear();
  new_workers.clear();
  new_classes.clear();
  rows = 0;
  abstentions = 0;
}

BlockWriter::BlockWriter(int reader, std::string abstain)
    : reader_(reader),
      abstain_(std::move(abstain)),
      workers_("workers", kMaxWorkers),
      classes_("classes", kMaxClasses) {}

void BlockWriter::begin(LabelBlock& block) {
  block.clear();
  block.reader = reader_;
  block_ = &block;
  last_task_.size = kNoTask;
  last_long_task_.clear();
}

void BlockWriter::add(const RowBatch& rows) {
  LabelBlock& b = *block_;
  b.rows += rows.size;

  std::array<NameKey, RowBatch::kRows> keys;
  std::array<std::uint64_t, RowBatch::kRows> hashes;
  for (std::size_t i = 0; i < rows.size; ++i) {
    if (rows.workers[i].size() > NameKey::kMostBytes) continue;
    keys[i] = NameKey::of(rows.workers[i]);
    hashes[i] = keys[i].hash();
    workers_.prefetch(hashes[i]);
  }

  // Rows without a label are overwritten by the next one.
  const std::size_t before = b.classes.size();
  b.classes.resize(before + rows.size);
  b.workers.resize(before + rows.size);
  ClassId* classes = b.classes.data() + before;
  std::array<bool, RowBatch::kRows> votes;
  for (std::size_t i = 0; i < rows.size; ++i) {
    if (!continues_run(rows.tasks[i])) start_run(rows.tasks[i]);
    const std::string_view label = rows.labels[i];
    votes[i] = !label.empty() && label != abstain_;
    if (votes[i]) [[likely]] {
      *classes++ =
          static_cast<ClassId>(note(classes_.intern(label), known_classes_, label, b.new_classes));
      ++b.label_ends.back();
    }
  }

  std::uint32_t* workers = b.workers.data() + before;
  for (std::size_t i = 0; i < rows.size; ++i) {
    const std::string_view name = rows.workers[i];
    const std::uint32_t id =
        name.size() > NameKey::kMostBytes ? workers_.intern(name) : workers_.intern(keys[i], hashes[i]);
    *workers = note(id, known_workers_, name, b.new_workers);
    workers += votes[i] ? 1 : 0;
  }
  const auto added = static_cast<std::size_t>(workers - (b.workers.data() + before));
  b.abstentions += rows.size - added;
  b.classes.resize(before + added);
  b.workers.resize(before + added);
}

void BlockWriter::start_run(std::string_view task) {
  LabelBlock& b = *block_;
  const std::size_t at = b.names.size();
  b.names.resize(at + task.size());
  copy_name(b.names.data() + at, task);
  b.name_ends.push_back(static_cast<std::uint32_t>(b.names.size()));
  b.label_ends.push_back(b.label_ends.empty() ? 0 : b.label_ends.back());
  if (task.size() > NameKey::kMostBytes) {
    b.hashes.push_back(hash_long_name(task));
    last_task_.size = kNoTask;
    last_long_task_.assign(task);
  } else {
    last_task_ = NameKey::of(task);
    b.hashes.push_back(last_task_.hash());
    last_long_task_.clear();
  }
}

IdMap::IdMap() : workers("workers", kMaxWorkers), classes("classes", kMaxClasses) {}

void IdMap::absorb(const LabelBlock& block) {
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

std::size_t Deduplicator::apply(WorkerId* workers, ClassId* classes, std::size_t count) {
  if (rule_ == Duplicates::keep) return count;
  if (++stamp_ == 0) {  // wrapped around: forget the old stamps
    std::fill(seen_.begin(), seen_.end(), Seen{});
    stamp_ = 1;
  }
  std::size_t kept = 0;
  for (std::size_t j = 0; j < count; ++j) {
    Seen& seen = seen_[workers[j]];
    if (seen.stamp == stamp_) {
      ++duplicates;
      if (rule_ == Duplicates::error) {
        offender = workers[j];
        return count;
      }
      if (rule_ == Duplicates::last) classes[seen.position] = classes[j];
      continue;
    }
    seen = {stamp_, static_cast<std::uint32_t>(kept)};
    workers[kept] = workers[j];
    classes[kept] = classes[j];
    ++kept;
  }
  return kept;
}

}  // namespace crowdfold
