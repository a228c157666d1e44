#include "crowdfold/round_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "crowdfold/error.h"
#include "crowdfold/simulate.h"
#include "methods/threepass/credited_counts.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::error_of;

struct Rows {
  std::vector<std::int64_t> tasks, workers, classes, truths, truth_tasks;
  std::string packed() const { return pack_chunk({tasks, workers, classes, truths, truth_tasks}); }
};

Labels crowd() {
  return simulate_labels(
      {.tasks = 200, .workers = 20, .classes = 3, .min_labels = 1, .max_labels = 6, .quality = {}}, 1);
}

// Of the tasks first … last - 1, whose ids lie apart.
Rows rows_of(const Labels& labels, TaskId first, TaskId last, std::int64_t apart = 1) {
  Rows rows;
  for (TaskId t = first; t < last; ++t) {
    const TaskLabels task = labels.task(t);
    for (std::size_t j = 0; j < task.size(); ++j) {
      rows.tasks.push_back(t * apart);
      rows.workers.push_back(task.workers[j]);
      rows.classes.push_back(task.classes[j]);
    }
  }
  return rows;
}

std::string start(const std::string& method, const Settings& settings = {}, std::uint64_t seed = 0) {
  return start_rounds({method, settings, 20, 3, seed});
}

std::string judged(const std::string& model, const std::string& chunk) {
  const std::string_view chunks[] = {chunk};
  return SentModel(model).judge(chunks);
}

// Until it is done, every chunk judged by itself, summaries merged in a drawn order.
std::string driven(std::string model, const std::vector<std::string>& chunks) {
  Random random(1);
  while (!SentModel(model).is_done()) {
    std::vector<std::string> summaries;
    for (const std::string& chunk : chunks) summaries.push_back(judged(model, chunk));
    while (summaries.size() > 1) {
      std::string& one = summaries[random.below(summaries.size() - 1)];
      const std::string_view two[] = {summaries.back(), one};
      one = SentModel(model).merge(two);
      summaries.pop_back();
    }
    model = next_round(model, summaries[0]);
  }
  return model;
}

TEST(RoundBytes, GiveWhatTheMethodGivesInMemory) {
  const Labels labels = crowd();
  RunContext context;
  context.posterior = true;
  context.seed = 7;
  const Settings settings = {{"ties", "random"}};
  for (const char* const method : {"mv", "wawa", "fast_ds", "fivepass"}) {
    const Settings set = find_method(method).has_option("ties") ? settings : Settings{};
    const Result whole = find_method(method).make(set)->fit(labels, context);
    std::vector<std::string> chunks;
    for (TaskId first = 0; first < 200; first += 40)
      chunks.push_back(rows_of(labels, first, first + 40).packed());
    const SentModel model(driven(start(method, set, 7), chunks));
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      const ChunkAnswers answers = model.answer(chunks[i], true);
      for (std::size_t t = 0; t < 40; ++t) {
        EXPECT_EQ(answers.tasks[t], static_cast<std::int64_t>(40 * i + t));
        EXPECT_EQ(answers.classes[t], whole.estimate[40 * i + t]) << method;
        EXPECT_EQ(answers.confidence[t], whole.confidence[40 * i + t]) << method;
        EXPECT_EQ(answers.posterior[3 * t], whole.posterior[3 * (40 * i + t)]) << method;
      }
    }
    EXPECT_EQ(model.report().learned.counts, whole.learned.counts) << method;
  }
}

// Of many labels fivepass holds out some only, drawn by the number of the task.
TEST(RoundBytes, SayTheSameOfManyTasksHoweverTheyAreSplit) {
  constexpr TaskId kTasks = 12'000;
  const Labels labels =
      simulate_labels({.tasks = kTasks, .workers = 20, .classes = 3, .quality = {}}, 1);
  const auto chunk_of = [&](TaskId first, TaskId last) {
    Rows rows = rows_of(labels, first, last);
    for (TaskId t = first; t < last; ++t)
      rows.truths.push_back(t % 2 == 0 ? labels.task(t).classes[0] : -1);
    return rows.packed();
  };
  const std::string whole = chunk_of(0, kTasks);
  const std::string halves[] = {chunk_of(0, kTasks / 2), chunk_of(kTasks / 2, kTasks)};
  std::string model = start("fivepass");
  while (!SentModel(model).is_done()) {
    const std::string first = judged(model, halves[0]);
    const std::string second = judged(model, halves[1]);
    const std::string_view both[] = {second, first};
    const std::string summary = judged(model, whole);
    EXPECT_EQ(SentModel(model).merge(both), summary) << SentModel(model).stage();
    model = next_round(model, summary);
  }
}

