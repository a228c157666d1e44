#include "crowdfold/jury.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/random.h"
#include "crowdfold/error.h"
#include "crowdfold/report.h"
#include "report/jury_parts.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::error_of;
using testing::TempDir;

// Says a class (0 … K - 1) of a task with this truth; -1: nothing.
using Says = std::function<int(int task, int truth, Random& random)>;
struct Member {
  std::string name;
  Says says;
};

struct Panelled {
  Labels labels;
  std::vector<ClassId> truths;
};

Panelled panel_of(int tasks, int classes, const std::vector<Member>& members, std::uint64_t seed = 1) {
  Random random(seed);
  LabelsBuilder builder;
  std::vector<int> truths;
  for (int t = 0; t < tasks; ++t) {
    const int truth = static_cast<int>(random.below(static_cast<std::uint64_t>(classes)));
    truths.push_back(truth);
    for (const Member& member : members) {
      const int said = member.says(t, truth, random);
      builder.add("t" + std::to_string(t), member.name,
                  said < 0 ? "" : std::string(1, static_cast<char>('A' + said)));
    }
  }
  Panelled panel{builder.build(), {}};
  for (TaskId t = 0; t < panel.labels.num_tasks(); ++t) {
    const int task = std::stoi(std::string(panel.labels.tasks()[t].substr(1)));
    const auto found = panel.labels.classes().find(
        std::string(1, static_cast<char>('A' + truths[static_cast<std::size_t>(task)])));
    panel.truths.push_back(found ? static_cast<ClassId>(*found) : kNoClass);
  }
  return panel;
}

int another_class(int truth, int classes, Random& random) {
  return (truth + 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(classes - 1)))) % classes;
}
// Right with this probability, independently of everybody.
Says independent(double quality, int classes = 3) {
  return [=](int, int truth, Random& random) {
    return random.uniform() < quality ? truth : another_class(truth, classes, random);
  };
}
// The same answers as everybody of this seed.
Says copy_of(std::uint64_t seed, double quality, int classes = 3) {
  return [=](int task, int truth, Random&) {
    Random own(seed * 1'000'003 + static_cast<std::uint64_t>(task));
    return own.uniform() < quality ? truth : another_class(truth, classes, own);
  };
}
// On this share of tasks the answer of everybody of this seed.
Says partly_copy_of(std::uint64_t seed, double share, double quality, int classes = 3) {
  return [=](int task, int truth, Random& random) {
    return random.uniform() < share ? copy_of(seed, quality, classes)(task, truth, random)
                                    : independent(quality, classes)(task, truth, random);
  };
}

std::vector<Member> many(int n, const Says& says) {
  std::vector<Member> members;
  for (int i = 0; i < n; ++i) members.push_back({"judge" + std::to_string(i), says});
  return members;
}

Jury jury_of(const Panelled& panel, bool with_truths = true, JuryOptions options = {.resamples = 200},
             int threads = 1) {
  options.panels = options.panels && panel.labels.num_workers() < 30;
  RunContext context;
  context.threads = threads;
  return make_jury(panel.labels,
                   with_truths ? std::span<const ClassId>(panel.truths) : std::span<const ClassId>{},
                   options, context);
}
const JuryOptions kQuick = {.resamples = 200, .panels = false};

std::string words_of(const Jury& jury, const Panelled& panel) {
  std::string text;
  for (const std::string& sentence : verdict_of(jury, panel.labels)) text += sentence + "\n";
  return text;
}
bool holds_words(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Jury, OfIndependentJudgesIsWorthTheirNumber) {
  int covered = 0;
  constexpr int kRounds = 60;
  double sum = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Panelled panel = panel_of(300, 3, many(7, independent(.7)), static_cast<std::uint64_t>(round));
    const Bounded votes = jury_of(panel, true, kQuick).independent_votes;
    covered += votes.interval.lower <= 7 && 7 <= votes.interval.upper ? 1 : 0;
    sum += votes.value;
  }
  EXPECT_GE(covered, 52) << "95 % of 60 are 57";
  EXPECT_NEAR(sum / kRounds, 7, .25);
}

