// What methods in rounds (crowdfold/rounds.h) do not depend on: how tasks are split into blocks, who
// judges which, in what order summaries are added, and whether models and summaries go through bytes.
#include "base/random.h"
#include "contract/every_method.h"
#include "crowdfold/error.h"
#include "crowdfold/simulate.h"
#include "methods/batch.h"

namespace crowdfold {
namespace {

// As their suite has them.
Settings in_rounds(const MethodInfo& info) {
  return info.has_option("vote_rounds") ? Settings{{"vote_rounds", "3"}} : Settings{};
}

struct Crowd {
  Labels labels;
  Knowledge given;
};

Crowd crowd_of(const MethodInfo& info, std::uint32_t classes, bool truths) {
  Crowd crowd;
  crowd.labels = simulate_labels(
      {.tasks = 300, .workers = 25, .classes = classes, .min_labels = 1, .max_labels = 6, .quality = {}},
      classes);
  if (!truths) return crowd;
  crowd.given.truths.assign(crowd.labels.num_tasks(), kNoClass);
  for (TaskId t = 0; t < crowd.labels.num_tasks(); t += 7)
    crowd.given.truths[t] = static_cast<ClassId>(t % classes);
  if (!info.traits.takes_workers) return crowd;
  crowd.given.workers.resize(crowd.labels.num_workers());
  crowd.given.workers[3] = {4, 5};
  return crowd;
}

RunContext with_everything(int threads = 1) {
  RunContext context;
  context.posterior = true;
  context.confusion = true;
  context.threads = threads;
  return context;
}

// On its way to another machine and back.
std::unique_ptr<RoundModel> sent(RoundModel& model, const MethodInfo& info, const RoundsInput& input) {
  std::unique_ptr<RoundModel> other = info.make_rounds(in_rounds(info), input);
  from_bytes(to_bytes(model), *other);
  return other;
}

// Every round over blocks of drawn sizes, judged by copies of the model, whose summaries are sent and
// added in a drawn order.
Result in_pieces(const MethodInfo& info, const Crowd& crowd, std::uint64_t seed) {
  Random random(seed);
  const Labels& labels = crowd.labels;
  const RoundsInput input = {labels.num_workers(), labels.num_classes(), labels.num_labels(), 0, 0,
                             &crowd.given};
  std::unique_ptr<RoundModel> model = info.make_rounds(in_rounds(info), input);
  while (!model->is_done()) {
    std::vector<std::unique_ptr<RoundSummary>> pieces;
    for (TaskId first = 0; first < labels.num_tasks();) {
      const auto last =
          std::min<TaskId>(labels.num_tasks(), first + 1 + static_cast<TaskId>(random.below(90)));
      const std::unique_ptr<RoundModel> judge = sent(*model, info, input);
      const std::unique_ptr<RoundSummary> said = judge->nothing();
      judge->judge(block_of(labels, first, last, crowd.given.truths), *said);
      pieces.push_back(model->nothing());
      from_bytes(to_bytes(*said), *pieces.back());
      first = last;
    }
    while (pieces.size() > 1) {
      const std::size_t one = random.below(pieces.size() - 1);
      pieces[one]->add(*pieces.back());
      pieces.pop_back();
    }
    model->learn(*pieces[0], 1);
    model = sent(*model, info, input);
  }
  return result_of_rounds(*model, LabelBlocks(labels, crowd.given.truths), labels.num_classes(),
                          with_everything());
}

void expect_same_bytes(const Result& a, const Result& b) {
  EXPECT_EQ(a.estimate, b.estimate);
  EXPECT_EQ(a.confidence, b.confidence);
  EXPECT_EQ(a.posterior, b.posterior);
  EXPECT_EQ(a.learned.counts, b.learned.counts);
  EXPECT_EQ(a.learned.sections, b.learned.sections);
  EXPECT_EQ(a.confusion, b.confusion);
  EXPECT_EQ(a.trace, b.trace);
  EXPECT_EQ(a.converged, b.converged);
  EXPECT_EQ(a.doubt, b.doubt);
}

TEST_P(MethodInRounds, IsTheSameForAnySplitIntoBlocksAndAnyOrderOfMerging) {
  for (const std::uint32_t classes : {2U, 5U, 70U}) {
    for (const bool truths : {false, true}) {
      const Crowd crowd = crowd_of(info(), classes, truths);
      const Result whole = fit(crowd.labels, in_rounds(info()), crowd.given, with_everything());
      for (std::uint64_t seed = 0; seed < (classes < 10 ? 3U : 1U); ++seed)
        expect_same_bytes(in_pieces(info(), crowd, seed), whole);
    }
  }
}

TEST_P(MethodInRounds, IsTheSameOnAnyNumberOfThreads) {
  const Labels labels = simulate_labels(
      {.tasks = 9'000, .workers = 300, .classes = 3, .min_labels = 1, .max_labels = 5, .quality = {}},
      1);
  Settings settings = in_rounds(info());
  if (info().has_option("iterations")) settings.emplace_back("iterations", "6");
  const Result one = fit(labels, settings, {}, with_everything());
  for (int threads = 2; threads <= 3; ++threads)
    expect_same_bytes(fit(labels, settings, {}, with_everything(threads)), one);
}

TEST_P(MethodInRounds, SaysHowManyRoundsAreLeftAtMost) {
  for (const bool truths : {false, true}) {
    const Crowd crowd = crowd_of(info(), 3, truths);
    const LabelBlocks blocks(crowd.labels, crowd.given.truths);
    const std::unique_ptr<RoundModel> model =
        info().make_rounds(in_rounds(info()), rounds_input(crowd.labels, crowd.given, {}));
    std::uint64_t told = 0;
    std::uint64_t rounds = 0;
    RunContext context;
    context.progress = [&](const Progress& progress) {
      EXPECT_TRUE(progress.at_most);
      EXPECT_LE(progress.total, told > 0 ? told : progress.total);
      EXPECT_EQ(progress.done, rounds * crowd.labels.num_tasks());
      told = progress.total;
      ++rounds;
    };
    run_rounds(*model, blocks, context);
    EXPECT_EQ(model->rounds_left(), 0U);
    EXPECT_LE(rounds * crowd.labels.num_tasks(), told);
  }
}

TEST_P(MethodInRounds, RefusesBytesOfAnotherCrowd) {
  const Crowd crowd = crowd_of(info(), 3, false);
  const RoundsInput input = {crowd.labels.num_workers(), 3, 0, 0, 0, nullptr};
  const std::unique_ptr<RoundModel> model = info().make_rounds(in_rounds(info()), input);
  const std::string bytes = to_bytes(*model);
  EXPECT_THROW(from_bytes(bytes.substr(0, bytes.size() / 2), *model), Error);
  EXPECT_THROW(from_bytes(bytes + "x", *model), Error);
  const std::unique_ptr<RoundSummary> summary = model->nothing();
  EXPECT_THROW(from_bytes("", *summary), Error);
}

TEST(Rounds, MethodsThatCannotNameThoseThatCan) {
  for (const char* const method : {"kos", "threepass", "twopass"}) {
    try {
      require_rounds(find_method(method), {});
      ADD_FAILURE() << method;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("fivepass"), std::string::npos) << error.what();
    }
  }
  require_rounds(find_method("twopass"), {{"vote_rounds", "2"}});
}

}  // namespace
}  // namespace crowdfold
