// Interner: names -> dense ids in order of first appearance, for readers. Faster than NameTable on short
// names, and does not keep them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "crowdfold/names.h"
#include "labels/name_head.h"
#include "labels/name_key.h"

namespace crowdfold {

// A hash table with open addressing. It has Slot::kRoom slots or more for each one that is taken: few,
// and a second probe would be likely, and often mispredicted.
template <class Slot>
class SlotTable {
 public:
  void prefetch(std::uint64_t hash) const { __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]); }

  // nullptr if it is not there.
  template <class Key>
  const Slot* find(const Key& key, std::uint64_t hash) const {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
      if (slots_[at].matches(key)) return &slots_[at];
      if (slots_[at].free()) return nullptr;
    }
  }

  void insert(const Slot& slot) {
    if (Slot::kRoom * ++used_ > slots_.size()) {
      std::vector<Slot> larger(2 * slots_.size());
      for (const Slot& held : slots_) {
        if (!held.free()) put(larger, held);
      }
      slots_ = std::move(larger);
    }
    put(slots_, slot);
  }

  // Memory stays.
  void clear() {
    std::fill(slots_.begin(), slots_.end(), Slot{});
    used_ = 0;
  }

 private:
  static void put(std::vector<Slot>& slots, const Slot& slot) {
    const std::size_t mask = slots.size() - 1;
    std::size_t at = slot.hash() & mask;
    while (!slots[at].free()) at = (at + 1) & mask;
    slots[at] = slot;
  }

  std::vector<Slot> slots_ = std::vector<Slot>(64);
  std::size_t used_ = 0;
};

class Interner {
 public:
  // As in NameTable: one name more than `limit` is an Error(data) about `what`.
  Interner(const char* what, std::uint64_t limit) : what_(what), limit_(limit) {}

  // A new name gets the id that size() was.
  std::uint32_t intern(std::string_view name) { return intern(name, hash_name(name)); }

  // The same in two steps, with other work in between while the cache line comes.
  void prefetch(std::uint64_t hash) const { names_.prefetch(hash); }
  std::uint32_t intern(std::string_view name, std::uint64_t hash) {
    if (name.size() > NameKey::kMostBytes) [[unlikely]]
      return intern_apart(name);
    const NameKey key = NameKey::of(name);
    const NameSlot* const slot = names_.find(key, hash);
    return slot != nullptr ? slot->id : insert(key);
  }

  // The same for cut names. They must not be mixed with others.
  void prefetch(const CutName& name, std::uint64_t hash) const {
    if (name.number == kNoNumber) names_.prefetch(hash);
  }
  std::uint32_t intern(const CutName& name, std::uint64_t hash) {
    if (name.number != kNoNumber) return intern_number(name.number);
    return name.whole ? intern_apart(name.text) : intern(name.text, hash);
  }

  // Names that are known by numbers, which mix with the others. Most small numbers are counted up from
  // some beginning: ids by number then lie close together, and nothing is hashed or compared.
  std::uint32_t intern_number(std::uint32_t number) {
    const std::uint32_t id = number < small_.size() ? small_[number] : kNoId;
    return id != kNoId ? id : find_or_insert(number);
  }

  std::uint32_t size() const { return size_; }

  // Forgets all names; memory stays.
  void clear();

 private:
  struct alignas(32) NameSlot {
    NameSlot() = default;
    NameSlot(const NameKey& key, std::uint32_t number)
        : a(key.a), b(key.b), c(key.c), size(static_cast<std::uint32_t>(key.size)), id(number) {}

    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::uint64_t c = 0;
    std::uint32_t size = kFree;
    std::uint32_t id = 0;

    static constexpr std::size_t kRoom = 2;
    static constexpr std::uint32_t kFree = 0xFFFF'FFFF;
    bool free() const { return size == kFree; }
    bool matches(const NameKey& key) const {
      return ((a ^ key.a) | (b ^ key.b) | (c ^ key.c) | (size ^ key.size)) == 0;
    }
    std::uint64_t hash() const { return NameKey{a, b, c, size}.hash(); }
  };

  struct NumberSlot {
    std::uint32_t number = kNoNumber;
    std::uint32_t id = 0;

    static constexpr std::size_t kRoom = 4;
    bool free() const { return number == kNoNumber; }
    bool matches(std::uint32_t other) const { return number == other; }
    std::uint64_t hash() const { return hash_number(number); }
  };

  std::uint32_t next_id();
  std::uint32_t insert(NameKey key);  // by value: look-ups keep it in registers then
  std::uint32_t find_or_insert(std::uint32_t number);
  std::uint32_t intern_apart(std::string_view name);

  const char* what_;
  std::uint64_t limit_;
  std::uint32_t size_ = 0;
  SlotTable<NameSlot> names_;
  static constexpr std::uint32_t kNoId = 0xFFFF'FFFF;
  // Below this, numbers are small: the table takes up to a megabyte, which a core's own cache holds.
  static constexpr std::uint32_t kSmallNumbers = 1 << 18;
  std::vector<std::uint32_t> small_;  // ids by number, kNoId where there is none
  SlotTable<NumberSlot> numbers_;     // larger ones
  NameTable apart_;                   // long names, and whole ones among cut names
  std::vector<std::uint32_t> apart_ids_;
};

}  // namespace crowdfold
