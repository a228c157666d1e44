// NameTable: strings <-> dense ids 0, 1, 2 … in order of first appearance.
// Strings lie in one flat buffer. Threads may share a const table; a thread that adds names needs it
// alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "crowdfold/flat_array.h"

namespace crowdfold {

class NameTable {
 public:
  // `limit`: the largest number of names; one more is an Error(data) that speaks of `what` ("workers").
  explicit NameTable(const char* what = "names", std::uint64_t limit = 0xFFFF'FFFE);

  // A table of names that the caller knows to be different: name i ends at byte ends[i].
  NameTable(const char* what, std::uint64_t limit, FlatArray<char> bytes, FlatArray<std::uint64_t> ends);

  // The name's id; a new name gets the next one.
  std::uint32_t intern(std::string_view name) { return intern(name, hash(name)); }
  std::optional<std::uint32_t> find(std::string_view name) const;

  std::string_view operator[](std::uint32_t id) const {
    const std::uint64_t begin = id == 0 ? 0 : ends_[id - 1];
    return {bytes_.data() + begin, static_cast<std::size_t>(ends_[id] - begin)};
  }
  std::uint32_t size() const { return static_cast<std::uint32_t>(ends_.size()); }
  // Of memory: names, where they end, and the index.
  std::uint64_t bytes() const {
    return bytes_.size() + sizeof(std::uint64_t) * (ends_.size() + index_.slots.size());
  }

  // Adds a name that the caller knows to be new, and gives it the next id, without a look-up: the next
  // one builds the index.
  std::uint32_t append(std::string_view name);

  // For readers that hash a name once and use the hash more than once.
  static std::uint64_t hash(std::string_view name);
  std::uint32_t intern(std::string_view name, std::uint64_t hash);
  void prefetch(std::uint64_t hash) const {
    const std::vector<std::uint64_t>& slots = index_.slots;
    if (!slots.empty()) __builtin_prefetch(&slots[hash & (slots.size() - 1)]);
  }

  void reserve(std::size_t names, std::size_t bytes);
  // Gives back the memory that only look-ups need. The next look-up builds it again.
  void drop_index();

 private:
  // Open addressing with linear probing, at most 3/4 full. A slot is the hash's upper half and id + 1,
  // so that most foreign names are told apart without touching their bytes.
  struct Index {
    Index() = default;
    Index(const Index& other);
    Index(Index&& other) noexcept;
    Index& operator=(Index other) noexcept;

    std::vector<std::uint64_t> slots;
    std::atomic<bool> complete = false;  // holds all names
    std::mutex building;
  };

  std::uint32_t add(std::string_view name);
  void rebuild_index(std::size_t slots) const;
  // Builds the index if it is not there; threads that come meanwhile wait.
  void complete_index() const;
  std::size_t find_slot(std::string_view name, std::uint64_t hash) const;

  const char* what_;
  std::uint64_t limit_;
  FlatArray<char> bytes_;
  FlatArray<std::uint64_t> ends_;
  mutable Index index_;  // mutable: it says nothing that the names do not say
};

}  // namespace crowdfold
