// Where a stream keeps what it knows. Changes are in a transaction that commit() makes durable: after a
// crash, all or none of them are there. The same store shows changes at once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crowdfold/result.h"
#include "crowdfold/stream.h"
#include "methods/live/live_model.h"

namespace crowdfold {

// A closed task is in the counts of the model.
struct StreamTask : LiveTask {
  std::int64_t id = 0;
  std::string name;
  bool closed = false;
  std::string reason;  // why it closed
};

// A worker's counts, and how many labels began to count.
struct StreamWorker {
  WorkerCounts now;      // with the history
  WorkerCounts history;  // brought along from elsewhere, as it was at tick 0
  std::uint64_t ticks = 0;
};
// The same for confusions.
struct Confusions {
  SparseConfusion& now;
  SparseConfusion& history;
};

// The rows of the store that a coming event needs.
struct Expected {
  std::string task;         // to find; empty: it is in memory
  std::string event_id;     // to add, unless it is empty
  bool confusions = false;  // whether those of the task's workers are needed too
};

class StreamStore {
 public:
  virtual ~StreamStore() = default;

  virtual const StreamConfig& config() const = 0;
  virtual std::uint64_t events() const = 0;
  virtual std::uint64_t closed_tasks() const = 0;

  virtual HardTasks hard_tasks() const = 0;

  // In order of their ids, which are 0, 1, 2, …
  virtual void for_classes(const std::function<void(std::string_view name)>& body) const = 0;
  virtual void for_workers(
      const std::function<void(std::string_view name, const StreamWorker&)>& body) const = 0;
  // Appends one worker's confusions to empty ones; or those of the first `workers`, in one query.
  virtual void fetch_confusion(WorkerId id, const Confusions& to) const = 0;
  virtual void fetch_confusions(std::size_t workers,
                                const std::function<Confusions(WorkerId id)>& to) const = 0;
  // The sum of the confusions of all workers, as if nothing had faded.
  virtual void for_crowd(
      const std::function<void(ClassId truth, ClassId label, double count)>& body) const = 0;
  virtual void for_open_tasks(const std::function<void(StreamTask)>& body) const = 0;
  virtual void for_closed_tasks(const std::function<void(StreamTask)>& body) const = 0;
  virtual std::optional<StreamTask> find_task(std::string_view name) const = 0;
  // Whether the latest lookups had to wait for a disk, so that read_ahead() pays.
  virtual bool waits_for_disk() const = 0;
  // Fetches in the background, in this order. Returns at once.
  virtual void read_ahead(std::vector<Expected> expected) const = 0;

  virtual void add_class(ClassId id, std::string_view name) = 0;
  virtual void add_worker(WorkerId id, std::string_view name) = 0;
  virtual void put_worker(WorkerId id, const StreamWorker& worker) = 0;
  virtual void put_confusion(WorkerId id, SparseConfusion::Part now, const SparseConfusion& history) = 0;
  virtual void put_crowd(SparseConfusion::Part part) = 0;
  virtual void put_hard_tasks(const HardTasks& tasks) = 0;
  // The id for the next new task.
  virtual std::int64_t next_task() = 0;
  // A new task, and one that is there.
  virtual void add_task(const StreamTask& task) = 0;
  virtual void put_task(const StreamTask& task) = 0;
  // False if it was there already.
  virtual bool add_event(std::string_view id) = 0;
  // Adds to the totals, at the next commit().
  virtual void count(std::uint64_t events, std::uint64_t closed_tasks) = 0;

  virtual void commit() = 0;
  // What does not fit together, in words; empty: nothing is wrong.
  virtual std::vector<std::string> problems() const = 0;
};

}  // namespace crowdfold
