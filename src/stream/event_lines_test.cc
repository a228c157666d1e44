#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "crowdfold/error.h"
#include "crowdfold/events.h"
#include "watched_stream.h"

namespace crowdfold {
namespace {

using testing::label;
using testing::Watched;

struct Refused {
  std::uint64_t line;
  std::string field;
  std::string why;
  bool operator==(const Refused&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Refused& r) {
    return out << r.line << " " << r.field << ": " << r.why;
  }
};
std::vector<Refused> refused_of(const TakenLines& taken) {
  std::vector<Refused> all;
  for (const RefusedLine& line : taken.refused) all.push_back({line.line, line.field, line.why});
  return all;
}

constexpr const char* kGood =
    "{\"task\": \"t\", \"worker\": \"ann\", \"label\": \"cat\", \"id\": \"1\"}\n"
    "\r\n"
    "{\"task\": \"t\", \"worker\": \"bob\", \"label\": \"cat\"}";

TEST(EventLines, TakesLabelsLineByLine) {
  Watched watched;
  const TakenLines taken = take_lines(watched.stream, kGood, Acceptance::whole);
  EXPECT_EQ(taken.accepted, 2U);
  EXPECT_TRUE(taken.refused.empty());
  EXPECT_EQ(watched.stream.totals().workers, 2U);
  const TakenLines again = take_lines(watched.stream, kGood, Acceptance::whole);
  EXPECT_EQ(again.accepted, 1U);
  EXPECT_EQ(again.repeated, 1U);
}

TEST(EventLines, TakesAnArrayOfAllKindsOfEvents) {
  Watched watched;
  const TakenLines taken = take_lines(watched.stream, R"( [
      {"task": "a/b", "worker": "ann", "label": "\u0063at"},
      {"truth": {"task": "a/b", "label": "cat"}}, {"retract": {"task": "a/b", "worker": "ann"}},
      {"close": "a/b"}, {"reopen": "a/b"} ] )",
                                      Acceptance::whole);
  EXPECT_EQ(taken.accepted, 5U);
  EXPECT_EQ(refused_of(taken), std::vector<Refused>{});
  EXPECT_EQ(watched.told.back().task, "a/b");
  EXPECT_FALSE(watched.told.back().closed);
}

TEST(EventLines, RefusesAllForALineThatIsNoEvent) {
  Watched watched;
  const TakenLines taken =
      take_lines(watched.stream,
                 std::string(kGood) + "\n{\"task\": \"t\", \"worker\": \"cid\", \"lable\": \"cat\"}\nno",
                 Acceptance::whole);
  EXPECT_EQ(taken.accepted, 0U);
  ASSERT_EQ(taken.refused.size(), 2U);
  EXPECT_EQ(refused_of(taken)[0], (Refused{4, "label", "no 'label' in this event; it has 'lable'"}));
  EXPECT_EQ(taken.refused[1].line, 5U);
  EXPECT_EQ(taken.refused[1].field, "");
  EXPECT_EQ(watched.stream.totals().events, 0U);
  EXPECT_EQ(watched.stream.totals().workers, 0U);
}

TEST(EventLines, RefusesAllForAnEventThatTheStreamRefuses) {
  Watched watched;
  const std::string lines =
      std::string(kGood) +
      "\n{\"retract\": {\"task\": \"t\", \"worker\": \"cid\"}}\n{\"close\": \"u\"}\n";
  const TakenLines taken = take_lines(watched.stream, lines, Acceptance::whole);
  EXPECT_EQ(refused_of(taken),
            (std::vector<Refused>{{4, "retract.task", "this worker has no label on the task"},
                                  {5, "close", "there is no such task"}}));
  EXPECT_EQ(watched.stream.totals().events, 0U);
  EXPECT_TRUE(watched.told.empty());
}

TEST(EventLines, TakesTheOthersIfAsked) {
  Watched watched;
  const std::string lines = "{\"close\": \"t\", \"id\": \"c\"}\n" + std::string(kGood) + "\nno\n";
  const TakenLines taken = take_lines(watched.stream, lines, Acceptance::partial);
  EXPECT_EQ(taken.accepted, 2U);
  ASSERT_EQ(taken.refused.size(), 2U);
  EXPECT_EQ(refused_of(taken)[0], (Refused{1, "close", "there is no such task"}));
  EXPECT_EQ(taken.refused[1].line, 5U);
  // What was refused was not seen: it may come again.
  EXPECT_EQ(take_lines(watched.stream, "{\"close\": \"t\", \"id\": \"c\"}", Acceptance::whole).accepted,
            1U);
}

