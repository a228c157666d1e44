#include "io/zip_archive.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <zip.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>

#include "crowdfold/error.h"
#include "crowdfold/words.h"
#include "io/signatures.h"

namespace crowdfold {
namespace {

constexpr std::size_t kSpoolBytes = std::size_t{1} << 18;

// A folder, a hidden file, or what macOS adds to archives.
bool is_left_out(const std::string& name) {
  return name.empty() || name.ends_with('/') || name.starts_with("__MACOSX/") || name.starts_with('.') ||
         name.find("/.") != std::string::npos;
}

// A file without a name.
int open_temporary() {
  std::string name = (std::filesystem::temp_directory_path() / "crowdfold.XXXXXX").string();
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor >= 0) ::unlink(name.c_str());
  return descriptor;
}

std::vector<std::string> member_names(const std::vector<ZipMember>& members) {
  std::vector<std::string> names;
  for (const ZipMember& member : members) names.push_back(member.name);
  return names;
}

void require_memory(const zip_error_t* error) {
  if (zip_error_code_zip(error) == ZIP_ER_MEMORY) throw std::bad_alloc();
}

class ZipSource final : public ByteFilter {
 public:
  ZipSource(std::unique_ptr<ByteSource> packed, int descriptor, std::string name, std::string member)
      : ByteFilter(std::move(packed)), name_(std::move(name)), member_(std::move(member)) {
    if (descriptor >= 0) {
      open(descriptor);
    } else {
      spool_ = open_temporary();
      if (spool_ < 0) fail_to_spool();
    }
  }
  ~ZipSource() override { close_spool(); }
  ZipSource(const ZipSource&) = delete;
  ZipSource& operator=(const ZipSource&) = delete;

  const char* compression() const override { return "zip"; }
  std::uint64_t file_position() const override {
    if (!archive_ || size_ == 0) return 0;
    return static_cast<std::uint64_t>(static_cast<double>(packed_size_) * static_cast<double>(given_) /
                                      static_cast<double>(std::max(size_, given_)));
  }
  std::uint64_t file_size() const override { return packed_size_; }

 protected:
  std::size_t read_next(char* to, std::size_t size) override {
    if (!archive_ && !spool()) return kNoneYet;
    const std::size_t count = archive_->read(to, size);
    given_ += count;
    return count;
  }

 private:
  // Copies a pipe; false if more of it is to come.
  bool spool() {
    std::vector<char> chunk(kSpoolBytes);
    for (;;) {
      const std::size_t count = inner_->read(chunk.data(), chunk.size());
      if (count == kNoneYet) return false;
      if (count == 0) break;
      for (std::size_t done = 0; done < count;) {
        const ssize_t written = ::write(spool_, chunk.data() + done, count - done);
        if (written < 0 && errno != EINTR) fail_to_spool();
        done += written < 0 ? 0 : static_cast<std::size_t>(written);
      }
    }
    open(spool_);
    close_spool();
    return true;
  }

  void open(int descriptor) {
    auto archive = std::make_unique<ZipArchive>(descriptor, name_);
    const ZipMember& member = choose(*archive);
    archive->open(member);
    size_ = member.size;
    packed_size_ = member.packed_size;
    archive_ = std::move(archive);
  }

  const ZipMember& choose(const ZipArchive& archive) const {
    const std::vector<ZipMember>& members = archive.members();
    if (const std::string other = archive.what_else(); !other.empty()) fail(other);
    if (members.empty()) fail("the zip archive holds no file");
    if (member_.empty() && members.size() == 1) return members.front();
    const auto found = std::find_if(members.begin(), members.end(),
                                    [&](const ZipMember& one) { return one.name == member_; });
    if (found != members.end()) return *found;
    const std::string names = some_of(member_names(members));
    if (!member_.empty()) fail(fmt::format("no such file in the zip archive, which holds {}", names));
    const bool piped = name_ == display_name("-");
    fail(fmt::format("a zip archive with {} files: {}; {}name one: {}:{}", members.size(), names,
                     piped ? "save it as a file, and unless a platform exported it " : "",
                     piped ? "FILE.zip" : name_, members.front().name));
  }

  [[noreturn]] void fail(const std::string& message) const {
    throw Error(ErrorCode::data, Location{name_, 0, 0}, message);
  }
  [[noreturn]] void fail_to_spool() const {
    throw Error(
        ErrorCode::io, Location{name_, 0, 0},
        fmt::format("cannot write a temporary file for the zip archive: {}", std::strerror(errno)));
  }
  void close_spool() {
    if (spool_ >= 0) ::close(spool_);
    spool_ = -1;
  }

