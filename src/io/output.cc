#include "io/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "crowdfold/error.h"
#include "crowdfold/io.h"
#include "crowdfold/words.h"
#include "io/file_place.h"
#include "io/numbers.h"

namespace crowdfold {

namespace {

// A second descriptor, such as one of standard output; -1 if it is closed, or open for reading only as
// main() leaves it then.
int open_again(int descriptor) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags >= 0 && (flags & O_ACCMODE) == O_RDONLY) {
    errno = EBADF;
    return -1;
  }
  return ::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

constexpr int kMillisecondsToWait = 100;  // before looking whether the run is cancelled

// A signal may reach any thread and comes at any moment, so a write() that waits may not notice it.
// Where poll() finds room, it is for as many bytes as a pipe takes at once.
void await_room(int descriptor, const RunContext& context) {
  pollfd ready{descriptor, POLLOUT, 0};
  while (::poll(&ready, 1, kMillisecondsToWait) <= 0) context.throw_if_cancelled();
}

// The descriptor of ours that a path means, such as /dev/stdout or /dev/fd/3; -1: none. What it is open
// for is written to: a file behind it must not be replaced, as it may be one that is appended to.
int descriptor_meant(const std::string& path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    int number = -1;
    const char* const end = path.data() + path.size();
    const auto [rest, error] = std::from_chars(path.data() + folder.size(), end, number);
    if (error == std::errc{} && rest == end) return number;
  }
  return -1;
}

// A pipe or device. A pipe waits for its reader: not in open(), where nothing could end it.
int open_stream(const std::string& path, const struct stat& status, const std::atomic<bool>* cancelled) {
  RunContext context;
  context.cancelled = cancelled;
  for (;;) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor >= 0) ::fcntl(descriptor, F_SETFL, 0);
    const bool waits = descriptor < 0 && S_ISFIFO(status.st_mode) && (errno == ENXIO || errno == EINTR);
    if (!waits) return descriptor;
    context.throw_if_cancelled();
    ::poll(nullptr, 0, kMillisecondsToWait);
  }
}

// What a path would hold: its name without the ending of a compression.
std::string_view uncompressed(std::string_view path) {
  return path.substr(0, path.size() - compression_ending(path).size());
}

// In lower case, with its dot; empty if the name has none.
std::string ending_of(std::string_view path) {
  std::string ending = std::filesystem::path(path).extension().string();
  for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return ending;
}

// What to do where a path's ending promises a file that is not written; empty: it is.
std::string instead_of(const std::string& path) {
  const std::string ending = ending_of(uncompressed(path));
  const auto is_one_of = [&](std::initializer_list<std::string_view> endings) {
    return std::find(endings.begin(), endings.end(), ending) != endings.end();
  };
  const std::string stem(uncompressed(path).substr(0, uncompressed(path).size() - ending.size()));
  if (is_one_of({".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers"})) {
    return fmt::format("workbooks are not written; write {}.csv, which spreadsheets open", stem);
  }
  if (is_one_of({".parquet", ".pq", ".feather", ".arrow", ".ipc", ".orc"})) {
    const bool parquet = ending == ".parquet" || ending == ".pq";
    return fmt::format(
        "{1} is not written; write {0}.csv, then: python3 -c \"import pandas as p; "
        "p.read_csv('{0}.csv', dtype=dict(task=str, worker=str, label=str)).to_{2}('{3}')\"",
        stem,
        parquet            ? "Parquet"
        : ending == ".orc" ? "ORC"
                           : "Arrow",
        parquet            ? "parquet"
        : ending == ".orc" ? "orc"
                           : "feather",
        path);
  }
  if (is_one_of({".zip", ".bz2", ".xz", ".7z", ".rar", ".tar", ".tgz", ".lz4", ".br", ".gzip", ".zstd"}))
    return fmt::format("compressed files are written as .gz or .zst: write {}.gz", stem);
  if (is_one_of({".avro", ".db", ".docx", ".dta", ".h5", ".hdf5", ".npy", ".npz", ".pdf", ".pickle",
                 ".pkl", ".rda", ".rds", ".sas7bdat", ".sav", ".sqlite", ".xml", ".yaml", ".yml"}))
    return fmt::format(
        "{} is not written; the endings are .csv, .tsv, .json and .jsonl, and .gz or "
        ".zst behind them",
        ending);
  return "";
}

void require_known_kind(const std::string& path) {
  if (const std::string instead = instead_of(path); !instead.empty())
    throw Error(ErrorCode::usage, Location{path, 0, 0}, instead);
}

