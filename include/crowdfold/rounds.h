// Methods in rounds: with what is known of the crowd now, judge every task alone; add up what the
// judgements say of the crowd; know more; repeat.
//
// All sums are of whole numbers, so a method gives the same bytes however the tasks are split into
// blocks, and whoever judges which block in what order: threads, a disk that is read block by block,
// machines of a cluster. run_rounds() is the loop for one machine.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "crowdfold/blocks.h"
#include "crowdfold/method.h"

namespace crowdfold {

// The numbers of a model or a summary, in an order of its own, to bytes or from them. Both are written
// by one function, exchange(Archive&), which also says what can be: bytes may be forged, with a checksum
// that fits.
class Archive {
 public:
  virtual ~Archive() = default;
  virtual bool reads() const = 0;
  // Copies `size` bytes out of `data`, or into it. Error(data) where none are left.
  virtual void bytes(void* data, std::size_t size) = 0;

  // Error(data) if bytes say what cannot be.
  void require(bool can_be) const;
  // Both sides must have the same. Error(data) otherwise.
  void same(const std::string& expected);
  template <class T>
  void value(T& number) {
    static_assert(std::is_trivially_copyable_v<T>);
    if constexpr (std::is_same_v<T, bool>) {
      auto bit = static_cast<std::uint8_t>(number);
      bytes(&bit, sizeof(bit));
      require(bit <= 1);
      number = bit == 1;
    } else {
      bytes(&number, sizeof(T));
    }
  }
  // A number from `least` to `most`; never one that is not a number.
  template <class T>
  void value(T& number, T least, T most) {
    value(number);
    require(number >= least && number <= most);
  }
  // A std::vector or FlatArray, as long as it is already.
  template <class Array>
  void array(Array& numbers) {
    list(numbers, numbers.size(), numbers.size());
  }
  // The same, or a std::string, of `least` to `most` numbers: their number, then they.
  template <class Array>
  void list(Array& numbers, std::uint64_t least, std::uint64_t most) {
    read_size(numbers, least, most);
    if (!numbers.empty()) bytes(numbers.data(), numbers.size() * sizeof(*numbers.data()));
  }
  // As array(), of rows of one width: only those that are not all 0.
  template <class Array>
  void rows(Array& numbers, std::size_t width) {
    write_rows(numbers, width, numbers.size());
  }
  // The same of an array that has this size, or is empty.
  template <class Array>
  void rows_if_any(Array& numbers, std::size_t width, std::uint64_t size) {
    write_rows(numbers, width, size);
    require(numbers.empty() || numbers.size() == size);
  }
  // All of them are numbers from `least` to `most`.
  template <class Array, class T>
  void require_all(const Array& numbers, T least, T most) const {
    if (!reads()) return;
    for (const auto number : numbers) require(number >= least && number <= most);
  }

 private:
  template <class Array>
  void read_size(Array& numbers, std::uint64_t least, std::uint64_t most) {
    std::uint64_t size = numbers.size();
    value(size);
    if (!reads()) return;
    require(size >= least && size <= most);
    // Not more than there are bytes for, so that damaged sizes reserve no memory.
    if (least < most) require(size <= left() / sizeof(typename Array::value_type));
    numbers.assign(static_cast<std::size_t>(size), typename Array::value_type{});
  }
  template <class Array>
  void write_rows(Array& numbers, std::size_t width, std::uint64_t most) {
    using Number = std::decay_t<decltype(*numbers.data())>;
    std::uint64_t size = numbers.size();
    value(size);
    if (reads()) {
      require(size == most || (size == 0 && numbers.empty()));
      numbers.assign(static_cast<std::size_t>(size), Number{});
    }
    const auto is_zero = [&](std::size_t row) {
      const Number* const at = numbers.data() + row * width;
      for (std::size_t i = 0; i < width; ++i) {
        if (at[i] != Number{}) return false;
      }
      return true;
    };
    const std::uint64_t all = width == 0 ? 0 : size / width;
    for (std::uint64_t row = 0;; ++row) {
      while (!reads() && row < all && is_zero(row)) ++row;
      value(row);
      if (row >= all) return;
      bytes(numbers.data() + row * width, width * sizeof(Number));
    }
  }
  // Bytes that are not read yet.
  virtual std::uint64_t left() const = 0;
};

// What tasks say of the crowd, under a model. Only workers who occur in them are in it.
class RoundSummary {
 public:
  virtual ~RoundSummary() = default;
  // Of the same round. Associative and commutative, and a new one adds nothing.
  virtual void add(const RoundSummary& other) = 0;
  virtual void exchange(Archive& archive) = 0;
};

// What is known of the crowd before a round. While a round lasts, nothing changes it: const members may
// be called by several threads.
class RoundModel {
 public:
  virtual ~RoundModel() = default;

  // --- a round

  virtual std::unique_ptr<RoundSummary> nothing() const = 0;
  // Adds what the block's tasks say.
  virtual void judge(const TaskBlock& block, RoundSummary& summary) const = 0;
  // Takes over what all tasks said, which it may change.
  virtual void learn(RoundSummary& summary, int threads) = 0;
  // Nothing more is to be learned.
  virtual bool is_done() const = 0;
  // So many rounds are left at most, the next one included; 0 where it is done.
  virtual std::uint64_t rounds_left() const = 0;
  // What all its rounds are called, for progress.
  virtual const char* stage() const = 0;
  // So many that they do not fill the memory.
  virtual int summaries_at_once() const { return 1 << 10; }

  // --- once it is done

  // By place in the block. `posteriors`: K for each task, or empty.
  virtual void answer(const TaskBlock& block, std::span<Estimate> estimates,
                      std::span<double> posteriors) const = 0;
  // Everything but answers: workers, confusion matrices if context.confusion, trace, doubt.
  virtual void report(const RunContext& context, Result& result) const = 0;

  // All that it knows, options apart.
  virtual void exchange(Archive& archive) = 0;
};

// What a model is made for.
struct RoundsInput {
  std::uint32_t workers = 0;
  std::uint32_t classes = 0;
  std::uint64_t labels = 0;  // for limits of memory
  std::uint64_t seed = 0;
  std::uint64_t max_memory = 0;  // as in RunContext
  // What is known of workers: Knowledge::workers and extras. Truths come with blocks.
  const Knowledge* given = nullptr;

  std::span<const WorkerCounts> history() const {
    return given != nullptr ? std::span<const WorkerCounts>(given->workers)
                            : std::span<const WorkerCounts>();
  }
  WorkerCounts history(WorkerId w) const { return w < history().size() ? history()[w] : WorkerCounts{}; }
};

// Round after round, until nothing more is to be learned.
void run_rounds(RoundModel& model, const TaskBlocks& blocks, const RunContext& context);
// The answers of a model that is done, in memory.
Result result_of_rounds(const RoundModel& model, const TaskBlocks& blocks, std::uint32_t classes,
                        const RunContext& context);

// As bytes, to go to other machines.
std::string to_bytes(RoundModel& model);
std::string to_bytes(RoundSummary& summary);
// Into a model of the same method, settings and input. Error(data) for bytes of another.
void from_bytes(std::string_view bytes, RoundModel& model);
// Into model.nothing() of the model that judged.
void from_bytes(std::string_view bytes, RoundSummary& summary);

}  // namespace crowdfold
