// Interner: names -> dense ids in order of first appearance, for readers. Faster than NameTable on short
// names, and does not keep them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/name_key.h"
#include "crowdfold/names.h"

namespace crowdfold {

class Interner {
 public:
  // As in NameTable: one name more than `limit` is an Error(data) about `what`.
  Interner(const char* what, std::uint64_t limit);

  // A new name gets the id that size() was.
  std::uint32_t intern(std::string_view name) { return intern(name, hash_name(name)); }

  // The same in two steps, with other work in between while the cache line comes.
  void prefetch(std::uint64_t hash) const { __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]); }
  std::uint32_t intern(std::string_view name, std::uint64_t hash) {
    if (name.size() > NameKey::kMostBytes) [[unlikely]]
      return intern_apart(name);
    const NameKey key = NameKey::of(name);
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
      const Slot& held = slots_[slot];
      if (held.matches(key)) return held.id;
      if (held.size == kFree) return insert(key);
    }
  }

  // A short name given here is not the same as one given to intern(). Ids are of one series.
  std::uint32_t intern_apart(std::string_view name);

  std::uint32_t size() const { return size_; }

  // Forgets all names; memory stays.
  void clear();

 private:
  static constexpr std::uint32_t kFree = 0xFFFF'FFFF;

  struct alignas(32) Slot {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::uint64_t c = 0;
    std::uint32_t size = kFree;
    std::uint32_t id = 0;

    bool matches(const NameKey& key) const {
      return ((a ^ key.a) | (b ^ key.b) | (c ^ key.c) | (size ^ key.size)) == 0;
    }
  };

  std::uint32_t next_id();
  std::uint32_t insert(const NameKey& key);
  static void put(std::vector<Slot>& slots, const Slot& slot);

  const char* what_;
  std::uint64_t limit_;
  std::uint32_t size_ = 0;
  std::size_t short_names_ = 0;
  std::vector<Slot> slots_;  // open addressing, at most half full: probes would not be predicted
  NameTable apart_;          // long names, and those that are kept apart
  std::vector<std::uint32_t> apart_ids_;
};

}  // namespace crowdfold
