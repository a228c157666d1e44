#include "io/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "crowdfold/error.h"
#include "crowdfold/io.h"
#include "io/file_place.h"
#include "io/input_paths.h"
#include "io/json_documents.h"
#include "io/signatures.h"
#include "io/text_encoding.h"
#include "io/unpacking.h"
#include "io/zip_archive.h"

namespace crowdfold {
namespace {

constexpr std::size_t kFirstPeeked = std::size_t{1} << 16;
constexpr std::size_t kFewestMagicBytes = 4;
constexpr std::size_t kTarBytes = 512;  // enough for signatures that are not at the start

// The bytes of a file as they are.
class FileSource final : public ByteSource {
 public:
  FileSource(const std::string& path, const SourceOptions& options)
      : path_(path), waiting_(options.waiting) {
    context_.cancelled = options.cancelled;
    if (!open() && !follows()) fail_to_open();
  }
  ~FileSource() override { close(); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  void wait(int milliseconds) const override {
    // Where a file that may grow ends, there is always something to read: nothing.
    pollfd ready{descriptor_, POLLIN, 0};
    at_end_ ? ::poll(nullptr, 0, milliseconds) : ::poll(&ready, 1, milliseconds);
  }
  std::uint64_t file_position() const override { return position_ - unread(); }
  std::uint64_t file_size() const override { return size_; }

  // -1 for a pipe.
  int seekable_descriptor() const { return is_regular_ ? descriptor_ : -1; }

 protected:
  std::size_t read_next(char* to, std::size_t size) override {
    if (descriptor_ < 0 && !open()) return kNoneYet;
    pollfd ready{descriptor_, POLLIN, 0};
    if (waiting_ != Waiting::yes && ::poll(&ready, 1, 0) <= 0) return kNoneYet;
    for (;;) {
      if (waiting_ == Waiting::yes && !is_regular_) await_bytes();
      const ssize_t count = ::read(descriptor_, to, size);
      if (count > 0) ends_a_line_ = to[count - 1] == '\n';
      if (count >= 0) {
        at_end_ = count == 0;
        position_ += static_cast<std::uint64_t>(count);
        return at_end_ && follows() ? begin_again(to) : static_cast<std::size_t>(count);
      }
      const bool again = errno == EINTR || errno == EAGAIN;
      if (waiting_ != Waiting::yes && again) return kNoneYet;
      if (!again) fail(fmt::format("cannot read: {}", std::strerror(errno)));
    }
  }

 private:
  bool follows() const { return waiting_ == Waiting::follow; }

  // False if it cannot be opened: errno says why. A file that is followed may come later.
  bool open() {
    // A pipe is not waited for here, where nothing could end it, but in await_bytes().
    descriptor_ = path_ == "-" ? STDIN_FILENO : ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    at_end_ = descriptor_ < 0;
    if (descriptor_ < 0 && follows() && errno != ENOENT) fail_to_open();
    if (descriptor_ < 0) return false;
    struct stat status {};
    if (::fstat(descriptor_, &status) == 0) {
      if (S_ISDIR(status.st_mode)) {
        close();
        fail("is a directory, not a file of labels");
      }
      is_regular_ = S_ISREG(status.st_mode);
      if (is_regular_) size_ = static_cast<std::uint64_t>(status.st_size);
    }
    if (path_ != "-") ::fcntl(descriptor_, F_SETFL, 0);
    return true;
  }

  // At the end of a file that is followed: whether it was cut, or another one is in its place, which
  // logs are when they become large. The old file is left once the new one has something in it, as its
  // writer has moved on by then. A line that the old one ends in the middle of ends there.
  std::size_t begin_again(char* to) {
    struct stat old {};
    struct stat now {};
    const bool is_there = is_regular_ && ::fstat(descriptor_, &old) == 0 &&
                          ::stat(path_.c_str(), &now) == 0 && S_ISREG(now.st_mode);
    if (!is_there) return kNoneYet;
    const bool is_same = old.st_dev == now.st_dev && old.st_ino == now.st_ino;
    if (is_same && static_cast<std::uint64_t>(now.st_size) >= position_) return kNoneYet;
    if (!is_same && (now.st_size == 0 || static_cast<std::uint64_t>(old.st_size) > position_))
      return kNoneYet;  // what came to the old one meanwhile is read first
    position_ = 0;
    if (is_same) {
      ::lseek(descriptor_, 0, SEEK_SET);
    } else {
      close();
      if (!open()) at_end_ = true;
    }
    if (std::exchange(ends_a_line_, true)) return kNoneYet;
    *to = '\n';
    return 1;
  }

  // A signal may reach any thread and comes at any moment, so a read() that waits may not notice it: the
  // flag is looked at now and then instead.
  void await_bytes() const {
    constexpr int kMilliseconds = 100;
    pollfd ready{descriptor_, POLLIN, 0};
    while (::poll(&ready, 1, kMilliseconds) <= 0) context_.throw_if_cancelled();
  }
  [[noreturn]] void fail(const std::string& message) const {
    throw Error(ErrorCode::io, Location{display_name(path_), 0, 0}, message);
  }
  [[noreturn]] void fail_to_open() const {
    const int error = errno;
    fail(fmt::format("cannot open: {}{}", std::strerror(error),
                     error == ENOENT ? did_you_mean_file(path_) : ""));
  }
  void close() {
    if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
    descriptor_ = -1;
  }

  std::string path_;
  Waiting waiting_;
  RunContext context_;  // whether it is cancelled
  int descriptor_ = -1;
  bool is_regular_ = false;
  std::uint64_t size_ = 0;
  std::uint64_t position_ = 0;
  bool at_end_ = false;      // for now, or for ever
  bool ends_a_line_ = true;  // what was read so far
};

// The whole chain, put together once the first bytes are there.
class Input final : public ByteFilter {
 public:
  Input(const std::string& path, const SourceOptions& options)
      : Input(place_of_input(path), path, options) {}

