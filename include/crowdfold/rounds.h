// Methods in rounds: with what is known of the crowd now, judge every task alone; add up what the
// judgements say of the crowd; know more; repeat.
//
// All sums are of whole numbers, so a method gives the same bytes however the tasks are split into
// blocks, and whoever judges which block in what order: threads, a disk that is read block by block,
// machines of a cluster. run_rounds() is the loop for one machine.
#pragma once

#include <algorithm>
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

// Some workers of a crowd, by their numbers there, ascending: those that a part of a model knows. It has
// them in this order, and calls them 0, 1, ...
struct CrowdPart {
  static constexpr std::size_t kNowhere = ~std::size_t{0};

  std::span<const WorkerId> workers = {};
  std::uint64_t crowd = 0;  // how many there are in all; 0: the part is the whole crowd

  bool is_all() const { return crowd == 0; }
  std::uint64_t number(std::uint64_t place) const { return is_all() ? place : workers[place]; }
  std::size_t place(std::uint64_t number) const {
    if (is_all()) return number;
    const auto at = std::lower_bound(workers.begin(), workers.end(), number);
    return at == workers.end() || *at != number ? kNowhere
                                                : static_cast<std::size_t>(at - workers.begin());
  }
};

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
  // Numbers of workers: of each, so many rows of one width. Only rows that are not all 0.
  template <class Array>
  void rows(Array& numbers, std::size_t width, std::size_t per_worker = 1) {
    if (reads()) {
      read_rows(numbers, width, per_worker);
    } else {
      write_rows(numbers, width, per_worker);
    }
  }

  // The same as array(), of what is another in each part: all of them, one behind another.
  template <class Array>
  void arrays(Array& numbers) {
    if (!reads()) return array(numbers);
    numbers.clear();
    for (std::size_t source = 0; source < sources(); ++source) {
      read_from(source);
      Array some;
      array(some);
      numbers.insert(numbers.end(), some.begin(), some.end());
    }
    read_from_all();
  }

  // Bytes know workers by their numbers in the crowd; rows() are of these alone.
  void name_workers(const CrowdPart& part) { part_ = part; }
  const CrowdPart& part() const { return part_; }

 private:
  // Not more than there are bytes for, so that damaged sizes reserve no memory.
  virtual void require_size(std::uint64_t size) const = 0;
  // Parts of one model can be read at once: all say the same but for rows, which are read from one after
  // another.
  virtual std::size_t sources() const { return 1; }
  virtual void read_from(std::size_t /*source*/) {}
  virtual void read_from_all() {}
  virtual void skip(std::size_t /*size*/) {}

  template <class Array>
  void write_rows(const Array& numbers, std::size_t width, std::size_t per_worker) {
    using Number = std::decay_t<decltype(*numbers.data())>;
    const auto is_zero = [&](std::size_t row) {
      const Number* const at = numbers.data() + row * width;
      for (std::size_t i = 0; i < width; ++i) {
        if (at[i] != Number{}) return false;
      }
      return true;
    };
    std::uint64_t size = numbers.size();
    const std::uint64_t all = width == 0 ? 0 : size / width;
    if (!part_.is_all() && size > 0) size = part_.crowd * per_worker * width;
    value(size);
    for (std::uint64_t row = 0; row < all; ++row) {
      if (is_zero(row)) continue;
      std::uint64_t number = part_.number(row / per_worker) * per_worker + row % per_worker;
      value(number);
      bytes(const_cast<Number*>(numbers.data() + row * width), width * sizeof(Number));
    }
    std::uint64_t end = width == 0 ? 0 : size / width;
    value(end);
  }
  template <class Array>
  void read_rows(Array& numbers, std::size_t width, std::size_t per_worker) {
    using Number = std::decay_t<decltype(*numbers.data())>;
    std::uint64_t size = 0;
    value(size);
    const std::uint64_t all = width == 0 ? 0 : size / width;
    if (!part_.is_all() && size > 0) size = part_.workers.size() * per_worker * width;
    resize(numbers, size);
    for (std::size_t source = 0; source < sources(); ++source) {
      read_from(source);
      for (std::uint64_t row = 0;;) {
        value(row);
        if (row >= all) break;
        const std::size_t place = part_.place(row / per_worker);
        if (place == CrowdPart::kNowhere) {
          skip(width * sizeof(Number));
        } else {
          bytes(numbers.data() + (place * per_worker + row % per_worker) * width,
                width * sizeof(Number));
        }
      }
    }
    read_from_all();
  }
  template <class Array>
  void resize(Array& numbers, std::uint64_t size) {
    require_size(size);
    numbers.assign(static_cast<std::size_t>(size), typename Array::value_type{});
  }

  CrowdPart part_;
};

// Numbers of a fixed size that lie elsewhere, for Archive::rows().
template <class T>
struct NumbersInPlace {
  using value_type = T;
  std::span<T> numbers;

  T* data() const { return numbers.data(); }
  std::size_t size() const { return numbers.size(); }
  void assign(std::size_t size, T value);
};

[[noreturn]] void refuse_size();
template <class T>
void NumbersInPlace<T>::assign(std::size_t size, T value) {
  if (size != numbers.size()) refuse_size();
  std::fill(numbers.begin(), numbers.end(), value);
}

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
  // Of a part of a model: the workers of the whole crowd. 0: all are here.
  std::uint32_t crowd = 0;

  std::uint32_t all_workers() const { return crowd == 0 ? workers : crowd; }

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

// As bytes, to go to other machines. `part`: which workers are in it.
std::string to_bytes(RoundModel& model, const CrowdPart& part = {});
std::string to_bytes(RoundSummary& summary, const CrowdPart& part = {});
// Into a model of the same method, settings and input. Error(data) for bytes of another.
void from_bytes(std::string_view bytes, RoundModel& model);
// Into a part, from bytes that know its workers together.
void from_bytes(std::span<const std::string_view> parts, RoundModel& model, const CrowdPart& part);
// Into model.nothing() of the model that judged.
void from_bytes(std::string_view bytes, RoundSummary& summary);

}  // namespace crowdfold