// Their habits may differ, and be lopsided: that is no common error.
TEST(Jury, OfJudgesWithUnevenHabitsWhoErrIndependentlyIsWorthTheirNumber) {
  std::vector<Member> members;
  for (int i = 0; i < 6; ++i) {
    members.push_back({"judge" + std::to_string(i), [i](int, int truth, Random& random) {
                         return truth > 0 && random.uniform() < .1 * (i + 2) ? 0 : truth;
                       }});
  }
  members[0].says = independent(.6);
  const Bounded votes = jury_of(panel_of(2000, 3, members), true, kQuick).independent_votes;
  EXPECT_LT(votes.interval.lower, 6);
  EXPECT_GT(votes.interval.upper, 6);
}

TEST(Jury, OfCopiesOfOneJudgeIsWorthOneVote) {
  const Panelled panel = panel_of(300, 3, many(5, copy_of(7, .7)));
  const Jury jury = jury_of(panel);
  EXPECT_NEAR(jury.independent_votes.value, 1, 1e-9);
  EXPECT_NEAR(jury.judges[0].votes_without.value, 1, 1e-9);
  ASSERT_EQ(jury.pairs.size(), 10);
  for (const JudgePair& pair : jury.pairs) {
    EXPECT_NEAR(pair.excess.value, 1, 1e-9);
    EXPECT_TRUE(pair.marked);
  }
}

TEST(Jury, WhoseErrorsAreCorrelatedLiesInBetween) {
  const Panelled panel = panel_of(1000, 3, many(8, partly_copy_of(3, std::sqrt(.5), .6)));
  // A pair copies the same answer on half of the tasks: rho is .5.
  const Bounded votes = jury_of(panel, true, kQuick).independent_votes;
  EXPECT_LT(votes.interval.lower, 8 / (1 + 7 * .5));
  EXPECT_GT(votes.interval.upper, 8 / (1 + 7 * .5));
}

TEST(Jury, IsWorthMoreWithoutACopyThanWithoutAnIndependentJudge) {
  std::vector<Member> members = many(3, independent(.7));
  members.push_back({"copy1", copy_of(5, .7)});
  members.push_back({"copy2", copy_of(5, .7)});
  const Jury jury = jury_of(panel_of(800, 3, members));
  EXPECT_NEAR(jury.judges[4].votes_without.value, 4, .5);
  EXPECT_NEAR(jury.judges[0].votes_without.value, 16 / 6.0, .3);
}

// Agreement under the truth of the model must not be made into kinship by the way classes are estimated.
TEST(Jury, OfIndependentJudgesIsWorthTheirNumberWithoutTruthsToo) {
  int covered = 0;
  constexpr int kRounds = 20;
  for (int round = 0; round < kRounds; ++round) {
    const Panelled panel =
        panel_of(500, 2, many(7, independent(.75, 2)), static_cast<std::uint64_t>(round));
    const Bounded votes = jury_of(panel, false, kQuick).independent_votes;
    covered += votes.interval.lower <= 7 && 7 <= votes.interval.upper ? 1 : 0;
  }
  EXPECT_GE(covered, 17);
}

TEST(Jury, WithoutTruthsSaysThatOnlyTruthsCanTell) {
  const Panelled panel = panel_of(300, 3, many(6, partly_copy_of(3, .7, .7)));
  EXPECT_TRUE(holds_words(words_of(jury_of(panel, false), panel),
                          "Without truths, errors that judges share look like truths"));
  const Panelled copies = panel_of(300, 3, many(6, copy_of(3, .7)));
  const Jury jury = jury_of(copies, false);
  EXPECT_FALSE(jury.independent_votes.is_told());
  EXPECT_TRUE(holds_words(words_of(jury, copies), "only truths can tell")) << words_of(jury, copies);
}

