// The Arrow C data and C stream interfaces: structures that any library may hand over, and owners for
// them. https://arrow.apache.org/docs/format/CDataInterface.html
#pragma once

#include <cstdint>
#include <utility>

extern "C" {

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace crowdfold::python {

// Owns one of the three; moving is copying the structure and marking the old one as released.
template <class Structure>
class Owned {
 public:
  Owned() : held_{} {}
  explicit Owned(Structure& taken) : held_(taken) { taken.release = nullptr; }
  Owned(Owned&& other) noexcept : held_(other.held_) { other.held_.release = nullptr; }
  Owned& operator=(Owned&& other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~Owned() {
    if (held_.release != nullptr) held_.release(&held_);
  }

  Structure* operator->() { return &held_; }
  const Structure& operator*() const { return held_; }
  // Where a producer may put its structure.
  Structure* out() { return &held_; }
  bool empty() const { return held_.release == nullptr; }

 private:
  Structure held_;
};

}  // namespace crowdfold::python
