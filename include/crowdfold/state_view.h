// Looks at a state while a stream may be writing to it: sees one moment of it, waits for nobody, and
// reads no more than is asked for. Not thread-safe; there may be any number of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crowdfold/stream.h"

namespace crowdfold {

// A task as it stands.
struct ViewedTask {
  std::int64_t id = 0;  // grows in the order in which tasks came
  std::string task;
  std::string label;  // empty: no answer
  double confidence = 0;
  std::uint32_t labels = 0;
  bool closed = false;
  std::string reason;
  std::string truth;  // empty: not known
};

// A label of a task, and what it says for the task's answer.
struct ViewedLabel {
  std::string worker;
  std::string label;
  double log_odds = 0;  // by how much the answer's log-odds are higher with it than without
};
struct ViewedPosterior {
  std::string label;
  double probability = 0;
};
// As it would be judged now.
struct TaskStory {
  ViewedTask task;
  std::vector<ViewedLabel> labels;         // by worker
  std::vector<ViewedPosterior> posterior;  // of all classes, in the order in which they came
};

struct ViewedWorker {
  std::string worker;
  WorkerCounts counts;
  double quality = 0;
  Interval interval;
};
struct WorkerStory {
  ViewedWorker worker;
  struct Cell {
    std::string truth;
    std::string label;
    double count = 0;
  };
  std::vector<Cell> confusion;  // without zeros
};

enum class TaskOrder { came, confidence };
struct TaskQuery {
  std::optional<bool> closed = {};  // none: all
  TaskOrder order = TaskOrder::came;
  // Those behind this one, in the order.
  std::int64_t after_id = -1;
  double after_confidence = -1;
  std::size_t most = 100;
};

class StateView {
 public:
  // Error as of open_store_to_read(). Begins to look.
  explicit StateView(const std::string& path);
  ~StateView();

  // From now on it sees the present moment.
  void look_again();
  // The moment is over: call look_again() before the next question. A view that keeps its moment keeps
  // the state's log from shrinking.
  void rest();

  // Without what one run of a stream counts: repeated and refused events.
  StreamTotals totals();
  std::vector<ViewedTask> tasks(const TaskQuery& query);
  // The labels of these tasks, worker and label, without what they say.
  std::vector<std::vector<ViewedLabel>> labels(const std::vector<ViewedTask>& tasks);
  std::optional<TaskStory> find_task(std::string_view name);
  // Behind the first `from`, in the order in which they came.
  std::vector<ViewedWorker> workers(std::uint64_t from, std::size_t most);
  std::optional<WorkerStory> find_worker(std::string_view name);
  // As LiveStream::next_tasks() at this moment. Reads all open tasks, once in every moment.
  std::vector<OpenTask> next_tasks(std::size_t most);
  std::vector<OpenTask> next_tasks(std::size_t most, std::string_view worker);

 private:
  class Reader;
  std::unique_ptr<Reader> reader_;
};

}  // namespace crowdfold