TEST(Jury, SeldomCallsPairsOfIndependentJudgesAlike) {
  int accused = 0;
  for (std::uint64_t round = 0; round < 20; ++round) {
    const Jury jury = jury_of(panel_of(200, 3, many(8, independent(.7)), round), true, kQuick);
    accused +=
        std::any_of(jury.pairs.begin(), jury.pairs.end(), [](const JudgePair& p) { return p.marked; })
            ? 1
            : 0;
  }
  EXPECT_LE(accused, 3) << "at most 5 % of juries";
}

TEST(Jury, SeldomCallsThemAlikeWithoutTruthsToo) {
  int accused = 0;
  for (std::uint64_t round = 0; round < 20; ++round) {
    const Jury jury = jury_of(panel_of(200, 2, many(8, independent(.75, 2)), round), false, kQuick);
    accused +=
        std::any_of(jury.pairs.begin(), jury.pairs.end(), [](const JudgePair& p) { return p.marked; })
            ? 1
            : 0;
  }
  EXPECT_LE(accused, 3);
}

TEST(Jury, DoesNotCallTwoJudgesAlikeWhoAreAlwaysRight) {
  const Jury jury = jury_of(panel_of(40, 3, many(5, independent(.999))), true, kQuick);
  for (const JudgePair& pair : jury.pairs) EXPECT_FALSE(pair.marked);
}

TEST(Jury, AveragesExcessWithinAndBetweenFamilies) {
  std::vector<Member> members = {{"a1", partly_copy_of(1, .8, .7)},
                                 {"a2", partly_copy_of(1, .8, .7)},
                                 {"b1", partly_copy_of(2, .8, .7)},
                                 {"b2", partly_copy_of(2, .8, .7)},
                                 {"alone", independent(.7)}};
  JuryOptions options = kQuick;
  options.families = {{"a1", "A"}, {"a2", "A"}, {"b1", "B"}, {"b2", "B"}, {"c9", "C"}};
  const Panelled panel = panel_of(600, 3, members);
  const Jury jury = jury_of(panel, true, options);
  EXPECT_EQ(jury.within.pairs, 2);
  EXPECT_EQ(jury.between.pairs, 8);
  EXPECT_GT(jury.within.excess.interval.lower, .5);
  EXPECT_LT(jury.between.excess.interval.lower, 0);
  EXPECT_GT(jury.between.excess.interval.upper, 0);
  ASSERT_EQ(jury.notes.size(), 2);
  EXPECT_TRUE(holds_words(jury.notes[0], "alone")) << jury.notes[0];
  EXPECT_TRUE(holds_words(jury.notes[1], "c9")) << jury.notes[1];
}

// --- positions ---------------------------------------------------------------------------------------

// Prefers the answer shown first (A in the order ab) with this probability, else is as good as
// `quality`.
Says by_place(bool first_order, double bias, double quality) {
  return [=](int, int truth, Random& random) {
    if (random.uniform() < bias) return first_order ? 0 : 1;
    return random.uniform() < quality ? truth : 1 - truth;
  };
}

TEST(Jury, TellsJudgesWhoPreferAPlaceFromThoseWhoDoNot) {
  int accused = 0;
  for (std::uint64_t round = 0; round < 10; ++round) {
    std::vector<Member> members = {{"biased/ab", by_place(true, .4, .8)},
                                   {"biased/ba", by_place(false, .4, .8)},
                                   {"late/ab", by_place(false, .3, .8)},
                                   {"late/ba", by_place(true, .3, .8)}};
    for (int i = 0; i < 10; ++i) {
      members.push_back({"fair" + std::to_string(i) + "/ab", by_place(true, 0, .8)});
      members.push_back({"fair" + std::to_string(i) + "/ba", by_place(false, 0, .8)});
    }
    const Panelled panel = panel_of(200, 2, members, round);
    const Jury jury = jury_of(panel, true, kQuick);
    ASSERT_EQ(jury.positions.size(), 12);
    EXPECT_TRUE(jury.positions[0].marked);
    EXPECT_GT(jury.positions[0].chosen_first.interval.lower, .5);
    EXPECT_NEAR(jury.positions[0].chosen_first.value, .7, .08);
    EXPECT_TRUE(jury.positions[1].marked);
    EXPECT_LT(jury.positions[1].chosen_first.interval.upper, .5);
    for (std::size_t i = 2; i < 12; ++i) accused += jury.positions[i].marked ? 1 : 0;
    EXPECT_TRUE(holds_words(words_of(jury, panel), "1 prefers the answer that is shown first"))
        << words_of(jury, panel);
  }
  EXPECT_LE(accused, 2) << "of 100 unbiased judges in 10 juries";
}