 protected:
  std::size_t read_next(char* to, std::size_t size) override {
    if (next_ != Step::done && !recognise()) return kNoneYet;
    return inner_->read(to, size);
  }

 private:
  enum class Step { unpack, decode, done };

  Input(const InputPlace& place, const std::string& path, const SourceOptions& options)
      : ByteFilter(nullptr), name_(display_name(path)), member_(place.member), options_(options) {
    auto file = std::make_unique<FileSource>(place.file, options);
    seekable_ = file->seekable_descriptor();
    inner_ = std::move(file);
  }

  // False if the first bytes are not there yet.
  bool recognise() {
    if (next_ == Step::unpack) {
      const auto start = first_bytes();
      if (!start) return false;
      unpack(packing_of(*start));
      next_ = Step::decode;
    }
    if (options_.as_is) {
      next_ = Step::done;
      return true;
    }
    const auto start = first_bytes();
    if (!start) return false;
    if (packing_of(*start) != Packing::none)
      fail(fmt::format("it is packed twice, the second time as {}: unpack it once and give that",
                       name_of(packing_of(*start))));
    if (const std::string other = what_else(*start); !other.empty()) fail(other);
    decode(*start);
    if (options_.json_lines) inner_ = as_json_lines(std::move(inner_), name_, waits());
    next_ = Step::done;
    return true;
  }

  // Those that tell what the input is. A source that does not wait is recognised by as few as will do,
  // as it may hold a single event for hours; how the bytes come in pieces must not matter.
  std::optional<std::string_view> first_bytes() {
    std::size_t needed = waits() ? kTarBytes : kFewestMagicBytes;
    for (;;) {
      const std::string_view start = inner_->peek(needed);
      if (start.size() < needed && !inner_->ended()) return std::nullopt;
      const std::size_t more = signature_bytes(start);
      if (start.size() < needed || more <= needed) return start;
      needed = more;
    }
  }

