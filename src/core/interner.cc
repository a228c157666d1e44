#include "core/interner.h"

#include <fmt/format.h>

#include <algorithm>

#include "crowdfold/error.h"

namespace crowdfold {

Interner::Interner(const char* what, std::uint64_t limit) : what_(what), limit_(limit), slots_(64) {}

void Interner::clear() {
  std::fill(slots_.begin(), slots_.end(), Slot{});
  size_ = 0;
  short_names_ = 0;
  apart_ = NameTable(what_, limit_);
  apart_ids_.clear();
}

std::uint32_t Interner::next_id() {
  if (size_ >= limit_)
    throw Error(ErrorCode::data,
                fmt::format("more than {} different {}: they do not fit", limit_, what_));
  return size_++;
}

std::uint32_t Interner::insert(const NameKey& key) {
  const std::uint32_t id = next_id();
  if (2 * ++short_names_ > slots_.size()) {
    std::vector<Slot> larger(2 * slots_.size());
    for (const Slot& slot : slots_) {
      if (slot.size != kFree) put(larger, slot);
    }
    slots_ = std::move(larger);
  }
  put(slots_, {key.a, key.b, key.c, static_cast<std::uint32_t>(key.size), id});
  return id;
}

void Interner::put(std::vector<Slot>& slots, const Slot& slot) {
  const std::size_t mask = slots.size() - 1;
  std::size_t at = NameKey{slot.a, slot.b, slot.c, slot.size}.hash() & mask;
  while (slots[at].size != kFree) at = (at + 1) & mask;
  slots[at] = slot;
}

std::uint32_t Interner::intern_apart(std::string_view name) {
  const std::uint32_t at = apart_.intern(name);
  if (at == apart_ids_.size()) apart_ids_.push_back(next_id());
  return apart_ids_[at];
}

}  // namespace crowdfold
