#include "run/aggregate_in_rounds.h"

#include <fmt/format.h>

#include <memory>
#include <unordered_map>
#include <utility>

#include "crowdfold/error.h"
#include "crowdfold/rounds.h"
#include "io/records.h"
#include "methods/batch.h"

namespace crowdfold {
namespace {

// Truths by task. Of the names of tasks only those are in memory that the file has.
std::vector<ClassId> truths_by_task(const AggregateRequest& request, const PackedLabels& labels,
                                    NameTable& classes, const RunContext& context, ReadReport& report) {
  const ReadOptions options = within(context, request.read_known);
  std::unordered_map<std::string, bool> named;
  for (auto& [task, label] : read_truth_rows(request.truths, options))
    named.emplace(std::move(task), false);
  NameTable known("tasks", kMaxTasks);
  std::vector<TaskId> ids;
  std::string name;
  labels.in_order("truths", context, PackedLabels::Names::yes,
                  [&](const TaskBlock& block, const TaskNames& names) {
                    for (TaskId t = block.first(); t < block.last(); ++t) {
                      name = names[t];
                      if (!named.contains(name)) continue;
                      known.intern(name);
                      ids.push_back(t);
                    }
                  });
  const std::vector<ClassId> of_known = read_truths(request.truths, known, classes, options, &report);
  std::vector<ClassId> truths(labels.num_tasks(), kNoClass);
  for (std::size_t i = 0; i < of_known.size(); ++i) truths[ids[i]] = of_known[i];
  return truths;
}

// The answers of a model that is done, to where the request wants them.
class Answers {
 public:
  Answers(const AggregateRequest& request, const RoundModel& model, const NameTable& classes,
          const RunContext& context, AggregateSummary& summary)
      : request_(request), model_(model), classes_(classes), context_(context), summary_(summary) {}

  void give(const PackedLabels& labels) {
    slots_.resize(PackedLabels::num_slots(context_));
    if (request_.output.empty()) {
      keep(labels);
    } else {
      write(labels);
    }
  }

 private:
  struct Slot {
    std::vector<Estimate> estimates;
    std::vector<double> posteriors;
    std::string text;
  };

  std::size_t width() const { return context_.posterior ? classes_.size() : 0; }
  Slot& judge(const TaskBlock& block, std::size_t place) {
    Slot& slot = slots_[place];
    slot.estimates.resize(block.size());
    slot.posteriors.resize(block.size() * width());
    model_.answer(block, slot.estimates, slot.posteriors);
    return slot;
  }
  void count(const Slot& slot) {
    for (const Estimate& estimate : slot.estimates)
      summary_.tasks_without_estimate += estimate.label == kNoClass ? 1 : 0;
  }

  void write(const PackedLabels& labels) {
    const EstimateFormat format(kind_of(request_.output, request_.write), classes_, context_.posterior);
    RecordOutput file(request_.output, format.records(), OutputFile::When::at_the_end,
                      context_.cancelled);
    labels.in_order(
        "answers", context_, PackedLabels::Names::yes,
        [&](const TaskBlock& block, const TaskNames& names, std::size_t place) {
          Slot& slot = judge(block, place);
          slot.text.clear();
          for (TaskId t = block.first(); t < block.last(); ++t) {
            const std::size_t i = t - block.first();
            format.append(slot.text, names[t], slot.estimates[i],
                          std::span(slot.posteriors).subspan(i * width(), width()));
          }
        },
        [&](const TaskBlock&, const TaskNames&, std::size_t place) {
          count(slots_[place]);
          file.write(slots_[place].text);
        });
    file.commit();
  }

  void keep(const PackedLabels& labels) {
    FlatArray<char> text;
    FlatArray<std::uint64_t> ends;
    Result& result = summary_.result;
    labels.in_order(
        "answers", context_, PackedLabels::Names::yes,
        [&](const TaskBlock& block, const TaskNames&, std::size_t place) { judge(block, place); },
        [&](const TaskBlock& block, const TaskNames& names, std::size_t place) {
          const Slot& slot = slots_[place];
          count(slot);
          for (const Estimate& estimate : slot.estimates) {
            result.estimate.push_back(estimate.label);
            result.confidence.push_back(estimate.confidence);
          }
          result.posterior.insert(result.posterior.end(), slot.posteriors.begin(),
                                  slot.posteriors.end());
          for (TaskId t = block.first(); t < block.last(); ++t) {
            const std::string_view name = names[t];
            text.insert(text.end(), name.begin(), name.end());
            ends.push_back(text.size());
          }
        });
    summary_.names.tasks = NameTable("tasks", kMaxTasks, std::move(text), std::move(ends));
  }

  const AggregateRequest& request_;
  const RoundModel& model_;
  const NameTable& classes_;
  const RunContext& context_;
  AggregateSummary& summary_;
  std::vector<Slot> slots_;
};

}  // namespace

std::string why_not_in_rounds(const AggregateRequest& request, const RunContext& context) {
  const MethodInfo& method = find_method(request.method);
  if (!method.make_rounds || method.make_rounds(request.settings, {}) == nullptr) {
    try {
      require_rounds(method, request.settings);
    } catch (const Error& error) {
      return error.what();
    }
  }
  if (context.confusion) return "confusion matrices need the labels in memory";
  if (request.keep_labels) return "a report needs the labels in memory";
  return "";
}

void aggregate_in_rounds(const AggregateRequest& request, PackedLabels labels, const RunContext& context,
                         AggregateSummary& summary, std::vector<ReadReport>& reports) {
  const MethodInfo& method = find_method(request.method);
  if (!request.read.without_workers.empty()) labels.leave_out(request.read.without_workers, context);
  NameTable workers = labels.workers();
  NameTable classes = labels.classes();
  for (const std::string& name : request.classes) classes.intern(name);
  Knowledge given;
  if (!request.truths.empty()) {
    ReadReport& report = reports.emplace_back();
    given.truths = truths_by_task(request, labels, classes, context, report);
    labels.set_truths(given.truths);
  }
  if (!request.workers.empty()) {
    const BetaQuality prior = method.prior(request.settings);
    given.workers = read_workers(request.workers, workers, prior.alpha, prior.beta,
                                 within(context, request.read_known));
  }
  require_known(method.name, method.traits, classes.size(), given);

  const RoundsInput input = {workers.size(), classes.size(),     labels.num_labels(),
                             context.seed,   context.max_memory, &given};
  const std::unique_ptr<RoundModel> model = method.make_rounds(request.settings, input);
  run_rounds(*model, labels, context);
  Answers(request, *model, classes, context, summary).give(labels);
  model->report(context, summary.result);
  summary.counts = {labels.num_labels(),     labels.num_tasks(), labels.workers().size(),
                    labels.classes().size(), labels.rows(),      false};
  summary.names.workers = std::move(workers);
  summary.names.classes = std::move(classes);
}

}  // namespace crowdfold
