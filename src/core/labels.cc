#include "crowdfold/labels.h"

#include "core/ordered_grouper.h"

namespace crowdfold {

Labels::Labels()
    : tasks("tasks", kMaxTasks),
      workers("workers", kMaxWorkers),
      classes("classes", kMaxClasses),
      offsets_(1, 0) {}

void Labels::adopt(FlatArray<std::uint64_t> offsets, FlatArray<WorkerId> workers_of_labels,
                   FlatArray<ClassId> classes_of_labels) {
  offsets_ = std::move(offsets);
  worker_ = std::move(workers_of_labels);
  class_ = std::move(classes_of_labels);
}

struct LabelsBuilder::Rows {
  explicit Rows(Duplicates duplicates) : rule(duplicates), grouper(duplicates) { writer.begin(block); }

  void add(std::string_view task, std::string_view worker, std::string_view label) {
    row.size = 0;
    row.push(task, worker, label);
    writer.add(row);
    if (block.rows == kRowsPerBlock) flush();
  }
  void flush() {
    grouper.append(block);
    writer.begin(block);
  }

  static constexpr std::uint64_t kRowsPerBlock = 1 << 14;
  Duplicates rule;
  OrderedGrouper grouper;
  BlockWriter writer;
  LabelBlock block;
  RowBatch row;
};

LabelsBuilder::LabelsBuilder(Duplicates duplicates) : rows_(std::make_unique<Rows>(duplicates)) {}
LabelsBuilder::~LabelsBuilder() = default;
LabelsBuilder::LabelsBuilder(LabelsBuilder&&) noexcept = default;
LabelsBuilder& LabelsBuilder::operator=(LabelsBuilder&&) noexcept = default;

void LabelsBuilder::add(std::string_view task, std::string_view worker, std::string_view label) {
  rows_->add(task, worker, label);
}

Labels LabelsBuilder::build() {
  rows_->flush();
  Labels labels = rows_->grouper.finish(1);
  rows_ = std::make_unique<Rows>(rows_->rule);
  return labels;
}

}  // namespace crowdfold
