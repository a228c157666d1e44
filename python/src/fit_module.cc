#include "fit_module.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "arrays.h"
#include "crowdfold/aggregate.h"
#include "crowdfold/learned.h"
#include "crowdfold/registry.h"
#include "interrupts.h"
#include "labels_module.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace crowdfold::python {
namespace {

// Numbers that a method takes by name.
using GivenNumbers = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using GivenExtras = std::vector<std::pair<std::string, GivenNumbers>>;

std::vector<Extra> copy_extras(const MethodInfo& info, const GivenExtras& given) {
  std::vector<Extra> extras;
  for (const auto& [name, numbers] : given) {
    Extra extra{name, Per::task, 1, {numbers.data(), numbers.data() + numbers.size()}};
    for (std::size_t axis = 1; axis < numbers.ndim(); ++axis) extra.width *= numbers.shape(axis);
    for (const ExtraInfo& taken : info.traits.takes) {
      if (taken.name == name) extra.per = taken.per;
    }
    extras.push_back(std::move(extra));
  }
  return extras;
}

std::pair<FitResult, Learned> fit(const std::string& method, const Settings& settings,
                                  const std::shared_ptr<LabelData>& data,
                                  std::optional<GivenArray<ClassId>> truths,
                                  const std::optional<std::string>& workers_file,
                                  const GivenExtras& extras, std::uint64_t seed, int threads,
                                  bool posterior, nb::handle progress) {
  const MethodInfo& info = find_method(method);
  auto given = std::make_shared<Knowledge>();
  if (truths) given->truths.assign(truths->data(), truths->data() + truths->size());
  given->extras = copy_extras(info, extras);
  // The work holds all that it touches: an interrupted fit may go on for a while.
  auto found = std::make_shared<std::optional<std::pair<FitResult, Learned>>>();
  run_abandonable(context_for(threads, seed), progress, [=, &info](RunContext context) {
    if (workers_file) {
      const BetaQuality prior = info.prior(settings);
      given->workers =
          read_workers(*workers_file, data->labels, prior.alpha, prior.beta, within(context, {}));
    }
    const Labels& labels = data->labels;
    context.posterior = posterior;
    context = with_small_tables(std::move(context), info, labels);
    FitResult fitted{aggregate(labels, method, settings, *given, context), labels.num_tasks(),
                     labels.num_workers(), labels.num_classes()};
    Learned learned(method, settings, seed);
    learned.adopt(labels.workers(), labels.classes(), fitted.result);
    found->emplace(std::move(fitted), std::move(learned));
  });
  return std::move(**found);
}

// Labels of a file that are not kept: the result, what was learned, and the names of tasks, workers and
// classes.
nb::tuple fit_file(const std::string& method, const Settings& settings, const std::string& path,
                   const nb::dict& reading, const std::string& duplicates, std::uint64_t seed,
                   int threads, nb::handle progress) {
  AggregateRequest request;
  request.method = method;
  request.settings = settings;
  request.labels = {path};
  request.read = read_options(reading, duplicates);
  request.road = Road::low_memory;
  auto summary = std::make_shared<AggregateSummary>();
  auto notes = std::make_shared<std::vector<std::string>>();
  run_abandonable(context_for(threads, seed), progress, [=](const RunContext& context) {
    *summary = aggregate(request, context,
                         {.on_read = [&](const ReadReport& read) { *notes = notes_of(read); }});
  });
  Learned learned(method, settings, seed);
  learned.adopt(summary->workers(), summary->classes(), summary->result);
  auto names = nb::make_tuple(names_of(summary->tasks()), names_of(summary->workers()),
                              names_of(summary->classes()));
  FitResult fitted{std::move(summary->result), summary->tasks().size(), summary->workers().size(),
                   summary->classes().size()};
  return nb::make_tuple(std::move(fitted), std::move(learned), std::move(names), *notes);
}

// accuracy, accuracy_sd, log_loss, seconds: see Score.
nb::dict score(const std::string& method, const Settings& settings,
               const std::shared_ptr<LabelData>& data, const GivenArray<ClassId>& truths, int runs,
               std::uint64_t seed, int threads, nb::handle progress) {
  const MethodInfo& info = find_method(method);
  const std::vector<ClassId> known(truths.data(), truths.data() + truths.size());
  auto found = std::make_shared<Score>();
  run_abandonable(context_for(threads, seed), progress, [=, &info](const RunContext& context) {
    *found = score_method(info, settings, data->labels, known, runs, context);
  });
  nb::dict row;
  row["accuracy"] = found->accuracy;
  row["accuracy_sd"] = found->deviation;
  row["log_loss"] = found->log_loss;
  row["seconds"] = found->seconds;
  return row;
}

// A view into a result, which keeps it alive.
template <class T>
nb::object view(nb::handle owner, const FlatArray<T>& array, std::initializer_list<std::size_t> shape) {
  return nb::cast(NumpyArray<const T>(array.data(), shape.size(), shape.begin(), owner));
}

// By name: an array with a row for every task, worker or class.
nb::dict extras_of(nb::handle self) {
  nb::dict extras;
  for (const Extra& extra : nb::cast<const FitResult&>(self).result.extras) {
    const std::size_t rows = extra.values.size() / std::max<std::size_t>(1, extra.width);
    extras[extra.name.c_str()] = extra.width == 1 ? view(self, extra.values, {rows})
                                                  : view(self, extra.values, {rows, extra.width});
  }
  return extras;
}

nb::list describe(const std::vector<ExtraInfo>& extras) {
  nb::list list;
  for (const ExtraInfo& info : extras) {
    nb::dict extra;
    extra["name"] = info.name;
    extra["per"] = info.per == Per::task ? "task" : info.per == Per::worker ? "worker" : "class";
    extra["class_axes"] = info.class_axes;
    extra["help"] = info.help;
    list.append(extra);
  }
  return list;
}

nb::list registry() {
  nb::list list;
  for (const MethodInfo& info : methods()) {
    nb::dict method;
    method["name"] = info.name;
    method["aliases"] = info.aliases;
    method["summary"] = info.summary;
    method["citation"] = info.citation;
    method["online"] = static_cast<bool>(info.make_online);
    method["can_merge"] = info.traits.can_merge;
    method["most_classes"] =
        info.traits.most_classes < kMaxClasses ? nb::cast(info.traits.most_classes) : nb::none();
    method["in_rounds"] = static_cast<bool>(info.make_rounds);
    method["takes_truths"] = info.traits.takes_truths;
    method["takes_workers"] = info.traits.takes_workers;
    method["has_confusion"] = info.traits.has_confusion;
    method["takes"] = describe(info.traits.takes);
    method["gives"] = describe(info.traits.gives);
    nb::list options;
    for (const OptionInfo& o : info.options) {
      nb::dict option;
      option["name"] = o.name;
      option["type"] = o.type;
      option["default"] = o.fallback;
      option["range"] = o.range;
      option["help"] = o.help;
      option["fitted"] = o.fitted;
      options.append(option);
    }
    method["options"] = options;
    list.append(method);
  }
  return list;
}

void write_files(const LabelData& data, const FitResult& fitted, const std::string& estimates) {
  write_estimates(estimates, data.labels, fitted.result, {});
}

}  // namespace

