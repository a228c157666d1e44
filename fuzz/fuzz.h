// What the fuzz harnesses share: the list of them, choices that an input makes, inputs as files, and
// outcomes that can be compared. CONTRIBUTING.md tells how they are run.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "crowdfold/io.h"

namespace crowdfold::fuzz {

// A harness takes any bytes. A finding is a crash, a report of a sanitizer, an exception that is no
// Error, or two outcomes that differ.
void labels(std::string_view input);      // files of labels, and both roads of aggregate()
void tables(std::string_view input);      // truths and workers
void exports(std::string_view input);     // exports of platforms
void estimates(std::string_view input);   // estimates, and the command `evaluate`
void events(std::string_view input);      // events of a stream, and the stream that takes them
void compressed(std::string_view input);  // gzip, zstd, bzip2, xz and zip
void bytes(std::string_view input);       // what comes before rows: encodings, JSON documents
void state(std::string_view input);       // the database of a stream
void packed(std::string_view input);      // packed labels
void rounds(std::string_view input);      // chunks, models and summaries of rounds
// Bodies of HTTP requests go here, and below, once something reads them.

struct Harness {
  const char* name;  // also of its folders in fuzz/seeds and fuzz/found
  void (*run)(std::string_view input);
};
inline constexpr Harness kHarnesses[] = {
    {"labels", labels}, {"tables", tables},         {"estimates", estimates}, {"exports", exports},
    {"events", events}, {"compressed", compressed}, {"bytes", bytes},         {"state", state},
    {"packed", packed}, {"rounds", rounds},
};

// The first line of an input chooses options, a character each: '0' the first of them, and so on, round
// and round. Where the line is too short, it is the first.
class Choices {
 public:
  // Cuts the line off.
  explicit Choices(std::string_view& input);
  // From 0 to `count` - 1.
  std::size_t below(std::size_t count);
  template <class Value, std::size_t count>
  Value of(const Value (&values)[count]) {
    return values[below(count)];
  }

 private:
  std::string_view left_;
};

// How to read a table, and the same in small blocks.
ReadOptions read_options(Choices& choices);
ReadOptions in_small_blocks(ReadOptions options, Choices& choices);

// A file that is nowhere on a disk, for readers that take paths.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view text = {});
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  void append(std::string_view text) const;
  std::string path() const;

 private:
  int descriptor_;
};

// A pipe. Not more is written to it at a time than was read before, so that nobody waits.
class Pipe {
 public:
  Pipe();
  ~Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  void write(std::string_view text) const;
  void end();
  std::string path() const;  // to read from

 private:
  int ends_[2];
};

// Calls body(piece) for pieces of this size.
void in_pieces(std::string_view text, std::size_t size,
               const std::function<void(std::string_view)>& body);

// What `work` returns, or its Error as text. The path, by which messages call the input, is left out.
std::string outcome(const std::string& path, const std::function<std::string()>& work);
bool is_error(const std::string& outcome);
// Ends the program, and says where two outcomes differ.
void expect_same(const char* what, const std::string& one, const std::string& other);

// What readers say of an input, beside its contents.
std::string text_of(const ReadReport& report);
// The names, in order.
std::string text_of(const NameTable& names);

}  // namespace crowdfold::fuzz