TEST(EventLines, TakesNothingWhereTooManyLinesAreRefused) {
  Watched watched;
  std::string lines = std::string(kGood) + "\n";
  for (std::size_t i = 0; i < most_refused_lines; ++i) lines += "x\n";
  const TakenLines taken = take_lines(watched.stream, lines, Acceptance::partial);
  EXPECT_EQ(taken.accepted, 0U);
  EXPECT_EQ(taken.refused.size(), most_refused_lines);
  EXPECT_EQ(watched.stream.totals().events, 0U);
}

TEST(EventLines, AnArrayThatDoesNotEndIsRefusedAsAWhole) {
  for (const char* const text : {"[", "[{\"close\": \"t\"}", "[{\"close\": \"t\"} 7]", "[{\"close\""}) {
    Watched watched;
    watched.consume({label("t", "ann", "cat")});
    const TakenLines taken = take_lines(watched.stream, text, Acceptance::partial);
    EXPECT_EQ(taken.accepted, 0U) << text;
    EXPECT_FALSE(taken.refused.empty()) << text;
    EXPECT_GT(taken.refused.back().line, 0U) << text;
  }
}

TEST(EventLines, TellsTheElementOfAnArrayThatIsWrong) {
  Watched watched;
  const TakenLines taken = take_lines(
      watched.stream, R"([{"task": "t", "worker": "w", "label": "a"}, 7])", Acceptance::whole);
  ASSERT_EQ(taken.refused.size(), 1U);
  EXPECT_EQ(taken.refused.front().line, 2U);
}

TEST(EventLines, NothingIsAnEmptyBatch) {
  Watched watched;
  for (const char* const text : {"", "\n \n", "[]"}) {
    const TakenLines taken = take_lines(watched.stream, text, Acceptance::whole);
    EXPECT_EQ(taken.accepted, 0U);
    EXPECT_TRUE(taken.refused.empty()) << text;
  }
}

TEST(EventLines, AStateThatForgetsTakesNoBatches) {
  Watched watched({}, "", [](StreamConfig& config) { config.forget_closed = true; });
  EXPECT_THROW(take_lines(watched.stream, kGood, Acceptance::whole), Error);
}

// What is foreseen is what happens: whatever comes, and whatever came before.
RC_GTEST_PROP(EventLines, ForeseesWhatTheStreamRefuses, ()) {
  const auto draw = [](int below) { return std::to_string(*rc::gen::inRange(0, below)); };
  const auto lines_of = [&](int most) {
    std::string lines;
    const int number = *rc::gen::inRange(1, most);
    for (int i = 0; i < number; ++i) {
      const std::string task = "t" + draw(3);
      const std::string worker = "w" + draw(3);
      const std::string id = *rc::gen::inRange(0, 3) == 0 ? ", \"id\": \"" + draw(5) + "\"" : "";
      switch (*rc::gen::inRange(0, 6)) {
        case 0:
          lines += R"({"retract": {"task": ")" + task + R"(", "worker": ")" + worker + "\"}";
          break;
        case 1: lines += R"({"close": ")" + task + "\""; break;
        case 2: lines += R"({"reopen": ")" + task + "\""; break;
        case 3: lines += R"({"truth": {"task": ")" + task + R"(", "label": "c)" + draw(3) + "\"}"; break;
        default:
          lines += R"({"task": ")" + task + R"(", "worker": ")" + worker + R"(", "label": ")" +
                   (*rc::gen::inRange(0, 4) == 0 ? "" : "c" + draw(3)) + "\"";
      }
      lines += id + "}\n";
    }
    return lines;
  };
  Watched watched({.labels_per_task = 2}, "", [](StreamConfig& config) {
    config.classes = {"c0", "c1"};
  });
  for (int batch = 0; batch < 4; ++batch) {
    const TakenLines taken = take_lines(watched.stream, lines_of(12), Acceptance::partial);
    RC_ASSERT(watched.stream.totals().refused == 0U);
    for (const RefusedLine& line : taken.refused) RC_ASSERT(!line.why.empty());
    if (*rc::gen::inRange(0, 2) == 0) watched.stream.commit();
  }
  // And nothing is refused that would not have been: one by one, the refused are refused.
  const std::string lines = lines_of(8);
  const TakenLines whole = take_lines(watched.stream, lines, Acceptance::whole);
  if (whole.refused.empty()) return;
  const std::uint64_t line = whole.refused.front().line;
  std::size_t begin = 0;
  for (std::uint64_t i = 1; i < line; ++i) begin = lines.find('\n', begin) + 1;
  RC_ASSERT(take_lines(watched.stream, std::string_view(lines).substr(0, begin), Acceptance::whole)
                .refused.empty());
  const TakenLines one =
      take_lines(watched.stream, std::string_view(lines).substr(begin, lines.find('\n', begin) - begin),
                 Acceptance::whole);
  RC_ASSERT(one.refused.size() == 1U);
}

}  // namespace
}  // namespace crowdfold
