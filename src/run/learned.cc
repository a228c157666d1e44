#include "crowdfold/learned.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "crowdfold/error.h"
#include "methods/online_driver.h"
#include "methods/result_room.h"

namespace crowdfold {
namespace {

constexpr TaskId kTasksPerLook = 1 << 12;

// A judge for methods that have none of their own: a vote weighted by quality.
std::unique_ptr<Judge> judge_for(const MethodInfo& info, const Settings& settings, std::uint64_t seed,
                                 double alpha, double beta) {
  if (info.make_judge) return info.make_judge(settings);
  if (info.make_online) return info.make_online(settings, seed);
  const Settings prior = {{"alpha", fmt::format("{}", alpha)}, {"beta", fmt::format("{}", beta)}};
  return find_method("onepass").make_online(prior, seed);
}

// By id there -> by id here.
std::vector<std::uint32_t> ids_here(const NameTable& there, NameTable& here) {
  std::vector<std::uint32_t> ids;
  for (std::uint32_t id = 0; id < there.size(); ++id) ids.push_back(here.intern(there[id]));
  return ids;
}

}  // namespace

Learned::Learned(const std::string& method, Settings settings, std::uint64_t seed)
    : workers("workers", kMaxWorkers),
      classes("classes", kMaxClasses),
      info_(find_method(method)),
      settings_(std::move(settings)),
      seed_(seed) {
  const WorkerState nothing;
  renew_judge(nothing.alpha, nothing.beta);
}

void Learned::renew_judge(double alpha, double beta) {
  if (!is_online()) {
    judge_ = judge_for(info_, settings_, seed_, alpha, beta);
    return;
  }
  auto online = info_.make_online(settings_, seed_);
  online_ = online.get();
  judge_ = std::move(online);
}

void Learned::restore(WorkerState state) {
  if (!is_online()) renew_judge(state.alpha, state.beta);
  judge_->restore(std::move(state));
  judge_->expect(workers.size(), classes.size());
}

void Learned::adopt(NameTable worker_names, NameTable class_names, const Result& result) {
  workers = std::move(worker_names);
  classes = std::move(class_names);
  tasks_seen = result.estimate.size();
  restore(result.learned);
  confusion.assign(result.confusion.begin(), result.confusion.end());
  priors.assign(classes.size(), 1);  // no class is impossible
  for (const ClassId c : result.estimate) {
    if (c != kNoClass) priors[c] += 1;
  }
  const double total = std::accumulate(priors.begin(), priors.end(), 0.0);
  for (double& share : priors) share /= total;
}

Labels Learned::renumber(const Labels& labels, std::vector<std::uint64_t>& new_workers,
                         std::vector<std::uint64_t>& new_classes) const {
  LabelNames names{labels.tasks(), workers, classes};
  const auto map = [](const NameTable& from, NameTable& to, std::vector<std::uint64_t>& added) {
    const std::uint32_t known = to.size();
    std::vector<std::uint32_t> ids = ids_here(from, to);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] >= known) added.push_back(i);
    }
    return ids;
  };
  const auto worker_ids = map(labels.workers(), names.workers, new_workers);
  const auto class_ids = map(labels.classes(), names.classes, new_classes);
  FlatArray<std::uint64_t> offsets(labels.num_tasks() + 1ULL, 0);
  FlatArray<WorkerId> worker;
  FlatArray<ClassId> label;
  worker.reserve(labels.num_labels());
  label.reserve(labels.num_labels());
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const TaskLabels task = labels.task(t);
    for (const WorkerId w : task.workers) worker.push_back(worker_ids[w]);
    for (const ClassId c : task.classes) label.push_back(static_cast<ClassId>(class_ids[c]));
    offsets[t + 1ULL] = worker.size();
  }
  return {std::move(names), {std::move(offsets), std::move(worker), std::move(label)}, labels.rows()};
}

void Learned::require_online() const {
  if (is_online()) return;
  std::vector<std::string> those;
  for (const MethodInfo& info : methods()) {
    if (info.make_online) those.push_back(info.name);
  }
  throw Error(ErrorCode::usage,
              fmt::format("{} works on whole data sets only; methods that learn as labels "
                          "come: {}",
                          info_.name, fmt::join(those, ", ")));
}