TEST(Jury, SaysThatNoPreferenceIsShown) {
  const Panelled one = panel_of(
      200, 2,
      {{"m/ab", by_place(true, 0, .8)}, {"m/ba", by_place(false, 0, .8)}, {"x", independent(.8, 2)}});
  EXPECT_TRUE(holds_words(words_of(jury_of(one, true, kQuick), one), "is not shown to prefer a place"));
}

TEST(Jury, TakesOrdersAndPlacesFromTheUserWhereNamesDoNotTell) {
  const std::vector<Member> members = {{"m one", by_place(false, .5, .8)},
                                       {"m two", by_place(true, .5, .8)},
                                       {"x", independent(.8, 2)},
                                       {"y", independent(.8, 2)}};
  const Panelled panel = panel_of(200, 2, members);
  EXPECT_TRUE(jury_of(panel, true, kQuick).positions.empty());
  JuryOptions options = kQuick;
  options.orders = {" one", " two"};
  options.places = {"B", "A"};
  const Jury jury = jury_of(panel, true, options);
  ASSERT_EQ(jury.positions.size(), 1);
  EXPECT_EQ(jury.positions[0].judge, "m");
  EXPECT_GT(jury.positions[0].chosen_first.interval.lower, .5);
  options.places = {"B", "Q"};
  EXPECT_EQ(error_of([&] { jury_of(panel, true, options); }).code(), ErrorCode::usage);
  options.orders = {"one", "three"};
  EXPECT_EQ(error_of([&] { jury_of(panel, true, options); }).code(), ErrorCode::usage);
  options.orders = {"none"};
  options.places = {};
  EXPECT_TRUE(jury_of(panel, true, options).positions.empty());
}

TEST(Jury, TakesNumbersOfWorkersForNoOrders) {
  EXPECT_TRUE(jury_of(panel_of(60, 2, {{"w_12", independent(.7, 2)}, {"w_21", independent(.7, 2)}}),
                      true, kQuick)
                  .positions.empty());
}

TEST(Jury, DoesNotSayWhichPlaceIsPreferredAmongThreeClasses) {
  const std::vector<Member> members = {
      {"m/ab", independent(.7)}, {"m/ba", independent(.7)}, {"x", independent(.7)}};
  const Jury jury = jury_of(panel_of(200, 3, members), true, kQuick);
  ASSERT_EQ(jury.positions.size(), 1);
  EXPECT_FALSE(jury.positions[0].chosen_first.is_told());
  EXPECT_TRUE(holds_words(jury.notes.front(), "--places")) << jury.notes.front();
}

// --- versions ----------------------------------------------------------------------------------------

TEST(Jury, ShowsDriftBetweenVersionsOfOneModel) {
  const std::vector<Member> members = {{"m@2024", independent(.8)},
                                       {"m@2025", independent(.6)},
                                       {"n@1/cot", independent(.7)},
                                       {"n@2/cot", independent(.7)},
                                       {"n@2", independent(.7)}};
  const Panelled panel = panel_of(500, 3, members);
  const Jury jury = jury_of(panel, true, kQuick);
  ASSERT_EQ(jury.versions.size(), 2);
  EXPECT_EQ(jury.versions[0].model, "m");
  EXPECT_TRUE(jury.versions[0].marked);
  EXPECT_LT(jury.versions[0].difference.interval.upper, -.05);
  EXPECT_EQ(jury.versions[1].model, "n/cot");
  EXPECT_FALSE(jury.versions[1].marked);
  EXPECT_TRUE(holds_words(words_of(jury, panel), "m@2025 is right less often than m@2024"))
      << words_of(jury, panel);
}

