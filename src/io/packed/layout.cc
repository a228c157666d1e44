#include "io/packed/layout.h"

#include <xxhash.h>

#include <bit>
#include <cstring>

namespace crowdfold {
namespace {

static_assert(std::endian::native == std::endian::little);  // numbers are written as they lie in memory

void append_word(std::string& bytes, std::uint64_t word) {
  bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
}

std::uint64_t read_word(const char*& from) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, sizeof word);
  from += sizeof word;
  return word;
}

}  // namespace

std::uint64_t packed_checksum(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::string packed_header() {
  std::string bytes(kPackedMagic);
  append_word(bytes, kPackedVersion);  // four bytes, and four zeros
  append_word(bytes, packed_checksum(bytes));
  return bytes;
}

void PackedEntry::append_to(std::string& bytes) const {
  for (const std::uint64_t word :
       {tasks, labels, label_bytes, name_bytes, text_bytes, label_checksum, name_checksum})
    append_word(bytes, word);
}

PackedEntry PackedEntry::read(const char* from) {
  PackedEntry entry;
  for (std::uint64_t* word : {&entry.tasks, &entry.labels, &entry.label_bytes, &entry.name_bytes,
                              &entry.text_bytes, &entry.label_checksum, &entry.name_checksum})
    *word = read_word(from);
  return entry;
}

std::string PackedFooter::encoded() const {
  std::string bytes;
  for (const std::uint64_t word :
       {tasks, labels, num_workers, num_classes, blocks, rows.read, rows.abstentions, rows.duplicates,
        rows.skipped, static_cast<std::uint64_t>(duplicates), workers.bytes, workers.text_bytes,
        workers.checksum, classes.bytes, classes.text_bytes, classes.checksum, index.bytes,
        index.checksum})
    append_word(bytes, word);
  append_word(bytes, kPackedVersion);
  append_word(bytes, packed_checksum(bytes));
  bytes += kPackedEnd;
  return bytes;
}

std::optional<PackedFooter> PackedFooter::read(std::string_view bytes) {
  constexpr std::size_t kChecked = kPackedFooterBytes - 16;
  if (bytes.size() != kPackedFooterBytes || !bytes.ends_with(kPackedEnd)) return std::nullopt;
  const char* from = bytes.data();
  PackedFooter footer;
  std::uint64_t rule = 0;
  std::uint64_t version = 0;
  std::uint64_t checksum = 0;
  for (std::uint64_t* word : {&footer.tasks,
                              &footer.labels,
                              &footer.num_workers,
                              &footer.num_classes,
                              &footer.blocks,
                              &footer.rows.read,
                              &footer.rows.abstentions,
                              &footer.rows.duplicates,
                              &footer.rows.skipped,
                              &rule,
                              &footer.workers.bytes,
                              &footer.workers.text_bytes,
                              &footer.workers.checksum,
                              &footer.classes.bytes,
                              &footer.classes.text_bytes,
                              &footer.classes.checksum,
                              &footer.index.bytes,
                              &footer.index.checksum,
                              &version,
                              &checksum})
    *word = read_word(from);
  if (checksum != packed_checksum(bytes.substr(0, kChecked)) || version != kPackedVersion ||
      rule > static_cast<std::uint64_t>(Duplicates::keep))
    return std::nullopt;
  footer.duplicates = static_cast<Duplicates>(rule);
  return footer;
}

}  // namespace crowdfold
