#include "crowdfold/labels.h"

#include <fmt/format.h>

#include <unordered_set>
#include <utility>

#include "crowdfold/error.h"
#include "labels/duplicates.h"
#include "labels/grouping/ordered_grouper.h"

namespace crowdfold {

namespace {

// Outputs could not be read back, and messages would end there. All names are looked through at once:
// they lie one behind another.
void require_text(const NameTable& names, const char* what) {
  if (names.size() == 0) return;
  const std::string_view last = names[names.size() - 1];
  const std::string_view all(names[0].data(), static_cast<std::size_t>(last.end() - names[0].begin()));
  const std::size_t nul = all.find('\0');
  if (nul == all.npos) return;
  std::uint32_t id = 0;
  while (names[id].end() <= all.begin() + nul) ++id;
  throw Error(ErrorCode::data,
              fmt::format("a NUL character in the name of a {}, behind '{}': no name may hold one", what,
                          names[id].substr(0, names[id].find('\0'))));
}

// The same names and rows, with fewer labels.
Labels with_fewer_labels(const Labels& labels, LabelArrays arrays) {
  RowCounts rows = labels.rows();
  rows.duplicates += labels.num_labels() - arrays.workers.size();
  return {{labels.tasks(), labels.workers(), labels.classes()}, std::move(arrays), rows};
}

}  // namespace

Labels::Labels(LabelNames names, LabelArrays arrays, const RowCounts& rows)
    : names_(std::move(names)), arrays_(std::move(arrays)), rows_(rows) {
  const bool named = names_.tasks.size() > 0;
  if ((named && arrays_.offsets.size() != names_.tasks.size() + 1ULL) ||
      arrays_.offsets.back() != arrays_.workers.size() ||
      arrays_.workers.size() != arrays_.classes.size())
    throw Error(ErrorCode::internal, "labels, and the places of their tasks, do not fit together");
  require_text(names_.tasks, "task");
  require_text(names_.workers, "worker");
  require_text(names_.classes, "class");
}

Labels Labels::with_workers(NameTable workers) && {
  if (workers.size() < num_workers()) throw Error(ErrorCode::internal, "workers have lost their names");
  require_text(workers, "worker");
  names_.workers = std::move(workers);
  return std::move(*this);
}

Labels Labels::with_classes(NameTable classes) && {
  if (classes.size() < num_classes()) throw Error(ErrorCode::internal, "classes have lost their names");
  require_text(classes, "class");
  names_.classes = std::move(classes);
  return std::move(*this);
}

Labels Labels::with_class_order(std::span<const ClassId> order) && {
  if (order.size() != num_classes()) throw Error(ErrorCode::internal, "not an order of all classes");
  NameTable classes("classes", kMaxClasses);
  std::vector<ClassId> places(order.size());
  for (std::size_t c = 0; c < order.size(); ++c) {
    places.at(order[c]) = static_cast<ClassId>(c);
    if (classes.intern(names_.classes[order[c]]) != c)
      throw Error(ErrorCode::internal, "not an order of all classes");
  }
  names_.classes = std::move(classes);
  for (ClassId& c : arrays_.classes) c = places[c];
  return std::move(*this);
}

Labels Labels::with_skipped_rows(std::uint64_t skipped) && {
  rows_.skipped = skipped;
  return std::move(*this);
}

Labels drop_exact_duplicates(const Labels& labels) {
  FlatArray<std::uint64_t> offsets(labels.num_tasks() + 1ULL, 0);
  FlatArray<WorkerId> workers;
  FlatArray<ClassId> classes;
  std::unordered_set<std::uint64_t> seen;
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const TaskLabels task = labels.task(t);
    seen.clear();
    for (std::size_t j = 0; j < task.size(); ++j) {
      if (!seen.insert(std::uint64_t{task.workers[j]} << 16 | task.classes[j]).second) continue;
      workers.push_back(task.workers[j]);
      classes.push_back(task.classes[j]);
    }
    offsets[t + 1ULL] = workers.size();
  }
  return with_fewer_labels(labels, {std::move(offsets), std::move(workers), std::move(classes)});
}

Labels keep_last_labels(const Labels& labels) {
  LabelArrays kept;
  kept.offsets.reserve(labels.num_tasks() + 1ULL);
  kept.workers.reserve(labels.num_labels());
  kept.classes.reserve(labels.num_labels());
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const TaskLabels task = labels.task(t);
    kept.workers.insert(kept.workers.end(), task.workers.begin(), task.workers.end());
    kept.classes.insert(kept.classes.end(), task.classes.begin(), task.classes.end());
    kept.offsets.push_back(kept.workers.size());
  }
  drop_duplicates(Duplicates::last, 1, labels.tasks(), labels.workers(), kept.offsets, kept.workers,
                  kept.classes);
  return with_fewer_labels(labels, std::move(kept));
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