TEST(RoundBytes, GroupRowsByTaskAndKeepTheLastOfAWorkersLabels) {
  const std::string model = start("mv");
  const Rows apart = {{9, -5, 9, 9}, {0, 1, 2, 0}, {1, 2, 1, 2}, {}, {}};
  const Rows together = {{9, 9, -5}, {0, 2, 1}, {2, 1, 2}, {}, {}};
  EXPECT_EQ(apart.packed(), together.packed());
  const ChunkAnswers answers = SentModel(driven(model, {apart.packed()})).answer(apart.packed(), false);
  EXPECT_EQ(answers.tasks, (std::vector<std::int64_t>{9, -5}));
  EXPECT_TRUE(answers.posterior.empty());
}

TEST(RoundBytes, KeepTasksOfWhichNobodySaidAnything) {
  const Rows rows = {{4, 4, 5, 6}, {0, 1, 2, 1}, {1, -1, -1, 1}, {}, {}};
  const SentModel model(driven(start("mv"), {rows.packed()}));
  const ChunkAnswers answers = model.answer(rows.packed(), false);
  EXPECT_EQ(answers.tasks, (std::vector<std::int64_t>{4, 5, 6}));
  EXPECT_EQ(answers.classes, (std::vector<std::int64_t>{1, -1, 1}));
  EXPECT_EQ(model.report().learned.counts[2].seen, 0);
  const Rows unknown = {{4}, {-1}, {-1}, {}, {}};
  EXPECT_EQ(error_of([&] { unknown.packed(); }).code(), ErrorCode::data);
}

TEST(RoundBytes, AreNumberedAnew) {
  Rows rows = {{9, 7, 9}, {0, 1, 2}, {1, 2, 1}, {2, -1}, {}};
  const std::string chunk = rows.packed();
  rows.tasks = {100, 101, 100};
  EXPECT_EQ(renumbered_chunk(chunk, 100), rows.packed());
  EXPECT_EQ(error_of([&] { renumbered_chunk(start("mv"), 0); }).code(), ErrorCode::data);
}

TEST(RoundBytes, TakeTruthsByTaskOrInOrder) {
  Rows named = {{9, 9, -5}, {0, 2, 1}, {2, 1, 2}, {0, 1}, {-5, 77}};
  Rows in_order = named;
  in_order.truths = {-1, 0};
  in_order.truth_tasks = {};
  EXPECT_EQ(named.packed(), in_order.packed());
  const SentModel model(driven(start("mv"), {named.packed()}));
  const ChunkAnswers answers = model.answer(named.packed(), false);
  EXPECT_EQ(answers.classes[1], 0);
  EXPECT_EQ(answers.confidence[1], 1);
  in_order.truths = {0};
  EXPECT_EQ(error_of([&] { in_order.packed(); }).code(), ErrorCode::data);
}

// Of the chunk's workers, in two parts that are cut from larger ones.
std::vector<std::string> parts_for(const Rows& rows, const std::string& model) {
  std::vector<std::int64_t> ids = rows.workers;
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  const std::span<const std::int64_t> low(ids.data(), ids.size() / 2);
  const std::span<const std::int64_t> high(ids.data() + low.size(), ids.size() - low.size());
  return {part_of_model(part_of_model(model, ids), low), part_of_model(model, high)};
}

TEST(RoundBytes, PartsOfAModelJudgeWhatItsWorkersLabelled) {
  const Labels labels = crowd();
  for (const char* const name : {"mv", "wawa", "zbs", "iwmv", "crh", "zc", "onecoin_ds", "ds", "fast_ds",
                                 "lfc", "ibcc", "fivepass", "twopass"}) {
    const Settings settings =
        name == std::string("twopass") ? Settings{{"vote_rounds", "2"}} : Settings{};
    for (const auto classes : {3U, static_cast<unsigned>(CreditedCounts::kMostClasses) + 1}) {
      if (classes > 3 && name != std::string("fivepass")) continue;
      std::string model = start_rounds({name, settings, 20, classes, 0});
      const Rows rows[] = {rows_of(labels, 0, 3), rows_of(labels, 3, 200)};
      for (bool is_done = false; !is_done;) {
        const SentModel whole(model);
        is_done = whole.is_done();
        std::vector<std::string> summaries;
        for (const Rows& some : rows) {
          const std::vector<std::string> kept = parts_for(some, model);
          const std::vector<std::string_view> parts(kept.begin(), kept.end());
          const SentModel part(parts);
          const std::string chunk = some.packed();
          const std::string_view chunks[] = {chunk};
          if (!is_done) {
            summaries.push_back(part.judge(chunks));
            const std::string_view by_part[] = {summaries.back()};
            const std::string all = whole.judge(chunks);
            const std::string_view by_whole[] = {all};
            EXPECT_EQ(whole.merge(by_part), whole.merge(by_whole)) << name << whole.stage();
          } else {
            EXPECT_EQ(part.answer(chunk, true).posterior, whole.answer(chunk, true).posterior) << name;
          }
        }
        const std::vector<std::string_view> said(summaries.begin(), summaries.end());
        if (!is_done) model = next_round(model, whole.merge(said));
      }
    }
  }
}

