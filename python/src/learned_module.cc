#include "learned_module.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <optional>

#include "arrays.h"
#include "crowdfold/error.h"
#include "crowdfold/io.h"
#include "crowdfold/learned.h"
#include "fit_module.h"
#include "interrupts.h"
#include "labels_module.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace crowdfold::python {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

FitResult with_sizes(Result result, const Labels& labels) {
  return {std::move(result), labels.num_tasks(), labels.num_workers(), labels.num_classes()};
}

// Labels with the ids of workers and classes that are known here, and the places of those that are not
// among the workers and classes of the labels given.
nb::tuple renumber(const Learned& learned, const LabelData& data) {
  LabelData same;
  std::vector<std::uint64_t> new_workers;
  std::vector<std::uint64_t> new_classes;
  run_native({}, nb::none(), [&](const RunContext&) {
    same.labels = learned.renumber(data.labels, new_workers, new_classes);
  });
  return nb::make_tuple(std::move(same), to_numpy(std::move(new_workers)),
                        to_numpy(std::move(new_classes)));
}

FitResult observe(Learned& learned, const LabelData& data, std::optional<GivenArray<ClassId>> truths,
                  nb::handle progress) {
  FitResult fitted;
  RunContext wanted;
  wanted.posterior = true;
  run_native(wanted, progress, [&](const RunContext& context) {
    fitted = with_sizes(
        learned.observe(data.labels, truths ? to_span(*truths) : std::span<const ClassId>{}, context),
        data.labels);
  });
  return fitted;
}

FitResult judge(const Learned& learned, const LabelData& data, nb::handle progress) {
  FitResult fitted;
  RunContext wanted;
  wanted.posterior = true;
  run_native(wanted, progress, [&](const RunContext& context) {
    fitted = with_sizes(learned.judge(data.labels, context), data.labels);
  });
  return fitted;
}

// What workers said of one task: the last word of each counts.
struct OneTask {
  std::vector<WorkerId> workers;
  std::vector<ClassId> classes;

  void add(WorkerId worker, ClassId label) {
    const auto same = std::find(workers.begin(), workers.end(), worker);
    if (same != workers.end()) {
      classes[static_cast<std::size_t>(same - workers.begin())] = label;
      return;
    }
    workers.push_back(worker);
    classes.push_back(label);
  }
};

std::pair<std::optional<std::uint32_t>, double> learn_one(Learned& learned, const Pairs& labels,
                                                          const std::optional<std::string>& truth) {
  OneTask task;
  for (const auto& [worker, label] : labels) {
    const WorkerId id = learned.workers.intern(worker);
    if (!label.empty()) task.add(id, static_cast<ClassId>(learned.classes.intern(label)));
  }
  const ClassId known = truth ? static_cast<ClassId>(learned.classes.intern(*truth)) : kNoClass;
  const Estimate estimate = learned.learn_one(task.workers, task.classes, known);
  if (estimate.label == kNoClass) return {std::nullopt, 0};
  return {estimate.label, estimate.confidence};
}

// The probability of each class, also of those that are met here for the first time. Workers that are
// not known are strangers.
std::vector<double> judge_one(Learned& learned, const Pairs& labels) {
  OneTask task;
  NameTable strangers;
  for (const auto& [worker, label] : labels) {
    if (label.empty()) continue;
    const auto known = learned.workers.find(worker);
    task.add(known ? *known : learned.workers.size() + strangers.intern(worker),
             static_cast<ClassId>(learned.classes.intern(label)));
  }
  return learned.judge_one(task.workers, task.classes);
}

nb::dict workers_table(const Learned& learned) {
  const WorkerState state = learned.state();
  const std::uint32_t count = learned.workers.size();
  std::vector<double> quality(count), lower(count), upper(count), seen(count), correct(count);
  {
    const nb::gil_scoped_release no_python;
    for (WorkerId w = 0; w < count; ++w) {
      const BetaQuality q = state.quality(w);
      const Interval interval = q.credible_interval();
      quality[w] = q.mean();
      lower[w] = interval.lower;
      upper[w] = interval.upper;
      seen[w] = state.counts_of(w).seen;
      correct[w] = state.counts_of(w).correct;
    }
  }
  nb::dict table;
  table["quality"] = to_numpy(std::move(quality));
  table["lower"] = to_numpy(std::move(lower));
  table["upper"] = to_numpy(std::move(upper));
  table["labels"] = to_numpy(std::move(seen));
  table["correct"] = to_numpy(std::move(correct));
  return table;
}

