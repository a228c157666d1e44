#include "labels_module.h"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>

#include "arrays.h"
#include "arrow_column.h"
#include "crowdfold/aggregate.h"
#include "crowdfold/error.h"
#include "crowdfold/exports.h"
#include "crowdfold/io.h"
#include "crowdfold/metrics.h"
#include "interrupts.h"
#include "python_column.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace crowdfold::python {
namespace {

// Runs body beside Python if it can, or with the lock held, looking for signals now and then.
void run_reading(bool needs_python, RunContext context, nb::handle progress,
                 const std::function<void(const RunContext&)>& body) {
  if (!needs_python) return run_native(context, progress, body);
  context.progress = [&](const Progress& latest) {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!progress.is_none()) progress(latest.stage, latest.done, latest.total);
  };
  body(context);
}

nb::tuple to_tuple(FirstRows rows) {
  return nb::make_tuple(to_numpy(std::move(rows.tasks)), to_numpy(std::move(rows.workers)),
                        to_numpy(std::move(rows.classes)));
}

struct ThreeColumns {
  ThreeColumns(nb::handle task_values, nb::handle worker_values, nb::handle label_values)
      : tasks(python_column(task_values, "task")),
        workers(python_column(worker_values, "worker")),
        labels(python_column(label_values, "label")) {}

  LabelColumns columns() const { return {*tasks.column, *workers.column, *labels.column}; }

  HeldColumn tasks;
  HeldColumn workers;
  HeldColumn labels;
};

// Chunks that come one after another and are not kept.
class ChunkReader {
 public:
  explicit ChunkReader(const std::string& duplicates) : reader_(parse_duplicates(duplicates)) {}

  nb::tuple add(nb::handle tasks, nb::handle workers, nb::handle labels, nb::handle progress) {
    const ThreeColumns held(tasks, workers, labels);
    FirstRows rows;
    run_reading(held.columns().are_thread_bound(), {}, progress,
                [&](const RunContext& context) { rows = reader_.add(held.columns(), context); });
    return to_tuple(std::move(rows));
  }

  // All batches of a table that comes as a stream; returns the Arrow formats of the three columns.
  std::vector<std::string> add_stream(nb::handle table, const std::vector<std::string>& names,
                                      nb::handle progress) {
    const nb::object capsule = table.attr("__arrow_c_stream__")();
    auto* const taken =
        static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream"));
    if (taken == nullptr) throw nb::python_error();
    Owned<ArrowArrayStream> stream(*taken);
    std::vector<std::string> formats;
    run_native({}, progress, [&](const RunContext& context) {
      const Owned<ArrowSchema> schema = schema_of(stream);
      std::vector<std::size_t> at;
      for (const std::string& name : names) {
        at.push_back(find_column(*schema, name));
        const ArrowSchema& column = *(*schema).children[at.back()];
        formats.emplace_back(column.dictionary != nullptr ? column.dictionary->format : column.format);
      }
      for (auto batch = next_array(stream); !batch.empty(); batch = next_array(stream))
        add_batch(*schema, *batch, at, names, context);
    });
    return formats;
  }

  LabelData build(int threads) {
    LabelData data;
    run_native(context_for(threads), nb::none(),
               [&](const RunContext& context) { data.labels = reader_.build(context.threads); });
    return data;
  }

 private:
  void add_batch(const ArrowSchema& schema, const ArrowArray& batch, const std::vector<std::size_t>& at,
                 const std::vector<std::string>& names, const RunContext& context) {
    std::vector<std::unique_ptr<ValueColumn>> columns;
    for (std::size_t i = 0; i < at.size(); ++i) {
      // A slice of a table is a slice of its columns.
      ArrowArray column = *batch.children[at[i]];
      column.offset += batch.offset;
      column.length = batch.length;
      if (batch.offset != 0) column.null_count = -1;
      columns.push_back(arrow_column(*schema.children[at[i]], column, names[i]));
    }
    reader_.add({*columns[0], *columns[1], *columns[2]}, context);
  }

  ColumnReader reader_;
};

ReadOptions with_format(ReadOptions options, const std::string& format) {
  options.format = format == "csv"     ? Format::csv
                   : format == "tsv"   ? Format::tsv
                   : format == "jsonl" ? Format::jsonl
                                       : Format::automatic;
  if (options.format == Format::automatic) options.platform = format;
  return options;
}