void bind_fit(nb::module_& module) {
  nb::class_<FitResult>(module, "Result")
      .def_prop_ro("estimate",
                   [](nb::handle self) {
                     const auto& r = nb::cast<const FitResult&>(self);
                     return view(self, r.result.estimate, {r.num_tasks});
                   })
      .def_prop_ro("confidence",
                   [](nb::handle self) {
                     const auto& r = nb::cast<const FitResult&>(self);
                     return view(self, r.result.confidence, {r.num_tasks});
                   })
      .def_prop_ro("posterior",
                   [](nb::handle self) -> nb::object {
                     const auto& r = nb::cast<const FitResult&>(self);
                     if (r.result.posterior.size() != r.num_tasks * r.num_classes) return nb::none();
                     return view(self, r.result.posterior, {r.num_tasks, r.num_classes});
                   })
      .def_prop_ro(
          "confusion",
          [](nb::handle self) -> nb::object {
            const auto& r = nb::cast<const FitResult&>(self);
            if (r.result.confusion.empty()) return nb::none();
            return view(self, r.result.confusion, {r.num_workers, r.num_classes, r.num_classes});
          })
      .def_prop_ro("extras", &extras_of)
      .def_prop_ro("trace", [](const FitResult& r) { return r.result.trace; })
      .def_prop_ro("converged", [](const FitResult& r) { return r.result.converged; });
  module.def("fit", &fit, "method"_a, "settings"_a, "labels"_a, "truths"_a.none(),
             "workers_file"_a.none(), "extras"_a, "seed"_a, "threads"_a, "posterior"_a,
             "progress"_a.none());
  module.def("fit_file", &fit_file, "method"_a, "settings"_a, "path"_a, "reading"_a, "duplicates"_a,
             "seed"_a, "threads"_a, "progress"_a.none());
  module.def("score", &score, "method"_a, "settings"_a, "labels"_a, "truths"_a, "runs"_a, "seed"_a,
             "threads"_a, "progress"_a.none());
  module.def(
      "check_settings",
      [](const std::string& method, const Settings& settings) { find_method(method).check(settings); },
      "method"_a, "settings"_a);
  module.def("registry", &registry);
  module.def(
      "method_named", [](const std::string& name) { return find_method(name).name; }, "name"_a);
  module.def("write_estimates", &write_files, "labels"_a, "result"_a, "path"_a);
}

}  // namespace crowdfold::python
