// LA-twopass: onepass, then every task judged again with the qualities that came out of it.
//
// Y. Yang, Z.-Q. Zhao, Q. Bai, Q. Liu, W. Li: A Light-weight, Effective and Efficient Model for Label
// Aggregation in Crowdsourcing. arXiv 2022; ACM TKDD 2024.
//
//   v_i   = K w_i - 1                          below zero for a worker worse than chance
//   y_t   = argmax_k  sum_i v_i [x_it = k]     over the classes that got a vote; nothing is updated
//
// Online, the second look is taken chunk by chunk, after the chunk was learned.
// Cost: twice onepass; whoever wants a second look at a task must have kept (or read again) its labels.
#include "methods/batch.h"
#include "methods/methods.h"
#include "methods/passes/onepass.h"

namespace crowdfold {
namespace {

class TwoPass final : public OnePass {
 public:
  using OnePass::OnePass;

  bool judges_after_learning() const override { return true; }

  Estimate estimate(const TaskLabels& labels, std::span<double> posterior) const override {
    const double k = state_.classes;
    return judge(labels, posterior, [&](const WorkerCounts& counts) { return k * weight(counts) - 1; });
  }
};

}  // namespace

MethodInfo twopass_method() {
  return online_method<TwoPass>(
      "twopass", "onepass, then every task judged again with the workers' final qualities",
      "Yang, Zhao, Bai, Liu, Li: A Light-weight, Effective and Efficient Model for Label Aggregation in "
      "Crowdsourcing (TKDD 2024)",
      {.estimate_is_argmax = false});
}

}  // namespace crowdfold
