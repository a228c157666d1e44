// Files that appear whole or not at all: written beside their place, synced, then renamed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace crowdfold {

class OutputFile {
 public:
  enum class When { at_the_end, as_it_comes };

  // "-" is standard output. Nothing reaches it, a pipe or a device before commit() (it waits in a
  // temporary file), unless it is to be written as it comes.
  explicit OutputFile(std::string path, When when = When::at_the_end);
  // Without commit() nothing is left behind.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes);
  void commit();

 private:
  void write_all(int descriptor, std::string_view bytes);
  [[noreturn]] void fail(const char* what) const;
  void copy_to_stream();

  std::string path_;
  std::string target_;     // path_, or what it links to
  std::string temporary_;  // empty: no file of that name to remove
  int descriptor_ = -1;    // of the temporary file, if there is one
  int stream_ = -1;        // of standard output, a pipe or a device
};

// What kind of file a path asks for.
enum class TextKind { csv, jsonl };
TextKind kind_of(const std::string& path);

// A field of a CSV file, quoted if it must be.
void append_csv(std::string& to, std::string_view field);
// A string with its quotes.
void append_json(std::string& to, std::string_view text);
// The shortest text that parses back to the same double.
void append_number(std::string& to, double value);

}  // namespace crowdfold
