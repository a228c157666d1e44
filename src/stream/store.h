// Where a stream keeps what it knows: an SQLite database with a write-ahead log, so other programs may
// read it meanwhile. One thread uses a store at a time. Changes are in a transaction that commit() makes
// durable: after a crash, all or none of them are there. The same store shows changes at once.
//
// A state is a file that people pass around: nothing in it is trusted. What a function here gives has
// ids that are there and numbers in their range; else it is Error(data).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crowdfold/result.h"
#include "crowdfold/state_view.h"
#include "crowdfold/stream.h"
#include "methods/live/live_model.h"
#include "stream/sqlite.h"
#include "stream/state_file.h"

namespace crowdfold {

// A closed task is in the counts of the model.
struct StreamTask : LiveTask {
  std::int64_t id;
  std::string name;
  bool closed = false;
  std::string reason;             // why it closed
  std::uint64_t stored_hash = 0;  // of its row in the store
};

// A worker's counts, and how many labels began to count.
struct StreamWorker {
  WorkerCounts now;      // with the history
  WorkerCounts history;  // brought along from elsewhere; it fades as the others do
  std::uint64_t ticks;
};
// The same for confusions.
struct Confusions {
  SparseConfusion& now;
  SparseConfusion& history;
};

// How many workers and classes there are: ids are below.
struct KnownIds {
  std::uint64_t workers = kMaxWorkers;
  std::uint64_t classes = kMaxClasses;
};

// For the checksum (see row_hash.h), with all that is known of a worker, or of a row of P; 0 for
// nothing.
std::uint64_t hash_of(WorkerId id, const StreamWorker& worker, const SparseConfusion& now,
                      const SparseConfusion& history);
std::uint64_t hash_of_crowd(const SparseConfusion& row);

// The rows of the store that a coming event needs.
struct Expected {
  std::string task;         // to find; empty: it is in memory
  std::string event_id;     // to add, unless it is empty
  bool confusions = false;  // whether those of the task's workers are needed too
};

class ReadAhead;

class StreamStore {
 public:
  // To write. `overrides` changes the configuration that a new state gets; an old one must have the
  // same.
  StreamStore(const std::string& path, const std::function<void(StreamConfig&)>& overrides);
  // To read: sees this moment, also while another program writes. One that is just being made is waited
  // for.
  explicit StreamStore(const std::string& path);
  ~StreamStore();
  StreamStore(const StreamStore&) = delete;
  StreamStore& operator=(const StreamStore&) = delete;

  // A reader whose moment ended with commit() sees the present one.
  void look_again();
  // Whether both are one state.
  bool is_same(const StreamStore& other) const { return this == &other || file_.is_same(other.file_); }

  const StreamConfig& config() const { return config_; }
  std::uint64_t events() const { return events_; }
  std::uint64_t closed_tasks() const { return closed_tasks_; }
  HardTasks hard_tasks() const { return hard_tasks_; }

  // In order of their ids, which are 0, 1, 2, …
  void for_classes(const std::function<void(std::string_view name)>& body) const;
  void for_workers(const std::function<void(std::string_view name, const StreamWorker&)>& body) const;
  // Appends one worker's confusions to empty ones; or those of the first `workers`, in one query.
  void fetch_confusion(WorkerId id, const Confusions& to);
  void fetch_confusions(std::size_t workers, const std::function<Confusions(WorkerId id)>& to) const;
  // The sum of the confusions of all workers, as if nothing had faded.
  void for_crowd(const std::function<void(ClassId truth, ClassId label, double count)>& body) const;
  void for_open_tasks(const std::function<void(StreamTask)>& body) const;
  void for_closed_tasks(const std::function<void(StreamTask)>& body) const;
  void for_all_tasks(const std::function<void(StreamTask)>& body) const;
  std::optional<StreamTask> find_task(std::string_view name);
  // Some of them, in the order that is asked for.
  void for_tasks(const TaskQuery& query, const std::function<void(StreamTask)>& body) const;
  // How many there are.
  std::uint64_t tasks() const;
  std::uint64_t num_classes() const { return known_.classes; }
  // Of workers whose ids are `from` and above.
  void for_names_of_workers(std::uint64_t from,
                            const std::function<void(std::string_view name)>& body) const;
  std::optional<WorkerId> find_worker(std::string_view name);
  StreamWorker worker(WorkerId id);
  // Whether the latest lookups had to wait for a disk, so that read_ahead() pays.
  bool waits_for_disk();
  // Fetches in the background, in this order. Returns at once.
  void read_ahead(std::vector<Expected> expected);

