#include "labels/task_history.h"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <new>

namespace crowdfold {

void TaskHistory::grow() {
  capacity_ = std::max<std::size_t>(1 << 12, 2 * capacity_);
  void* larger = std::realloc(hashes_.get(), capacity_ * sizeof(std::uint64_t));
  if (larger == nullptr) throw std::bad_alloc();
  static_cast<void>(hashes_.release());
  hashes_.reset(static_cast<std::uint64_t*>(larger));
}

void TaskHistory::check() {
  if (size_ < 2) return;
  static const hwy::Sorter sort;  // chooses the machine's instructions once
  std::uint64_t* const begin = hashes_.get();
  sort(begin, size_, hwy::SortAscending());
  repeated_ = repeated_ || std::adjacent_find(begin, begin + size_) != begin + size_;
  next_check_ = 2 * size_;
}

}  // namespace crowdfold
