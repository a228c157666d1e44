#include "io/text_encoding.h"

#include <fmt/format.h>
#include <iconv.h>
#include <simdjson.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <new>
#include <vector>

#include "crowdfold/error.h"

namespace crowdfold {
namespace {

// As iconv_open() tells that it failed.
const iconv_t kNoHandle = reinterpret_cast<iconv_t>(-1);  // NOLINT(performance-no-int-to-ptr)

using namespace std::string_view_literals;

constexpr std::size_t kEncodedChunk = std::size_t{1} << 16;
constexpr std::size_t kWide = 4096;  // bytes by which UTF-16 without a mark is recognised
// Text has no more control bytes than that: one in 50, and some in any case.
constexpr std::size_t kControlShare = 50;
constexpr std::size_t kFewControls = 16;

// But for white space and the escape that colours begin with. Without branches, for count_controls().
bool is_control(unsigned char c) {
  const bool white = (c >= '\t') & (c <= '\r');
  return (c < 0x20) & !white & (c != 0x1B);
}

// Every input is counted, so compilers should be able to use vectors: a few bytes at a time are counted
// in a byte.
std::size_t count_controls(std::string_view text) {
  std::size_t count = 0;
  while (!text.empty()) {
    const std::string_view some = text.substr(0, 240);
    std::uint8_t here = 0;
    for (const char c : some) {
      const int one = is_control(static_cast<unsigned char>(c)) ? 1 : 0;
      here = static_cast<std::uint8_t>(here + one);
    }
    count += here;
    text.remove_prefix(some.size());
  }
  return count;
}

// Without a character that is cut at the end.
std::string_view without_cut_character(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    if ((byte & 0xC0) == 0x80) continue;
    return length > back ? text.substr(0, text.size() - back) : text;
  }
  return text;
}

// UTF-16 without a mark: zeros among the high bytes, an eighth of them at least, and none among the low
// ones.
TextEncoding wide_encoding(std::string_view start, bool whole) {
  if (start.size() > kWide)
    start = start.substr(0, kWide);
  else if (whole && start.size() % 2 == 1)
    return {};
  std::size_t zeros[2] = {0, 0};
  for (std::size_t i = 0; i < start.size(); ++i) zeros[i % 2] += start[i] == '\0' ? 1 : 0;
  constexpr std::size_t kFewest = 8;
  if (zeros[0] + zeros[1] < std::max(kFewest, start.size() / 16)) return {};
  if (zeros[0] == 0) return {"UTF-16LE", "utf-16"};
  if (zeros[1] == 0) return {"UTF-16BE", "utf-16"};
  return {};
}

// The length of the UTF-8 character that a text of several bytes begins with; 0 if it is none. Roughly:
// it is only counted.
std::size_t character_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
  }
  return length;
}

// Text that is not UTF-8, but not UTF-8 with a few damaged characters either, and has no byte that
// Windows-1252 leaves undefined.
bool is_windows_1252(std::string_view text) {
  std::size_t characters = 0;
  std::size_t others = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (is_control(byte)) return false;
    if (byte < 0x80) continue;
    if (const std::size_t length = character_length(text.substr(i)); length > 0) {
      ++characters;
      i += length - 1;
      continue;
    }
    if (byte == 0x81 || byte == 0x8D || byte == 0x8F || byte == 0x90 || byte == 0x9D) return false;
    ++others;
  }
  return others > characters;
}

class Decoded final : public ByteFilter {
 public:
  Decoded(std::unique_ptr<ByteSource> text, TextEncoding encoding, std::string name)
      : ByteFilter(std::move(text)), encoding_(std::move(encoding)), name_(std::move(name)) {
    handle_ = ::iconv_open("UTF-8", encoding_.iconv_name.c_str());
    if (handle_ == kNoHandle && errno == ENOMEM) throw std::bad_alloc();
    if (handle_ == kNoHandle) fail(fmt::format("iconv does not know {}", encoding_.iconv_name));
    output_.resize(4 * kEncodedChunk);
  }
  ~Decoded() override {
    if (handle_ != kNoHandle) ::iconv_close(handle_);
  }
  Decoded(const Decoded&) = delete;
  Decoded& operator=(const Decoded&) = delete;

  std::string encoding() const override { return encoding_.shown; }

