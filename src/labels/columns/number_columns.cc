// Columns of numbers, and of codes that stand for values.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "crowdfold/columns.h"
#include "crowdfold/error.h"
#include "labels/columns/load_as.h"
#include "labels/columns/short_texts.h"

namespace crowdfold {
namespace {

// Numbers -> ids: a hash table of those that were met. By hand, as boost::unordered_flat_map is not
// there before Boost 1.81, and Debian 12 has 1.74.
class NumberIds {
 public:
  // kUnknown if it is new; then put() it.
  std::uint32_t find(std::uint64_t bits) const {
    for (std::size_t at = hash(bits) & mask();; at = (at + 1) & mask()) {
      if (slots_[at].id == kUnknown || slots_[at].bits == bits) return slots_[at].id;
    }
  }
  void put(std::uint64_t bits, std::uint32_t id) {
    if (2 * ++used_ > slots_.size()) {
      const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
      for (const Slot& slot : old) {
        if (slot.id != kUnknown) place(slot);
      }
    }
    place({bits, id});
  }

 private:
  struct Slot {
    std::uint64_t bits = 0;
    std::uint32_t id = kUnknown;
  };

  static std::uint64_t hash(std::uint64_t bits) {
    bits *= 0x9E37'79B9'7F4A'7C15;
    return bits ^ bits >> 32;
  }
  std::size_t mask() const { return slots_.size() - 1; }
  void place(const Slot& slot) {
    std::size_t at = hash(slot.bits) & mask();
    while (slots_[at].id != kUnknown) at = (at + 1) & mask();
    slots_[at] = slot;
  }

  std::vector<Slot> slots_ = std::vector<Slot>(64);
  std::size_t used_ = 0;
};

// Calls body with a getter of the numbers' own type.
template <class Body>
auto with_getter(const Numbers& n, const Body& body) {
  const auto typed = [&]<class T>(T) {
    if (n.stride == sizeof(T)) {  // so that loops over them can go by vectors
      return body([data = n.data](std::uint64_t i) { return load_as<T>(data + i * sizeof(T)); });
    }
    return body([data = n.data, stride = n.stride](std::uint64_t i) {
      return load_as<T>(data + static_cast<std::ptrdiff_t>(i) * stride);
    });
  };
  switch (n.type) {
    case 'c': return typed(std::int8_t{});
    case 'C': return typed(std::uint8_t{});
    case 's': return typed(std::int16_t{});
    case 'S': return typed(std::uint16_t{});
    case 'i': return typed(std::int32_t{});
    case 'I': return typed(std::uint32_t{});
    case 'l': return typed(std::int64_t{});
    case 'L': return typed(std::uint64_t{});
    case 'f': return typed(float{});
    case 'g': return typed(double{});
    default: break;
  }
  if (n.stride == 0) {
    return body([bits = reinterpret_cast<const std::uint8_t*>(n.data), n](std::uint64_t i) {
      const std::uint64_t bit = i + static_cast<std::uint64_t>(n.bit_offset);
      return (bits[bit >> 3] >> (bit & 7) & 1) != 0;
    });
  }
  return body([data = n.data, stride = n.stride](std::uint64_t i) {
    return data[static_cast<std::ptrdiff_t>(i) * stride] != 0;
  });
}

std::string text_of(bool value) { return value ? "True" : "False"; }
// A whole number reads the same, be it a float or not.
std::string text_of(double value) {
  constexpr double kExact = 9007199254740992;  // 2^53
  if (value == std::floor(value) && std::abs(value) <= kExact)
    return fmt::format("{}", static_cast<std::int64_t>(value));
  return fmt::format("{}", value);
}
std::string text_of(float value) { return text_of(static_cast<double>(value)); }
std::string text_of(std::integral auto value) { return fmt::format("{}", value); }

template <class T>
std::uint64_t bits_of(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return std::bit_cast<std::uint64_t>(static_cast<double>(value) + 0.0);  // -0 becomes 0
  else
    return static_cast<std::uint64_t>(value);
}

class NumberColumn final : public ValueColumn {
 public:
  explicit NumberColumn(const Numbers& numbers) : numbers_(numbers) {}

  std::uint64_t size() const override { return numbers_.size; }
  bool is_cheap() const override { return true; }
  std::unique_ptr<ValueColumn> fresh_copy() const override {
    return std::make_unique<NumberColumn>(numbers_);
  }

  std::uint32_t id_at(std::uint64_t index, std::uint64_t row, ValueIds& ids) override {
    return with_getter(numbers_, [&](auto get) {
      return numbers_.nulls(index) ? ValueIds::kMissing : id_of(get(index), row, ids);
    });
  }

  void read(std::uint64_t begin, std::span<std::uint32_t> out, ValueIds& ids) override {
    with_getter(numbers_, [&](auto get) {
      const bool nulls = numbers_.nulls.any();
      for (std::size_t i = 0; i < out.size(); ++i) {
        const std::uint64_t row = begin + i;
        out[i] = nulls && numbers_.nulls(row) ? ValueIds::kMissing : id_of(get(row), row, ids);
      }
    });
  }

