#include "labels/grouping/label_block.h"

namespace crowdfold {

namespace {

constexpr std::uint64_t kNoTask = NameKey::kMostBytes + 1;

}  // namespace

void LabelBlock::restart(int by_reader) {
  BlockSummary::restart(by_reader);
  names.clear();
  name_ends.clear();
  hashes.clear();
  label_ends.clear();
  workers.clear();
  classes.clear();
}

void BlockWriter::begin(LabelBlock& block) {
  block.restart(reader_);
  block_ = &block;
  last_task_.size = kNoTask;
  last_long_task_.clear();
}

void BlockWriter::add(const RowBatch& rows) {
  LabelBlock& b = *block_;
  ids_.look_up(rows, b);
  const std::size_t before = b.classes.size();
  b.classes.resize(before + rows.size);
  b.workers.resize(before + rows.size);
  std::size_t end = before;
  for (std::size_t i = 0; i < rows.size; ++i) {
    if (!continues_run(rows.tasks[i])) start_run(rows.tasks[i]);
    b.workers[end] = ids_.workers[i];  // overwritten by the next row if there is no label
    b.classes[end] = ids_.classes[i];
    if (ids_.classes[i] != kNoClass) [[likely]]
      b.label_ends.back() = static_cast<std::uint32_t>(++end);
  }
  b.classes.resize(end);
  b.workers.resize(end);
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

}  // namespace crowdfold
