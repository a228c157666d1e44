// Makes all checksums of packed labels fit what they are over, so that damage reaches what is behind
// them.
#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "io/packed/layout.h"

namespace crowdfold::testing {

// Bytes that are too few for packed labels, or parts that lie nowhere, stay as they are.
inline void seal_packed(std::string& file) {
  constexpr std::size_t kChecked = kPackedFooterBytes - 16;
  if (file.size() < kPackedHeaderBytes + kPackedFooterBytes) return;
  file.replace(0, kPackedHeaderBytes, packed_header());
  const std::size_t at = file.size() - kPackedFooterBytes;
  const auto put = [&](std::size_t place, std::uint64_t word) {
    std::memcpy(file.data() + place, &word, sizeof word);
  };
  const auto seal_footer = [&] {
    put(at + kChecked - 8, kPackedVersion);
    put(at + kChecked, packed_checksum(std::string_view(file).substr(at, kChecked)));
    file.replace(at + kChecked + 8, kPackedEnd.size(), kPackedEnd);
  };
  seal_footer();
  const std::optional<PackedFooter> footer =
      PackedFooter::read(std::string_view(file).substr(at, kPackedFooterBytes));
  std::uint64_t left = at - kPackedHeaderBytes;
  if (!footer) return;
  for (const PackedSection* section : {&footer->index, &footer->classes, &footer->workers}) {
    if (section->bytes > left) return;
    left -= section->bytes;
  }
  const std::size_t index = at - footer->index.bytes;
  std::size_t place = kPackedHeaderBytes;
  for (std::size_t entry = index; entry + kPackedEntryBytes <= at; entry += kPackedEntryBytes) {
    const PackedEntry block = PackedEntry::read(file.data() + entry);
    if (block.label_bytes > left || block.name_bytes > left - block.label_bytes) break;
    left -= block.label_bytes + block.name_bytes;
    put(entry + 40, packed_checksum({file.data() + place, block.label_bytes}));
    place += block.label_bytes;
    put(entry + 48, packed_checksum({file.data() + place, block.name_bytes}));
    place += block.name_bytes;
  }
  const std::size_t classes = index - footer->classes.bytes;
  const std::size_t workers = classes - footer->workers.bytes;
  put(at + 96, packed_checksum({file.data() + workers, footer->workers.bytes}));
  put(at + 120, packed_checksum({file.data() + classes, footer->classes.bytes}));
  put(at + 136, packed_checksum({file.data() + index, footer->index.bytes}));
  seal_footer();
}

}  // namespace crowdfold::testing