 private:
  template <class T>
  std::uint32_t id_of(T value, std::uint64_t row, ValueIds& ids) {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(value)) return ValueIds::kMissing;
    }
    const std::uint64_t bits = bits_of(value);
    if (bits == last_bits_ && last_id_ != kUnknown) return last_id_;
    std::uint32_t id = known_.find(bits);
    if (id == kUnknown) {
      id = ids.intern(text_of(value), row);
      known_.put(bits, id);
    }
    last_bits_ = bits;
    return last_id_ = id;
  }

  Numbers numbers_;
  NumberIds known_;
  std::uint64_t last_bits_ = 0;
  std::uint32_t last_id_ = kUnknown;
};

// Whether all of the next values are this one: most tasks have several labels, one after another.
template <class Get, class T>
bool repeats(const Get& get, std::uint64_t begin, T value) {
  constexpr std::uint64_t kValues = 16;
  T differs = 0;
  for (std::uint64_t i = 0; i < kValues; ++i) differs |= static_cast<T>(get(begin + i) ^ value);
  return differs == 0;
}

// With the sign: a negative code becomes a number beyond every dictionary.
template <class T>
std::uint64_t widen(T code) {
  return static_cast<std::uint64_t>(code);
}

// Codes, in several pieces that share one dictionary.
class DictionaryColumn final : public ValueColumn {
 public:
  DictionaryColumn(std::vector<Numbers> pieces, std::unique_ptr<ValueColumn> values)
      : pieces_(std::move(pieces)), values_(std::move(values)) {
    for (const Numbers& piece : pieces_) ends_.push_back(size() + piece.size);
  }

  std::uint64_t size() const override { return ends_.empty() ? 0 : ends_.back(); }
  bool is_thread_bound() const override { return values_->is_thread_bound(); }
  bool is_cheap() const override { return true; }
  std::unique_ptr<ValueColumn> fresh_copy() const override {
    return std::make_unique<DictionaryColumn>(pieces_, values_->fresh_copy());
  }

  std::uint32_t id_at(std::uint64_t index, std::uint64_t row, ValueIds& ids) override {
    const Place at = place_of(index);
    return with_getter(pieces_[at.piece],
                       [&](auto get) { return look_up(pieces_[at.piece], get, at.index, row, ids); });
  }

  void read(std::uint64_t begin, std::span<std::uint32_t> out, ValueIds& ids) override {
    if (begin == 0) ids.reserve(std::min(values_->size(), size()));
    for (Place at = place_of(begin); !out.empty(); at = {at.piece + 1, 0}) {
      const Numbers& piece = pieces_[at.piece];
      const std::size_t count = std::min<std::size_t>(out.size(), piece.size - at.index);
      with_getter(piece, [&](auto get) { read(piece, get, at.index, begin, out.first(count), ids); });
      begin += count;
      out = out.subspan(count);
    }
  }

 private:
  static constexpr std::uint64_t kAhead = 8;  // values whose names are likely to be looked up soon

