#include "interrupts.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace crowdfold::python {
namespace {

constexpr auto kLookEvery = std::chrono::milliseconds(30);
constexpr auto kPatience = std::chrono::milliseconds(60);  // with work that is cancelled

// One piece of work, and the thread that does it.
class Run {
 public:
  Run(const RunContext& context, bool shows_progress, Work work)
      : context_(context), work_(std::move(work)) {
    context_.cancelled = &cancelled_;
    if (shows_progress) {
      context_.progress = [this](const Progress& latest) {
        const std::lock_guard lock(mutex_);
        news_ = latest;
      };
    }
  }

  // The thread keeps the run alive.
  static void start(const std::shared_ptr<Run>& run) {
    run->thread_ = std::thread([run] { run->work(); });
  }
  void cancel() { cancelled_ = true; }
  bool wait(std::chrono::milliseconds most) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, most, [this] { return done_; });
  }
  void join() { thread_.join(); }
  std::optional<Progress> news() {
    const std::lock_guard lock(mutex_);
    return std::exchange(news_, std::nullopt);
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void work() {
    try {
      work_(context_);
    } catch (...) {
      failure_ = std::current_exception();
    }
    work_ = {};
    const std::lock_guard lock(mutex_);
    done_ = true;
    changed_.notify_one();
  }

  RunContext context_;
  Work work_;
  std::atomic<bool> cancelled_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::optional<Progress> news_;
};

// Runs that nobody waits for. Never destroyed: threads may outlive everything else.
struct Abandoned {
  std::mutex mutex;
  std::vector<std::shared_ptr<Run>> runs;

  static Abandoned& all() {
    static auto* const abandoned = new Abandoned;
    return *abandoned;
  }
  void add(std::shared_ptr<Run> run) {
    const std::lock_guard lock(mutex);
    const auto ended = [](const std::shared_ptr<Run>& other) {
      if (!other->wait(std::chrono::milliseconds(0))) return false;
      other->join();
      return true;
    };
    runs.erase(std::remove_if(runs.begin(), runs.end(), ended), runs.end());
    runs.push_back(std::move(run));
  }
  void join() {
    const std::lock_guard lock(mutex);
    for (const auto& run : runs) run->join();
    runs.clear();
  }
};

void run_watched(const RunContext& context, nb::handle progress, Work work, bool abandonable) {
  const auto run = std::make_shared<Run>(context, !progress.is_none(), std::move(work));
  std::optional<nb::python_error> raised;  // by a signal handler or by progress()
  const auto look = [&] {
    const std::optional<Progress> news = run->news();
    const nb::gil_scoped_acquire python;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (news) progress(news->stage, news->done, news->total);
    } catch (nb::python_error& error) {
      raised.emplace(std::move(error));
    }
  };
  {
    const nb::gil_scoped_release no_python;
    Run::start(run);
    while (!raised && !run->wait(kLookEvery)) look();
    if (raised) run->cancel();
    if (raised && abandonable && !run->wait(kPatience))
      Abandoned::all().add(run);
    else
      run->join();
  }
  if (raised) throw std::move(*raised);
  run->rethrow();
  if (const std::optional<Progress> news = run->news()) progress(news->stage, news->done, news->total);
}

}  // namespace

void run_native(const RunContext& context, nb::handle progress, Work work) {
  run_watched(context, progress, std::move(work), false);
}

void run_abandonable(const RunContext& context, nb::handle progress, Work work) {
  run_watched(context, progress, std::move(work), true);
}

void bind_interrupts(nb::module_& module) {
  module.def("join_abandoned", [] {
    const nb::gil_scoped_release no_python;
    Abandoned::all().join();
  });
  nb::module_::import_("atexit").attr("register")(module.attr("join_abandoned"));
}

}  // namespace crowdfold::python
