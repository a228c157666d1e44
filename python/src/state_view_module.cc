#include "state_view_module.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>
#include <utility>

#include "crowdfold/state_view.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace crowdfold::python {
namespace {

// id, task, label, confidence, labels, closed, reason, truth
using Task = std::tuple<std::int64_t, std::string, std::optional<std::string>, double, std::uint32_t,
                        bool, std::optional<std::string>, std::optional<std::string>>;
// worker, quality, lower, upper, labels
using Worker = std::tuple<std::string, double, double, double, double>;
// worker, label, log-odds
using Label = std::tuple<std::string, std::string, double>;
// task, label, confidence, labels, gain
using Next = std::tuple<std::string, std::optional<std::string>, double, std::uint32_t, double>;

std::optional<std::string> text_or_none(std::string text) {
  if (text.empty()) return std::nullopt;
  return text;
}
Task to_tuple(const ViewedTask& t) {
  return {t.id,     t.task,   text_or_none(t.label),  t.confidence,
          t.labels, t.closed, text_or_none(t.reason), text_or_none(t.truth)};
}
Worker to_tuple(const ViewedWorker& w) {
  return {w.worker, w.quality, w.interval.lower, w.interval.upper, w.counts.seen};
}
Label to_tuple(const ViewedLabel& label) { return {label.worker, label.label, label.log_odds}; }
Next to_tuple(const OpenTask& t) {
  return {t.task, text_or_none(t.label), t.confidence, t.labels, t.gain};
}
template <class Item>
auto to_tuples(const std::vector<Item>& items) {
  std::vector<decltype(to_tuple(items.front()))> tuples;
  for (const Item& item : items) tuples.push_back(to_tuple(item));
  return tuples;
}

TaskQuery query_of(std::optional<bool> closed, bool by_confidence, std::int64_t after_id,
                   double after_confidence, std::size_t most) {
  return {closed, by_confidence ? TaskOrder::confidence : TaskOrder::came, after_id, after_confidence,
          most};
}

// Several threads may have a view each: none waits for another one's disk.
using WithoutLock = nb::call_guard<nb::gil_scoped_release>;

}  // namespace

void bind_state_view(nb::module_& module) {
  nb::class_<StateView>(module, "StateView")
      .def(nb::init<const std::string&>(), "path"_a, WithoutLock())
      .def("look_again", &StateView::look_again, WithoutLock())
      .def("rest", &StateView::rest, WithoutLock())
      .def("totals",
           [](StateView& view) {
             const StreamTotals t = view.totals();
             nb::dict dict;
             dict["events"] = t.events;
             dict["workers"] = t.workers;
             dict["classes"] = t.classes;
             dict["open_tasks"] = t.open_tasks;
             dict["closed_tasks"] = t.closed_tasks;
             return dict;
           })
      .def(
          "tasks",
          [](StateView& view, std::optional<bool> closed, bool by_confidence, std::int64_t after_id,
             double after_confidence, std::size_t most) {
            return to_tuples(
                view.tasks(query_of(closed, by_confidence, after_id, after_confidence, most)));
          },
          "closed"_a.none(), "by_confidence"_a, "after_id"_a, "after_confidence"_a, "most"_a,
          WithoutLock())
      .def(
          "tasks_with_labels",
          [](StateView& view, std::int64_t after_id, std::size_t most) {
            const std::vector<ViewedTask> tasks =
                view.tasks(query_of(std::nullopt, false, after_id, -1, most));
            const auto labels = view.labels(tasks);
            std::vector<std::pair<Task, std::vector<Label>>> all;
            for (std::size_t i = 0; i < tasks.size(); ++i)
              all.emplace_back(to_tuple(tasks[i]), to_tuples(labels[i]));
            return all;
          },
          "after_id"_a, "most"_a, WithoutLock())
      .def(
          "find_task",
          [](StateView& view, const std::string& name)
              -> std::optional<
                  std::tuple<Task, std::vector<Label>, std::vector<std::pair<std::string, double>>>> {
            const std::optional<TaskStory> story = view.find_task(name);
            if (!story) return std::nullopt;
            std::vector<std::pair<std::string, double>> posterior;
            for (const ViewedPosterior& one : story->posterior)
              posterior.emplace_back(one.label, one.probability);
            return std::tuple(to_tuple(story->task), to_tuples(story->labels), std::move(posterior));
          },
          "name"_a, WithoutLock())
      .def(
          "workers",
          [](StateView& view, std::uint64_t first, std::size_t most) {
            return to_tuples(view.workers(first, most));
          },
          "first"_a, "most"_a, WithoutLock())
      .def(
          "find_worker",
          [](StateView& view, const std::string& name)
              -> std::optional<
                  std::pair<Worker, std::vector<std::tuple<std::string, std::string, double>>>> {
            const std::optional<WorkerStory> story = view.find_worker(name);
            if (!story) return std::nullopt;
            std::vector<std::tuple<std::string, std::string, double>> cells;
            for (const WorkerStory::Cell& cell : story->confusion)
              cells.emplace_back(cell.truth, cell.label, cell.count);
            return std::pair(to_tuple(story->worker), std::move(cells));
          },
          "name"_a, WithoutLock())
      .def(
          "next_tasks",
          [](StateView& view, std::size_t most, const std::optional<std::string>& worker) {
            return to_tuples(worker ? view.next_tasks(most, *worker) : view.next_tasks(most));
          },
          "most"_a, "worker"_a.none(), WithoutLock());
}

}  // namespace crowdfold::python
