// Where a stream keeps what it knows. Changes are in a transaction that commit() makes durable: after a
// crash, all or none of them are there. What was changed is seen at once by whoever asks the same store.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crowdfold/result.h"
#include "crowdfold/stream.h"
#include "stream/confusion.h"

namespace crowdfold {

// A worker's label on a task.
struct StreamLabel {
  WorkerId worker = 0;
  ClassId label = 0;
  // The worker's time when the label began to count: the number of labels that had, with this one. 0: it
  // does not count yet.
  std::uint64_t tick = 0;
};

// The probability of a class, in parts of a whole. They are whole numbers so that sums of them are
// exact, in any order: a task that leaves the counts leaves no trace.
inline constexpr double kWhole = 1024;
struct Credit {
  ClassId truth = 0;
  std::uint16_t share = 0;
};

struct StreamTask {
  std::int64_t id = 0;
  std::string name;
  std::vector<StreamLabel> labels;
  std::uint32_t num_labels = 0;  // also where labels were forgotten
  Estimate estimate;
  // What its labels count for, once it is closed.
  std::vector<Credit> credits;
  std::uint16_t hard = 0;  // the probability that its labels are by chance, in parts of a whole
  ClassId truth = kNoClass;
  bool closed = false;
  std::string reason;
};

// What is known of a worker: how often right, and by truth and label.
struct WorkerRecord {
  WorkerCounts counts;
  SparseConfusion confusion;
};
struct StreamWorker {
  WorkerRecord now;         // with the history
  WorkerRecord history;     // brought along from elsewhere, as it was then
  std::uint64_t ticks = 0;  // labels that count, or did
};

// Tasks whose labels are by chance, by their probabilities, of all that count.
struct HardTasks {
  double hard = 0;
  double all = 0;
};

// What an event that will come needs of the store.
struct Expected {
  std::string task;         // to be found; empty: it is known
  std::string event_id;     // to be added, unless it is empty
  bool confusions = false;  // of the task's workers, too
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
  // Without confusions.
  virtual void for_workers(
      const std::function<void(std::string_view name, const StreamWorker&)>& body) const = 0;
  // Adds them to a worker; to so many, which is quicker than one by one.
  virtual void fetch_confusion(WorkerId id, StreamWorker& worker) const = 0;
  virtual void fetch_confusions(std::size_t workers,
                                const std::function<StreamWorker&(WorkerId id)>& worker) const = 0;
  // The sum of the confusions of all workers; had nothing faded.
  virtual void for_crowd(
      const std::function<void(ClassId truth, ClassId label, double count)>& body) const = 0;
  virtual void for_open_tasks(const std::function<void(StreamTask)>& body) const = 0;
  virtual void for_closed_tasks(const std::function<void(StreamTask)>& body) const = 0;
  virtual std::optional<StreamTask> find_task(std::string_view name) const = 0;
  // What was asked for lately had to come from a disk: it is worth telling what will be asked for.
  virtual bool waits_for_disk() const = 0;
  // What will be asked for soon, in this order. Returns at once.
  virtual void read_ahead(std::vector<Expected> expected) const = 0;

  virtual void add_class(ClassId id, std::string_view name) = 0;
  virtual void add_worker(WorkerId id, std::string_view name) = 0;
  // Without confusions.
  virtual void put_worker(WorkerId id, const StreamWorker& worker) = 0;
  virtual void put_confusion(WorkerId id, SparseConfusion::Part now, const SparseConfusion& history) = 0;
  virtual void put_crowd(SparseConfusion::Part part) = 0;
  virtual void put_hard_tasks(const HardTasks& tasks) = 0;
  // The id of the task that is added next.
  virtual std::int64_t next_task() = 0;
  // A new task, and one that is there.
  virtual void add_task(const StreamTask& task) = 0;
  virtual void put_task(const StreamTask& task) = 0;
  // False if it was there already.
  virtual bool add_event(std::string_view id) = 0;
  // More of them, at the next commit().
  virtual void count(std::uint64_t events, std::uint64_t closed_tasks) = 0;

  virtual void commit() = 0;
  // Everything in it fits together; else what does not, in words.
  virtual std::vector<std::string> problems() const = 0;
};

}  // namespace crowdfold
