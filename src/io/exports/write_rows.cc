// Plain rows of what an export held.
#include "crowdfold/exports.h"
#include "io/records.h"

namespace crowdfold {

void write_labels(const std::string& path, const Labels& labels, const WriteOptions& options) {
  RecordFile file(path, {"task", "worker", "label"}, options);
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const TaskLabels task = labels.task(t);
    for (std::size_t j = 0; j < task.size(); ++j) {
      file.add()
          .text(labels.tasks()[t])
          .text(labels.workers()[task.workers[j]])
          .text(labels.classes()[task.classes[j]])
          .end();
    }
  }
  file.commit();
}

void write_truths(const std::string& path,
                  const std::vector<std::pair<std::string, std::string>>& truths,
                  const WriteOptions& options) {
  RecordFile file(path, {"task", "label"}, options);
  for (const auto& [task, label] : truths) file.add().text(task).text(label).end();
  file.commit();
}

}  // namespace crowdfold
