#include "results.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support.h"

namespace crowdfold::paper {
namespace {

using testing::error_of;
using testing::read_file;
using testing::TempDir;

TEST(Results, GoOnWhereTheyWere) {
  const TempDir folder;
  const std::string file = folder / "results.csv";
  {
    Results results(file, {"set", "seed"}, {"accuracy"});
    EXPECT_TRUE(results.empty());
    results.add({"rte", "1"}, {{"0.5"}});
    results.add({"rte", "2"}, {{"0.75"}});
  }
  const Results again(file, {"set", "seed"}, {"accuracy"});
  EXPECT_TRUE(again.has({"rte", "2"}));
  EXPECT_FALSE(again.has({"rte", "3"}));
  EXPECT_EQ(again.rows().size(), 2U);
  EXPECT_EQ(read_file(file), "set,seed,accuracy\nrte,1,0.5\nrte,2,0.75\n");
}

TEST(Results, DropHalfARowAndThenAddToWhatIsLeft) {
  const TempDir folder;
  const std::string file = folder.write("results.csv", "set,seed,accuracy\nrte,1,0.5\nrte,2,0.7");
  Results results(file, {"set", "seed"}, {"accuracy"});
  EXPECT_FALSE(results.has({"rte", "2"}));
  results.add({"rte", "2"}, {{"0.75"}});
  EXPECT_EQ(read_file(file), "set,seed,accuracy\nrte,1,0.5\nrte,2,0.75\n");
}

TEST(Results, DropUnitsThatAreNotWhole) {
  const TempDir folder;
  const std::string file = folder.write("results.csv", "set,chunk,accuracy\na,1,.5\na,2,.5\nb,1,.5\n");
  const Results results(file, {"set"}, {"chunk", "accuracy"}, 2);
  EXPECT_TRUE(results.has({"a"}));
  EXPECT_FALSE(results.has({"b"}));
  EXPECT_EQ(read_file(file), "set,chunk,accuracy\na,1,.5\na,2,.5\n");
}

TEST(Results, SettleInTheOrderOfTheirKeys) {
  const TempDir folder;
  Results results(folder / "results.csv", {"set", "seed"}, {"x"});
  for (const char* seed : {"10", "9", "1"}) results.add({"b", seed}, {{"0"}});
  results.add({"a", "2"}, {{"0"}});
  results.settle();
  EXPECT_EQ(read_file(folder / "results.csv"), "set,seed,x\na,2,0\nb,1,0\nb,9,0\nb,10,0\n");
}

TEST(Results, ForgetWhatIsToBeMeasuredAgain) {
  const TempDir folder;
  Results results(folder / "results.csv", {"set"}, {"x"});
  results.add({"a"}, {{"0"}});
  results.add({"b"}, {{"0"}});
  results.forget([](const Results::Row& key) { return key[0] == "a"; });
  EXPECT_FALSE(results.has({"a"}));
  EXPECT_EQ(read_file(folder / "results.csv"), "set,x\nb,0\n");
}

TEST(Results, OfOtherColumnsAreRefused) {
  const TempDir folder;
  const std::string file = folder.write("results.csv", "set,y\na,1\n");
  const Error error = error_of([&] { Results(file, {"set"}, {"x"}); });
  EXPECT_EQ(error.code(), ErrorCode::data);
  EXPECT_EQ(error.location().line, 1U);
}

TEST(Numbers, ParseBackToTheSame) {
  for (const double value : {0.1, 1.0 / 3, 0.8327, 0.0}) EXPECT_EQ(number_of(text_of(value)), value);
  EXPECT_EQ(text_of(std::nan("")), "");
  EXPECT_TRUE(std::isnan(number_of("")));
  EXPECT_TRUE(std::isnan(number_of("1x")));
}

}  // namespace
}  // namespace crowdfold::paper
