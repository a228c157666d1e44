// Compressed input: the bytes as they are, or the text compressed in two parts, whole and in pieces.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "fuzz.h"
#include "io/unpacking.h"
#include "io/zip_archive.h"
#include "packed.h"

namespace crowdfold::fuzz {
namespace {

constexpr std::size_t kMostDecoded = 1 << 20;  // a few bytes may stand for many

std::string pack(std::size_t kind, std::string_view text) {
  const std::string_view one = text.substr(0, text.size() / 2);
  const std::string_view other = text.substr(text.size() / 2);
  switch (kind) {
    case 0: return std::string(text);
    case 1: return testing::gzip(one) + testing::gzip(other);
    case 2: return testing::zstd(one) + testing::zstd(other);
    case 3: return testing::bzip2(one) + testing::bzip2(other);
    case 4: return testing::xz(one) + testing::xz(other);
    default: return testing::zip({{"a.csv", std::string(text)}});
  }
}

// Bytes that come in pieces, and between two of them do not.
class Pieces final : public ByteSource {
 public:
  Pieces(std::string_view bytes, std::size_t piece, bool waits)
      : bytes_(bytes), piece_(piece), waits_(waits) {}
  void wait(int) const override {}
  std::uint64_t file_position() const override { return 0; }
  std::uint64_t file_size() const override { return 0; }

 protected:
  std::size_t read_next(char* to, std::size_t size) override {
    none_yet_ = !waits_ && !none_yet_;
    if (none_yet_) return kNoneYet;
    const std::size_t count = bytes_.copy(to, std::min(size, piece_));
    bytes_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view bytes_;
  std::size_t piece_;
  bool waits_;
  bool none_yet_ = false;
};

// What was decoded, and how it ended.
struct Unpacking {
  std::string bytes;
  std::string end;
};

// `size` bytes are taken at a time, and come in pieces.
Unpacking decode(std::string_view input, std::size_t size, std::size_t piece, bool waits) {
  Unpacking result;
  result.end = outcome("PATH", [&] {
    auto pieces = std::make_unique<Pieces>(input, piece, waits);
    const Packing packing = packing_of(input);
    const std::unique_ptr<ByteSource> source = packing == Packing::none ? std::move(pieces)
                                               : packing == Packing::zip
                                                   ? open_zip(std::move(pieces), -1, "PATH", "")
                                                   : unpacked(std::move(pieces), packing, "PATH");
    std::vector<char> buffer(size);
    for (std::size_t count = 1; count > 0 && result.bytes.size() < kMostDecoded;) {
      count = source->read(buffer.data(), buffer.size());
      if (count != kNoneYet) result.bytes.append(buffer.data(), count);
    }
    return std::string(name_of(packing));
  });
  return result;
}

// What came out before an error depends on the pieces, and so does which of several errors is met first.
void expect_same_bytes(const char* what, const Unpacking& one, const Unpacking& other) {
  if (one.bytes.size() >= kMostDecoded || other.bytes.size() >= kMostDecoded) return;
  if (!is_error(one.end) || !is_error(other.end)) {
    expect_same(what, one.end, other.end);
    expect_same(what, one.bytes, other.bytes);
  }
  const std::size_t size = std::min(one.bytes.size(), other.bytes.size());
  expect_same(what, one.bytes.substr(0, size), other.bytes.substr(0, size));
}

}  // namespace

void compressed(std::string_view input) {
  Choices choices(input);
  const std::size_t kind = choices.below(6);
  const std::size_t size = choices.of<std::size_t>({1, 2, 5, 100, 5000});
  const std::size_t piece = choices.of<std::size_t>({1, 2, 5, 100, 5000});
  const std::string packed = pack(kind, input);
  constexpr std::size_t kMany = std::size_t{1} << 18;
  const Unpacking whole = decode(packed, kMany, kMany, true);
  if (kind != 0) expect_same("compressed and decoded", std::string(input), whole.bytes);
  expect_same_bytes("decoded, many bytes and few", whole, decode(packed, size, kMany, true));
  expect_same_bytes("decoded, whole and in pieces", whole, decode(packed, size, piece, false));
}

}  // namespace crowdfold::fuzz
