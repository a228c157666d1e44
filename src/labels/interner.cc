#include "labels/interner.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "crowdfold/error.h"

namespace crowdfold {

void Interner::clear() {
  size_ = 0;
  names_.clear();
  std::fill(small_.begin(), small_.end(), kNoId);
  numbers_.clear();
  apart_ = NameTable(what_, limit_);
  apart_ids_.clear();
}

std::uint32_t Interner::next_id() {
  if (size_ >= limit_)
    throw Error(ErrorCode::data,
                fmt::format("more than {} different {}: they do not fit", limit_, what_));
  return size_++;
}

std::uint32_t Interner::insert(NameKey key) {
  const std::uint32_t id = next_id();
  names_.insert({key, id});
  return id;
}

std::uint32_t Interner::find_or_insert(std::uint32_t number) {
  if (number < kSmallNumbers) {
    if (number >= small_.size()) small_.resize(std::bit_ceil(number + 1), kNoId);
    return small_[number] = next_id();
  }
  const NumberSlot* const slot = numbers_.find(number, hash_number(number));
  if (slot != nullptr) return slot->id;
  const std::uint32_t id = next_id();
  numbers_.insert({number, id});
  return id;
}

std::uint32_t Interner::intern_apart(std::string_view name) {
  const std::uint32_t at = apart_.intern(name);
  if (at == apart_ids_.size()) apart_ids_.push_back(next_id());
  return apart_ids_[at];
}

}  // namespace crowdfold