Result Learned::observe(const Labels& labels, std::span<const ClassId> truths,
                        const RunContext& context) {
  require_online();
  if (const std::uint32_t most = info_.traits.most_classes; labels.num_classes() > most) {
    throw Error(ErrorCode::usage, fmt::format("{} is for {} classes at most, and there are {}",
                                              info_.name, most, labels.num_classes()));
  }
  workers = labels.workers();
  classes = labels.classes();
  judge_->expect(workers.size(), classes.size());
  Result result = observe_all(*online_, {.labels = labels, .truths = truths, .first_index = tasks_seen},
                              "learning", context);
  tasks_seen += labels.num_tasks();
  // What a method keeps besides its state is made anew, so that one that was saved and loaded in between
  // goes on in the same way.
  judge_->restore(result.learned);
  return result;
}

Result Learned::judge(const Labels& labels, const RunContext& context) const {
  if (judges_by_confusion()) return judge_by_confusion(labels, context);
  const WorkerState known = state();
  const std::unique_ptr<Judge> judge = judge_for(info_, settings_, seed_, known.alpha, known.beta);
  judge->restore(known);
  judge->expect(labels.num_workers(), labels.num_classes());
  Result result;
  ResultRoom room(labels, context, result);
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    if (t % kTasksPerLook == 0) context.throw_if_cancelled();
    room.put(t, judge->estimate(labels.task(t), room.posterior(t)));
  }
  result.learned = judge->state();
  result.doubt = judge->doubt();
  return result;
}

// Bayes' rule; workers and classes that are new say nothing.
Estimate Learned::estimate_by_confusion(const TaskLabels& task, std::span<double> posterior) const {
  constexpr double kLeast = 1e-10;  // no label is impossible
  if (task.size() == 0) {
    std::fill(posterior.begin(), posterior.end(), 0.0);
    return {};
  }
  const std::size_t known = priors.size();
  for (std::size_t k = 0; k < posterior.size(); ++k)
    posterior[k] = std::log(std::max(kLeast, k < known ? priors[k] : 0));
  for (std::size_t j = 0; j < task.size(); ++j) {
    if ((task.workers[j] + 1ULL) * known * known > confusion.size() || task.classes[j] >= known)
      continue;
    const double* const matrix =
        confusion.data() + static_cast<std::size_t>(task.workers[j]) * known * known;
    for (std::size_t k = 0; k < known; ++k)
      posterior[k] += std::log(std::max(kLeast, matrix[k * known + task.classes[j]]));
  }
  const auto best = std::max_element(posterior.begin(), posterior.end());
  const double most = *best;
  double total = 0;
  for (double& value : posterior) total += value = std::exp(value - most);
  for (double& value : posterior) value /= total;
  return {static_cast<ClassId>(best - posterior.begin()), *best};
}

Result Learned::judge_by_confusion(const Labels& labels, const RunContext& context) const {
  Result result;
  ResultRoom room(labels, context, result);
  std::vector<double> probabilities(labels.num_classes());
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    if (t % kTasksPerLook == 0) context.throw_if_cancelled();
    room.put(t, estimate_by_confusion(labels.task(t), probabilities));
    const std::span<double> posterior = room.posterior(t);
    std::copy_n(probabilities.begin(), posterior.size(), posterior.begin());
  }
  return result;
}

Estimate Learned::learn_one(std::span<const WorkerId> worker_ids, std::span<const ClassId> class_ids,
                            ClassId truth) {
  require_online();
  judge_->expect(workers.size(), classes.size());
  return online_->observe({tasks_seen++, worker_ids, class_ids}, truth);
}

std::vector<double> Learned::judge_one(std::span<const WorkerId> worker_ids,
                                       std::span<const ClassId> class_ids) {
  std::vector<double> posterior(classes.size());
  const TaskLabels task = {tasks_seen, worker_ids, class_ids};
  if (judges_by_confusion()) {
    estimate_by_confusion(task, posterior);
    return posterior;
  }
  // Workers that are not known have ids beyond those that are.
  WorkerId most = 0;
  for (const WorkerId w : worker_ids) most = std::max(most, w);
  judge_->expect(std::max(workers.size(), most + 1), classes.size());
  judge_->estimate(task, posterior);
  return posterior;
}

void Learned::merge(const Learned& other) {
  require_online();
  if (other.info_.name != info_.name) {
    throw Error(ErrorCode::usage,
                fmt::format("{} cannot be merged with {}", info_.name, other.info_.name));
  }
  const auto worker_ids = ids_here(other.workers, workers);
  const auto class_ids = ids_here(other.classes, classes);
  judge_->expect(workers.size(), classes.size());
  WorkerState theirs = other.state();
  theirs.renumber(worker_ids, class_ids);
  online_->merge(theirs);
  tasks_seen += other.tasks_seen;
}

}  // namespace crowdfold
