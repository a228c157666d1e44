// Notices a task that comes back, at 8 bytes per task: hashes of the tasks that were closed, looked
// through for a pair whenever their number has doubled, and at the end. Two tasks with the same hash
// look like one that comes back; that costs time (the input is read in another way), never a wrong
// answer, and is expected once in billions of tasks.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

namespace crowdfold {

class TaskHistory {
 public:
  void add(std::uint64_t hash) {
    if (size_ == capacity_) grow();
    hashes_.get()[size_++] = hash;
    if (size_ == next_check_) check();
  }

  // Whether a task was found to have come back. Exact after finish(), late before.
  bool repeated() const { return repeated_; }
  void finish() { check(); }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };

  void grow();
  void check();

  // From malloc: growing moves pages, not bytes, and what is not used yet is not there yet.
  std::unique_ptr<std::uint64_t[], Free> hashes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  std::size_t next_check_ = 1 << 12;
  bool repeated_ = false;
};

}  // namespace crowdfold
