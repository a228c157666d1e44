// Bytes of an input: a file or standard input, unpacked and decoded to UTF-8 on the way.
//
// An input is a chain of sources, each over the one before it: the file, what unpacks it (unpacking.h,
// zip_archive.h), what decodes its text (text_encoding.h), and what makes lines of JSON documents
// (json_documents.h). A plain file of UTF-8 is the file alone. Each link is chosen by the first bytes
// that the one before it gives, which peek() shows and read() gives again: no input is opened twice.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "crowdfold/error.h"

namespace crowdfold {

struct ReadOptions;

// What read() does where bytes are not there yet.
enum class Waiting {
  yes,  // waits for them
  no,   // returns kNoneYet
  // The same, also at the end of the file, which may grow, be cut, or be replaced by a new one of its
  // name, and where there is no file yet. No compression.
  follow,
};

// No bytes yet: not the end.
inline constexpr std::size_t kNoneYet = static_cast<std::size_t>(-1);
// Inputs are recognised by that much.
inline constexpr std::size_t kMostPeeked = std::size_t{1} << 20;

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Up to `size` bytes; 0 at the end, and only there. kNoneYet unless the source waits.
  std::size_t read(char* to, std::size_t size);
  // The next bytes, which read() gives again: `size` of them, at most kMostPeeked. Fewer if the input
  // ends with them, or, unless the source waits, if more are not there yet. Valid until the next call.
  std::string_view peek(std::size_t size);
  // Whether nothing comes behind the bytes that peek() can show, but perhaps an error.
  bool ended() const { return ended_; }
  const std::optional<Error>& failure() const { return failure_; }

  // Waits for more bytes, for at most `milliseconds`.
  virtual void wait(int milliseconds) const = 0;

  // Progress, in bytes of the file itself. size is 0 where it is not known.
  virtual std::uint64_t file_position() const = 0;
  virtual std::uint64_t file_size() const = 0;
  // All that follows is known once something was read or peeked at.
  // "gzip", "zstd", "bzip2", "xz", "zip" or "".
  virtual const char* compression() const { return ""; }
  // How the text was encoded, for people; "" for UTF-8, which passes as it is.
  virtual std::string encoding() const { return ""; }
  // Whether each line is an element of a JSON document, and its number that of the element.
  virtual bool has_elements() const { return false; }
  // Whether that document is an array.
  virtual bool is_array() const { return false; }

 protected:
  // What read() and peek() are made of.
  virtual std::size_t read_next(char* to, std::size_t size) = 0;
  // Bytes that were peeked at, but not read.
  std::size_t unread() const { return peeked_.size() - given_; }

 private:
  std::string peeked_;
  std::size_t given_ = 0;  // bytes of it that read() gave out
  bool ended_ = false;
  std::optional<Error> failure_;  // met while peeking: told once the bytes before it are read
};

// A source over another one. What it does not change, it passes on.
class ByteFilter : public ByteSource {
 public:
  explicit ByteFilter(std::unique_ptr<ByteSource> inner) : inner_(std::move(inner)) {}

  void wait(int milliseconds) const override { inner_->wait(milliseconds); }
  std::uint64_t file_position() const override { return inner_->file_position(); }
  std::uint64_t file_size() const override { return inner_->file_size(); }
  const char* compression() const override { return inner_->compression(); }
  std::string encoding() const override { return inner_->encoding(); }
  bool has_elements() const override { return inner_->has_elements(); }
  bool is_array() const override { return inner_->is_array(); }

 protected:
  std::unique_ptr<ByteSource> inner_;
};

struct SourceOptions {
  Waiting waiting = Waiting::yes;
  // While the source waits for bytes it looks at this, and throws Error(interrupted) once that is true.
  const std::atomic<bool>* cancelled = nullptr;
  std::string encoding = {};  // as iconv calls it; "": recognised
  bool as_is = false;         // any bytes: unpacked, but neither decoded nor refused
  bool json_lines = false;    // JSON arrays and objects as JSON lines: see json_documents.h
};

// Error(io) if it cannot be opened. "-" is standard input, FILE.zip:NAME a file in an archive. What the
// first bytes show to be no text is Error(data), at the first read() or peek().
std::unique_ptr<ByteSource> open_source(const std::string& path, const SourceOptions& options = {});

// For tables: what of these options concerns bytes.
SourceOptions source_options(const ReadOptions& options, Waiting waiting = Waiting::yes);

// Pipes that were opened for a look at their first bytes: they can be opened once, so they are read from
// there. Inputs that can be read twice are not kept open.
class OpenedPipes {
 public:
  // Text at its beginning, for peek() only; the pipe stays open.
  ByteSource& look(const std::string& path, const ReadOptions& options);
  // The text of a pipe that was looked at; of other inputs, null.
  std::unique_ptr<ByteSource> take(const std::string& path);

 private:
  std::map<std::string, std::unique_ptr<ByteSource>> sources_;
};

// The text of an input, as it is: JSON documents are not made lines of.
std::unique_ptr<ByteSource> open_text(const std::string& path, const ReadOptions& options);

// How messages call a path.
std::string display_name(const std::string& path);

}  // namespace crowdfold
