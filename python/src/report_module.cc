#include "report_module.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "arrays.h"
#include "crowdfold/io.h"
#include "crowdfold/report.h"
#include "interrupts.h"
#include "labels_module.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace crowdfold::python {
namespace {

// Writes the report of a fit to `path`: a page, or its data alone if the name ends in .json. Returns its
// headline.
std::string write_report(const std::shared_ptr<LabelData>& data,
                         std::optional<GivenArray<ClassId>> truths, const std::string& method,
                         const Settings& settings, std::uint64_t seed, int threads,
                         const std::string& title, const std::string& path, nb::handle progress) {
  ReportOptions options;
  options.method = method;
  options.settings = settings;
  std::vector<ClassId> known;
  if (truths) known.assign(truths->data(), truths->data() + truths->size());
  require_page_for(path);
  auto headline = std::make_shared<std::string>();
  run_abandonable(context_for(threads, seed), progress, [=](const RunContext& context) {
    const Report report = make_report(data->labels, known, options, context);
    Document document = document_of(report, data->labels, known, title);
    document.title = title;
    write_document(path, document, {});
    *headline = document.headline;
  });
  return std::move(*headline);
}

}  // namespace

void bind_report(nb::module_& module) {
  module.def("write_report", &write_report, "labels"_a, "truths"_a.none(), "method"_a, "settings"_a,
             "seed"_a, "threads"_a, "title"_a, "path"_a, "progress"_a.none());
}

}  // namespace crowdfold::python
