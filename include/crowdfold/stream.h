// Labels as they come: one event at a time, in any order between tasks. A task is open until it closes;
// from then on it counts for its workers. Labels may be taken back and truths may come late: a closed
// task is judged again, its old contribution leaves the workers' counts and the new one enters. A task
// that is reopened counts for nobody until it closes again: by its next label that meets the stop rule.
//
// At any time, the counts of all workers are the sum over the closed tasks with their present estimates.
//
// Everything is kept in a store (see open_store). Workers, open tasks and the changes since the last
// commit() are in memory. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "crowdfold/live.h"
#include "crowdfold/run_context.h"
#include "crowdfold/worker_state.h"

namespace crowdfold {

// When a task closes. A number that is 0 sets no condition.
struct StopRule {
  std::uint32_t labels_per_task = 0;  // with this many labels
  double confidence = 0;              // with an answer this probable, and at least min_labels labels
  std::uint32_t min_labels = 3;
  std::uint32_t max_labels = 0;  // with this many labels, however uncertain
};

// The options of a state; a store remembers them. A stream judges as the method `live` does.
struct StreamConfig : LiveOptions {
  bool forget_closed = false;        // labels of closed tasks are not kept
  std::vector<std::string> classes;  // the only ones allowed; empty: every label makes its class

  bool operator==(const StreamConfig&) const = default;
};

struct StreamEvent {
  enum class Kind { label, retract, truth, close, reopen, summary };
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
  std::string_view reason;  // why it closed: labels, confidence, max_labels, truth, event, end
};

// An event that is refused.
struct Refusal {
  std::size_t event = 0;  // its place among those asked about
  std::string why;
};

struct WorkerSummary {
  std::string_view worker;
  WorkerCounts counts;
  double quality = 0;
  Interval interval;
};

struct StreamTotals {
  std::uint64_t events = 0;  // consumed so far, by this state
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
  // The event was refused; nothing changed.
  std::function<void(const StreamEvent&, const std::string& why)> on_refusal = {};
  // An event asked for the totals.
  std::function<void(const StreamTotals&)> on_summary = {};
};

class StreamStore;
// A database file (SQLite, see docs/stream.md), made for its owner alone if it is not there; an empty
// path: in memory.
// overrides(config) edits the defaults of a new store. On an old one it must set the options that the
// store was made with: Error(usage) otherwise. Error(io) or (data) if another program writes to the
// file, or it is damaged, foreign or of another version.
std::shared_ptr<StreamStore> open_store(const std::string& path,
                                        const std::function<void(StreamConfig&)>& overrides = {});
// An existing store as it is now, also while another program writes to it. Changing it is Error(usage).
// If nobody has it open, it needs no permission to write. Nothing in it is trusted: Error(data) for ids
// that are not there and numbers out of range, here or when they are read.
std::shared_ptr<StreamStore> open_store_to_read(const std::string& path);

// Copies a state to a new file, as it is at one moment, also while another program writes to it. The
// copy is checked as problems() does, and appears whole or not at all. Error(usage) if there is a file
// of that name, Error(data) if the state is damaged. Returns what the copy holds.
StreamTotals copy_state(const std::string& from, const std::string& to, const RunContext& context);

// An open task, and the expected gain from one more label.
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

  // Error(usage) for an event without a field that its kind needs.
  void consume(const StreamEvent& event) { consume(std::span(&event, 1)); }
  // One after the other. Where the store is slow, it fetches meanwhile what the later ones need. After
  // Error(data) for an event that met something damaged, those before it are in, and can be committed.
  void consume(std::span<const StreamEvent> events);
  // Which of these events would be refused if the others were consumed now, in their order. Changes
  // nothing. Error(usage) for an event without a field that its kind needs, and where labels of closed
  // tasks are forgotten: whether a task closes meanwhile depends on its answers.
  std::vector<Refusal> refusals(std::span<const StreamEvent> events);
  // Closes all open tasks.
  void close_all();
  // Judges all closed tasks again, with the present knowledge of workers.
  void rejudge();
  // Counts that a worker brings along: 0 ≤ correct ≤ seen, or Error(usage).
  void remember(std::string_view worker, const WorkerCounts& history);
  // Adds everything that another stream knows, as if both had been one. Tasks of both are judged again
  // with all their labels. Error(usage) if its options differ, with a half-life, or if it is this state.
  // Several can be merged before a commit(): all of them, or none.
  void merge(StreamStore& other);
  // Once this returns, the consumed events are on disk. After an Error(io) or (data), here or elsewhere
  // but as consume() says, the stream cannot go on: what is called then tells the first reason again.
  // Open a new one on the store, which has all that was committed.
  void commit();

  const StreamConfig& config() const;
  StreamTotals totals() const;
  std::vector<WorkerSummary> workers() const;
  // Whether most labels of closed tasks are by workers who give one label and no other, as labelling
  // functions do. Answers may then be worse than a majority vote. False where there are very many
  // workers.
  bool one_label_prevails() const;
  // What looks wrong about the names of the classes that came so far, in sentences for people.
  std::vector<std::string> notes() const;
  // body(answer) for every task, in the order in which they came.
  void for_answers(const std::function<void(const TaskUpdate&)>& body);
  // The same for one task. False if there is none of that name.
  bool find_answer(std::string_view task, const std::function<void(const TaskUpdate&)>& body);
  // Open tasks by expected gain, the largest first.
  std::vector<OpenTask> next_tasks(std::size_t most) const;
  // The same for one worker: by what is known of their confusion, without tasks that they labelled. One
  // who is not known yet is judged by the prior.
  std::vector<OpenTask> next_tasks(std::size_t most, std::string_view worker) const;
  // Contradictions in the store, in words; none unless it is damaged.
  std::vector<std::string> problems();

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace crowdfold