TEST(Jury, SeldomSeesDriftWhereThereIsNone) {
  int accused[2] = {};
  for (std::uint64_t round = 0; round < 20; ++round) {
    std::vector<Member> members = many(5, independent(.75, 2));
    members.push_back({"m@1", independent(.75, 2)});
    members.push_back({"m@2", independent(.75, 2)});
    const Panelled panel = panel_of(200, 2, members, round);
    for (const bool with_truths : {false, true})
      accused[with_truths ? 1 : 0] +=
          jury_of(panel, with_truths, kQuick).versions.front().marked ? 1 : 0;
  }
  EXPECT_LE(accused[0], 3);
  EXPECT_LE(accused[1], 3);
}

// --- panels -------------------------------------------------------------------------------------------

TEST(Jury, FindsThatCopiesCanBeLeftOut) {
  std::vector<Member> members = many(3, independent(.8));
  for (int i = 0; i < 6; ++i) members.push_back({"copy" + std::to_string(i), copy_of(5, .55)});
  const Panelled panel = panel_of(1500, 3, members);
  const Jury jury = jury_of(panel);
  const auto as_well = std::find_if(jury.panels.rbegin(), jury.panels.rend(),
                                    [](const Panel& p) { return p.does_as_well; });
  ASSERT_NE(as_well, jury.panels.rend());
  EXPECT_LE(as_well->judges.size(), 4);
  EXPECT_TRUE(holds_words(words_of(jury, panel), "of the whole panel")) << words_of(jury, panel);
}

TEST(Jury, DoesNotClaimThatFewDoAsWellAsManyIndependentJudges) {
  int claimed = 0;
  for (std::uint64_t round = 0; round < 10; ++round) {
    const Jury jury = jury_of(panel_of(400, 2, many(9, independent(.65, 2)), round));
    for (const Panel& p : jury.panels) claimed += p.does_as_well && p.judges.size() <= 3 ? 1 : 0;
  }
  EXPECT_EQ(claimed, 0) << "three are right on 72 % of tasks, nine on 83 %";
}

TEST(Jury, LeavesOutTheDearJudgeOfTwoEquals) {
  std::vector<Member> members = {{"cheap", copy_of(5, .9)},
                                 {"dear", copy_of(5, .9)},
                                 {"x", independent(.8)},
                                 {"y", independent(.8)}};
  JuryOptions options;
  options.resamples = 200;
  options.families = {{"cheap", "f", 1}, {"dear", "f", 10}, {"x", "g", 1}, {"y", "h", 1}};
  const Jury jury = jury_of(panel_of(800, 3, members), true, options);
  ASSERT_FALSE(jury.panels.empty());
  for (const Panel& p : jury.panels) EXPECT_EQ(std::count(p.judges.begin(), p.judges.end(), 1U), 0);
}

// --- what is no jury
// ------------------------------------------------------------------------------------

TEST(Jury, OfOneJudgeSaysThatThereIsNothingToCompare) {
  const Panelled panel = panel_of(50, 3, many(1, independent(.7)));
  const Jury jury = jury_of(panel);
  EXPECT_TRUE(jury.judges[0].quality.is_told());
  EXPECT_FALSE(jury.independent_votes.is_told());
  EXPECT_TRUE(holds_words(words_of(jury, panel), "one judge gave labels"));
}

TEST(Jury, OfJudgesWhoNeverMeetSaysSo) {
  std::vector<Member> members;
  for (int i = 0; i < 4; ++i) {
    members.push_back({"judge" + std::to_string(i), [i](int task, int truth, Random& random) {
                         return task % 4 == i ? independent(.7)(task, truth, random) : -1;
                       }});
  }
  const Panelled panel = panel_of(400, 3, members);
  for (const bool with_truths : {true, false}) {
    const Jury jury = jury_of(panel, with_truths);
    EXPECT_FALSE(jury.independent_votes.is_told());
    EXPECT_TRUE(jury.pairs.empty());
    EXPECT_TRUE(holds_words(words_of(jury, panel), "in a jury all answer")) << words_of(jury, panel);
  }
}

