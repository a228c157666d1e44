#include "interrupts.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace nb = nanobind;

namespace crowdfold::python {
namespace {

constexpr auto kLookEvery = std::chrono::milliseconds(30);

}  // namespace

void run_native(RunContext context, nb::handle progress,
                const std::function<void(const RunContext&)>& body) {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::optional<Progress> news;
  std::exception_ptr failure;
  std::optional<nb::python_error> raised;  // by a signal handler or by progress()
  std::atomic<bool> cancelled = false;
  context.cancelled = &cancelled;
  if (!progress.is_none()) {
    context.progress = [&](const Progress& latest) {
      const std::lock_guard lock(mutex);
      news = latest;
    };
  }

  const auto look = [&] {
    std::optional<Progress> latest;
    {
      const std::lock_guard lock(mutex);
      std::swap(latest, news);
    }
    const nb::gil_scoped_acquire python;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (latest) progress(latest->stage, latest->done, latest->total);
    } catch (nb::python_error& error) {
      raised.emplace(std::move(error));
      cancelled = true;
    }
  };

  {
    const nb::gil_scoped_release no_python;
    std::thread work([&] {
      try {
        body(context);
      } catch (...) {
        failure = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      done = true;
      changed.notify_one();
    });
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, kLookEvery, [&] { return done; })) {
      lock.unlock();
      if (!raised) look();
      lock.lock();
    }
    lock.unlock();
    work.join();
  }
  if (raised) throw std::move(*raised);
  if (failure) std::rethrow_exception(failure);
  if (news) progress(news->stage, news->done, news->total);
}

}  // namespace crowdfold::python