  void add_class(ClassId id, std::string_view name);
  void add_worker(WorkerId id, std::string_view name);
  void put_worker(WorkerId id, const StreamWorker& worker);
  void put_confusion(WorkerId id, SparseConfusion::Part now, const SparseConfusion& history);
  void put_crowd(SparseConfusion::Part part);
  // The hash of a worker or of a row of P changed.
  void put_hash(std::uint64_t before, std::uint64_t now) { checksum_ += now - before; }
  void put_hard_tasks(const HardTasks& tasks);
  // The id for the next new task.
  std::int64_t next_task();
  // A new task, and one that is there.
  void add_task(StreamTask& task);
  void put_task(StreamTask& task);
  // False if it was there already.
  bool add_event(std::string_view id);
  bool has_event(std::string_view id);
  // Takes back what add_event() added.
  void remove_event(std::string_view id);
  // Adds to the totals, at the next commit(). Tasks that were reopened are closed no longer.
  void count(std::uint64_t events, std::int64_t closed_tasks);

  void commit();
  // Into an empty file that nobody has open: the state as of this moment.
  void copy_to(const std::string& path, const RunContext& context) const {
    database_.copy_to(path, context);
  }
  // What does not fit together, in words; empty: nothing is wrong.
  std::vector<std::string> problems() const;
  // Whether the rows are those that were written. States of version 3 do not tell: true.
  bool has_right_checksum() const;

  // Error(data): the state is damaged, `what` cannot be right.
  [[noreturn]] void damaged(const std::string& what) const;

 private:
  struct Statements;

  bool is_new() const;
  void begin_to_look();
  void create(const StreamConfig& config);
  // Error(data) if the database is not ours.
  void load();
  void require_version();
  void require_schema() const;
  void load_config();
  // From version 3 of the schema.
  void upgrade();
  void require_same(const StreamConfig& wanted) const;
  void tune();
  void put_totals();
  // A task that is looked for is about to change. A statement outside of a transaction would lock the
  // file and unlock it again.
  void begin_to_read();
  void begin();
  template <class Value>
  void put_config(std::string_view key, Value value);
  void write_columns(const StreamTask& task);
  StreamTask task_of(const Statement& statement) const;
  StreamWorker worker_of(const Statement& row, int column, std::uint64_t id) const;
  WorkerCounts history_of_version_3(const WorkerCounts& at_tick_0, std::uint64_t ticks) const;
  // Columns `column` and the next: a part of a worker's confusions.
  void read_part(const Statement& statement, int column, WorkerId id, const Confusions& to) const;
  // `closed`: which; none: all.
  void for_tasks(std::optional<bool> closed, const std::function<void(StreamTask)>& body) const;
  std::uint64_t hash_of_config() const;
  // The sum over all rows but those of the configuration.
  std::uint64_t sum_of_hashes() const;

  std::string path_;
  StateFile file_;  // before the database, and closed after it
  Database database_;
  std::int64_t version_ = 0;
  StreamConfig config_;
  KnownIds known_{0, 0};
  std::uint64_t checksum_ = 0;  // of all rows but those of the configuration
  std::uint64_t events_ = 0;
  std::uint64_t closed_tasks_ = 0;
  HardTasks hard_tasks_;
  std::int64_t last_task_ = -1;  // not known yet
  // Being written.
  std::string credits_;
  std::string labels_;
  std::string counts_;
  std::unique_ptr<Statements> statements_;
  std::unique_ptr<ReadAhead> ahead_;
  int lookups_ = 0;  // since the disk was thought of
  std::uint64_t pages_from_disk_ = 0;
  bool in_transaction_ = false;
  bool read_only_ = false;
};

}  // namespace crowdfold
