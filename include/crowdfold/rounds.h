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
// by one function, exchange(Archive&).
class Archive {
 public:
  virtual ~Archive() = default;
  virtual bool reads() const = 0;
  // Copies `size` bytes out of `data`, or into it. Error(data) where none are left.
  virtual void bytes(void* data, std::size_t size) = 0;

  // Both sides must have the same. Error(data) otherwise.
  void same(const std::string& expected);
  template <class T>
  void value(T& number) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes(&number, sizeof(T));
  }
  // A std::vector, FlatArray or std::string; its size, then its numbers.
  template <class Array>
  void array(Array& numbers) {
    std::uint64_t size = numbers.size();
    value(size);
    if (reads()) resize(numbers, size);
    if (size > 0) bytes(numbers.data(), size * sizeof(*numbers.data()));
  }
  // The same, of rows of one width: only those that are not all 0.
  template <class Array>
  void rows(Array& numbers, std::size_t width) {
    using Number = std::decay_t<decltype(*numbers.data())>;
    std::uint64_t size = numbers.size();
    value(size);
    if (reads()) resize(numbers, size);
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

 private:
  // Not more than there are bytes for, so that damaged sizes reserve no memory.
  virtual void require_size(std::uint64_t size) const = 0;
  template <class Array>
  void resize(Array& numbers, std::uint64_t size) {
    require_size(size);
    numbers.assign(static_cast<std::size_t>(size), typename Array::value_type{});
  }
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
  // The round's name, for progress.
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
