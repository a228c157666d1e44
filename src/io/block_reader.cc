#include "io/block_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace crowdfold {
namespace {

constexpr std::size_t kFirstBytes = 1 << 16;  // by which formats are recognised
constexpr std::size_t kMostRecordBytes = std::size_t{64} << 20;

// Closes a last record that has no newline. There is room for it.
void close_last_record(TextBlock& block) {
  if (block.size > 0 && block.bytes[block.size - 1] != '\n') block.bytes[block.size++] = '\n';
}

void require_sane_record(std::size_t size, const std::string& path) {
  if (size < kMostRecordBytes) return;
  throw Error(
      ErrorCode::data, Location{display_name(path), 0, 0},
      fmt::format("a record is longer than {} MB: is a quote not closed, or is this not a text file?",
                  kMostRecordBytes >> 20));
}

}  // namespace

void TextBlock::reserve(std::size_t wanted) {
  if (wanted <= capacity) return;
  auto larger = std::make_unique_for_overwrite<char[]>(wanted + kBlockPadding);
  if (size > 0) std::memcpy(larger.get(), bytes.get(), size);
  bytes = std::move(larger);
  capacity = wanted;
}

BlockReader::BlockReader(const std::string& path, std::size_t block_size, const SourceOptions& options)
    : BlockReader(open_source(path, options), path, block_size) {}

BlockReader::BlockReader(std::unique_ptr<ByteSource> source, const std::string& path,
                         std::size_t block_size)
    : path_(path), source_(std::move(source)), block_size_(block_size) {}

bool BlockReader::read_on() {
  require_sane_record(carry_.size(), path_);
  const std::size_t wanted = std::max(kFirstBytes, 2 * carry_.size());
  while (carry_.size() < wanted) {
    const std::size_t had = carry_.size();
    carry_.resize(wanted);
    const std::size_t count = source_->read(carry_.data() + had, wanted - had);
    carry_.resize(had + count);
    if (count == 0) return false;
  }
  return true;
}

void BlockReader::begin_records(char separator, std::size_t before) {
  ends_ = RecordEnds(separator, before);
  before_ = before;
}

bool BlockReader::next(TextBlock& block) {
  block.size = 0;
  std::size_t end = 0;
  for (std::size_t wanted = block_size_; end == 0; wanted *= 2) {
    if (!fill(block, wanted)) {  // the end of the input: all of it, closed by a newline
      if (failure_) {
        end = ends_.find({block.bytes.get(), block.size});
        if (end == 0) throw *failure_;
        break;
      }
      if (block.size == 0) return false;
      close_last_record(block);
      end = block.size;
      break;
    }
    end = ends_.find({block.bytes.get(), block.size});
    if (end == 0) require_sane_record(wanted, path_);
  }
  carry_.insert(0, block.bytes.get() + end, block.size - end);
  block.size = end;
  finish(block);
  return true;
}

std::size_t BlockReader::poll() {
  if (ended_) return 0;
  require_sane_record(carry_.size(), path_);
  const std::size_t had = carry_.size();
  carry_.resize(had + block_size_);
  const std::size_t count = source_->read(carry_.data() + had, block_size_);
  carry_.resize(had + (count == kNoneYet ? 0 : count));
  ended_ = count == 0;
  return count;
}

bool BlockReader::next_of_pending(TextBlock& block) {
  const std::size_t end = ended_ ? carry_.size() : ends_.find(carry_);
  if (end == 0) return false;
  block.size = 0;
  block.reserve(end + 1);  // one more for a last newline
  std::memcpy(block.bytes.get(), carry_.data(), end);
  block.size = end;
  carry_.erase(0, end);
  close_last_record(block);
  finish(block);
  return true;
}

// Bytes that were read but not given out; then those of the source.
std::size_t BlockReader::read(char* to, std::size_t size) {
  if (!carry_.empty()) {
    const std::size_t count = carry_.copy(to, size);
    carry_.erase(0, count);
    return count;
  }
  if (failure_) return 0;
  try {
    return source_->read(to, size);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::data) throw;
    failure_ = error;
    return 0;
  }
}

// Reads until the block holds `wanted` bytes; false if the input ended before.
bool BlockReader::fill(TextBlock& block, std::size_t wanted) {
  block.reserve(wanted + 1);  // one more for a last newline
  while (block.size < wanted) {
    const std::size_t count = read(block.bytes.get() + block.size, wanted - block.size);
    if (count == 0) return false;
    block.size += count;
  }
  return true;
}

// The block is given out; what comes behind it is for the next one.
void BlockReader::finish(TextBlock& block) {
  std::memset(block.bytes.get() + block.size, 0, kBlockPadding);
  block.begin = std::min(before_, block.size);
  before_ = 0;
  ends_.cut(block.size);
}

}  // namespace crowdfold
