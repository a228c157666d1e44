#include "io/block_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "crowdfold/error.h"

namespace crowdfold {
namespace {

constexpr std::size_t kPeek = 1 << 16;
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

std::size_t records_end(std::string_view text, char separator) {
  const char* const data = text.data();
  const auto after_last_newline = [&](std::size_t size) -> std::size_t {
    const void* newline = ::memrchr(data, '\n', size);
    return newline == nullptr ? 0
                              : static_cast<std::size_t>(static_cast<const char*>(newline) - data) + 1;
  };
  const void* first_quote = separator == 0 ? nullptr : std::memchr(data, '"', text.size());
  if (first_quote == nullptr) return after_last_newline(text.size());

  // A quote opens a quoted field only at the field's start; inside, a doubled one stands for itself.
  std::size_t end =
      after_last_newline(static_cast<std::size_t>(static_cast<const char*>(first_quote) - data));
  bool quoted = false;
  std::size_t closed = text.size();  // where the last quoted field seemed to end
  for (std::size_t i = end; i < text.size(); ++i) {
    const char c = data[i];
    if (quoted) {
      if (c == '"') {
        quoted = false;
        closed = i;
      }
      continue;
    }
    if (c == '\n') {
      end = i + 1;
    } else if (c == '"') {
      const bool field_start = i == 0 || data[i - 1] == separator || data[i - 1] == '\n';
      const bool doubled = closed + 1 == i;
      quoted = field_start || doubled;
    }
  }
  return end;
}

BlockReader::BlockReader(const std::string& path, std::size_t block_size, Waiting waiting,
                         const std::atomic<bool>* cancelled)
    : path_(path), source_(open_source(path, waiting, cancelled)), block_size_(block_size) {}

std::string_view BlockReader::peek() {
  while (carry_.size() < kPeek) {
    const std::size_t had = carry_.size();
    carry_.resize(kPeek);
    const std::size_t count = source_->read(carry_.data() + had, kPeek - had);
    carry_.resize(had + count);
    if (count == 0) break;
  }
  return carry_;
}

void BlockReader::begin_records(char separator, std::size_t before) {
  separator_ = separator;
  before_ = before;
}

bool BlockReader::next(TextBlock& block) {
  take_carry(block, block_size_);
  std::size_t end = 0;
  for (std::size_t wanted = block_size_; end == 0; wanted *= 2) {
    if (!fill(block, wanted)) {  // the end of the input: all of it, closed by a newline
      if (block.size == 0) return false;
      close_last_record(block);
      end = block.size;
      break;
    }
    end = records_end_of(block);
    if (end == 0) require_sane_record(wanted, path_);
  }
  finish(block, end);
  return true;
}

std::size_t BlockReader::poll() {
  if (ended_) return 0;
  const std::size_t had = carry_.size();
  carry_.resize(had + block_size_);
  const std::size_t count = source_->read(carry_.data() + had, block_size_);
  carry_.resize(had + (count == kNoneYet ? 0 : count));
  ended_ = count == 0;
  return count;
}

bool BlockReader::next_of_pending(TextBlock& block) {
  take_carry(block, 0);
  if (ended_) close_last_record(block);
  const std::size_t end = ended_ ? block.size : records_end_of(block);
  if (end == 0) {
    require_sane_record(block.size, path_);
    carry_.assign(block.bytes.get(), block.size);
    return false;
  }
  finish(block, end);
  return true;
}

// Moves the bytes that were read but not given out to the block, with room for as many as `room`.
void BlockReader::take_carry(TextBlock& block, std::size_t room) {
  block.size = 0;
  block.begin = 0;
  block.reserve(std::max(room, carry_.size()) + 1);  // one more for a last newline
  std::memcpy(block.bytes.get(), carry_.data(), carry_.size());
  block.size = carry_.size();
  carry_.clear();
}

// Reads until the block holds `wanted` bytes; false if the input ended before.
bool BlockReader::fill(TextBlock& block, std::size_t wanted) {
  block.reserve(wanted + 1);
  while (block.size < wanted) {
    const std::size_t count = source_->read(block.bytes.get() + block.size, wanted - block.size);
    if (count == 0) return false;
    block.size += count;
  }
  return true;
}

std::size_t BlockReader::records_end_of(const TextBlock& block) const {
  if (block.size <= before_) return 0;
  const std::size_t end = records_end({block.bytes.get() + before_, block.size - before_}, separator_);
  return end == 0 ? 0 : before_ + end;
}

// The block ends there; what comes behind is for the next one.
void BlockReader::finish(TextBlock& block, std::size_t end) {
  carry_.assign(block.bytes.get() + end, block.size - end);
  block.size = end;
  std::memset(block.bytes.get() + end, 0, kBlockPadding);
  block.begin = std::min(before_, end);
  before_ = 0;
}

}  // namespace crowdfold
