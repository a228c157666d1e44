#include "stream/json_columns.h"

#include <gtest/gtest.h>

#include <tuple>

namespace crowdfold {
namespace {

TEST(JsonColumns, KeepLabels) {
  const std::vector<LiveLabel> labels = {{0, 3, 0}, {7, 0, 12}, {4'000'000'000, 2, 0}};
  std::string text;
  EXPECT_EQ(put_labels(labels, text), "[[0,3],[7,0,12],[4000000000,2]]");
  std::vector<LiveLabel> read;
  ASSERT_TRUE(read_labels(text, read));
  ASSERT_EQ(read.size(), labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i)
    EXPECT_EQ(std::tie(read[i].worker, read[i].label, read[i].tick),
              std::tie(labels[i].worker, labels[i].label, labels[i].tick));
  EXPECT_EQ(put_labels({}, text), "[]");
  read.clear();
  EXPECT_TRUE(read_labels(text, read));
  EXPECT_TRUE(read.empty());
}

TEST(JsonColumns, KeepCredits) {
  std::string text;
  EXPECT_EQ(put_credits(std::vector<Credit>{{1, 1000}, {12, 24}}, text), R"({"1":1000,"12":24})");
  std::vector<Credit> read;
  ASSERT_TRUE(read_credits(text, read));
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[1].truth, 12);
  EXPECT_EQ(read[1].share, 24);
  EXPECT_EQ(put_credits({}, text), "{}");
}

TEST(JsonColumns, KeepCounts) {
  SparseConfusion now;
  SparseConfusion history;
  now.add(1, 0, 3.5);
  now.add(1, 2, 1.0 / 3);
  history.add(1, 2, 0.25);
  std::string text;
  EXPECT_EQ(put_counts(now.cells(), history, text), "[[1,0,3.5],[1,2,0.3333333333333333,0.25]]");
  SparseConfusion now_read;
  SparseConfusion history_read;
  ASSERT_TRUE(read_counts(text, {now_read, history_read}));
  EXPECT_EQ(now_read.at(1, 0), 3.5);
  EXPECT_EQ(now_read.at(1, 2), 1.0 / 3);
  EXPECT_EQ(history_read.at(1, 2), 0.25);
  EXPECT_EQ(history_read.cells().size(), 1U);
  for (const char* wrong : {"", "[[1]]", "[[1,2]]", "[[1,2,3,]]", "[[1,2,x]]", "[[1,2,3]"})
    EXPECT_FALSE(read_counts(wrong, {now_read, history_read})) << wrong;
}

TEST(JsonColumns, RefuseWhatWasNotPut) {
  for (const char* text :
       {"", "[", "[]]", "[[1,2]", "[[1,2],]", "[[1]]", "[[1,2,]]", "[[1,2][3,4]]", "[[-1,2]]",
        "[[1,99999999]]", "[[2,0],[1,0]]", "[[1,0],[1,0]]", "{}", "null"}) {
    std::vector<LiveLabel> labels;
    EXPECT_FALSE(read_labels(text, labels)) << text;
  }
  for (const char* text :
       {"", "{", R"({"1"})", R"({"1":})", R"({"1":2,})", R"({"1":2}x)", R"({1:2})", "[]"}) {
    std::vector<Credit> credits;
    EXPECT_FALSE(read_credits(text, credits)) << text;
  }
}

TEST(JsonColumns, RefuseIdsThatAreNotThereAndNumbersOutOfRange) {
  const KnownIds known{3, 2};
  for (const char* text : {"[[3,0]]", "[[4000000000,0]]", "[[0,2]]", "[[0,65535]]"}) {
    std::vector<LiveLabel> labels;
    EXPECT_TRUE(read_labels("[[2,1]]", labels, known));
    labels.clear();
    EXPECT_FALSE(read_labels(text, labels, known)) << text;
  }
  for (const char* text : {R"({"2":1})", R"({"0":1025})"}) {
    std::vector<Credit> credits;
    EXPECT_FALSE(read_credits(text, credits, known)) << text;
  }
  for (const char* text : {"[[2,0,1]]", "[[0,2,1]]", "[[0,0,-1]]", "[[0,0,inf]]", "[[0,0,nan]]",
                           "[[0,0,1,-1]]", "[[0,0,1e999]]", "[[0,1,1],[0,0,1]]", "[[0,1,1],[0,1,1]]"}) {
    SparseConfusion now;
    SparseConfusion history;
    EXPECT_FALSE(read_counts(text, {now, history}, known)) << text;
  }
}

}  // namespace
}  // namespace crowdfold
