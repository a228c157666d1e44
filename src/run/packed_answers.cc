#include "run/packed_answers.h"

#include <string>
#include <utility>
#include <vector>

#include "io/records.h"

namespace crowdfold {
namespace {

class Answers {
 public:
  Answers(const AggregateRequest& request, const PackedLabels& packed, BlocksWith with,
          const NameTable& classes, const JudgeBlock& judge, const RunContext& context,
          AggregateSummary& summary)
      : request_(request),
        packed_(packed),
        names_(with == BlocksWith::labels ? PackedLabels::Names::yes : PackedLabels::Names::only),
        classes_(classes),
        judge_(judge),
        context_(context),
        summary_(summary),
        slots_(PackedLabels::num_slots(context)) {}

  void write() {
    const EstimateFormat format(kind_of(request_.output, request_.write), classes_, context_.posterior);
    RecordOutput file(request_.output, format.records(), OutputFile::When::at_the_end,
                      context_.cancelled);
    packed_.in_order(
        "answers", context_, names_,
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

  void keep() {
    FlatArray<char> text;
    FlatArray<std::uint64_t> ends;
    Result& result = summary_.result;
    packed_.in_order(
        "answers", context_, names_,
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
    judge_(block, slot.estimates, slot.posteriors);
    return slot;
  }
  void count(const Slot& slot) {
    for (const Estimate& estimate : slot.estimates)
      summary_.tasks_without_estimate += estimate.label == kNoClass ? 1 : 0;
  }

  const AggregateRequest& request_;
  const PackedLabels& packed_;
  PackedLabels::Names names_;
  const NameTable& classes_;
  const JudgeBlock& judge_;
  const RunContext& context_;
  AggregateSummary& summary_;
  std::vector<Slot> slots_;
};

}  // namespace

void give_answers(const AggregateRequest& request, const PackedLabels& packed, BlocksWith with,
                  const NameTable& classes, const JudgeBlock& judge, const RunContext& context,
                  AggregateSummary& summary) {
  summary.tasks_without_estimate = 0;
  Answers answers(request, packed, with, classes, judge, context, summary);
  if (request.output.empty()) {
    answers.keep();
  } else {
    answers.write();
  }
}

}  // namespace crowdfold