void save(const Learned& learned, const std::string& path, bool details) {
  const nb::gil_scoped_release no_python;
  write_workers(path, learned.workers, learned.state(), details, {});
}

void load(Learned& learned, const std::string& path) {
  const nb::gil_scoped_release no_python;
  NameTable workers("workers", kMaxWorkers);
  WorkerState state = learned.state();
  state.counts = read_workers(path, workers, state.alpha, state.beta, within(context_for(1, 0), {}));
  state.sections.clear();
  learned.workers = std::move(workers);
  learned.restore(std::move(state));
}

// Vectors of plain structures as bytes.
template <class T>
nb::bytes to_bytes(const std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  return nb::bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

template <class T>
std::vector<T> from_bytes(const nb::bytes& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.c_str(), values.size() * sizeof(T));
  return values;
}

nb::list sections_of(const WorkerState& state) {
  nb::list sections;
  for (const StateSection& section : state.sections) {
    sections.append(nb::make_tuple(section.name, to_bytes(section.axes), section.width, section.adds,
                                   to_bytes(section.keys), to_bytes(section.values)));
  }
  return sections;
}

std::vector<StateSection> sections_from(const nb::list& list) {
  std::vector<StateSection> sections;
  for (const nb::handle item : list) {
    const auto parts = nb::cast<nb::tuple>(item);
    const auto bytes = [&](std::size_t i) { return nb::cast<nb::bytes>(parts[i]); };
    sections.push_back({nb::cast<std::string>(parts[0]), from_bytes<StateSection::Axis>(bytes(1)),
                        nb::cast<std::size_t>(parts[2]), nb::cast<bool>(parts[3]),
                        from_bytes<std::uint32_t>(bytes(4)), from_bytes<double>(bytes(5))});
  }
  return sections;
}

constexpr std::size_t kStateParts = 12;

nb::tuple get_state(const Learned& learned) {
  const WorkerState state = learned.state();
  return nb::make_tuple(learned.info().name, learned.settings(), learned.seed(),
                        names_of(learned.workers), names_of(learned.classes), learned.tasks_seen,
                        state.alpha, state.beta, to_bytes(state.counts), sections_of(state),
                        to_bytes(learned.confusion), to_bytes(learned.priors));
}

void set_state(Learned& learned, const nb::tuple& from) {
  if (from.size() != kStateParts)
    throw Error(ErrorCode::usage, "the model was saved by another version of crowdfold");
  const auto bytes = [&](std::size_t i) { return nb::cast<nb::bytes>(from[i]); };
  new (&learned) Learned(nb::cast<std::string>(from[0]), nb::cast<Settings>(from[1]),
                         nb::cast<std::uint64_t>(from[2]));
  for (const auto& name : nb::cast<std::vector<std::string>>(from[3])) learned.workers.intern(name);
  for (const auto& name : nb::cast<std::vector<std::string>>(from[4])) learned.classes.intern(name);
  learned.tasks_seen = nb::cast<std::uint64_t>(from[5]);
  learned.restore({nb::cast<double>(from[6]), nb::cast<double>(from[7]), learned.classes.size(),
                   from_bytes<WorkerCounts>(bytes(8)), sections_from(nb::cast<nb::list>(from[9]))});
  learned.confusion = from_bytes<double>(bytes(10));
  learned.priors = from_bytes<double>(bytes(11));
}

}  // namespace

void bind_learned(nb::module_& module) {
  nb::class_<Learned>(module, "Learned")
      .def(nb::init<const std::string&, Settings, std::uint64_t>(), "method"_a, "settings"_a, "seed"_a)
      .def("renumber", &renumber, "labels"_a)
      .def("observe", &observe, "labels"_a, "truths"_a.none(), "progress"_a.none())
      .def("judge", &judge, "labels"_a, "progress"_a.none())
      .def("learn_one", &learn_one, "labels"_a, "truth"_a.none())
      .def("judge_one", &judge_one, "labels"_a)
      .def("merge", &Learned::merge, "other"_a)
      .def("worker_names", [](const Learned& learned) { return names_of(learned.workers); })
      .def("class_names", [](const Learned& learned) { return names_of(learned.classes); })
      .def("workers", &workers_table)
      .def("require_online", &Learned::require_online)
      .def_prop_ro("tasks_seen", [](const Learned& learned) { return learned.tasks_seen; })
      .def("save", &save, "path"_a, "details"_a)
      .def("load", &load, "path"_a)
      .def("__getstate__", &get_state)
      .def("__setstate__", &set_state);
}

}  // namespace crowdfold::python
