// Labels as they come: one event at a time, in any order between tasks. A task is open until it closes;
// from then on it counts for its workers. Labels may be taken back and truths may come late: a closed
// task is judged again, its old contribution leaves the workers' counts and the new one enters.
//
// At any time, the counts of all workers are the sum over the closed tasks with their present estimates.
//
// Everything is kept in a store (see open_store), of which the state in memory follows: workers, open
// tasks, and what changed since the last commit(). Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "crowdfold/worker_state.h"

namespace crowdfold {

// When a task is done. A number that is 0 does not count.
struct StopRule {
  std::uint32_t labels_per_task = 0;  // closes with so many labels
  double confidence = 0;              // closes when its answer is so probable, with at least min_labels;
  std::uint32_t min_labels = 3;
  std::uint32_t max_labels = 0;  // or with so many, however uncertain
};

// What a state is made with; a store remembers it.
struct StreamConfig {
  // The prior of worker quality, Beta(alpha, beta). Not an even one as elsewhere: by workers who are as
  // often right as wrong, two classes could not be told apart, and no task would ever close. Chosen by
  // `crowdfold budget` on four data sets: see docs/stream.md.
  double alpha = 4;
  double beta = 1.5;
  double half_life = 0;        // a worker's count is worth half after so many labels more; 0: for ever
  bool forget_closed = false;  // labels of closed tasks are not kept
  std::vector<std::string> classes;  // all there may be; empty: whatever comes

  bool operator==(const StreamConfig&) const = default;
};

struct StreamEvent {
  enum class Kind { label, retract, truth, close, summary };
  Kind kind = Kind::label;
  std::string_view task;    // not of a summary
  std::string_view worker;  // of a label, or of one that is taken back
  std::string_view label;   // or the truth
  std::string_view id;      // one seen before is ignored; empty: none
};

// Tells that a task changed its answer, or closed.
struct TaskUpdate {
  std::string_view task;
  std::string_view label;  // empty: no labels are left
  double confidence = 0;
  std::uint32_t labels = 0;
  bool closed = false;
  std::string_view reason;  // why it closed: labels, confidence, most, truth, event, end
};

struct WorkerSummary {
  std::string_view worker;
  WorkerCounts counts;
  double quality = 0;
  Interval interval;
};

struct StreamTotals {
  std::uint64_t events = 0;  // taken so far, by this state
  std::uint64_t repeated = 0;
  std::uint64_t refused = 0;
  std::uint64_t workers = 0;
  std::uint64_t classes = 0;
  std::uint64_t open_tasks = 0;
  std::uint64_t closed_tasks = 0;
  double hard_share = 0;  // of tasks, for everybody; learned from closed ones
};

struct StreamListener {
  std::function<void(const TaskUpdate&)> on_task = {};
  // A worker's interval fell below the line `alarm_below`.
  std::function<void(const WorkerSummary&)> on_alarm = {};
  // An event that cannot be; nothing changed.
  std::function<void(const StreamEvent&, const std::string& why)> on_refusal = {};
  // An event asked for it.
  std::function<void(const StreamTotals&)> on_summary = {};
};

class StreamStore;
// A database file (SQLite, see docs/stream.md), made if it is not there; an empty path: in memory.
// overrides(config) says what is wanted otherwise than it is: than the defaults for a new store.
// Error(usage) if an old one was made otherwise, Error(io) or (data) if another program writes to it, or
// it is damaged, foreign or of a newer version.
std::shared_ptr<StreamStore> open_store(const std::string& path,
                                        const std::function<void(StreamConfig&)>& overrides = {});
// One that is there, to look into it as it is now, also while another program writes to it. Whatever
// would change it is Error(usage).
std::shared_ptr<StreamStore> open_store_to_read(const std::string& path);

// A task that is open, and what one label more would bring.
struct OpenTask {
  std::string task;
  std::string label;
  double confidence = 0;
  std::uint32_t labels = 0;
  double gain = 0;  // expected rise of the probability that the answer is right
};

class LiveStream {
 public:
  LiveStream(std::shared_ptr<StreamStore> store, const StopRule& stop, StreamListener listener);
  ~LiveStream();

  // Warns of workers whose 95 % interval falls below.
  void set_alarm(double below);

  // Error(usage) for an event without what its kind needs.
  void take(const StreamEvent& event);
  // One after the other. Where the store is slow, what the later ones need is fetched meanwhile.
  void take(std::span<const StreamEvent> events);
  // Closes all open tasks.
  void close_all();
  // Judges all closed tasks again, with what is known of workers now.
  void rejudge();
  // Counts that a worker brings along.
  void remember(std::string_view worker, const WorkerCounts& history);
  // Takes over all that another stream knows, as if both had been one. Tasks of both are judged again
  // with all their labels. Error(usage) if it was made otherwise, or with a half-life.
  void merge(const StreamStore& other);
  // What was taken is on disk once this returns. After an Error(io) or (data), here or elsewhere, there
  // is no going on: what was committed is in the store, and a new stream finds it there.
  void commit();

  const StreamConfig& config() const;
  StreamTotals totals() const;
  std::vector<WorkerSummary> workers() const;
  // Open tasks by expected gain, the largest first.
  std::vector<OpenTask> next_tasks(std::size_t most) const;
  // What does not fit together, in words: nothing, unless the store is damaged.
  std::vector<std::string> problems();
  // The counts of all workers, by WorkerId, made anew of the labels of the closed tasks; see above.
  // Error(usage) where they were forgotten.
  std::vector<WorkerCounts> recount();

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace crowdfold
