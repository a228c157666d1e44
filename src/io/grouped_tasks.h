// Where tasks come from, one after another, with all their labels: rows that are grouped by task, or
// packed labels. Labels are not kept.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "crowdfold/packed.h"
#include "io/label_reader.h"
#include "labels/duplicates.h"
#include "labels/grouping/label_block.h"

namespace crowdfold {

class TaskSource {
 public:
  virtual ~TaskSource() = default;

  // `hash`: of the task's name; 0 where no task can come back.
  using OnTask =
      std::function<void(std::string_view task, std::uint64_t hash, const TaskLabels& labels)>;
  // before_block is called when the workers and classes of the tasks that follow are known. False from
  // it ends the reading.
  virtual void run(const std::function<bool()>& before_block, const OnTask& on_task) = 0;

  // Those met so far, or all that there are.
  virtual const NameTable& workers() const = 0;
  virtual const NameTable& classes() const = 0;
  // Complete after run().
  virtual RowCounts rows() const = 0;
  virtual std::vector<ReadReport> reports() const = 0;
  virtual std::string source() const = 0;  // how messages call it
  // Whether the values of the input are to be looked at: names of columns, abstentions that are not met.
  virtual bool has_rows() const = 0;
  virtual std::vector<std::string> header() const { return {}; }
  virtual std::vector<std::string> unmet_abstentions() const { return {}; }

  std::uint64_t tasks() const { return tasks_; }    // that were given out
  std::uint64_t labels() const { return labels_; }  // of these
  const std::vector<std::uint64_t>& class_counts() const { return class_counts_; }

 protected:
  void count(const TaskLabels& task);

 private:
  std::uint64_t tasks_ = 0;
  std::uint64_t labels_ = 0;
  std::vector<std::uint64_t> class_counts_;  // of labels
};

// Rows that are grouped by task: a task is given out when the next one begins. The caller notices one
// that comes back.
class GroupedTasks final : public TaskSource {
 public:
  // `bytes_per_task`: memory that the caller takes for each.
  GroupedTasks(const std::vector<std::string>& paths, const ReadOptions& options,
               const RunContext& context, std::uint64_t bytes_per_task, OpenedPipes pipes = {});

  void run(const std::function<bool()>& before_block, const OnTask& on_task) override;
  const NameTable& workers() const override { return ids_.workers; }
  const NameTable& classes() const override { return ids_.classes; }
  RowCounts rows() const override;
  std::vector<ReadReport> reports() const override {
    std::vector<ReadReport> reports = reader_.reports();
    if (!reports.empty()) reader_.append_twins(reports.back().notes);
    return reports;
  }
  std::string source() const override { return reader_.source(); }
  bool has_rows() const override { return true; }
  std::vector<std::string> header() const override { return reader_.header(); }
  std::vector<std::string> unmet_abstentions() const override { return reader_.unmet_abstentions(); }

  // Its first block may be looked at before run().
  LabelReader& reader() { return reader_; }

 private:
  void take(const LabelBlock& block, const OnTask& on_task);
  void close(const OnTask& on_task);
  // Of memory: the names of workers, all tasks, and the labels of the open task.
  std::uint64_t bytes() const;

  const RunContext& context_;
  std::uint64_t bytes_per_task_;
  LabelReader reader_;
  std::vector<BlockWriter> writers_;
  IdMap ids_;
  Deduplicator deduplicator_;
  bool stopped_ = false;

  // The task whose labels are coming in.
  bool open_ = false;
  std::string task_;
  std::uint64_t hash_ = 0;
  std::vector<WorkerId> open_workers_;
  std::vector<ClassId> open_classes_;
};

// Packed labels. All workers and classes are known from the start.
class PackedTasks final : public TaskSource {
 public:
  PackedTasks(const std::vector<std::string>& paths, const ReadOptions& options,
              const RunContext& context);

  void run(const std::function<bool()>& before_block, const OnTask& on_task) override;
  const NameTable& workers() const override { return labels_in_.workers(); }
  const NameTable& classes() const override { return labels_in_.classes(); }
  RowCounts rows() const override { return labels_in_.rows(); }
  std::vector<ReadReport> reports() const override;
  std::string source() const override { return labels_in_.name(); }
  bool has_rows() const override { return false; }

 private:
  const RunContext& context_;
  ReadOptions options_;
  PackedLabels labels_in_;
};

// Whichever the paths lead to.
std::unique_ptr<TaskSource> open_tasks(const std::vector<std::string>& paths, const ReadOptions& options,
                                       const RunContext& context, std::uint64_t bytes_per_task,
                                       OpenedPipes pipes = {});

}  // namespace crowdfold
