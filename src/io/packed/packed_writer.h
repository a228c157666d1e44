// PackedWriter: tasks with their labels, in order -> the bytes of packed labels.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/packed/layout.h"
#include "io/packed/sections.h"

namespace crowdfold {

class PackedWriter {
 public:
  // Takes the bytes of the file, in order.
  using Sink = std::function<void(std::string_view)>;

  explicit PackedWriter(Sink sink, std::size_t block_bytes = kBlockBytes);

  // The next task. Ids are those of the tables that finish() gets. Error(data) for a name with a NUL
  // character.
  void add(std::string_view task, std::span<const WorkerId> workers, std::span<const ClassId> classes);
  // Everything behind the blocks. The caller then commits what the sink wrote to.
  void finish(const NameTable& workers, const NameTable& classes, const RowCounts& rows,
              Duplicates duplicates);

  std::uint64_t tasks() const { return footer_.tasks + sizes_.size(); }
  std::uint64_t labels() const { return footer_.labels + workers_.size(); }
  std::uint64_t bytes() const { return bytes_; }  // that the sink took

  // A block: large enough that a disk reads at its full speed, small enough that a thread's decoded
  // block stays in its cache.
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

 private:
  void flush();
  void write(std::string_view bytes);
  PackedSection write_names(const NameTable& names, const char* what);

  Sink sink_;
  std::size_t block_bytes_;
  PackedFooter footer_;
  std::string index_;
  std::uint64_t bytes_ = 0;

  // The block that is being filled.
  std::vector<std::uint64_t> sizes_;
  std::vector<WorkerId> workers_;
  std::vector<ClassId> classes_;
  NameEncoder names_;
  std::string buffer_;
};

}  // namespace crowdfold