  std::string name_;
  std::string member_;
  int spool_ = -1;
  std::unique_ptr<ZipArchive> archive_;
  std::uint64_t size_ = 0;
  std::uint64_t packed_size_ = 0;
  std::uint64_t given_ = 0;
};

}  // namespace

struct ZipArchive::Handles {
  zip_t* archive = nullptr;
  zip_file_t* file = nullptr;

  ~Handles() {
    if (file != nullptr) zip_fclose(file);
    if (archive != nullptr) zip_discard(archive);
  }
};

ZipArchive::ZipArchive(int descriptor, std::string name)
    : name_(std::move(name)), handles_(std::make_unique<Handles>()) {
  const int copy = ::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  int code = ZIP_ER_OPEN;
  handles_->archive = copy < 0 ? nullptr : zip_fdopen(copy, 0, &code);
  if (handles_->archive == nullptr) {
    if (copy >= 0) ::close(copy);
    if (code == ZIP_ER_MEMORY) throw std::bad_alloc();
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string why = code == ZIP_ER_NOZIP ? "its list of files is missing; is it all there?"
                                                 : zip_error_strerror(&error);
    zip_error_fini(&error);
    fail(fmt::format("the zip archive is damaged: {}", why));
  }
  const zip_int64_t count = zip_get_num_entries(handles_->archive, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t status;
    if (zip_stat_index(handles_->archive, static_cast<zip_uint64_t>(i), 0, &status) != 0) continue;
    if ((status.valid & ZIP_STAT_NAME) == 0 || is_left_out(status.name)) continue;
    members_.push_back({status.name, static_cast<std::uint64_t>(i),
                        (status.valid & ZIP_STAT_SIZE) != 0 ? status.size : 0,
                        (status.valid & ZIP_STAT_COMP_SIZE) != 0 ? status.comp_size : 0});
  }
}

ZipArchive::~ZipArchive() = default;

std::string ZipArchive::what_else() const {
  const auto holds = [&](std::string_view name) {
    return std::any_of(members_.begin(), members_.end(),
                       [&](const ZipMember& member) { return member.name == name; });
  };
  if (holds("xl/workbook.xml") || holds("xl/workbook.bin")) return kExcelWorkbook;
  if (holds("mimetype") && holds("content.xml")) return kOpenDocument;
  if (holds("word/document.xml"))
    return "this is a Word document: give a table of labels, such as a CSV file";
  const bool arrays =
      !members_.empty() && std::all_of(members_.begin(), members_.end(),
                                       [](const auto& one) { return one.name.ends_with(".npy"); });
  return arrays ? kNumpyArrays : "";
}

void ZipArchive::open(const ZipMember& member) {
  zip_stat_t status;
  const bool known = zip_stat_index(handles_->archive, member.index, 0, &status) == 0;
  if (known && (status.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 &&
      status.encryption_method != ZIP_EM_NONE)
    fail(fmt::format("{} in the zip archive is encrypted: unpack it, and give the file", member.name));
  handles_->file = zip_fopen_index(handles_->archive, member.index, 0);
  if (handles_->file == nullptr) {
    require_memory(zip_get_error(handles_->archive));
    fail(fmt::format("{} in the zip archive cannot be read ({}): unpack it, and give the file",
                     member.name, zip_strerror(handles_->archive)));
  }
}

std::size_t ZipArchive::read(char* to, std::size_t size) {
  const zip_int64_t count = zip_fread(handles_->file, to, size);
  if (count < 0) {
    require_memory(zip_file_get_error(handles_->file));
    fail(fmt::format("the zip archive is damaged: {}", zip_file_strerror(handles_->file)));
  }
  return static_cast<std::size_t>(count);
}

void ZipArchive::fail(const std::string& message) const {
  throw Error(ErrorCode::data, Location{name_, 0, 0}, message);
}

std::unique_ptr<ByteSource> open_zip(std::unique_ptr<ByteSource> packed, int descriptor,
                                     const std::string& name, const std::string& member) {
  return std::make_unique<ZipSource>(std::move(packed), descriptor, name, member);
}

std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kMostNames = 5;
  constexpr std::size_t kMostBytes = 60;
  std::vector<std::string> shown;
  for (const std::string& name : names) {
    if (shown.size() == kMostNames) break;
    shown.push_back(name.size() <= kMostBytes ? name : name.substr(0, kMostBytes) + "…");
  }
  const std::size_t left = names.size() - shown.size();
  return fmt::format("{}{}", fmt::join(shown, ", "), left > 0 ? fmt::format(" and {} more", left) : "");
}

}  // namespace crowdfold
