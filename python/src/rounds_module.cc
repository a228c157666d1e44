#include "rounds_module.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.h"
#include "crowdfold/round_bytes.h"
#include "labels_module.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace crowdfold::python {
namespace {

// Bytes that Python holds, in a mapped file, a table of Arrow or anywhere else.
using Bytes = GivenArray<std::uint8_t>;

std::string_view view(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::string_view> views(const std::vector<Bytes>& all) {
  std::vector<std::string_view> list;
  for (const Bytes& bytes : all) list.push_back(view(bytes));
  return list;
}

// Without the interpreter's lock.
template <class Action>
auto natively(Action&& action) {
  const nb::gil_scoped_release no_python;
  return action();
}

template <class Action>
nb::bytes bytes_of(Action&& action) {
  const std::string made = natively(action);
  return nb::bytes(made.data(), made.size());
}

// The model that was read last: the same one comes with chunk after chunk.
std::shared_ptr<const SentModel> model_of(std::string_view bytes) {
  static std::mutex mutex;
  static std::shared_ptr<const SentModel> last;
  std::shared_ptr<const SentModel> model;
  {
    const std::lock_guard lock(mutex);
    model = last;
  }
  if (model && model->is_of(bytes)) return model;
  model = std::make_shared<const SentModel>(bytes);
  const std::lock_guard lock(mutex);
  return last = std::move(model);
}

nb::bytes pack(const GivenArray<std::int64_t>& tasks, const GivenArray<std::int64_t>& workers,
               const GivenArray<std::int64_t>& classes, const GivenArray<std::int64_t>& truths,
               const GivenArray<std::int64_t>& truth_tasks) {
  return bytes_of([&] {
    return pack_chunk(
        {to_span(tasks), to_span(workers), to_span(classes), to_span(truths), to_span(truth_tasks)});
  });
}

nb::bytes renumber(const Bytes& chunk, std::int64_t first) {
  return bytes_of([&] { return renumbered_chunk(view(chunk), first); });
}

nb::bytes start(const std::string& method, std::uint32_t workers, std::uint32_t classes,
                const Settings& settings, std::uint64_t seed) {
  return bytes_of([&] {
    return start_rounds({method, settings, workers, classes, seed}, context_for(1).max_memory);
  });
}

nb::bytes judge(const Bytes& model, const std::vector<Bytes>& chunks) {
  return bytes_of([sent = view(model), list = views(chunks)] { return model_of(sent)->judge(list); });
}

nb::bytes part(const Bytes& model, const GivenArray<std::int64_t>& workers) {
  return bytes_of([&] { return part_of_model(view(model), to_span(workers)); });
}

nb::bytes judge_by_parts(const std::vector<Bytes>& parts, const std::vector<Bytes>& chunks) {
  return bytes_of([known = views(parts), list = views(chunks)] { return SentModel(known).judge(list); });
}

nb::bytes merge(const Bytes& model, const std::vector<Bytes>& summaries) {
  return bytes_of([sent = view(model), list = views(summaries)] { return model_of(sent)->merge(list); });
}

nb::bytes next(const Bytes& model, const Bytes& summary) {
  return bytes_of([sent = view(model), said = view(summary)] { return next_round(sent, said); });
}

nb::dict describe(const Bytes& bytes) {
  const auto model = natively([sent = view(bytes)] { return model_of(sent); });
  nb::dict about;
  about["round"] = model->round();
  about["is_done"] = model->is_done();
  about["stage"] = model->stage();
  return about;
}

nb::tuple to_arrays(ChunkAnswers found, bool posterior, std::size_t classes) {
  const std::size_t count = found.tasks.size();
  auto tasks = to_numpy(std::move(found.tasks));
  auto estimates = to_numpy(std::move(found.classes));
  auto confidence = to_numpy(std::move(found.confidence));
  if (!posterior) return nb::make_tuple(tasks, estimates, confidence);
  return nb::make_tuple(tasks, estimates, confidence,
                        to_numpy(std::move(found.posterior), {count, classes}));
}

nb::tuple answer(const Bytes& bytes, const Bytes& chunk, bool posterior) {
  std::size_t classes = 0;
  ChunkAnswers found = natively([&, sent = view(bytes), packed = view(chunk)] {
    const auto model = model_of(sent);
    classes = model->made_for().classes;
    return model->answer(packed, posterior);
  });
  return to_arrays(std::move(found), posterior, classes);
}

nb::tuple answer_by_parts(const std::vector<Bytes>& parts, const Bytes& chunk, bool posterior) {
  std::size_t classes = 0;
  ChunkAnswers found = natively([&, known = views(parts), packed = view(chunk)] {
    const SentModel model(known);
    classes = model.made_for().classes;
    return model.answer(packed, posterior);
  });
  return to_arrays(std::move(found), posterior, classes);
}

nb::dict workers(const Bytes& bytes) {
  std::vector<double> quality, lower, upper, seen;
  natively([&, sent = view(bytes)] {
    const auto model = model_of(sent);
    const WorkerState state = model->report().learned;
    for (WorkerId w = 0; w < model->made_for().workers; ++w) {
      const BetaQuality q = state.quality(w);
      const Interval interval = q.credible_interval();
      quality.push_back(q.mean());
      lower.push_back(interval.lower);
      upper.push_back(interval.upper);
      seen.push_back(state.counts_of(w).seen);
    }
  });
  nb::dict table;
  table["quality"] = to_numpy(std::move(quality));
  table["lower"] = to_numpy(std::move(lower));
  table["upper"] = to_numpy(std::move(upper));
  table["labels"] = to_numpy(std::move(seen));
  return table;
}

}  // namespace

void bind_rounds(nb::module_& module) {
  module.def("pack_chunk", &pack, "tasks"_a, "workers"_a, "classes"_a, "truths"_a, "truth_tasks"_a);
  module.def("renumber_chunk", &renumber, "chunk"_a, "first"_a);
  module.def("start_rounds", &start, "method"_a, "workers"_a, "classes"_a, "settings"_a, "seed"_a);
  module.def("judge_chunks", &judge, "model"_a, "chunks"_a);
  module.def("part_of_model", &part, "model"_a, "workers"_a);
  module.def("judge_by_parts", &judge_by_parts, "parts"_a, "chunks"_a);
  module.def("answer_by_parts", &answer_by_parts, "parts"_a, "chunk"_a, "posterior"_a);
  module.def("merge_summaries", &merge, "model"_a, "summaries"_a);
  module.def("next_round", &next, "model"_a, "summary"_a);
  module.def("describe_rounds", &describe, "model"_a);
  module.def("answer_chunk", &answer, "model"_a, "chunk"_a, "posterior"_a);
  module.def("workers_of_rounds", &workers, "model"_a);
}

}  // namespace crowdfold::python
