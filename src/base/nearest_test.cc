#include <gtest/gtest.h>

#include "crowdfold/words.h"

namespace crowdfold {
namespace {

const std::vector<std::string> kCommands = {"aggregate", "agreement", "stream", "state", "simulate"};

TEST(Nearest, FindsAMistypedName) {
  EXPECT_EQ(nearest("agregate", kCommands), "aggregate");
  EXPECT_EQ(nearest("straem", kCommands), "stream");
  EXPECT_EQ(nearest("stat", kCommands), "state");
  EXPECT_EQ(nearest("shwo", {"show", "check"}), "show");
  EXPECT_EQ(nearest("lable", {"task", "label"}), "label");
}

TEST(Nearest, CaseAndPunctuationAreNoErrors) {
  EXPECT_EQ(nearest("--workers_out", {"--workers-out", "--workers-in"}), "--workers-out");
  EXPECT_EQ(nearest("Labels.CSV", {"labels.csv", "labels.tsv"}), "labels.csv");
}

TEST(Nearest, NamesAreAlikeButForCaseAndPunctuation) {
  EXPECT_TRUE(is_alike("Dawid-Skene", "dawid_skene"));
  EXPECT_TRUE(is_alike("DawidSkene", "dawid skene"));
  EXPECT_FALSE(is_alike("dawid", "dawid-skene"));
}

TEST(Nearest, FindsANameThatWasCutShort) {
  EXPECT_EQ(nearest("agg", kCommands), "aggregate");
  EXPECT_EQ(nearest("img", {"email", "verdict", "image"}), "image");
  EXPECT_EQ(nearest("labels", {"answers.csv", "labels.csv"}), "labels.csv");
}

TEST(Nearest, PrefersAMistypedNameToOneCutShort) { EXPECT_EQ(nearest("lab", {"lag", "labels"}), "lag"); }

TEST(Nearest, SaysNothingWhereNoNameIsNear) {
  EXPECT_EQ(nearest("fold", kCommands), "");
  EXPECT_EQ(nearest("gamma", {"alpha", "beta", "ties", "order"}), "");
  EXPECT_EQ(nearest("em", {"mv", "ds", "zc"}), "");
  EXPECT_EQ(nearest("x", {"y"}), "");
  EXPECT_EQ(nearest("", kCommands), "");
  EXPECT_EQ(nearest("x", {}), "");
  EXPECT_EQ(nearest(std::string(1000, 'x'), {std::string(1001, 'x')}), "");
}

TEST(Nearest, OfEquallyNearNamesTheFirstInTheAlphabet) {
  EXPECT_EQ(nearest("cat", {"mat", "bat", "hat"}), "bat");
}

TEST(Nearest, IsSaidBehindTheWrongName) {
  EXPECT_EQ(did_you_mean("agregate", kCommands), " (did you mean 'aggregate'?)");
  EXPECT_EQ(did_you_mean("fold", kCommands), "");
}

}  // namespace
}  // namespace crowdfold
