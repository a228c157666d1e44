// fivepass
#include "methods/batch.h"
#include "methods/fivepass/fivepass_model.h"
#include "methods/methods.h"
#include "methods/option_table.h"
#include "methods/result_room.h"

namespace crowdfold {
namespace {

struct FivePass {
  using Options = FivePassOptions;
  static const OptionTable<Options>& option_table();
  static std::uint64_t bytes(const Options&, const Labels& labels) {
    return FivePassModel::bytes(labels.num_workers(), labels.num_classes());
  }
  static Result fit(const Options& options, const Labels& labels, const Knowledge& given,
                    const RunContext& context);
};

const OptionTable<FivePassOptions>& FivePass::option_table() {
  static const OptionTable<Options> table = {
      integer("rounds", &Options::rounds, 1, 100, "rounds over the labels, from their votes on"),
      real("symmetry", &Options::symmetry, 0, 1e9,
           "c0: larger values trust more that a whole crowd is better on some classes"),
      real("crowd", &Options::crowd, 1e-3, 1e9, "s1: weight of a symmetric crowd, in labels"),
      real("own", &Options::own, 1e-3, 1e9, "s2: weight of the crowd's accuracy, in labels"),
      real("weakest", &Options::weakest, 1, 128, "smallest strength s of the prior of a worker's rows"),
      real("strongest", &Options::strongest, 1, 128, "largest strength s of that prior"),
      real("guard", &Options::guard, 0, 1e9,
           "gain in nats per held-out label above which class shares count in full"),
      real("soften", &Options::soften, .01, 1, "factor of the temperature: smaller, less certain"),
      real("doubt", &Options::doubt, 0, 1, "probability that nothing that is known of a task counts")};
  return table;
}

Result FivePass::fit(const Options& options, const Labels& labels, const Knowledge& given,
                     const RunContext& context) {
  FivePassModel model(options, labels.num_workers(), labels.num_classes(), given.workers);
  while (!model.is_done()) model.learn(sum_of_round(model, labels, given, context), context.threads);

  Result result;
  ResultRoom room(labels, context, result);
  for_blocks(labels, given, context.threads, [&](const Block& block, int) {
    context.throw_if_cancelled();
    FivePassModel::Scratch scratch(model);
    for (TaskId t = block.first(); t < block.last(); ++t) {
      const std::span<double> posterior = room.posterior(t);
      if (block.truth(t) != kNoClass) {
        room.put(t, certain(block.truth(t), posterior));
      } else if (block.task(t).size() == 0) {
        std::fill(posterior.begin(), posterior.end(), 1.0 / labels.num_classes());
        room.put(t, {});
      } else {
        model.score(block.task(t), scratch);
        room.put(t, model.answer(scratch.sums, posterior));
      }
    }
  });

  const std::size_t cells = static_cast<std::size_t>(labels.num_classes()) * labels.num_classes();
  result.learned.expect(labels.num_workers(), labels.num_classes());
  if (context.confusion) result.confusion.resize(labels.num_workers() * cells);
  FivePassModel::Scratch scratch(model);
  for (WorkerId w = 0; w < labels.num_workers(); ++w) {
    result.learned.counts[w] = model.counts(w);
    result.learned.counts[w].seen = std::round(result.learned.counts[w].seen);
    if (context.confusion)
      model.write_confusion(w, {result.confusion.data() + w * cells, cells}, scratch);
  }
  return result;
}

}  // namespace

MethodInfo fivepass_method() {
  return batch_method<FivePass>(
      "fivepass",
      "confusion rows of a strength for each worker, tasks of several types, in rounds; calibrated",
      "crowdfold", {.takes_workers = true, .has_confusion = true});
}

}  // namespace crowdfold
