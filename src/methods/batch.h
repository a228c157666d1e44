// Registry entries: of methods that work on whole data sets, and of online ones with the adaptor that
// makes a batch method out of them.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "crowdfold/method.h"
#include "crowdfold/registry.h"
#include "methods/vote.h"

namespace crowdfold {

std::vector<TaskId> shuffled_tasks(TaskId num_tasks, std::uint64_t seed);

// Observes all tasks in `order`; if the method looks twice, the whole data set is one chunk.
// `Online` is the method's own class, not the interface: so the compiler sees through the loop, which
// makes it half as fast again.
template <class Online>
Result fit_online(Online& method, Order order, const Labels& labels, const Knowledge& given,
                  const RunContext& context) {
  constexpr TaskId kTasksPerReport = 1 << 16;
  const TaskId num_tasks = labels.num_tasks();
  const std::uint32_t classes = labels.num_classes();
  const bool twice = method.judges_after_learning();

  WorkerState before = method.state();
  before.workers = given.workers;
  method.restore(std::move(before));
  method.expect(labels.num_workers(), classes);

  Result result;
  result.estimate.resize(num_tasks);
  result.confidence.resize(num_tasks);
  if (context.posterior) result.posterior.resize(static_cast<std::size_t>(num_tasks) * classes);
  const auto posterior_of = [&](TaskId t) -> std::span<double> {
    if (result.posterior.empty()) return {};
    return {result.posterior.data() + static_cast<std::size_t>(t) * classes, classes};
  };
  const auto put = [&](TaskId t, const Estimate& estimate) {
    result.estimate[t] = estimate.label;
    result.confidence[t] = estimate.confidence;
  };

  const std::vector<TaskId> shuffled =
      order == Order::shuffled ? shuffled_tasks(num_tasks, context.seed) : std::vector<TaskId>{};
  for (TaskId i = 0; i < num_tasks; ++i) {
    if (i % kTasksPerReport == 0) {
      context.throw_if_cancelled();
      context.report("first pass", i, num_tasks);
    }
    const TaskId t = shuffled.empty() ? i : shuffled[i];
    Estimate answer;
    if (const ClassId truth = given.truth(t); truth != kNoClass) {
      answer = certain(truth, posterior_of(t));
    } else if (!twice) {
      answer = method.Online::estimate(labels.task(t), posterior_of(t));
    }
    if (!twice) put(t, answer);
    method.Online::learn(labels.task(t), answer);
  }

  if (twice) {
    parallel_ranges(
        context.threads, num_tasks, kTasksPerReport, [&](std::size_t first, std::size_t last, int) {
          context.throw_if_cancelled();
          for (auto t = static_cast<TaskId>(first); t < last; ++t) {
            const ClassId truth = given.truth(t);
            put(t, truth != kNoClass
                       ? certain(truth, posterior_of(t))
                       : std::as_const(method).Online::estimate(labels.task(t), posterior_of(t)));
          }
        });
  }
  result.workers = method.state();
  return result;
}

// What a method takes besides labels, and gives besides estimates; see MethodInfo. Error(usage) in one
// sentence if the data, or what is given, does not fit.
struct Traits {
  std::uint32_t most_classes = kMaxClasses;
  bool truths = true;
  bool workers = false;
  bool confusion = false;
  std::vector<ExtraInfo> takes = {};
  std::vector<ExtraInfo> gives = {};
};
void require_classes(const std::string& method, std::uint32_t most, std::uint32_t classes);
void require_fit(const std::string& method, const Traits& traits, const Labels& labels,
                 const Knowledge& given);
void require_extras(const std::string& method, const std::vector<ExtraInfo>& takes, const Labels& labels,
                    const std::vector<Extra>& extras);
void require_memory(const std::string& method, std::uint64_t bytes, const RunContext& context);

// The Result where there is no class to choose from.
Result no_labels(const Labels& labels, const RunContext& context);

// `Model` has Options, option_table(), bytes(options, labels) of memory that fit() takes at its peak,
// and fit(options, labels, given, context).
template <class Model>
MethodInfo batch_method(std::string name, std::string summary, std::string citation, Traits traits) {
  using Options = typename Model::Options;

  class Batch final : public Method {
   public:
    Batch(std::string name, const Traits& traits, const Options& options)
        : name_(std::move(name)), traits_(traits), options_(options) {}
    Result fit(const Labels& labels, const Knowledge& given, const RunContext& context) const override {
      require_fit(name_, traits_, labels, given);
      require_memory(name_, Model::bytes(options_, labels), context);
      return labels.num_classes() == 0 ? no_labels(labels, context)
                                       : Model::fit(options_, labels, given, context);
    }

   private:
    std::string name_;
    Traits traits_;
    Options options_;
  };

  MethodInfo info;
  info.name = name;
  info.summary = std::move(summary);
  info.citation = std::move(citation);
  info.options = Model::option_table().describe();
  info.most_classes = traits.most_classes;
  info.takes_truths = traits.truths;
  info.takes_workers = traits.workers;
  info.has_confusion = traits.confusion;
  info.takes = traits.takes;
  info.gives = traits.gives;
  info.make = [name, traits](const Settings& settings) -> std::unique_ptr<Method> {
    return std::make_unique<Batch>(name, traits, Model::option_table().parse(name.c_str(), settings));
  };
  return info;
}

template <class Online>
MethodInfo online_method(std::string name, std::string summary, std::string citation,
                         std::uint32_t most_classes = kMaxClasses) {
  using Options = typename Online::Options;

  class Batch final : public Method {
   public:
    Batch(std::string name, std::uint32_t most_classes, const Options& options)
        : name_(std::move(name)), most_classes_(most_classes), options_(options) {}
    Result fit(const Labels& labels, const Knowledge& given, const RunContext& context) const override {
      require_classes(name_, most_classes_, labels.num_classes());
      require_extras(name_, {}, labels, given.extras);
      Online method(options_, context.seed);
      return fit_online(method, options_.order, labels, given, context);
    }

   private:
    std::string name_;
    std::uint32_t most_classes_;
    Options options_;
  };

  MethodInfo info;
  info.name = name;
  info.summary = std::move(summary);
  info.citation = std::move(citation);
  info.options = Online::option_table().describe();
  info.most_classes = most_classes;
  info.make = [name, most_classes](const Settings& settings) -> std::unique_ptr<Method> {
    return std::make_unique<Batch>(name, most_classes,
                                   Online::option_table().parse(name.c_str(), settings));
  };
  info.make_online = [name](const Settings& settings,
                            std::uint64_t seed) -> std::unique_ptr<OnlineMethod> {
    return std::make_unique<Online>(Online::option_table().parse(name.c_str(), settings), seed);
  };
  return info;
}

}  // namespace crowdfold
