#include "python_column.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>

#include "arrow_column.h"
#include "crowdfold/error.h"

namespace nb = nanobind;

namespace crowdfold::python {
namespace {

// Python objects of any type: texts by their bytes, the rest by str(). The ids of objects that were met
// are remembered by their address, in a table of fixed size where the newest stays: most columns hold
// few objects many times. Where they do not, the table is left alone.
class ObjectColumn final : public ValueColumn {
 public:
  ObjectColumn(const char* data, std::ptrdiff_t stride, std::uint64_t size)
      : data_(data), stride_(stride), size_(size) {
    met_.resize(std::bit_ceil(std::clamp<std::size_t>(2 * size, 16, kMostMet)));
    shift_ = 64 - std::countr_zero(met_.size());
  }

  std::uint64_t size() const override { return size_; }
  bool is_thread_bound() const override { return true; }  // by the interpreter's lock
  std::unique_ptr<ValueColumn> fresh_copy() const override {
    return std::make_unique<ObjectColumn>(data_, stride_, size_);
  }

  std::uint32_t id_at(std::uint64_t index, std::uint64_t row, ValueIds& ids) override {
    return id_of(object_at(index), row, ids);
  }

  void read(std::uint64_t begin, std::span<std::uint32_t> out, ValueIds& ids) override {
    const bool remembers = 4 * hits_ >= looks_;
    const std::uint64_t last = size_ - 1;
    for (std::size_t i = 0; i < out.size(); ++i) {
      PyObject* const object = object_at(begin + i);
      if (!remembers) {
        // Its memory is asked for in time.
        const char* const soon =
            reinterpret_cast<const char*>(object_at(std::min(last, begin + i + kAhead)));
        __builtin_prefetch(soon);
        __builtin_prefetch(soon + 64);
        out[i] = id_of(object, begin + i, ids);
        continue;
      }
      Met& met = met_[(reinterpret_cast<std::uint64_t>(object) >> 4) * 0x9E37'79B9'7F4A'7C15 >> shift_];
      if (met.object == object) {
        ++hits_;
      } else {
        met = {object, id_of(object, begin + i, ids)};
      }
      out[i] = met.id;
    }
    if (remembers && begin >= kTrial) looks_ += out.size();
    if (begin < kTrial) hits_ = 0;
  }

 private:
  static constexpr std::size_t kMostMet = 1 << 18;
  static constexpr std::size_t kAhead = 12;
  static constexpr std::uint64_t kTrial = 1 << 15;  // rows after which hits are counted

  struct Met {
    PyObject* object = nullptr;
    std::uint32_t id = ValueIds::kMissing;
  };

  PyObject* object_at(std::uint64_t index) const {
    PyObject* object = nullptr;
    std::memcpy(&object, data_ + static_cast<std::ptrdiff_t>(index) * stride_, sizeof object);
    return object;
  }

  static std::uint32_t id_of(PyObject* object, std::uint64_t row, ValueIds& ids) {
    if (object == nullptr || object == Py_None) return ValueIds::kMissing;
    if (PyUnicode_Check(object)) return id_of_text(object, row, ids);
    if (PyFloat_Check(object)) {
      const double value = PyFloat_AsDouble(object);
      if (std::isnan(value)) return ValueIds::kMissing;
      if (value == std::floor(value) && std::abs(value) < 1e15)
        return ids.intern(fmt::format("{}", static_cast<std::int64_t>(value)), row);
    }
    const nb::str type = nb::type_name(reinterpret_cast<PyObject*>(Py_TYPE(object)));
    const std::string_view type_name = type.c_str();
    if (type_name.ends_with("NAType") || type_name.ends_with("NaTType")) return ValueIds::kMissing;
    const nb::object text = nb::steal(PyObject_Str(object));
    if (!text.is_valid()) throw nb::python_error();
    return id_of_text(text.ptr(), row, ids);
  }

  static std::uint32_t id_of_text(PyObject* object, std::uint64_t row, ValueIds& ids) {
    Py_ssize_t size = 0;
    const char* const bytes = PyUnicode_AsUTF8AndSize(object, &size);
    if (bytes == nullptr) throw nb::python_error();
    if (size == 0) return ValueIds::kMissing;
    return ids.intern_recent({bytes, static_cast<std::size_t>(size)}, row);
  }

  const char* data_;
  std::ptrdiff_t stride_;
  std::uint64_t size_;
  std::vector<Met> met_;
  int shift_ = 0;
  std::uint64_t looks_ = 0;
  std::uint64_t hits_ = 0;
};

// Releases what it holds under the interpreter's lock.
template <class T>
std::shared_ptr<T> held(T&& value) {
  return {new T(std::forward<T>(value)), [](T* owned) {
            const nb::gil_scoped_acquire lock;
            delete owned;
          }};
}

class Buffer {
 public:
  Buffer(nb::handle object, const std::string& name) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_STRIDED_RO | PyBUF_FORMAT) != 0) {
      PyErr_Clear();
      throw Error(ErrorCode::data, fmt::format("column '{}' is not a column of values", name));
    }
    if (view_.ndim != 1) {
      PyBuffer_Release(&view_);
      throw Error(ErrorCode::data,
                  fmt::format("column '{}' has {} dimensions, not one", name, view_.ndim));
    }
  }
  ~Buffer() { PyBuffer_Release(&view_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  const char* data() const { return static_cast<const char*>(view_.buf); }
  std::ptrdiff_t stride() const { return view_.strides[0]; }
  std::uint64_t size() const { return static_cast<std::uint64_t>(view_.shape[0]); }

  // O for objects, otherwise as in Numbers; 0 for what is none of these.
  char type() const {
    std::string_view format = view_.format != nullptr ? view_.format : "B";
    if (!format.empty() && std::string_view("@=<").find(format[0]) != std::string_view::npos)
      format.remove_prefix(1);
    if (format.size() != 1) return 0;
    const auto of_size = [this](std::string_view types) {
      const auto power = std::countr_zero(static_cast<unsigned>(view_.itemsize));
      return types[static_cast<std::size_t>(power)];
    };
    switch (format[0]) {
      case 'b':
      case 'h':
      case 'i':
      case 'l':
      case 'q': return of_size("csil");
      case 'B':
      case 'H':
      case 'I':
      case 'L':
      case 'Q': return of_size("CSIL");
      case 'f': return 'f';
      case 'd': return 'g';
      case '?': return 'b';
      case 'O': return 'O';
      default: return 0;
    }
  }

 private:
  Py_buffer view_{};
};

Numbers numbers_of(const Buffer& buffer, char type) {
  Numbers numbers;
  numbers.type = type;
  numbers.data = buffer.data();
  numbers.stride = buffer.stride();
  numbers.size = buffer.size();
  return numbers;
}

struct BufferPair {
  std::shared_ptr<Buffer> first;
  std::shared_ptr<void> second;
};

std::shared_ptr<Buffer> buffer_of(nb::handle object, const std::string& name) {
  return {new Buffer(object, name), [](Buffer* owned) {
            const nb::gil_scoped_acquire lock;
            delete owned;
          }};
}

HeldColumn buffer_column(nb::handle object, const std::string& name) {
  std::shared_ptr<Buffer> buffer = buffer_of(object, name);
  const char type = buffer->type();
  if (type == 0) {
    throw Error(ErrorCode::data, fmt::format("column '{}' is of a type that is not understood: text, "
                                             "integers, booleans, floats and categories are",
                                             name));
  }
  std::unique_ptr<ValueColumn> column;
  if (type == 'O')
    column = std::make_unique<ObjectColumn>(buffer->data(), buffer->stride(), buffer->size());
  else
    column = number_column(numbers_of(*buffer, type));
  return {std::move(buffer), std::move(column)};
}

HeldColumn masked_column(nb::handle values, nb::handle mask, const std::string& name) {
  const auto buffers =
      std::make_shared<BufferPair>(BufferPair{buffer_of(values, name), buffer_of(mask, name)});
  const auto& bytes = *static_cast<const Buffer*>(buffers->second.get());
  Numbers numbers = numbers_of(*buffers->first, buffers->first->type());
  if (!Numbers::is_type(numbers.type) || bytes.size() != numbers.size)
    throw Error(ErrorCode::data, fmt::format("column '{}': values and mask do not fit", name));
  numbers.nulls.mask = bytes.data();
  numbers.nulls.mask_stride = bytes.stride();
  return {buffers, number_column(numbers)};
}

HeldColumn category_column(nb::handle codes, nb::handle values, const std::string& name) {
  HeldColumn categories = python_column(values, name);
  const auto buffers =
      std::make_shared<BufferPair>(BufferPair{buffer_of(codes, name), categories.memory});
  const Numbers numbers = numbers_of(*buffers->first, buffers->first->type());
  if (!Numbers::is_type(numbers.type))
    throw Error(ErrorCode::data, fmt::format("column '{}': codes of categories are no integers", name));
  return {buffers, dictionary_column({numbers}, std::move(categories.column))};
}

template <class Structure>
Owned<Structure> take(nb::handle capsule, const char* kind) {
  auto* const found = static_cast<Structure*>(PyCapsule_GetPointer(capsule.ptr(), kind));
  if (found == nullptr) throw nb::python_error();
  return Owned<Structure>(*found);
}

struct ArrowChunks {
  Owned<ArrowSchema> schema;
  std::vector<Owned<ArrowArray>> arrays;
};

HeldColumn arrow_chunks(ArrowChunks chunks, const std::string& name) {
  auto memory = held(std::move(chunks));
  std::vector<std::unique_ptr<ValueColumn>> columns;
  std::vector<const ArrowArray*> arrays;
  for (const Owned<ArrowArray>& array : memory->arrays) arrays.push_back(&*array);
  if (auto column = shared_dictionary_column(*memory->schema, arrays, name))
    return {memory, std::move(column)};
  for (const ArrowArray* array : arrays) columns.push_back(arrow_column(*memory->schema, *array, name));
  if (columns.size() == 1) return {memory, std::move(columns[0])};
  return {memory, chunked_column(std::move(columns))};
}

}  // namespace

HeldColumn python_column(nb::handle given, const std::string& name) {
  if (nb::isinstance<nb::tuple>(given)) {
    const auto parts = nb::cast<nb::tuple>(given);
    if (parts.size() == 2) return masked_column(parts[0], parts[1], name);
    return category_column(parts[0], parts[1], name);
  }
  if (nb::hasattr(given, "__arrow_c_stream__")) {
    auto stream = take<ArrowArrayStream>(given.attr("__arrow_c_stream__")(), "arrow_array_stream");
    ArrowChunks chunks{schema_of(stream), {}};
    for (auto array = next_array(stream); !array.empty(); array = next_array(stream))
      chunks.arrays.push_back(std::move(array));
    return arrow_chunks(std::move(chunks), name);
  }
  if (nb::hasattr(given, "__arrow_c_array__")) {
    const auto pair = nb::cast<nb::tuple>(given.attr("__arrow_c_array__")());
    ArrowChunks chunks{take<ArrowSchema>(pair[0], "arrow_schema"), {}};
    chunks.arrays.push_back(take<ArrowArray>(pair[1], "arrow_array"));
    return arrow_chunks(std::move(chunks), name);
  }
  return buffer_column(given, name);
}

}  // namespace crowdfold::python
