// Measures methods on data sets with truths, for scripts:
//
//   crowdfold-measure RUNS HELD_OUT [last:]FOLDER… -- METHOD[,NAME=VALUE…]…
//
// METHOD is in the registry, or variant:NAME (see variants.h). A folder has labels.csv and truth.csv;
// every row counts, or after `last:` only the last label of a worker on a task. Runs each method on the
// tasks in RUNS orders. Prints CSV:
//
//   set,method,run,accuracy,log_loss,calibration_error,held_out,seconds,bins
//
// bins are those of the reliability diagram that hold tasks: their number, mean confidence and accuracy.
// held_out is the mean log-likelihood of labels that were hidden from the method: the share HELD_OUT of
// them, never the last one of a task or worker. It looks at no truth. Empty if the share is 0, or if the
// method has no confusion matrices.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "base/random.h"
#include "crowdfold/error.h"
#include "crowdfold/metrics.h"
#include "data_set.h"
#include "variants.h"

namespace {

using namespace crowdfold;

struct Spec {
  explicit Spec(std::string text) : name(std::move(text)) {
    std::size_t begin = name.find(',');
    method = name.substr(0, begin);
    while (begin != std::string::npos) {
      const std::size_t end = name.find(',', begin + 1);
      const std::string setting = name.substr(begin + 1, end - begin - 1);
      const std::size_t equals = setting.find('=');
      settings.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
      begin = end;
    }
    if (is_variant()) return;
    for (const auto& setting : settings_of_runs(find_method(method))) settings.push_back(setting);
  }
  bool is_variant() const { return method.starts_with(kVariant); }
  bool has_confusion() const { return is_variant() || find_method(method).traits.has_confusion; }
  bool takes(const Labels& labels) const {
    return is_variant() || labels.num_classes() <= find_method(method).traits.most_classes;
  }
  Result fit(const Labels& labels, const RunContext& context) const {
    return is_variant() ? fit_variant(method.substr(kVariant.size()), labels, context)
                        : aggregate(labels, method, settings, {}, context);
  }

  static constexpr std::string_view kVariant = "variant:";
  std::string name;
  std::string method;
  Settings settings;
};

struct Hidden {
  TaskId task;
  WorkerId worker;
  ClassId label;
};

// The labels without a random share of them; tasks, workers and classes keep their ids.
Labels hide(const Labels& labels, double share, std::uint64_t seed, std::vector<Hidden>& hidden) {
  std::vector<std::uint32_t> of_worker(labels.num_workers());
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    for (const WorkerId w : labels.task(t).workers) ++of_worker[w];
  }
  FlatArray<std::uint64_t> offsets = {0};
  FlatArray<WorkerId> workers;
  FlatArray<ClassId> classes;
  Random random(seed);
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const TaskLabels task = labels.task(t);
    std::size_t left = task.size();
    for (std::size_t j = 0; j < task.size(); ++j) {
      const WorkerId w = task.workers[j];
      if (random.uniform() < share && left > 1 && of_worker[w] > 1) {
        hidden.push_back({t, w, task.classes[j]});
        --left;
        --of_worker[w];
        continue;
      }
      workers.push_back(w);
      classes.push_back(task.classes[j]);
    }
    offsets.push_back(workers.size());
  }
  return {{labels.tasks(), labels.workers(), labels.classes()},
          {std::move(offsets), std::move(workers), std::move(classes)},
          labels.rows()};
}

double mean_log_likelihood(const Result& result, const std::vector<Hidden>& hidden,
                           std::size_t classes) {
  double sum = 0;
  for (const auto& [task, worker, label] : hidden) {
    double likelihood = 0;
    for (std::size_t k = 0; k < classes; ++k)
      likelihood += result.posterior[task * classes + k] *
                    result.confusion[(worker * classes + k) * classes + label];
    sum += std::log(std::max(likelihood, 1e-15));
  }
  return sum / static_cast<double>(hidden.size());
}

// CPU time, which does not depend on other programs as much as wall-clock time does.
double seconds_of_this_thread() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::string bins_of(const Evaluation& evaluation) {
  std::string text;
  for (const CalibrationBin& bin : evaluation.bins) {
    if (bin.tasks > 0)
      text += fmt::format("{}{}:{:.5f}:{:.5f}", text.empty() ? "" : ";", bin.tasks, bin.confidence,
                          bin.accuracy);
  }
  return text;
}

std::string measure(const DataSet& set, const Spec& spec, int run, double share) {
  if (!spec.takes(set.labels)) return "";
  RunContext context;
  context.posterior = true;
  context.seed = static_cast<std::uint64_t>(run);
  const double start = seconds_of_this_thread();
  const Result result = spec.fit(set.labels, context);
  const double seconds = seconds_of_this_thread() - start;
  const Evaluation evaluation = evaluate(result.estimate, set.truths, set.labels.num_classes(),
                                         result.confidence, result.posterior);
  std::string held_out;
  if (share > 0 && spec.has_confusion()) {
    std::vector<Hidden> hidden;
    const Labels rest = hide(set.labels, share, context.seed, hidden);
    context.confusion = true;
    held_out = fmt::format(
        "{:.6f}", mean_log_likelihood(spec.fit(rest, context), hidden, set.labels.num_classes()));
  }
  std::string name = spec.name;
  for (char& c : name) c = c == ',' ? ' ' : c;
  return fmt::format("{},{},{},{:.6f},{:.6f},{:.6f},{},{:.6f},{}\n", set.name, name, run,
                     evaluation.accuracy, evaluation.log_loss, evaluation.calibration_error, held_out,
                     seconds, bins_of(evaluation));
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto bar = std::find(arguments.begin(), arguments.end(), "--");
  if (arguments.size() < 5 || bar == arguments.end()) {
    fmt::print(stderr,
               "usage: crowdfold-measure RUNS HELD_OUT [last:]FOLDER… -- METHOD[,NAME=VALUE…]…\n");
    return 2;
  }
  const int runs = std::atoi(arguments[0].c_str());
  const double share = std::atof(arguments[1].c_str());
  std::vector<DataSet> sets;
  constexpr std::string_view kLast = "last:";
  for (auto folder = arguments.begin() + 2; folder != bar; ++folder) {
    const bool last = folder->starts_with(kLast);
    sets.emplace_back(last ? folder->substr(kLast.size()) : *folder,
                      last ? Duplicates::last : Duplicates::keep);
  }
  std::vector<Spec> specs;
  for (auto spec = bar + 1; spec != arguments.end(); ++spec) specs.emplace_back(*spec);

  std::vector<std::string> lines(sets.size() * specs.size() * static_cast<std::size_t>(runs));
  parallel_for(2, lines.size(), [&](std::size_t i, int) {
    const auto run = static_cast<int>(i % static_cast<std::size_t>(runs));
    const std::size_t pair = i / static_cast<std::size_t>(runs);
    lines[i] = measure(sets[pair / specs.size()], specs[pair % specs.size()], run, share);
  });
  fmt::print("set,method,run,accuracy,log_loss,calibration_error,held_out,seconds,bins\n");
  for (const std::string& line : lines) fmt::print("{}", line);
} catch (const crowdfold::Error& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