// Outputs with a temporary file that has a name, by OutputFile::next_.
std::mutex with_temporary_mutex;
OutputFile* with_temporary = nullptr;

}  // namespace

bool write_to_reader(int descriptor, std::string_view bytes, const std::atomic<bool>* cancelled) {
  RunContext context;
  context.cancelled = cancelled;
  struct stat status {};
  const bool waits = ::fstat(descriptor, &status) == 0 && !S_ISREG(status.st_mode);
  while (!bytes.empty()) {
    if (waits) await_room(descriptor, context);
    const std::size_t some = waits ? std::min<std::size_t>(bytes.size(), PIPE_BUF) : bytes.size();
    const ssize_t count = ::write(descriptor, bytes.data(), some);
    if (count < 0 && errno != EINTR && errno != EAGAIN) return false;
    bytes.remove_prefix(count < 0 ? 0 : static_cast<std::size_t>(count));
  }
  return true;
}

OutputFile::OutputFile(std::string path, When when, const std::atomic<bool>* cancelled)
    : path_(std::move(path)), target_(path_), encoder_(make_encoder(path_)), cancelled_(cancelled) {
  const int meant = path_ == "-" ? STDOUT_FILENO : descriptor_meant(path_);
  struct stat old {};
  const bool exists = meant < 0 && ::stat(path_.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) {
    throw Error(ErrorCode::io, Location{path_, 0, 0}, "is a directory, not a file to write to");
  }
  // Standard output, a device or a pipe cannot be replaced by renaming: it is written to.
  if (meant >= 0 || (exists && !S_ISREG(old.st_mode))) {
    stream_ = meant >= 0 ? open_again(meant) : open_stream(path_, old, cancelled_);
    if (stream_ < 0) fail("write to");
    terminal_ = ::isatty(stream_) != 0;
    if (when == When::as_it_comes) return;
    create((std::filesystem::temp_directory_path() / "crowdfold").string(), S_IRUSR | S_IWUSR);
    ::unlink(temporary_.c_str());  // nobody needs its name
    forget_temporary_file();
    return;
  }
  target_ = follow_links(path_);
  create(target_, exists ? S_IRUSR | S_IWUSR : 0666);
  if (exists) take_permissions(old);
}

// Opens a new file whose name begins with `stem`. The kernel takes the umask off its mode.
void OutputFile::create(const std::string& stem, mode_t mode) {
  constexpr std::uint32_t kTries = 1000;
  for (std::uint32_t i = 0; i < kTries && descriptor_ < 0; ++i) {
    std::uint32_t number = 0;
    if (::getrandom(&number, sizeof number, 0) < 0) number = i;
    temporary_ = fmt::format("{}.{:08x}.tmp", stem, number);
    descriptor_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ < 0) {
    temporary_.clear();
    fail("write to");
  }
  const std::lock_guard lock(with_temporary_mutex);
  next_ = std::exchange(with_temporary, this);
}

void OutputFile::forget_temporary_file() {
  const std::lock_guard lock(with_temporary_mutex);
  OutputFile** place = &with_temporary;
  while (*place != nullptr && *place != this) place = &(*place)->next_;
  if (*place == this) *place = next_;
  temporary_.clear();
}

void OutputFile::remove_temporary_files() noexcept {
  const std::lock_guard lock(with_temporary_mutex);
  for (const OutputFile* file = with_temporary; file != nullptr; file = file->next_)
    ::unlink(file->temporary_.c_str());
}

// Those of the file that is replaced; fewer where its group cannot be kept: nobody may read the new file
// who could not read the old one.
void OutputFile::take_permissions(const struct stat& old) {
  mode_t mode = old.st_mode & 0777;
  if (::fchown(descriptor_, old.st_uid, old.st_gid) != 0 &&
      ::fchown(descriptor_, static_cast<uid_t>(-1), old.st_gid) != 0)
    mode &= ~static_cast<mode_t>(S_IRWXG) | ((mode & S_IRWXO) << 3);
  ::fchmod(descriptor_, mode);
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (stream_ >= 0) ::close(stream_);
  if (temporary_.empty()) return;
  ::unlink(temporary_.c_str());
  forget_temporary_file();
}

void require_writable(const std::string& path) {
  require_known_kind(path);
  std::error_code ignored;
  const bool replaced = std::filesystem::is_regular_file(path, ignored) ||
                        std::filesystem::is_directory(path, ignored) ||
                        !std::filesystem::exists(path, ignored);
  if (path == "-" || replaced) OutputFile probe(path, OutputFile::When::as_it_comes);
}

