// A checksum over all that a state holds: the sum of a hash per row. A sum can be kept up to date row by
// row, and does not depend on their order; a row that is altered, lost or added changes it. It finds
// accidents and edits; who wants to forge a state can compute it, too.
#pragma once

#include <xxhash.h>

#include <bit>
#include <cstdint>
#include <string_view>

namespace crowdfold {

class RowHash {
 public:
  enum class Table : std::uint64_t { config = 1, classes, workers, counts, crowd, tasks, events };

  explicit RowHash(Table table) : hash_(static_cast<std::uint64_t>(table)) {}

  // Each step is one-to-one in the number: where two rows differ in one number, so do their hashes.
  RowHash& add(std::uint64_t number) {
    hash_ = (hash_ ^ number) * 0x9E37'79B9'7F4A'7C15;  // any odd number without a pattern
    hash_ ^= hash_ >> 29;
    return *this;
  }
  RowHash& add(double number) {
    return add(std::bit_cast<std::uint64_t>(number + 0.0));  // SQLite does not keep the sign of -0
  }
  RowHash& add(std::string_view text) {
    hash_ = XXH3_64bits_withSeed(text.data(), text.size(), hash_);
    return *this;
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_;
};

}  // namespace crowdfold
