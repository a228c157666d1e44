#include "jury_module.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <tuple>

#include "arrays.h"
#include "crowdfold/jury.h"
#include "interrupts.h"
#include "labels_module.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace crowdfold::python {
namespace {

using Families = std::vector<std::tuple<std::string, std::string, double>>;

Families read_family_file(const std::string& path) {
  Families families;
  for (FamilyRow& row : read_families(path, {}))
    families.emplace_back(std::move(row.judge), std::move(row.family), row.cost);
  return families;
}

// The jury as JSON; judges are in the order of the workers' ids.
std::string jury(const std::shared_ptr<LabelData>& data, std::optional<GivenArray<ClassId>> truths,
                 const Families& families, const std::vector<std::string>& orders,
                 const std::vector<std::string>& places, const std::string& method, double may_lose,
                 bool panels, std::uint64_t seed, int threads, nb::handle progress) {
  JuryOptions options;
  options.method = find_method(method).name;
  options.orders = orders;
  options.places = places;
  options.may_lose = may_lose;
  options.panels = panels;
  for (const auto& [judge, family, cost] : families) options.families.push_back({judge, family, cost});
  std::vector<ClassId> known;
  if (truths) known.assign(truths->data(), truths->data() + truths->size());
  auto found = std::make_shared<std::string>();
  run_abandonable(context_for(threads, seed), progress, [=](const RunContext& context) {
    *found = to_json(make_jury(data->labels, known, options, context), data->labels);
  });
  return std::move(*found);
}

}  // namespace

void bind_jury(nb::module_& module) {
  module.def("read_family_file", &read_family_file, "path"_a);
  module.def("jury", &jury, "labels"_a, "truths"_a.none(), "families"_a, "orders"_a, "places"_a,
             "method"_a, "may_lose"_a, "panels"_a, "seed"_a, "threads"_a, "progress"_a.none());
}

}  // namespace crowdfold::python
