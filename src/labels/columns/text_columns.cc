// Columns of texts, in Arrow's layouts.
#include <algorithm>
#include <array>

#include "crowdfold/columns.h"
#include "labels/columns/load_as.h"
#include "labels/columns/short_texts.h"

namespace crowdfold {
namespace {

// Texts, wherever they are: get(i) is a std::string_view.
template <class Get>
class TextColumn final : public ValueColumn {
 public:
  TextColumn(Get get, std::uint64_t size, const Nulls& nulls) : get_(get), size_(size), nulls_(nulls) {}

  std::uint64_t size() const override { return size_; }
  std::unique_ptr<ValueColumn> fresh_copy() const override {
    return std::make_unique<TextColumn>(get_, size_, nulls_);
  }

  std::uint32_t id_at(std::uint64_t index, std::uint64_t row, ValueIds& ids) override {
    const std::string_view text = nulls_(index) ? std::string_view() : get_(index);
    return text.empty() ? ValueIds::kMissing : ids.intern(text, row);
  }
  // By the dozen: names that are not at hand are hashed, and their places asked for, before they are
  // looked up.
  void read(std::uint64_t begin, std::span<std::uint32_t> out, ValueIds& ids) override {
    constexpr std::size_t kDozen = 32;
    std::array<std::uint64_t, kDozen> hashes;
    std::array<std::uint8_t, kDozen> wanted;
    ShortTexts& recent = ids.recent();
    const bool nulls = nulls_.any();
    const auto text_at = [&](std::uint64_t row) {
      return nulls && nulls_(row) ? std::string_view() : get_(row);
    };
    for (std::size_t first = 0; first < out.size(); first += kDozen) {
      const std::size_t count = std::min(kDozen, out.size() - first);
      std::size_t num_wanted = 0;
      std::string_view before = last_;
      for (std::size_t i = 0; i < count; ++i) {
        const std::string_view text = text_at(begin + first + i);
        const std::uint32_t id = text.empty() ? ValueIds::kMissing : recent.find(text);
        out[first + i] = id;
        if (id != kUnknown) continue;
        wanted[num_wanted++] = static_cast<std::uint8_t>(i);
        if (text == before) continue;
        before = text;
        hashes[i] = NameTable::hash(text);
        ids.names.prefetch(hashes[i]);
      }
      for (std::size_t j = 0; j < num_wanted; ++j) {
        const std::size_t i = wanted[j];
        const std::uint64_t row = begin + first + i;
        const std::string_view text = get_(row);
        if (text != last_) {
          last_ = text;
          last_id_ = ids.intern(text, hashes[i], row);
          recent.put(text, last_id_);
        }
        out[first + i] = last_id_;
      }
    }
  }
  void prefetch(std::uint64_t index, const ValueIds& ids) const override {
    if (index < size_) ids.names.prefetch(NameTable::hash(get_(index)));
  }

 private:
  Get get_;
  std::uint64_t size_;
  Nulls nulls_;
  // The last text that was not at hand: rows of one task mostly come one after another.
  std::string_view last_;
  std::uint32_t last_id_ = ValueIds::kMissing;
};

template <class Offset>
std::unique_ptr<ValueColumn> make_text_column(const Offset* offsets, const char* bytes,
                                              std::uint64_t size, const Nulls& nulls) {
  const auto get = [=](std::uint64_t i) {
    return std::string_view(bytes + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i]));
  };
  return std::make_unique<TextColumn<decltype(get)>>(get, size, nulls);
}
}  // namespace

std::unique_ptr<ValueColumn> text_column(const std::int32_t* offsets, const char* bytes,
                                         std::uint64_t size, const Nulls& nulls) {
  return make_text_column(offsets, bytes, size, nulls);
}

std::unique_ptr<ValueColumn> text_column(const std::int64_t* offsets, const char* bytes,
                                         std::uint64_t size, const Nulls& nulls) {
  return make_text_column(offsets, bytes, size, nulls);
}

std::unique_ptr<ValueColumn> view_column(const char* views, std::span<const void* const> buffers,
                                         std::uint64_t size, const Nulls& nulls) {
  constexpr std::int32_t kInline = 12;  // bytes that fit into the view itself
  const auto get = [=](std::uint64_t i) {
    const char* const view = views + 16 * i;
    const auto length = load_as<std::int32_t>(view);
    if (length <= kInline) return std::string_view(view + 4, static_cast<std::size_t>(length));
    const auto* const bytes =
        static_cast<const char*>(buffers[static_cast<std::size_t>(load_as<std::int32_t>(view + 8))]);
    return std::string_view(bytes + load_as<std::int32_t>(view + 12), static_cast<std::size_t>(length));
  };
  return std::make_unique<TextColumn<decltype(get)>>(get, size, nulls);
}
}  // namespace crowdfold