TEST(Jury, OfOneRegularJudgeIsNoPanel) {
  std::vector<Member> members = many(1, independent(.7));
  members.push_back({"seldom", [](int task, int truth, Random& random) {
                       return task % 5 == 0 ? independent(.7)(task, truth, random) : -1;
                     }});
  const Jury jury = jury_of(panel_of(300, 3, members));
  EXPECT_FALSE(jury.independent_votes.is_told());
  EXPECT_TRUE(std::any_of(jury.notes.begin(), jury.notes.end(),
                          [](const std::string& note) { return holds_words(note, "no panel"); }));
}

TEST(Jury, OfOneClassSaysThatThereIsNothingToCompare) {
  const Panelled panel = panel_of(50, 1, many(4, [](int, int, Random&) { return 0; }));
  const Jury jury = jury_of(panel, false);
  EXPECT_FALSE(jury.independent_votes.is_told());
  EXPECT_TRUE(holds_words(words_of(jury, panel), "the same class"));
}

TEST(Jury, SaysOnceWhyItSaysNothing) {
  const auto without_repeats = [](const Panelled& panel, bool with_truths) {
    const Jury jury = jury_of(panel, with_truths);
    const std::vector<std::string> verdict = verdict_of(jury, panel.labels);
    EXPECT_EQ(verdict.size(), 1);
    for (const std::string& note : jury.notes) EXPECT_FALSE(holds_words(verdict.front(), note)) << note;
    EXPECT_FALSE(jury.untold.empty());
    EXPECT_TRUE(holds_words(verdict.front(), jury.untold)) << verdict.front();
  };
  without_repeats(panel_of(50, 1, many(4, [](int, int, Random&) { return 0; })), false);
  without_repeats(panel_of(50, 3, many(1, independent(.7))), true);
  without_repeats(panel_of(50, 3, many(2, independent(.7))), false);
  without_repeats(panel_of(5, 3, many(5, independent(.7))), true);
  without_repeats(panel_of(1, 3, many(5, independent(.7))), false);
}

TEST(Jury, AShareLiesInItsInterval) {
  EXPECT_EQ(share_with_interval(2, 2).interval.upper, 1);
  EXPECT_EQ(share_with_interval(0, 2).interval.lower, 0);
  EXPECT_LT(share_with_interval(1, 2).interval.upper, 1);
}

TEST(Jury, CountsWhatAJudgeDidNotAnswer) {
  std::vector<Member> members = many(4, independent(.7));
  members.push_back({"silent", [](int task, int, Random&) { return task == 0 ? 0 : -1; }});
  Panelled panel = panel_of(200, 3, members);
  const Jury jury = jury_of(panel);
  EXPECT_EQ(jury.judges[4].votes, 1);
  EXPECT_EQ(jury.judges[4].missing, 199);
  EXPECT_TRUE(jury.independent_votes.is_told());
  EXPECT_EQ(jury.independent_votes.value,
            jury_of(panel_of(200, 3, many(4, independent(.7)))).independent_votes.value);
  EXPECT_TRUE(std::any_of(jury.notes.begin(), jury.notes.end(), [](const std::string& note) {
    return holds_words(note, "silent answered less");
  }));
  NameTable workers = panel.labels.workers();
  workers.intern("mute");
  panel.labels = std::move(panel.labels).with_workers(std::move(workers));
  const Jury with_mute = jury_of(panel);
  EXPECT_EQ(with_mute.judges[5].votes, 0);
  EXPECT_FALSE(with_mute.judges[5].quality.is_told());
  EXPECT_EQ(with_mute.independent_votes.value, jury.independent_votes.value);
}

TEST(Jury, OfNothingIsNoError) {
  const Jury jury = make_jury(Labels(), {}, {}, {});
  EXPECT_TRUE(jury.judges.empty());
  EXPECT_TRUE(holds_words(verdict_of(jury, Labels()).front(), "nobody gave labels"));
}

