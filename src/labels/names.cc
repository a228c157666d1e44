#include "crowdfold/names.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <bit>

#include "crowdfold/error.h"
#include "labels/name_key.h"

namespace crowdfold {
namespace {

constexpr std::size_t kMinSlots = 16;
constexpr std::uint64_t kLowHalf = 0xFFFF'FFFF;

std::size_t slots_for(std::size_t names) {
  return std::bit_ceil(std::max(kMinSlots, names + names / 3 + 1));
}

}  // namespace

NameTable::Index::Index(const Index& other) {
  if (!other.complete.load(std::memory_order_acquire)) return;  // the copy builds its own
  slots = other.slots;
  complete.store(true, std::memory_order_relaxed);
}

NameTable::Index::Index(Index&& other) noexcept
    : slots(std::exchange(other.slots, {})), complete(other.complete.exchange(false)) {}

NameTable::Index& NameTable::Index::operator=(Index other) noexcept {
  slots = std::move(other.slots);
  complete.store(other.complete);
  return *this;
}

NameTable::NameTable(const char* what, std::uint64_t limit) : what_(what), limit_(limit) {}

NameTable::NameTable(const char* what, std::uint64_t limit, FlatArray<char> bytes,
                     FlatArray<std::uint64_t> ends)
    : what_(what), limit_(limit), bytes_(std::move(bytes)), ends_(std::move(ends)) {}

std::uint64_t hash_long_name(std::string_view name) { return XXH3_64bits(name.data(), name.size()); }

std::uint64_t NameTable::hash(std::string_view name) { return hash_name(name); }

std::uint32_t NameTable::intern(std::string_view name, std::uint64_t hash) {
  const bool complete = index_.complete.load(std::memory_order_relaxed);
  if (!complete || (ends_.size() + 1) * 4 > index_.slots.size() * 3)
    rebuild_index(slots_for(std::max(2 * ends_.size(), ends_.capacity())));
  std::uint64_t& slot = index_.slots[find_slot(name, hash)];
  if (slot != 0) return static_cast<std::uint32_t>(slot & kLowHalf) - 1;
  const std::uint32_t id = add(name);
  slot = (hash & ~kLowHalf) | ends_.size();
  return id;
}

std::uint32_t NameTable::append(std::string_view name) {
  index_.complete.store(false, std::memory_order_relaxed);
  return add(name);
}

std::uint32_t NameTable::add(std::string_view name) {
  if (ends_.size() >= limit_) {
    throw Error(ErrorCode::data,
                fmt::format("more than {} different {}: they do not fit", limit_, what_));
  }
  bytes_.insert(bytes_.end(), name.begin(), name.end());
  ends_.push_back(bytes_.size());
  return size() - 1;
}

std::optional<std::uint32_t> NameTable::find(std::string_view name) const {
  if (ends_.empty()) return std::nullopt;
  complete_index();
  const std::uint64_t found = index_.slots[find_slot(name, hash(name))];
  if (found == 0) return std::nullopt;
  return static_cast<std::uint32_t>(found & kLowHalf) - 1;
}

void NameTable::reserve(std::size_t names, std::size_t bytes) {
  ends_.reserve(names);
  bytes_.reserve(bytes);
}

void NameTable::drop_index() { index_ = {}; }

void NameTable::rebuild_index(std::size_t slots) const {
  std::vector<std::uint64_t> fresh(slots, 0);
  for (std::uint32_t id = 0; id < size(); ++id) {
    const std::uint64_t h = hash((*this)[id]);
    std::size_t slot = h & (slots - 1);
    while (fresh[slot] != 0) slot = (slot + 1) & (slots - 1);
    fresh[slot] = (h & ~kLowHalf) | (id + 1ULL);
  }
  index_.slots = std::move(fresh);
  index_.complete.store(true, std::memory_order_release);
}

void NameTable::complete_index() const {
  if (index_.complete.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(index_.building);
  if (!index_.complete.load(std::memory_order_relaxed)) rebuild_index(slots_for(ends_.size()));
}

// The slot that holds the name, or the free one where it belongs.
std::size_t NameTable::find_slot(std::string_view name, std::uint64_t hash) const {
  const std::size_t mask = index_.slots.size() - 1;
  for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    const std::uint64_t held = index_.slots[slot];
    if (held == 0) return slot;
    if (((held ^ hash) & ~kLowHalf) == 0 &&
        (*this)[static_cast<std::uint32_t>(held & kLowHalf) - 1] == name) {
      return slot;
    }
  }
}

}  // namespace crowdfold