MultiSelect parse_multi_select(const std::string& name) {
  if (name == "refuse") return MultiSelect::refuse;
  if (name == "first") return MultiSelect::first;
  if (name == "keep") return MultiSelect::keep;
  throw Error(ErrorCode::usage, fmt::format("multi_select={}: refuse | first | keep", name));
}

// One chunk is all there is.
LabelData collect(nb::handle tasks, nb::handle workers, nb::handle labels, const std::string& duplicates,
                  int threads, nb::handle progress) {
  const Duplicates rule = parse_duplicates(duplicates);
  const ThreeColumns held(tasks, workers, labels);
  ColumnLabels read;
  run_reading(held.columns().are_thread_bound(), context_for(threads), progress,
              [&](const RunContext& context) { read = read_columns(held.columns(), rule, context); });
  return {std::move(read.labels), std::move(read.first_rows)};
}

LabelData read_file(const std::string& path, const nb::dict& reading, const std::string& duplicates,
                    int threads, nb::handle progress) {
  LabelData data;
  const ReadOptions options = read_options(reading, duplicates);
  ReadReport report;
  run_native(context_for(threads), progress, [&](const RunContext& context) {
    data.labels = read_labels(path, options, context, &report);
  });
  data.notes = notes_of(report);
  return data;
}

// Files and folders, exports of platforms among them: labels, truths (tasks and labels), and what is
// told to people.
nb::tuple import_files(const std::vector<std::string>& paths, const nb::dict& reading,
                       const std::string& duplicates, int threads, nb::handle progress) {
  const ReadOptions options = read_options(reading, duplicates);
  ImportedLabels imported;
  run_native(context_for(threads), progress,
             [&](const RunContext& context) { imported = import_labels(paths, options, context); });
  std::vector<std::string> truth_tasks;
  std::vector<std::string> truth_labels;
  for (auto& [task, label] : imported.truths) {
    truth_tasks.push_back(std::move(task));
    truth_labels.push_back(std::move(label));
  }
  return nb::make_tuple(LabelData{std::move(imported.labels), {}}, truth_tasks, truth_labels,
                        imported.report.format, notes_of(imported.report));
}

// Ids of tasks, workers and classes, a row for each label.
nb::tuple rows_of(const LabelData& data) {
  std::vector<TaskId> tasks;
  std::vector<WorkerId> workers;
  std::vector<ClassId> classes;
  for (TaskId t = 0; t < data.labels.num_tasks(); ++t) {
    const TaskLabels task = data.labels.task(t);
    tasks.insert(tasks.end(), task.size(), t);
    workers.insert(workers.end(), task.workers.begin(), task.workers.end());
    classes.insert(classes.end(), task.classes.begin(), task.classes.end());
  }
  return nb::make_tuple(to_numpy(std::move(tasks)), to_numpy(std::move(workers)),
                        to_numpy(std::move(classes)));
}

// Tasks and labels.
std::pair<std::vector<std::string>, std::vector<std::string>> read_truth_file(const std::string& path) {
  std::pair<std::vector<std::string>, std::vector<std::string>> truths;
  const nb::gil_scoped_release no_python;
  for (auto& [task, label] : read_truth_rows(path, within(context_for(1, 0), {}))) {
    truths.first.push_back(std::move(task));
    truths.second.push_back(std::move(label));
  }
  return truths;
}

// Truths of the tasks named, kNoClass where there is none. Other tasks are left out; `class_ids` gains
// the classes that it does not have.
std::vector<ClassId> truths_of(const NameTable& task_names, nb::handle tasks, nb::handle labels,
                               ValueIds& class_ids) {
  const HeldColumn task_column = python_column(tasks, "task");
  const HeldColumn label_column = python_column(labels, "label");
  const std::uint64_t rows = task_column.column->size();
  if (label_column.column->size() != rows)
    throw Error(ErrorCode::data, "truths: tasks and labels differ in number");
  ValueIds task_ids("tasks", kMaxTasks);
  std::vector<ClassId> truths(task_names.size(), kNoClass);
  bool any = rows == 0;
  for (std::uint64_t row = 0; row < rows; ++row) {
    const std::uint32_t task = task_column.column->id_at(row, row, task_ids);
    if (task == ValueIds::kMissing)
      throw Error(ErrorCode::data, fmt::format("truths: row {} (from 0): no task", row));
    const auto found = task_names.find(task_ids.names[task]);
    if (!found) continue;
    const std::uint32_t label = label_column.column->id_at(row, row, class_ids);
    if (label == ValueIds::kMissing) continue;
    any = true;
    const auto truth = static_cast<ClassId>(label);
    if (truths[*found] != kNoClass && truths[*found] != truth) {
      throw Error(ErrorCode::data, fmt::format("truths: task '{}' has another truth already: '{}'",
                                               task_ids.names[task], class_ids.names[truths[*found]]));
    }
    truths[*found] = truth;
  }
  if (!any) throw Error(ErrorCode::data, "truths: none of their tasks has a label");
  return truths;
}