TEST(RoundBytes, PartsOfAModelDoNoMoreThanTheyKnow) {
  const Rows rows = rows_of(crowd(), 0, 10);
  const std::string model = start("ds");
  const std::int64_t some[] = {0, 5};
  const std::int64_t others[] = {6, 1};
  const std::string part = part_of_model(model, some);
  const std::string_view parts[] = {part};
  const std::string chunk = rows.packed();
  const std::string_view chunks[] = {chunk};
  const SentModel sent(parts);
  const auto refused = [](ErrorCode code, auto&& use) { EXPECT_EQ(error_of(use).code(), code); };
  refused(ErrorCode::data, [&] { sent.judge(chunks); });
  refused(ErrorCode::usage, [&] { sent.merge({}); });
  refused(ErrorCode::data, [&] { part_of_model(part, std::span(others).first(1)); });
  refused(ErrorCode::usage, [&] { part_of_model(model, others); });
  refused(ErrorCode::data, [&] { SentModel{part}; });
  const std::string another = part_of_model(start("ds", {{"start", ".6"}}), some);
  const std::string_view mixed[] = {part, another};
  refused(ErrorCode::data, [&] { SentModel{std::span(mixed)}; });
  Random random(5);
  for (int i = 0; i < 100; ++i) {
    std::string damaged = part;
    damaged[random.below(damaged.size())] ^= static_cast<char>(1 + random.below(255));
    const std::string_view bad[] = {damaged};
    refused(ErrorCode::data, [&] { SentModel{std::span(bad)}; });
  }
}

TEST(RoundBytes, RefuseEveryDamage) {
  const std::string model = start("fivepass");
  const std::string chunk = rows_of(crowd(), 0, 10).packed();
  const std::string summary = judged(model, chunk);
  const auto is_refused = [](auto&& use) { EXPECT_EQ(error_of(use).code(), ErrorCode::data); };
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    const auto damaged = [&](std::string bytes) {
      if (i % 3 == 0) return bytes.substr(0, random.below(bytes.size()));
      if (i % 3 == 1) return bytes + "x";
      bytes[random.below(bytes.size())] ^= static_cast<char>(1 + random.below(255));
      return bytes;
    };
    is_refused([&] { SentModel{damaged(model)}; });
    is_refused([&] { judged(model, damaged(chunk)); });
    is_refused([&] { next_round(model, damaged(summary)); });
  }
  is_refused([&] { judged(model, summary); });
  is_refused([&] { SentModel{chunk}; });
}

TEST(RoundBytes, RefuseSummariesOfAnotherRoundOrRun) {
  const std::string chunk = rows_of(crowd(), 0, 10).packed();
  const std::string model = start("fivepass");
  const std::string old = judged(model, chunk);
  const std::string later = next_round(model, old);
  EXPECT_EQ(SentModel(later).round(), 1U);
  EXPECT_NE(std::string(error_of([&] { next_round(later, old); }).what()).find("of another model"),
            std::string::npos);
  EXPECT_EQ(error_of([&] { next_round(start("fivepass", {}, 1), old); }).code(), ErrorCode::data);
}

TEST(RoundBytes, RefuseIdsBeyondTheModel) {
  const std::string model = start("ds");
  for (const Rows& rows :
       {Rows{{0}, {20}, {0}, {}, {}}, Rows{{0}, {0}, {3}, {}, {}}, Rows{{0}, {0}, {0}, {3}, {}}})
    EXPECT_EQ(error_of([&] { judged(model, rows.packed()); }).code(), ErrorCode::data);
  for (const Rows& rows :
       {Rows{{0}, {-1}, {0}, {}, {}}, Rows{{0}, {0}, {70'000}, {}, {}}, Rows{{0}, {0}, {0, 1}, {}, {}}})
    EXPECT_EQ(error_of([&] { rows.packed(); }).code(), ErrorCode::data);
}

TEST(RoundBytes, SayWhatIsDone) {
  const std::string chunk = rows_of(crowd(), 0, 10).packed();
  const std::string first = start("wawa");
  EXPECT_EQ(error_of([&] { SentModel(first).answer(chunk, false); }).code(), ErrorCode::usage);
  const std::string last = driven(first, {chunk});
  EXPECT_EQ(SentModel(last).stage(), "done");
  EXPECT_EQ(error_of([&] { judged(last, chunk); }).code(), ErrorCode::usage);
  EXPECT_NE(std::string(error_of([&] { start("kos"); }).what()).find("fivepass"), std::string::npos);
  EXPECT_EQ(error_of([&] { start_rounds({"mv", {}, 0, 3, 0}); }).code(), ErrorCode::usage);
}

}  // namespace
}  // namespace crowdfold