 protected:
  std::size_t read_next(char* to, std::size_t size) override {
    while (ready_.empty()) {
      const std::size_t had = input_.size();
      input_.resize(had + kEncodedChunk);
      const std::size_t count = inner_->read(input_.data() + had, kEncodedChunk);
      input_.resize(had + (count == kNoneYet ? 0 : count));
      if (count == kNoneYet) return kNoneYet;
      if (count == 0 && input_.empty()) return 0;
      convert(count == 0);
    }
    const std::size_t count = ready_.copy(to, size);
    ready_.remove_prefix(count);
    return count;
  }

 private:
  // Decodes the input, but for a character that is cut; `ended`: nothing comes behind it.
  void convert(bool ended) {
    char* from = input_.data();
    std::size_t left = input_.size();
    char* to = output_.data();
    std::size_t room = output_.size();
    const std::size_t status = ::iconv(handle_, &from, &left, &to, &room);
    const int problem = status == static_cast<std::size_t>(-1) ? errno : 0;
    ready_ = {output_.data(), output_.size() - room};
    decoded_ += input_.size() - left;
    input_.erase(0, input_.size() - left);
    if (!ready_.empty()) return;
    if (problem == EILSEQ)
      fail(fmt::format("byte {} is not {}: name the encoding of the file, as in --encoding latin1",
                       decoded_ + 1, encoding_.shown));
    if (problem == EINVAL && ended)
      fail(fmt::format("it ends in the middle of a character ({})", encoding_.shown));
  }
  [[noreturn]] void fail(const std::string& message) const {
    throw Error(ErrorCode::data, Location{name_, 0, 0}, message);
  }

  TextEncoding encoding_;
  std::string name_;
  iconv_t handle_ = kNoHandle;
  std::string input_;  // not decoded yet
  std::string output_;
  std::string_view ready_;     // of the output
  std::uint64_t decoded_ = 0;  // bytes of the input
};

class WithNewlines final : public ByteFilter {
 public:
  using ByteFilter::ByteFilter;

 protected:
  std::size_t read_next(char* to, std::size_t size) override {
    const std::size_t count = inner_->read(to, size);
    if (count != kNoneYet) std::replace(to, to + count, '\r', '\n');
    return count;
  }
};

}  // namespace

TextEncoding recognise_encoding(std::string_view start, bool guess, bool whole) {
  if (start.starts_with("\xFF\xFE\0\0"sv)) return {"UTF-32LE", "utf-32"};
  if (start.starts_with("\0\0\xFE\xFF"sv)) return {"UTF-32BE", "utf-32"};
  if (start.starts_with("\xFF\xFE")) return {"UTF-16LE", "utf-16"};
  if (start.starts_with("\xFE\xFF")) return {"UTF-16BE", "utf-16"};
  if (!guess) return {};
  if (TextEncoding wide = wide_encoding(start, whole); !wide.iconv_name.empty()) return wide;
  const std::string_view text = whole ? start : without_cut_character(start);
  if (simdjson::validate_utf8(text.data(), text.size()) || !is_windows_1252(text)) return {};
  return {"WINDOWS-1252", "read as Windows-1252 (Latin-1)"};
}

TextEncoding encoding_named(const std::string& name) {
  std::string plain;
  for (const char c : name) {
    if (c != '-' && c != '_')
      plain.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  }
  if (plain == "utf8") return {};
  const std::string known = plain == "latin1" ? "ISO-8859-1" : name;
  const iconv_t handle = ::iconv_open("UTF-8", known.c_str());
  if (handle == kNoHandle && errno == ENOMEM) throw std::bad_alloc();
  if (handle == kNoHandle)
    throw Error(ErrorCode::usage,
                fmt::format("unknown encoding '{}': `iconv -l` lists those there are, such as utf-8, "
                            "utf-16le, latin1, windows-1252, shift_jis",
                            name));
  ::iconv_close(handle);
  return {known, name};
}

bool is_text(std::string_view start) {
  const std::size_t controls = count_controls(start);
  return controls < kFewControls || controls * kControlShare < start.size();
}

bool has_bare_returns(std::string_view start) {
  return start.find('\n') == std::string_view::npos && start.find('\r') != std::string_view::npos;
}

std::unique_ptr<ByteSource> decoded(std::unique_ptr<ByteSource> text, const TextEncoding& encoding,
                                    const std::string& name) {
  return std::make_unique<Decoded>(std::move(text), encoding, name);
}

std::unique_ptr<ByteSource> with_newlines(std::unique_ptr<ByteSource> text) {
  return std::make_unique<WithNewlines>(std::move(text));
}

}  // namespace crowdfold
