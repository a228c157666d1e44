// Bytes of any input on their way to a reader: recognised, unpacked, decoded, and JSON documents as
// lines; many at a time and few, from a file and from a pipe.
#include <fmt/format.h>

#include <vector>

#include "fuzz.h"
#include "io/byte_source.h"
#include "io/unpacking.h"

namespace crowdfold::fuzz {
namespace {

constexpr std::size_t kMostTaken = 1 << 20;  // a few compressed bytes may stand for many

// Takes what is there, `size` bytes at a time.
void take(ByteSource& source, std::size_t size, std::string& to) {
  std::vector<char> buffer(size);
  while (to.size() < kMostTaken) {
    const std::size_t count = source.read(buffer.data(), buffer.size());
    if (count == 0 || count == kNoneYet) return;
    to.append(buffer.data(), count);
  }
}

std::string described(const ByteSource& source) {
  return fmt::format("{}, {}, {}", source.compression(), source.encoding(), source.has_elements());
}

// The bytes, then how they ended; with `peeked` that many were looked at before.
std::string read_file(std::string_view input, const SourceOptions& options, std::size_t size,
                      std::size_t peeked) {
  const MemoryFile file(input);
  std::string bytes;
  const std::string end = outcome(file.path(), [&] {
    const auto source = open_source(file.path(), options);
    if (peeked > 0) source->peek(peeked);
    take(*source, size, bytes);
    return described(*source);
  });
  return bytes + "\n" + end;
}

std::string read_pipe(std::string_view input, const SourceOptions& options, std::size_t size,
                      std::size_t piece) {
  Pipe pipe;
  std::string bytes;
  const std::string end = outcome(pipe.path(), [&] {
    const auto source = open_source(pipe.path(), options);
    in_pieces(input, piece, [&](std::string_view some) {
      pipe.write(some);
      if (options.waiting == Waiting::no) take(*source, size, bytes);
    });
    pipe.end();
    take(*source, size, bytes);
    return described(*source);
  });
  return bytes + "\n" + end;
}

}  // namespace

void bytes(std::string_view input) {
  Choices choices(input);
  SourceOptions options;
  options.json_lines = choices.below(2) == 0;
  options.encoding = choices.of({"", "utf-8", "utf-16le", "latin1", "shift_jis"});
  const std::size_t size = choices.of<std::size_t>({1, 2, 5, 100, 5000});
  const std::size_t piece = choices.of<std::size_t>({1, 2, 5, 100, 5000});
  const std::size_t peeked = choices.of<std::size_t>({0, 1, 70, 5000});
  constexpr std::size_t kMany = std::size_t{1} << 18;
  const bool packed = packing_of(input) != Packing::none;  // how damage is met depends on the pieces
  for (const Waiting waiting : {Waiting::yes, Waiting::no}) {
    options.waiting = waiting;
    const std::string whole = read_file(input, options, kMany, 0);
    if (packed || input.size() > 50'000) continue;  // a pipe holds more
    expect_same("read, many bytes and few", whole, read_file(input, options, size, 0));
    if (waiting == Waiting::yes)
      expect_same("read, peeked at or not", whole, read_file(input, options, size, peeked));
    expect_same("read, from a file and from a pipe", whole, read_pipe(input, options, size, piece));
  }
}

}  // namespace crowdfold::fuzz
