// Threads: std::thread, and two shapes of parallel work. Both give every item to exactly one
// thread, rethrow the first exception (by item, so that it does not depend on timing), and leave
// no thread behind.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace crowdfold {

// Runs body(thread) for thread = 0 … threads - 1 at once; where the system has no thread left, this one
// runs the rest, one after another. body must not throw, nor wait for the others to begin.
template <class Body>
void run_on_threads(int threads, const Body& body) {
  std::vector<std::thread> others;
  others.reserve(static_cast<std::size_t>(std::max(1, threads)));
  int next = 1;
  try {
    for (; next < threads; ++next) others.emplace_back([&body, i = next] { body(i); });
  } catch (const std::system_error&) {
  }
  body(0);
  for (; next < threads; ++next) body(next);
  for (std::thread& other : others) other.join();
}

// body(item, thread) for every item in [0, items), in no particular order.
template <class Body>
void parallel_for(int threads, std::size_t items, const Body& body) {
  threads = static_cast<int>(
      std::clamp<std::size_t>(items, 1, static_cast<std::size_t>(std::max(1, threads))));
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::size_t failed_item = items;
  std::exception_ptr failure;
  run_on_threads(threads, [&](int thread) {
    for (std::size_t item; (item = next.fetch_add(1)) < items;) {
      try {
        body(item, thread);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (item < failed_item) {
          failed_item = item;
          failure = std::current_exception();
        }
        next = items;
      }
    }
  });
  if (failure) std::rethrow_exception(failure);
}

// Splits [0, items) into pieces of `grain` and calls body(begin, end, thread) for each.
template <class Body>
void parallel_ranges(int threads, std::size_t items, std::size_t grain, const Body& body) {
  parallel_for(threads, (items + grain - 1) / grain, [&](std::size_t piece, int thread) {
    body(piece * grain, std::min(items, (piece + 1) * grain), thread);
  });
}

// An ordered pipeline with one produce, one work and one consume step per item:
//   produce(item) -> bool   one thread at a time, in order; false at the end
//   work(item, thread)      in parallel
//   consume(item)           one thread at a time, in the order of produce
// At most `window` items are under way, so memory stays bounded. Item must be default constructible;
// items are reused, so buffers in them are too.
template <class Item, class Produce, class Work, class Consume>
void run_pipeline(int threads, std::size_t window, const Produce& produce, const Work& work,
                  const Consume& consume) {
  enum class Stage { free, working, ready };
  struct Slot {
    Item item;
    Stage stage = Stage::free;
    std::exception_ptr failure;  // of an earlier step; thrown when the item's turn comes
  };
  std::vector<Slot> slots(std::max<std::size_t>(window, 1));
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t produced = 0;
  std::size_t consumed = 0;
  bool producing = false;
  bool consuming = false;
  bool ended = false;
  std::exception_ptr failure;

  run_on_threads(std::max(1, threads), [&](int thread) {
    std::unique_lock lock(mutex);
    const auto guarded = [&](auto&& step) {
      std::exception_ptr thrown;
      lock.unlock();
      try {
        step();
      } catch (...) {
        thrown = std::current_exception();
      }
      lock.lock();
      changed.notify_all();
      return thrown;
    };
    while (!failure && !(ended && consumed == produced)) {
      Slot& oldest = slots[consumed % slots.size()];
      if (!consuming && consumed < produced && oldest.stage == Stage::ready) {
        consuming = true;
        failure = oldest.failure ? oldest.failure : guarded([&] { consume(oldest.item); });
        consuming = false;
        oldest.stage = Stage::free;
        ++consumed;
        changed.notify_all();
      } else if (!producing && !ended && produced - consumed < slots.size()) {
        producing = true;
        Slot& slot = slots[produced % slots.size()];
        bool more = false;
        slot.failure = guarded([&] { more = produce(slot.item); });
        producing = false;
        ended = !more;
        if (!more && !slot.failure) continue;
        ++produced;
        slot.stage = Stage::working;
        changed.notify_all();
        if (more) slot.failure = guarded([&] { work(slot.item, thread); });
        slot.stage = Stage::ready;
        changed.notify_all();
      } else {
        changed.wait(lock);
      }
    }
    changed.notify_all();
  });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace crowdfold
