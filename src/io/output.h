// Files that appear whole or not at all: written beside their place, synced, then renamed.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "crowdfold/io.h"
#include "io/encoder.h"
#include "labels/name_key.h"

struct stat;

namespace crowdfold {

class OutputFile {
 public:
  enum class When { at_the_end, as_it_comes };

  // "-" is standard output. Nothing reaches it, a pipe or a device before commit() (it waits in a
  // temporary file), unless it is to be written as it comes. A file that is replaced keeps its
  // permissions, and its owner if we may give files away; a symbolic link stays, and gets what it leads
  // to, which need not exist. A name that ends in .gz or .zst is compressed.
  // `cancelled`: as in RunContext, while a pipe has no reader, or none that reads on.
  explicit OutputFile(std::string path, When when = When::at_the_end,
                      const std::atomic<bool>* cancelled = nullptr);
  // Without commit() nothing is left behind.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Whole characters: a terminal gets them as printable() shows them.
  void write(std::string_view bytes);
  void commit();

  // See remove_unfinished_outputs().
  static void remove_temporary_files() noexcept;

 private:
  void create(const std::string& stem, mode_t mode);
  void forget_temporary_file();
  void take_permissions(const struct stat& old);
  int destination() const { return descriptor_ >= 0 ? descriptor_ : stream_; }
  void write_all(int descriptor, std::string_view bytes);
  void begin_to_sync();
  [[noreturn]] void fail(const char* what) const;
  void copy_to_stream();

  std::string path_;
  std::string target_;                // path_, or what it links to
  std::string temporary_;             // empty: no file of that name to remove
  std::unique_ptr<Encoder> encoder_;  // null: plain
  int descriptor_ = -1;               // of the temporary file, if there is one
  int stream_ = -1;                   // of standard output, a pipe or a device
  const std::atomic<bool>* cancelled_;
  bool terminal_ = false;       // whether that is one
  std::uint64_t written_ = 0;   // bytes of the temporary file
  std::uint64_t syncing_ = 0;   // of these, on their way to the disk
  OutputFile* next_ = nullptr;  // of those with a temporary file that has a name
};

// What kind of file is asked for: by its ending, before that of a compression, in any case. CSV where
// the ending tells nothing. spreadsheet: CSV, or TSV, without formulas; json: one array of all records.
enum class TextKind { csv, spreadsheet, tsv, spreadsheet_tsv, jsonl, json };
// Error(usage) for an ending that promises a file of another kind, such as .xlsx.
TextKind kind_of(const std::string& path, const WriteOptions& options = {});

// False for a field that stands between separators as it is, which most do; true where one has to look.
// By words: a loop over bytes takes longer than copying them.
inline bool may_need_quotes(std::string_view field, char separator) {
  constexpr std::uint64_t kEach = 0x0101'0101'0101'0101ULL;
  constexpr std::uint64_t kBehindQuote = '"' + 1;  // all that need quotes are below, but for separators
  const auto has_special = [&](std::uint64_t word) {
    const std::uint64_t others = word ^ kEach * static_cast<unsigned char>(separator);
    return (((word - kEach * kBehindQuote) & ~word) | ((others - kEach) & ~others)) & kEach << 7;
  };
  const std::size_t size = field.size();
  if (size < 8) return has_special(first_bytes(field) | ~std::uint64_t{0} << 8 * size) != 0;
  std::uint64_t found = has_special(last_bytes(field));
  for (std::size_t at = 0; at + 8 < size; at += 8) found |= has_special(first_bytes(field.substr(at)));
  return found != 0;
}
// A field of a CSV file, quoted if it must be.
void append_csv(std::string& to, std::string_view field);
// The same of a TSV file.
void append_tsv(std::string& to, std::string_view field);
// The field with an apostrophe before it if a spreadsheet would take it for a formula. Numbers stay.
std::string without_formula(std::string_view field);
// A string with its quotes.
void append_json(std::string& to, std::string_view text);
// The shortest text that parses back to the same double.
void append_number(std::string& to, double value);

}  // namespace crowdfold