  struct Place {
    std::size_t piece;
    std::uint64_t index;
  };
  Place place_of(std::uint64_t index) const {
    const auto piece =
        static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), index) - ends_.begin());
    return {piece, index - (piece == 0 ? 0 : ends_[piece - 1])};
  }

  template <class Get>
  void read(const Numbers& piece, const Get& get, std::uint64_t index, std::uint64_t row,
            std::span<std::uint32_t> out, ValueIds& ids) {
    if (piece.nulls.any()) {
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = look_up(piece, get, index + i, row + i, ids);
      return;
    }
    if (!expects_new_ && (read_same(get, index, out) || read_known(get, index, out))) return;
    expects_new_ = false;
    for (std::size_t i = 0; i < out.size();) {
      const auto code = get(index + i);
      const std::uint64_t place = widen(code);
      std::uint32_t id = place < id_of_.size() ? id_of_[place] : kUnknown;
      if (id == kUnknown) {
        id = look_up(piece, get, index + i, row + i, ids);
        expects_new_ = true;
      }
      const std::size_t first = i++;
      if constexpr (std::is_integral_v<decltype(code)>) {
        while (i + 16 <= out.size() && repeats(get, index + i, code)) i += 16;
      }
      while (i < out.size() && get(index + i) == code) ++i;
      std::fill(out.begin() + static_cast<std::ptrdiff_t>(first),
                out.begin() + static_cast<std::ptrdiff_t>(i), id);
    }
  }

  // By vectors, for codes that are ids already, as they are where dictionaries are in the order of first
  // appearance. False if one is not.
  template <class Get>
  bool read_same(const Get& get, std::uint64_t begin, std::span<std::uint32_t> out) const {
    constexpr std::uint32_t kSign = 0x8000'0000;
    if (num_same_ == 0) return false;
    const std::uint32_t last = num_same_ - 1;
    std::uint32_t other = 0;  // with the highest bit: a code is beyond the last
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto code = get(begin + i);
      const auto narrow = static_cast<std::uint32_t>(widen(code));
      out[i] = narrow;
      other |= narrow | (last - narrow);
      if constexpr (sizeof(code) > sizeof narrow) other |= widen(code) >> 31 != 0 ? kSign : 0;
    }
    return (other & kSign) == 0;
  }

  // Without a branch, for codes that were all met before. False if one was not.
  template <class Get>
  bool read_known(const Get& get, std::uint64_t begin, std::span<std::uint32_t> out) const {
    if (id_of_.empty()) return false;
    const std::uint32_t* const table = id_of_.data();
    const std::uint64_t count = id_of_.size() - 1;
    std::uint32_t unknown = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::uint64_t code = widen(get(begin + i));
      const std::uint32_t id = table[code < count ? code : count];
      out[i] = id;
      unknown |= id == kUnknown ? 1U : 0U;
    }
    return unknown == 0;
  }

  template <class Get>
  std::uint32_t look_up(const Numbers& piece, const Get& get, std::uint64_t index, std::uint64_t row,
                        ValueIds& ids) {
    if (piece.nulls(index)) return ValueIds::kMissing;
    const auto code = get(index);
    if constexpr (std::is_signed_v<decltype(code)>) {
      if (code < 0) return ValueIds::kMissing;
    }
    const std::uint64_t place = widen(code);
    if (place >= values_->size()) {
      throw Error(ErrorCode::data, fmt::format("row {}: code {} in a dictionary of {} values", row,
                                               place, values_->size()));
    }
    if (id_of_.empty()) id_of_.assign(values_->size() + 1, kUnknown);
    if (id_of_[place] == kUnknown) {
      values_->prefetch(place + kAhead, ids);
      id_of_[place] = values_->id_at(place, row, ids);
      if (place == num_same_ && id_of_[place] == num_same_) ++num_same_;
    }
    return id_of_[place];
  }

  std::vector<Numbers> pieces_;
  std::vector<std::uint64_t> ends_;  // of pieces
  std::unique_ptr<ValueColumn> values_;
  std::vector<std::uint32_t> id_of_;  // by code, and one that is never known behind them; empty at first
  std::uint32_t num_same_ = 0;        // codes below this are ids
  bool expects_new_ = true;           // as the last rows had some
};
// 0, 1, 2 …
class CountingColumn final : public ValueColumn {
 public:
  explicit CountingColumn(std::uint64_t size) : size_(size) {}
  std::uint64_t size() const override { return size_; }
  std::unique_ptr<ValueColumn> fresh_copy() const override {
    return std::make_unique<CountingColumn>(size_);
  }
  std::uint32_t id_at(std::uint64_t index, std::uint64_t row, ValueIds& ids) override {
    return ids.intern(text_of(index), row);
  }

 private:
  std::uint64_t size_;
};

// One more than the largest of integers that are small enough to be codes of a dictionary of numbers,
// which is quicker than looking each of them up.
std::optional<std::uint64_t> dictionary_size(const Numbers& numbers) {
  constexpr std::uint64_t kLeast = 1 << 16;
  if (numbers.size == 0 || numbers.nulls.any()) return std::nullopt;
  return with_getter(numbers, [&](auto get) -> std::optional<std::uint64_t> {
    using T = decltype(get(0));
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      T least = get(0);
      T most = get(0);
      for (std::uint64_t i = 0; i < numbers.size; ++i) {
        least = std::min(least, get(i));
        most = std::max(most, get(i));
      }
      const std::uint64_t last = widen(most);
      if (std::cmp_greater_equal(least, 0) && last < std::max(kLeast, numbers.size)) return last + 1;
    }
    return std::nullopt;
  });
}
}  // namespace

bool Numbers::is_type(char type) {
  return std::string_view("cCsSiIlLfgb").find(type) != std::string_view::npos;
}

std::size_t Numbers::width_of(char type) {
  switch (type) {
    case 'c':
    case 'C': return 1;
    case 's':
    case 'S': return 2;
    case 'i':
    case 'I':
    case 'f': return 4;
    case 'l':
    case 'L':
    case 'g': return 8;
    default: return 0;
  }
}

std::unique_ptr<ValueColumn> number_column(const Numbers& numbers) {
  if (const std::optional<std::uint64_t> count = dictionary_size(numbers))
    return dictionary_column({numbers}, std::make_unique<CountingColumn>(*count));
  return std::make_unique<NumberColumn>(numbers);
}

std::unique_ptr<ValueColumn> dictionary_column(std::vector<Numbers> codes,
                                               std::unique_ptr<ValueColumn> values) {
  return std::make_unique<DictionaryColumn>(std::move(codes), std::move(values));
}
}  // namespace crowdfold