  void unpack(Packing packing) {
    if (packing != Packing::none && options_.waiting == Waiting::follow)
      fail("a compressed file cannot be followed: give it uncompressed");
    if (packing == Packing::zip) {
      inner_ = open_zip(std::move(inner_), seekable_, name_, member_);
    } else if (packing != Packing::none) {
      inner_ = unpacked(std::move(inner_), packing, name_);
    }
    if (packing != Packing::zip && !member_.empty())
      fail("it is no zip archive, so it has no file of that name");
  }

  void decode(std::string_view start) {
    if (waits()) start = inner_->peek(kMostPeeked);
    const bool whole = waits() && inner_->ended();
    const TextEncoding encoding = options_.encoding.empty() ? recognise_encoding(start, waits(), whole)
                                                            : encoding_named(options_.encoding);
    if (!encoding.iconv_name.empty()) inner_ = decoded(std::move(inner_), encoding, name_);
    if (!waits()) return;
    start = inner_->peek(kMostPeeked);
    if (!is_text(start)) {
      if (inner_->failure()) throw *inner_->failure();  // damaged data looks so, too
      fail("this is not text, but data of some program: export it as CSV and give that");
    }
    if (has_bare_returns(start)) inner_ = with_newlines(std::move(inner_));
  }

  bool waits() const { return options_.waiting == Waiting::yes; }
  [[noreturn]] void fail(const std::string& message) const {
    throw Error(ErrorCode::data, Location{name_, 0, 0}, message);
  }

  std::string name_;
  std::string member_;  // of an archive
  SourceOptions options_;
  int seekable_ = -1;
  Step next_ = Step::unpack;
};

}  // namespace

std::size_t ByteSource::read(char* to, std::size_t size) {
  if (unread() == 0 && failure_) throw *failure_;
  if (unread() == 0) return ended_ ? 0 : read_next(to, size);
  const std::size_t count = peeked_.copy(to, size, given_);
  given_ += count;
  if (given_ == peeked_.size()) {
    peeked_ = std::string();
    given_ = 0;
  }
  return count;
}

std::string_view ByteSource::peek(std::size_t size) {
  size = std::min(size, kMostPeeked);
  while (!ended_ && unread() < size) {
    const std::size_t had = peeked_.size();
    const std::size_t wanted = std::min(size - unread(), std::max(had, kFirstPeeked));
    peeked_.resize(had + wanted);
    std::size_t count = 0;
    try {
      count = read_next(peeked_.data() + had, wanted);
    } catch (const Error& error) {
      failure_ = error;
    }
    peeked_.resize(had + (count == kNoneYet ? 0 : count));
    if (count == kNoneYet) break;
    ended_ = count == 0;
    if (failure_ && unread() == 0) throw *failure_;
  }
  return std::string_view(peeked_).substr(given_, size);
}

std::unique_ptr<ByteSource> open_source(const std::string& path, const SourceOptions& options) {
  return std::make_unique<Input>(path, options);
}

SourceOptions source_options(const ReadOptions& options, Waiting waiting) {
  SourceOptions result{.waiting = waiting, .cancelled = options.cancelled, .encoding = options.encoding};
  result.json_lines = options.format == Format::automatic || options.format == Format::jsonl;
  return result;
}

ByteSource& OpenedPipes::look(const std::string& path, const ReadOptions& options) {
  std::unique_ptr<ByteSource>& source = sources_[path];
  if (source == nullptr) source = open_text(path, options);
  return *source;
}

std::unique_ptr<ByteSource> OpenedPipes::take(const std::string& path) {
  const auto found = sources_.find(path);
  return found == sources_.end() ? nullptr : std::move(found->second);
}

std::unique_ptr<ByteSource> open_text(const std::string& path, const ReadOptions& options) {
  SourceOptions as_text = source_options(options);
  as_text.json_lines = false;
  return open_source(path, as_text);
}

std::string display_name(const std::string& path) { return path == "-" ? "standard input" : path; }

bool is_rereadable(const std::string& path) {
  struct stat status {};
  return path != "-" && ::stat(place_of_input(path).file.c_str(), &status) == 0 &&
         S_ISREG(status.st_mode);
}

}  // namespace crowdfold