void OutputFile::write(std::string_view bytes) {
  if (encoder_) return write_all(destination(), encoder_->encode(bytes));
  terminal_ ? write_all(destination(), printable(bytes, "\n")) : write_all(destination(), bytes);
}

void OutputFile::write_all(int descriptor, std::string_view bytes) {
  if (write_to_reader(descriptor, bytes, cancelled_)) {
    written_ += bytes.size();
    if (stream_ < 0) begin_to_sync();
    return;
  }
  // Standard output, pipes and devices wait in a file that people do not know of.
  stream_ >= 0 && descriptor == descriptor_ ? fail("write a temporary file for it, see TMPDIR")
                                            : fail("write to");
}

// Has the disk begin with what is written, while more is being made: commit() waits for the rest only.
void OutputFile::begin_to_sync() {
#ifdef __linux__
  constexpr std::uint64_t kPiece = std::uint64_t{8} << 20;
  if (written_ - syncing_ < kPiece) return;
  ::sync_file_range(descriptor_, static_cast<off_t>(syncing_), static_cast<off_t>(written_ - syncing_),
                    SYNC_FILE_RANGE_WRITE);
  syncing_ = written_;
#endif
}

void OutputFile::commit() {
  if (encoder_) write_all(destination(), encoder_->finish());
  if (stream_ >= 0) {
    if (descriptor_ >= 0) copy_to_stream();
    return;
  }
  if (::fsync(descriptor_) != 0) fail("write to");
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("write to");
  forget_temporary_file();
  // The rename itself is durable once the folder is synced.
  const std::filesystem::path folder = std::filesystem::path(target_).parent_path();
  const int directory =
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) {
    ::fsync(directory);
    ::close(directory);
  }
}

void OutputFile::copy_to_stream() {
  if (::lseek(descriptor_, 0, SEEK_SET) < 0) fail("write to");
  std::vector<char> buffer(1 << 18);
  for (;;) {
    const ssize_t count = ::read(descriptor_, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("write to");
    if (count == 0) return;
    write_all(stream_, {buffer.data(), static_cast<std::size_t>(count)});
  }
}

void OutputFile::fail(const char* what) const {
  const std::string reason = std::strerror(errno);
  throw Error(ErrorCode::io, Location{path_ == "-" ? "standard output" : path_, 0, 0},
              fmt::format("cannot {}: {}", what, reason));
}

TextKind kind_of(const std::string& path, const WriteOptions& options) {
  require_known_kind(path);
  const std::string ending = ending_of(uncompressed(path));
  if (ending == ".jsonl" || ending == ".ndjson") return TextKind::jsonl;
  if (ending == ".json") return TextKind::json;
  if (ending == ".tsv" || ending == ".tab")
    return options.spreadsheet_safe ? TextKind::spreadsheet_tsv : TextKind::tsv;
  return options.spreadsheet_safe ? TextKind::spreadsheet : TextKind::csv;
}

void remove_unfinished_outputs() noexcept { OutputFile::remove_temporary_files(); }

bool tells_its_kind(const std::string& path) {
  const std::string ending = ending_of(uncompressed(path));
  for (const std::string_view known : {".csv", ".tsv", ".tab", ".json", ".jsonl", ".ndjson"}) {
    if (ending == known) return true;
  }
  return false;
}

namespace {

void append_field(std::string& to, std::string_view field, char separator) {
  if (!may_need_quotes(field, separator) ||
      field.find_first_of(std::string{separator, '"', '\r', '\n'}) == std::string_view::npos) {
    to.append(field);
    return;
  }
  to.push_back('"');
  for (const char c : field) {
    if (c == '"') to.push_back('"');
    to.push_back(c);
  }
  to.push_back('"');
}

}  // namespace

void append_csv(std::string& to, std::string_view field) { append_field(to, field, ','); }
void append_tsv(std::string& to, std::string_view field) { append_field(to, field, '\t'); }

std::string without_formula(std::string_view field) {
  const char first = field.empty() ? '\0' : field[0];
  const bool sign = first == '+' || first == '-';
  const bool number = sign && field.find_first_not_of("0123456789.", 1) == std::string_view::npos;
  const bool formula =
      (sign && !number) || first == '=' || first == '@' || first == '\t' || first == '\r';
  return fmt::format("{}{}", formula ? "'" : "", field);
}

void append_json(std::string& to, std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(),
                                 [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
  if (plain) {
    to.append(1, '"').append(text).append(1, '"');
    return;
  }
  // Bytes that are not UTF-8 cannot stand in JSON: they become the replacement character.
  to += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void append_number(std::string& to, double value) {
  char digits[kNumberRoom];
  to.append(digits, write_number(digits, value));
}

}  // namespace crowdfold