// Truths by task. Classes that no label names are added, and the rows where they appeared are the second
// value.
std::pair<NumpyArray<ClassId>, NumpyArray<std::uint64_t>> find_truths(LabelData& data, nb::handle tasks,
                                                                      nb::handle labels) {
  ValueIds class_ids(data.labels.classes());
  std::vector<ClassId> truths = truths_of(data.labels.tasks(), tasks, labels, class_ids);
  data.labels = std::move(data.labels).with_classes(std::move(class_ids.names));
  return {to_numpy(std::move(truths)), to_numpy(std::move(class_ids.first_rows))};
}

// Ids of values, -1 for those that are not among the names.
NumpyArray<std::int64_t> find_ids(const LabelData& data, const std::string& role, nb::handle values) {
  const NameTable& names = role == "task"     ? data.labels.tasks()
                           : role == "worker" ? data.labels.workers()
                                              : data.labels.classes();
  const HeldColumn column = python_column(values, role);
  ValueIds ids(role.c_str(), kMaxTasks);
  std::vector<std::int64_t> found(column.column->size(), -1);
  for (std::uint64_t row = 0; row < found.size(); ++row) {
    const std::uint32_t id = column.column->id_at(row, row, ids);
    if (id == ValueIds::kMissing) continue;
    if (const auto known = names.find(ids.names[id])) found[row] = *known;
  }
  return to_numpy(std::move(found));
}

// The present class order[c] becomes class c.
void order_classes(LabelData& data, const GivenArray<ClassId>& order) {
  data.labels = std::move(data.labels).with_class_order(to_span(order));
}

// By worker: labels that are the truth, and labels on tasks whose truth is known.
nb::tuple count_right(const LabelData& data, const GivenArray<ClassId>& truths) {
  WorkerHits hits = count_hits(data.labels, to_span(truths));
  return nb::make_tuple(to_numpy(std::move(hits.right)), to_numpy(std::move(hits.labels)));
}

// Two tables of (task, label), the tasks of the first in its order: labels of both as classes.
nb::tuple align(nb::handle tasks, nb::handle labels, nb::handle other_tasks, nb::handle other_labels) {
  const HeldColumn task_column = python_column(tasks, "task");
  const HeldColumn label_column = python_column(labels, "label");
  ValueIds task_ids("tasks", kMaxTasks);
  ValueIds class_ids("classes", kMaxClasses);
  std::vector<ClassId> estimates;
  for (std::uint64_t row = 0; row < task_column.column->size(); ++row) {
    if (task_column.column->id_at(row, row, task_ids) != row)
      throw Error(ErrorCode::data, fmt::format("estimates: row {} (from 0): no task, or one that was "
                                               "there before",
                                               row));
    estimates.push_back(static_cast<ClassId>(label_column.column->id_at(row, row, class_ids)));
  }
  std::vector<ClassId> truths = truths_of(task_ids.names, other_tasks, other_labels, class_ids);
  return nb::make_tuple(to_numpy(std::move(estimates)), to_numpy(std::move(truths)),
                        names_of(class_ids.names));
}

}  // namespace

Duplicates parse_duplicates(const std::string& name) {
  if (name == "last") return Duplicates::last;
  if (name == "first") return Duplicates::first;
  if (name == "error") return Duplicates::error;
  if (name == "keep") return Duplicates::keep;
  throw Error(ErrorCode::usage, fmt::format("duplicates={}: last | first | error | keep", name));
}

RunContext context_for(int threads, std::uint64_t seed) {
  RunContext wanted;
  wanted.seed = seed;
  wanted.threads = threads;
  return within_machine(std::move(wanted));
}

