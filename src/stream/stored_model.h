// The model of a live stream, kept in a store: fetches confusions when they are needed first, and writes
// what changed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "methods/live/live_model.h"
#include "stream/store.h"

namespace crowdfold {

class StoredModel {
 public:
  explicit StoredModel(std::shared_ptr<StreamStore> store);

  // A worker of the store; workers have the ids 0, 1, 2, …
  void add(const StreamWorker& worker);
  // What the store knows besides, once all workers were added.
  void load(std::uint32_t classes);
  // Writes what changed since the last time.
  void save();

  // Counts are always here; confusions only once they were fetched.
  const LiveModel& model() const { return model_; }
  const WorkerCounts& counts(WorkerId w) const { return model_.worker(w).counts; }
  // Whether the confusions of all workers are in memory.
  bool has_confusions() const { return has_confusions_; }

  // Brings a worker's confusion, or those of all workers of a task. Error(data) if they are damaged; the
  // functions below bring what they need.
  void fetch(WorkerId w);
  void fetch(const LiveTask& task) {
    if (has_confusions_) return;
    for (const LiveLabel& label : task.labels) fetch(label.worker);
  }

  // As in LiveModel.
  void expect(std::size_t workers, std::uint32_t classes);
  void judge(LiveTask& task);
  void write_posterior(const LiveTask& task, std::span<double> posterior);
  void enter(LiveTask& task);
  void enter(const LiveTask& task, LiveLabel& label);
  void leave(const LiveTask& task);
  void remember(WorkerId w, const WorkerRecord& history);
  void remember(const HardTasks& elsewhere);

  // Where another model differs, in words; or where its number of hard tasks does.
  std::vector<std::string> differences(const LiveModel& other,
                                       const std::function<std::string_view(WorkerId)>& name_of);
  std::vector<std::string> differences(const HardTasks& other) const;

 private:
  struct Stored {
    bool fetched = true;  // the confusion, and that of the history
    bool touched = false;
    std::optional<WorkerCounts> counts = {};  // in the store
    std::uint64_t hash = 0;                   // of what the store has, once it was fetched
    SparseConfusion history = {};             // brought along from elsewhere
  };

  std::uint64_t hash_of_worker(WorkerId w) const;
  void touch(WorkerId w);
  void touch_row(ClassId truth);
  void touch(const LiveTask& task);

  std::shared_ptr<StreamStore> store_;
  LiveModel model_;
  Weighing weighing_;
  std::vector<Stored> stored_;               // by WorkerId
  std::vector<std::uint64_t> crowd_hashes_;  // of the rows of P that the store has, by truth
  bool has_confusions_ = false;

  // Since the last save().
  std::vector<WorkerId> touched_workers_;
  std::vector<ClassId> touched_rows_;  // of P
  std::vector<bool> is_row_touched_;
  bool hard_touched_ = false;
};

// The model that the closed tasks of a store and the histories of its workers make.
LiveModel recounted(const StreamStore& store);

}  // namespace crowdfold
