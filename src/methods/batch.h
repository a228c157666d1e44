// Registry entries: of methods that work on whole data sets, and of online ones with the adaptor that
// makes a batch method out of them.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "crowdfold/method.h"
#include "crowdfold/registry.h"
#include "methods/believable.h"
#include "methods/online_driver.h"
#include "methods/overlap.h"
#include "methods/vote.h"

namespace crowdfold {

std::vector<TaskId> shuffled_tasks(TaskId num_tasks, std::uint64_t seed);

// A batch method made of an online one: observes all tasks in `order`, after the given counts.
template <class Online>
Result fit_online(Online& method, Order order, const Labels& labels, const Knowledge& given,
                  const RunContext& context) {
  WorkerState before = method.state();
  before.counts = given.workers;
  method.restore(std::move(before));
  method.expect(labels.num_workers(), labels.num_classes());
  const std::vector<TaskId> shuffled = order == Order::shuffled
                                           ? shuffled_tasks(labels.num_tasks(), context.seed)
                                           : std::vector<TaskId>{};
  return observe_all(method, {labels, given.truths, shuffled}, "first pass", context);
}

// Error(usage) in one sentence if the data, or what is given, does not fit.
void require_classes(const std::string& method, std::uint32_t most, std::uint32_t classes);
void require_known(const std::string& method, const Traits& traits, std::uint32_t classes,
                   const Knowledge& given);
void require_fit(const std::string& method, const Traits& traits, const Labels& labels,
                 const Knowledge& given);
void require_extras(const std::string& method, const std::vector<ExtraInfo>& takes, const Labels& labels,
                    const std::vector<Extra>& extras);
void require_memory(const std::string& method, std::uint64_t bytes, const RunContext& context);

// The Result where there is no class to choose from.
Result no_labels(const Labels& labels, const RunContext& context);

// The result of any method, unless labels tell nothing: then what the prior says. Workers who share no
// task with others are taken for one of them, unless the method answered before it had seen all labels.
inline Result believable(bool saw_all_labels, const Labels& labels, const Knowledge& given,
                         Result result) {
  if (tells_nothing(labels, given)) {
    let_prior_rule(labels, given, result);
  } else if (saw_all_labels) {
    const LoneWorkers lone(labels, given);
    if (!lone.empty()) let_crowd_speak_for(lone, labels, given, result);
  }
  return result;
}

// The answers of an online method that has learned from all of these tasks, for
// MethodInfo::answer_learned.
template <class Online>
Result answer_learned(Online& method, const Labels& labels, const RunContext& context) {
  method.expect(labels.num_workers(), labels.num_classes());
  Result result;
  ResultRoom room(labels, context, result);
  judge_all(method, {labels}, context, room);
  result.learned = method.state();
  result.doubt = method.doubt();
  return believable(true, labels, {}, std::move(result));
}

RoundsInput rounds_input(const Labels& labels, const Knowledge& given, const RunContext& context);
Result fit_in_rounds(std::unique_ptr<RoundModel> model, const Labels& labels, const Knowledge& given,
                     const RunContext& context);

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
      if (labels.num_classes() == 0) return no_labels(labels, context);
      return believable(true, labels, given, Model::fit(options_, labels, given, context));
    }

   private:
    std::string name_;
    Traits traits_;
    Options options_;
  };

  MethodInfo info{name, std::move(summary), std::move(citation), Model::option_table().describe(),
                  traits};
  info.make = [name, traits](const Settings& settings) -> std::unique_ptr<Method> {
    return std::make_unique<Batch>(name, traits, Model::option_table().parse(name.c_str(), settings));
  };
  return info;
}

// A batch method that also takes one task at a time, as an `Online`.
template <class Online>
MethodInfo also_online(MethodInfo info) {
  info.make_online = [name = info.name](const Settings& settings,
                                        std::uint64_t seed) -> std::unique_ptr<OnlineMethod> {
    return std::make_unique<Online>(Online::option_table().parse(name.c_str(), settings), seed);
  };
  return info;
}

// The answers of a judge to the tasks of a block, for RoundModel::answer().
void judge_each(const Judge& judge, const TaskBlock& block, std::span<Estimate> estimates,
                std::span<double> posteriors);

// `Rounds` has Options, option_table(), bytes(options, input) of memory, and start(options, input),
// which gives the model before the first round.
template <class Rounds>
MethodInfo rounds_method(std::string name, std::string summary, std::string citation, Traits traits) {
  using Options = typename Rounds::Options;

  class InRounds final : public Method {
   public:
    InRounds(std::string name, const Traits& traits, const Options& options)
        : name_(std::move(name)), traits_(traits), options_(options) {}
    Result fit(const Labels& labels, const Knowledge& given, const RunContext& context) const override {
      require_fit(name_, traits_, labels, given);
      const RoundsInput input = rounds_input(labels, given, context);
      require_memory(name_, Rounds::bytes(options_, input), context);
      if (labels.num_classes() == 0) return no_labels(labels, context);
      return fit_in_rounds(believable(name_, Rounds::start(options_, input), input), labels, given,
                           context);
    }

   private:
    std::string name_;
    Traits traits_;
    Options options_;
  };

  MethodInfo info{name, std::move(summary), std::move(citation), Rounds::option_table().describe(),
                  traits};
  info.make = [name, traits](const Settings& settings) -> std::unique_ptr<Method> {
    return std::make_unique<InRounds>(name, traits,
                                      Rounds::option_table().parse(name.c_str(), settings));
  };
  info.make_rounds = [name](const Settings& settings, const RoundsInput& input) {
    const Options options = Rounds::option_table().parse(name.c_str(), settings);
    RunContext limits;
    limits.max_memory = input.max_memory;
    require_memory(name, Rounds::bytes(options, input), limits);
    return believable(name, Rounds::start(options, input), input);
  };
  return info;
}

// `Online` has Options with an `order`, and option_table(); it is made of options and a seed.
template <class Online>
MethodInfo online_method(std::string name, std::string summary, std::string citation,
                         Traits traits = {}) {
  using Options = typename Online::Options;
  traits.takes_workers = true;  // counts are what its state starts from

  class Batch final : public Method {
   public:
    Batch(std::string name, const Traits& traits, const Options& options)
        : name_(std::move(name)), traits_(traits), options_(options) {}
    Result fit(const Labels& labels, const Knowledge& given, const RunContext& context) const override {
      require_fit(name_, traits_, labels, given);
      Online method(options_, context.seed);
      return believable(needs_second_look(method), labels, given,
                        fit_online(method, options_.order, labels, given, context));
    }

   private:
    std::string name_;
    Traits traits_;
    Options options_;
  };

  MethodInfo info{name, std::move(summary), std::move(citation), Online::option_table().describe(),
                  traits};
  info.make = [name, traits](const Settings& settings) -> std::unique_ptr<Method> {
    return std::make_unique<Batch>(name, traits, Online::option_table().parse(name.c_str(), settings));
  };
  info.answer_learned = [name, traits](OnlineMethod& method, const Labels& labels,
                                       const RunContext& context) {
    require_fit(name, traits, labels, {});
    return crowdfold::answer_learned(dynamic_cast<Online&>(method), labels, context);
  };
  return also_online<Online>(std::move(info));
}

}  // namespace crowdfold