// Names are those of Reading in Python, which checks them; what is not there keeps its default.
ReadOptions read_options(const nb::dict& reading, const std::string& duplicates) {
  ReadOptions options;
  options.duplicates = parse_duplicates(duplicates);
  const auto take = [&](const char* name, auto& value) {
    if (!reading.contains(name)) return false;
    try {
      value = nb::cast<std::remove_reference_t<decltype(value)>>(reading[name]);
    } catch (const nb::cast_error&) {
      const std::string given = nb::cast<std::string>(nb::repr(reading[name]));
      throw Error(ErrorCode::usage,
                  fmt::format("{}={}: a value of another kind is needed", name, given));
    }
    return true;
  };
  std::string format;
  std::string multi_select = "refuse";
  bool header = false;
  take("columns", options.columns);
  take("encoding", options.encoding);
  take("skip_lines", options.skip_lines);
  take("wide", options.wide);
  take("wide_workers", options.wide_workers);
  take("abstain", options.abstain);
  take("without_workers", options.without_workers);
  take("fold_case", options.fold_case);
  take("normalize", options.normalize);
  take("skip_bad_rows", options.skip_bad_rows);
  take("question", options.question);
  take("with_predictions", options.with_predictions);
  if (take("header", header)) options.header = header ? Header::yes : Header::no;
  if (take("format", format)) options = with_format(std::move(options), format);
  if (take("multi_select", multi_select)) options.multi_select = parse_multi_select(multi_select);
  return options;
}

std::vector<std::string> notes_of(const ReadReport& report) {
  std::vector<std::string> notes = report.notes;
  if (report.worked_out) notes.insert(notes.begin(), report.columns);
  return notes;
}

std::vector<std::string> names_of(const NameTable& table) {
  std::vector<std::string> names;
  names.reserve(table.size());
  for (std::uint32_t id = 0; id < table.size(); ++id) names.emplace_back(table[id]);
  return names;
}

void bind_labels(nb::module_& module) {
  nb::class_<LabelData>(module, "Labels")
      .def_prop_ro("num_tasks", [](const LabelData& d) { return d.labels.num_tasks(); })
      .def_prop_ro("num_workers", [](const LabelData& d) { return d.labels.num_workers(); })
      .def_prop_ro("num_classes", [](const LabelData& d) { return d.labels.num_classes(); })
      .def_prop_ro("num_labels", [](const LabelData& d) { return d.labels.num_labels(); })
      .def_prop_ro("rows", [](const LabelData& d) { return d.labels.rows().read; })
      .def_prop_ro("abstentions", [](const LabelData& d) { return d.labels.rows().abstentions; })
      .def_prop_ro("duplicates", [](const LabelData& d) { return d.labels.rows().duplicates; })
      .def_prop_ro("notes", [](const LabelData& d) { return d.notes; })
      .def("task_names", [](const LabelData& d) { return names_of(d.labels.tasks()); })
      .def("worker_names", [](const LabelData& d) { return names_of(d.labels.workers()); })
      .def("class_names", [](const LabelData& d) { return names_of(d.labels.classes()); })
      .def("label_rows", &rows_of)
      .def("first_rows", [](const LabelData& d) { return to_tuple(d.first_rows); })
      .def("find_truths", &find_truths, "tasks"_a, "labels"_a)
      .def("find_ids", &find_ids, "role"_a, "values"_a)
      .def("order_classes", &order_classes, "order"_a)
      .def("count_right", &count_right, "truths"_a)
      .def(
          "count_tasks_of_only",
          [](const LabelData& d, const GivenArray<bool>& marked) {
            return count_tasks_of_only(d.labels, to_span(marked));
          },
          "marked"_a);
  nb::class_<ChunkReader>(module, "ChunkReader")
      .def(nb::init<const std::string&>(), "duplicates"_a)
      .def("add", &ChunkReader::add, "tasks"_a, "workers"_a, "labels"_a, "progress"_a.none())
      .def("add_stream", &ChunkReader::add_stream, "table"_a, "names"_a, "progress"_a.none())
      .def("build", &ChunkReader::build, "threads"_a);
  module.def("collect", &collect, "tasks"_a, "workers"_a, "labels"_a, "duplicates"_a, "threads"_a,
             "progress"_a.none());
  module.def("read_file", &read_file, "path"_a, "reading"_a, "duplicates"_a, "threads"_a,
             "progress"_a.none());
  module.def("import_files", &import_files, "paths"_a, "reading"_a, "duplicates"_a, "threads"_a,
             "progress"_a.none());
  module.def("read_truth_file", &read_truth_file, "path"_a);
  module.def("align", &align, "tasks"_a, "labels"_a, "other_tasks"_a, "other_labels"_a);
}

}  // namespace crowdfold::python
