// The layout of packed labels, which docs/formats.md writes down byte by byte: a header, blocks of
// tasks, the names of workers and classes, an index of the blocks, and a footer that says where all of
// it lies.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "crowdfold/labels.h"

namespace crowdfold {

// A byte that no text has, and both line ends, as in PNG: a copy that changes these is noticed.
inline constexpr std::string_view kPackedMagic(
    "\x89"
    "CFP\r\n\x1A\n",
    8);
inline constexpr std::string_view kPackedEnd("CFP end\n", 8);
inline constexpr std::uint32_t kPackedVersion = 1;

inline constexpr std::size_t kPackedHeaderBytes = 24;
inline constexpr std::size_t kPackedEntryBytes = 56;
inline constexpr std::size_t kPackedFooterBytes = 168;

// XXH3, 64 bits.
std::uint64_t packed_checksum(std::string_view bytes);

std::string packed_header();

// A block in the index. Its labels lie before its names, and both behind those of the block before.
struct PackedEntry {
  std::uint64_t tasks = 0;
  std::uint64_t labels = 0;
  std::uint64_t label_bytes = 0;  // of its labels in the file
  std::uint64_t name_bytes = 0;   // of its names in the file
  std::uint64_t text_bytes = 0;   // of its names as they are
  std::uint64_t label_checksum = 0;
  std::uint64_t name_checksum = 0;

  void append_to(std::string& bytes) const;
  static PackedEntry read(const char* from);
};

// A section that the footer points to.
struct PackedSection {
  std::uint64_t bytes = 0;
  std::uint64_t text_bytes = 0;  // of names as they are
  std::uint64_t checksum = 0;
};

struct PackedFooter {
  std::uint64_t tasks = 0;
  std::uint64_t labels = 0;
  std::uint64_t num_workers = 0;
  std::uint64_t num_classes = 0;
  std::uint64_t blocks = 0;
  RowCounts rows;
  Duplicates duplicates = Duplicates::last;  // the rule that the labels went by
  PackedSection workers;                     // names
  PackedSection classes;                     // names
  PackedSection index;

  std::string encoded() const;
  // Nothing if the bytes, as many as a footer has, are none, or damaged.
  static std::optional<PackedFooter> read(std::string_view bytes);
};

}  // namespace crowdfold
