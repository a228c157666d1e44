#include "arrow_column.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "crowdfold/error.h"

namespace crowdfold::python {
namespace {

std::string type_name(std::string_view format) {
  if (format.starts_with("ts")) return "timestamp";
  if (format.starts_with("td")) return "date";
  if (format.starts_with("d:")) return "decimal";
  if (format.starts_with("+l") || format.starts_with("+L") || format.starts_with("+w")) return "list";
  if (format == "+s") return "struct";
  if (format == "z" || format == "Z" || format == "vz") return "binary";
  return fmt::format("'{}'", format);
}

Nulls nulls_of(const ArrowArray& array) {
  Nulls nulls;
  if (array.null_count == 0 || array.n_buffers == 0) return nulls;
  nulls.valid_bits = static_cast<const std::uint8_t*>(array.buffers[0]);
  nulls.bit_offset = array.offset;
  return nulls;
}

Numbers numbers_of(char type, const ArrowArray& array) {
  Numbers numbers;
  numbers.type = type;
  numbers.size = static_cast<std::uint64_t>(array.length);
  numbers.nulls = nulls_of(array);
  const auto* const data = static_cast<const char*>(array.buffers[1]);
  const std::size_t width = Numbers::width_of(type);
  numbers.stride = static_cast<std::ptrdiff_t>(width);
  numbers.data = width == 0 ? data : data + array.offset * static_cast<std::int64_t>(width);
  numbers.bit_offset = array.offset;
  return numbers;
}

}  // namespace

std::unique_ptr<ValueColumn> arrow_column(const ArrowSchema& schema, const ArrowArray& array,
                                          const std::string& name) {
  const std::string_view format = schema.format;
  const auto size = static_cast<std::uint64_t>(array.length);
  if (size == 0 || format == "n") return null_column(size);
  const Nulls nulls = nulls_of(array);
  if (format.size() == 1 && Numbers::is_type(format[0])) {
    const Numbers numbers = numbers_of(format[0], array);
    if (schema.dictionary == nullptr) return number_column(numbers);
    return dictionary_column({numbers}, arrow_column(*schema.dictionary, *array.dictionary, name));
  }
  if (format == "u") {
    return text_column(static_cast<const std::int32_t*>(array.buffers[1]) + array.offset,
                       static_cast<const char*>(array.buffers[2]), size, nulls);
  }
  if (format == "U") {
    return text_column(static_cast<const std::int64_t*>(array.buffers[1]) + array.offset,
                       static_cast<const char*>(array.buffers[2]), size, nulls);
  }
  if (format == "vu") {
    // The last buffer holds the lengths of those before it.
    const auto buffers = static_cast<std::size_t>(array.n_buffers);
    return view_column(static_cast<const char*>(array.buffers[1]) + 16 * array.offset,
                       {array.buffers + 2, buffers < 3 ? 0 : buffers - 3}, size, nulls);
  }
  throw Error(ErrorCode::data,
              fmt::format("column '{}' is of type {}: text, integers, booleans, floats and "
                          "dictionaries of these are understood",
                          name, type_name(format)));
}

std::unique_ptr<ValueColumn> shared_dictionary_column(const ArrowSchema& schema,
                                                      std::span<const ArrowArray* const> chunks,
                                                      const std::string& name) {
  if (schema.dictionary == nullptr || chunks.size() < 2) return nullptr;
  const ArrowArray& shared = *chunks[0]->dictionary;
  const auto is_shared = [&](const ArrowArray* chunk) {
    const ArrowArray& other = *chunk->dictionary;
    return other.length == shared.length && other.offset == shared.offset &&
           other.n_buffers == shared.n_buffers &&
           std::equal(other.buffers, other.buffers + other.n_buffers, shared.buffers);
  };
  if (!std::all_of(chunks.begin(), chunks.end(), is_shared)) return nullptr;
  std::vector<Numbers> codes;
  for (const ArrowArray* chunk : chunks) codes.push_back(numbers_of(schema.format[0], *chunk));
  return dictionary_column(std::move(codes), arrow_column(*schema.dictionary, shared, name));
}

Owned<ArrowSchema> schema_of(Owned<ArrowArrayStream>& stream) {
  Owned<ArrowSchema> schema;
  if (stream->get_schema(stream.out(), schema.out()) != 0) {
    const char* const why = stream->get_last_error(stream.out());
    throw Error(ErrorCode::io, fmt::format("Arrow stream: {}", why != nullptr ? why : "no schema"));
  }
  return schema;
}

Owned<ArrowArray> next_array(Owned<ArrowArrayStream>& stream) {
  Owned<ArrowArray> array;
  if (stream->get_next(stream.out(), array.out()) != 0) {
    const char* const why = stream->get_last_error(stream.out());
    throw Error(ErrorCode::io, fmt::format("Arrow stream: {}", why != nullptr ? why : "no data"));
  }
  return array;
}

std::size_t find_column(const ArrowSchema& table, const std::string& name) {
  std::string there;
  for (std::int64_t i = 0; i < table.n_children; ++i) {
    if (table.children[i]->name == name) return static_cast<std::size_t>(i);
    there += fmt::format("{}{}", i == 0 ? "" : ", ", table.children[i]->name);
  }
  throw Error(ErrorCode::usage, fmt::format("no column '{}'; there are: {}", name, there));
}

}  // namespace crowdfold::python
