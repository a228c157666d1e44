#include "metrics_module.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "arrays.h"
#include "crowdfold/metrics.h"
#include "interrupts.h"
#include "labels_module.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace crowdfold::python {
namespace {

nb::dict to_dict(const Evaluation& e) {
  nb::dict dict;
  dict["tasks"] = e.tasks;
  dict["correct"] = e.correct;
  dict["accuracy"] = e.accuracy;
  dict["macro_f1"] = e.macro_f1;
  nb::list classes;
  for (const ClassScores& s : e.classes)
    classes.append(nb::make_tuple(s.truths, s.estimates, s.precision, s.recall, s.f1));
  dict["classes"] = classes;
  const std::size_t num_classes = e.classes.size();
  dict["confusion"] = to_numpy(std::vector(e.confusion), {num_classes, num_classes});
  if (!e.has_confidence) return dict;
  dict["log_loss"] = e.log_loss;
  dict["calibration_error"] = e.calibration_error;
  nb::list bins;
  for (const CalibrationBin& b : e.bins)
    bins.append(nb::make_tuple(b.lower, b.upper, b.tasks, b.confidence, b.accuracy));
  dict["bins"] = bins;
  return dict;
}

nb::dict evaluate_arrays(const GivenArray<ClassId>& estimates, const GivenArray<ClassId>& truths,
                         std::uint32_t num_classes, std::optional<GivenArray<double>> confidence,
                         std::optional<GivenArray<double>> posterior) {
  return to_dict(evaluate(to_span(estimates), to_span(truths), num_classes,
                          confidence ? to_span(*confidence) : std::span<const double>{},
                          posterior ? to_span(*posterior) : std::span<const double>{}));
}

nb::dict agreement_of(const LabelData& data) {
  Agreement a;
  run_native({}, nb::none(), [&](const RunContext&) { a = agreement(data.labels); });
  nb::dict dict;
  dict["tasks"] = a.tasks;
  dict["labels"] = a.labels;
  dict["percent"] = a.percent;
  dict["cohen_kappa"] = a.cohen_kappa;
  dict["worker_pairs"] = a.worker_pairs;
  dict["fleiss_kappa"] = a.fleiss_kappa;
  dict["krippendorff_alpha"] = a.krippendorff_alpha;
  return dict;
}

}  // namespace

void bind_metrics(nb::module_& module) {
  module.def("evaluate", &evaluate_arrays, "estimates"_a, "truths"_a, "num_classes"_a,
             "confidence"_a.none(), "posterior"_a.none());
  module.def("agreement", &agreement_of, "labels"_a);
}

}  // namespace crowdfold::python