TEST(Jury, OfFewTruthsTellsQualitiesAlone) {
  Panelled panel = panel_of(200, 3, many(5, independent(.7)));
  std::fill(panel.truths.begin() + 10, panel.truths.end(), kNoClass);
  const Jury jury = jury_of(panel);
  EXPECT_TRUE(jury.judges[0].quality.is_told());
  EXPECT_FALSE(jury.independent_votes.is_told());
}

TEST(Jury, ComparesErrorsAsRightAndWrongWhereClassesAreMany) {
  const Panelled panel = panel_of(200, 26, many(5, independent(.6, 26)));
  const Jury jury = jury_of(panel, true, kQuick);
  EXPECT_FALSE(jury.by_class);
  EXPECT_LT(jury.independent_votes.interval.lower, 5);
  EXPECT_GT(jury.independent_votes.interval.upper, 5);
}

TEST(Jury, TellsTheClassThatAJudgeLeansTo) {
  std::vector<Member> members = many(4, independent(.8));
  members.push_back(
      {"keen", [](int, int truth, Random& random) { return random.uniform() < .3 ? 1 : truth; }});
  const Panelled panel = panel_of(500, 3, members);
  const Jury jury = jury_of(panel, true, kQuick);
  EXPECT_EQ(panel.labels.classes()[jury.judges[4].leans_to], "B");
  EXPECT_NEAR(jury.judges[4].leaning.value, .2, .05);
  EXPECT_EQ(jury.judges[0].leans_to, kNoClass);
}

// --- output -------------------------------------------------------------------------------------------

TEST(Jury, IsTheSameOnAnyNumberOfThreads) {
  const Panelled panel = panel_of(300, 3, many(6, partly_copy_of(3, .5, .7)));
  EXPECT_EQ(to_json(jury_of(panel), panel.labels),
            to_json(jury_of(panel, true, {.resamples = 200}, 3), panel.labels));
}

TEST(Jury, IsWrittenAsItsNameEnds) {
  const Panelled panel = panel_of(100, 3, many(4, independent(.7)));
  const Jury jury = jury_of(panel);
  const TempDir dir;
  write_jury(dir / "j.json", jury, panel.labels, "votes.csv");
  write_jury(dir / "j.csv", jury, panel.labels, "votes.csv");
  const auto json = nlohmann::json::parse(testing::read_file(dir / "j.json"));
  EXPECT_EQ(json["judges"].size(), 4);
  EXPECT_EQ(json["pairs"].size(), 6);
  const std::string csv = testing::read_file(dir / "j.csv");
  EXPECT_TRUE(csv.starts_with("judge,family,"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 5);
  EXPECT_FALSE(to_json(document_of(jury, panel.labels, "votes.csv")).empty());
}

bool has_section(const Document& document, const std::string& id) {
  return std::any_of(document.sections.begin(), document.sections.end(),
                     [&](const Section& section) { return section.id == id; });
}

TEST(Jury, HasASectionInTheReportOfAJuryAlone) {
  const auto document = [](const Panelled& panel) {
    const Report report = make_report(panel.labels, panel.truths, {.compared = {}}, {});
    return document_of(report, panel.labels, panel.truths, "votes.csv");
  };
  EXPECT_TRUE(has_section(document(panel_of(100, 3, many(5, independent(.7)))), "jury"));
  EXPECT_FALSE(has_section(document(panel_of(100, 3, many(2, independent(.7)))), "jury"));
}

TEST(Jury, IsRecognisedByWhoLabelsNearlyEverything) {
  EXPECT_TRUE(is_jury(panel_of(50, 3, many(4, independent(.7))).labels));
  EXPECT_FALSE(is_jury(panel_of(50, 3, many(2, independent(.7))).labels));
  EXPECT_FALSE(is_jury(panel_of(50, 3, many(60, independent(.7))).labels));
}

}  // namespace
}  // namespace crowdfold
