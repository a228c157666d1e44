#include <gtest/gtest.h>

#include "crowdfold/write_back.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::error_of;

// Beta(3, 7): mean .3, interval about .07 to .6; ten labels.
bool holds(const std::string& rule) { return WorkerRule(rule).holds({3, 7}, {2, 10}); }

TEST(WorkerRule, ComparesWhatIsKnownAboutAWorker) {
  EXPECT_TRUE(holds("quality < 0.31"));
  EXPECT_FALSE(holds("quality<.29"));
  EXPECT_TRUE(holds("Lower > .05"));
  EXPECT_TRUE(holds("upper <= 0.7"));
  EXPECT_TRUE(holds("labels = 10"));
  EXPECT_TRUE(holds("labels == 10"));
  EXPECT_TRUE(holds("labels >= 10"));
  EXPECT_FALSE(holds("labels != 10"));
  EXPECT_FALSE(holds("labels > 10"));
}

TEST(WorkerRule, AllConditionsMustHold) {
  EXPECT_TRUE(holds("upper < .7 and labels >= 10 AND quality > .2"));
  EXPECT_FALSE(holds("upper < .7 and labels > 10"));
}

TEST(WorkerRule, SaysWhatIsWrongWithIt) {
  const auto complaint = [](const std::string& rule) {
    const Error error = error_of([&] { WorkerRule{rule}; });
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return std::string(error.what());
  };
  EXPECT_EQ(
      complaint("uper < .6"),
      "rule 'uper < .6': no field 'uper' (did you mean 'upper'?); there are: quality, lower, upper, "
      "labels");
  EXPECT_EQ(complaint("upper < x"), "rule 'upper < x': 'x' is not a number");
  EXPECT_EQ(complaint("upper =< 1"), "rule 'upper =< 1': '=<' is none of <, <=, >, >=, = and !=");
  EXPECT_EQ(complaint("upper < 1 or lower > 0"),
            "rule 'upper < 1 or lower > 0': 'or' where `and` is expected");
  for (const char* part : {"", "upper", "upper <", "upper < 1 and", "upper < 1 and lower"})
    EXPECT_NE(complaint(part).find("a rule is FIELD OPERATOR NUMBER"), std::string::npos) << part;
}

}  // namespace
}  // namespace crowdfold
