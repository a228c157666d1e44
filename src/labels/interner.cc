#include "labels/interner.h"

#include <fmt/format.h>

#include "crowdfold/error.h"

namespace crowdfold {

void Interner::clear() {
  size_ = 0;
  names_.clear();
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

std::uint32_t Interner::insert(const NameKey& key) {
  const std::uint32_t id = next_id();
  names_.insert({key, id});
  return id;
}

std::uint32_t Interner::insert(std::uint32_t number) {
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
