#include "io/block_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "crowdfold/error.h"

namespace crowdfold {
namespace {

constexpr std::size_t kPeek = 1 << 16;
constexpr std::size_t kMostRecordBytes = std::size_t{64} << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

void TextBlock::reserve(std::size_t wanted) {
  if (wanted <= capacity) return;
  auto larger = std::make_unique_for_overwrite<char[]>(wanted + kBlockPadding);
  if (size > 0) std::memcpy(larger.get(), bytes.get(), size);
  bytes = std::move(larger);
  capacity = wanted;
}

BlockReader::BlockReader(const std::string& path, std::size_t block_size)
    : path_(path), source_(open_source(path)), block_size_(block_size) {}

std::string_view BlockReader::peek() {
  while (carry_.size() < kPeek) {
    const std::size_t had = carry_.size();
    carry_.resize(kPeek);
    const std::size_t count = source_->read(carry_.data() + had, kPeek - had);
    carry_.resize(had + count);
    if (count == 0) break;
  }
  std::string_view text = carry_;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text;
}

bool BlockReader::next(TextBlock& block) {
  block.size = 0;
  block.begin = 0;
  block.reserve(std::max(block_size_, carry_.size()) + 1);  // one more for a last newline
  if (!carry_.empty()) std::memcpy(block.bytes.get(), carry_.data(), carry_.size());
  block.size = carry_.size();
  carry_.clear();

  std::size_t end = 0;
  for (std::size_t wanted = block_size_;; wanted *= 2) {
    if (!fill(block, wanted)) {  // the end of the input: all of it, closed by a newline
      if (block.size == 0) return false;
      if (block.bytes[block.size - 1] != '\n') block.bytes[block.size++] = '\n';
      end = block.size;
      break;
    }
    end = records_end(block);
    if (end > 0) break;
    if (wanted >= kMostRecordBytes) {
      throw Error(
          ErrorCode::data, Location{display_name(path_), 0, 0},
          fmt::format(
              "a record is longer than {} MB: is a quote not closed, or is this not a text file?",
              kMostRecordBytes >> 20));
    }
  }
  carry_.assign(block.bytes.get() + end, block.size - end);
  block.size = end;
  std::memset(block.bytes.get() + end, 0, kBlockPadding);
  if (at_start_ && std::string_view(block.bytes.get(), block.size).starts_with(kByteOrderMark)) {
    block.begin = kByteOrderMark.size();
  }
  at_start_ = false;
  return true;
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

// Where the last whole record ends; 0 if none does.
std::size_t BlockReader::records_end(const TextBlock& block) const {
  const char* const data = block.bytes.get();
  const auto after_last_newline = [&](std::size_t size) -> std::size_t {
    const void* newline = ::memrchr(data, '\n', size);
    return newline == nullptr ? 0
                              : static_cast<std::size_t>(static_cast<const char*>(newline) - data) + 1;
  };
  const void* first_quote = separator_ == 0 ? nullptr : std::memchr(data, '"', block.size);
  if (first_quote == nullptr) return after_last_newline(block.size);

  // A quote opens a quoted field only at the field's start; inside, a doubled one stands for itself.
  std::size_t end =
      after_last_newline(static_cast<std::size_t>(static_cast<const char*>(first_quote) - data));
  bool quoted = false;
  std::size_t closed = block.size;  // where the last quoted field seemed to end
  for (std::size_t i = end; i < block.size; ++i) {
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
      const bool field_start = i == 0 || data[i - 1] == separator_ || data[i - 1] == '\n';
      const bool doubled = closed + 1 == i;
      const bool after_mark = at_start_ && i == kByteOrderMark.size();
      quoted = field_start || doubled || after_mark;
    }
  }
  return end;
}

}  // namespace crowdfold
