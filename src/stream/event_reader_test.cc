#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "crowdfold/error.h"
#include "crowdfold/events.h"
#include "support.h"

namespace crowdfold {
namespace {

// A file that grows.
class Growing {
 public:
  Growing() {
    char name[] = "/tmp/crowdfold-events-XXXXXX";
    ::close(::mkstemp(name));
    path_ = name;
  }
  ~Growing() { std::filesystem::remove(path_); }
  Growing(const Growing&) = delete;
  Growing& operator=(const Growing&) = delete;
  void write(const std::string& text) const { std::ofstream(path_, std::ios::app) << text; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string text_of(const StreamEvent& event) {
  const char* const kinds[] = {"label", "retract", "truth", "close", "reopen", "summary"};
  std::string text = kinds[static_cast<int>(event.kind)];
  for (const std::string_view part : {event.task, event.worker, event.label, event.id})
    text += "|" + std::string(part);
  return text;
}

struct Reading {
  explicit Reading(const std::string& path, bool follow = false, const ReadOptions& options = {})
      : reader(path, options, follow) {}
  EventReader::ReadStatus read() {
    return reader.read([&](std::span<const StreamEvent> some) {
      for (const StreamEvent& event : some) events.push_back(text_of(event));
    });
  }
  void read_to_the_end() {
    while (read() != EventReader::ReadStatus::end) {
    }
  }
  EventReader reader;
  std::vector<std::string> events;
};

TEST(EventReader, KnowsEveryKindOfEvent) {
  const Growing file;
  file.write(R"({"task": "t", "worker": 7, "label": true, "id": "e"}
{"retract": {"task": "t", "worker": "w"}}

{"truth": {"label": "x", "task": "t"}, "id": 3}
{"close": "t"}
{"reopen": "t"}
{"summary": true})");
  Reading reading(file.path());
  reading.read_to_the_end();
  EXPECT_EQ(reading.events,
            (std::vector<std::string>{"label|t|7|true|e", "retract|t|w||", "truth|t||x|3", "close|t|||",
                                      "reopen|t|||", "summary||||"}));
}

TEST(EventReader, TakesALineOnceItIsWhole) {
  const Growing file;
  Reading reading(file.path(), /*follow=*/true);
  EXPECT_EQ(reading.read(), EventReader::ReadStatus::none_yet);
  file.write(R"({"task": "t", "worker")");
  reading.read();
  EXPECT_TRUE(reading.events.empty());
  file.write(": \"w\", \"label\": \"a\"}\n{\"clo");
  reading.read();
  EXPECT_EQ(reading.events.size(), 1U);
  file.write("se\": \"t\"}\n");
  reading.read();
  EXPECT_EQ(reading.events.size(), 2U);
  EXPECT_EQ(reading.read(), EventReader::ReadStatus::none_yet);
}

TEST(EventReader, TakesRowsOfLabelsWithQuotedLineEnds) {
  const Growing file;
  file.write("worker,label,item_id,event_id\nann,\"a\n");
  Reading reading(file.path(), /*follow=*/true);
  reading.read();
  EXPECT_TRUE(reading.events.empty());
  file.write("b\",t,1\nbob,,t,2\n");
  reading.read();
  EXPECT_EQ(reading.events, (std::vector<std::string>{"label|t|ann|a\nb|1", "label|t|bob||2"}));
}

TEST(EventReader, RefusesTwoEventsInOne) {
  for (const char* line :
       {R"({"task":"t1","worker":"a","label":"x","close":"t1"})",
        R"({"item":"t1","user":"a","answer":"x","close":"t1"})",
        R"({"task":"t1","worker":"a","label":"x","retract":{"task":"t1","worker":"a"}})",
        R"({"truth":{"task":"t1","label":"x"},"close":"t1"})"}) {
    const Growing file;
    file.write(std::string(line) + "\n");
    Reading reading(file.path());
    const std::string told = testing::error_of([&] { reading.read_to_the_end(); }).what();
    EXPECT_NE(told.find(":1:"), std::string::npos) << told;
    EXPECT_NE(told.find("two events in one"), std::string::npos) << told;
    EXPECT_TRUE(reading.events.empty()) << line;
  }
}

TEST(EventReader, SaysWhatARetractionHasToBe) {
  const Growing file;
  file.write("{\"retract\":\"t1\"}\n");
  Reading reading(file.path());
  const std::string told = testing::error_of([&] { reading.read_to_the_end(); }).what();
  EXPECT_NE(told.find(R"({"retract": {"task": …, "worker": …}})"), std::string::npos) << told;
  EXPECT_EQ(told.find("--map"), std::string::npos) << told;
}

TEST(EventReader, PrefersAFileNameToAnIdForTheTask) {
  const Growing file;
  file.write("id,filename,annotator,label\n1,f1,a,x\n2,f1,b,x\n");
  Reading reading(file.path());
  reading.read_to_the_end();
  EXPECT_EQ(reading.events, (std::vector<std::string>{"label|f1|a|x|", "label|f1|b|x|"}));
  EXPECT_EQ(reading.reader.report().notes.size(), 1U);
}

TEST(EventReader, LeavesAHeaderInOtherWordsOut) {
  const Growing file;
  file.write("task,worker,label\nt1,a,x\nitem,user,answer\nTASK,WORKER,LABEL\nt2,a,x\n");
  Reading reading(file.path());
  reading.read_to_the_end();
  EXPECT_EQ(reading.events, (std::vector<std::string>{"label|t1|a|x|", "label|t2|a|x|"}));
  EXPECT_EQ(reading.reader.report().repeated_headers, 2U);
}

TEST(EventReader, TellsLinesThatEndWithCarriageReturnsWithoutTheirData) {
  const Growing file;
  std::string text = "task,worker,label\r";
  for (int t = 0; t < 100; ++t) text += fmt::format("t{},a,x\r", t);
  file.write(text);
  Reading reading(file.path());
  const std::string told = testing::error_of([&] { reading.read_to_the_end(); }).what();
  EXPECT_NE(told.find("lines end with carriage returns alone"), std::string::npos) << told;
  EXPECT_EQ(told.find("t17"), std::string::npos) << told;
}

TEST(EventReader, LeavesAHeaderThatComesAgainOut) {
  const Growing file;
  file.write("task,worker,label\nt1,ann,x\ntask, worker,label\nt2,ann,x\n");
  Reading reading(file.path());
  reading.read_to_the_end();
  EXPECT_EQ(reading.events, (std::vector<std::string>{"label|t1|ann|x|", "label|t2|ann|x|"}));
  EXPECT_EQ(reading.reader.report().repeated_headers, 1);
}

TEST(EventReader, TakesARowWithAQuoteInsideAFieldAtOnce) {
  const Growing file;
  file.write("task,worker,label\nt1,5\" disk,x\n");
  Reading reading(file.path(), /*follow=*/true);
  reading.read();
  EXPECT_EQ(reading.events, std::vector<std::string>{"label|t1|5\" disk|x|"});
  file.write("\"a\n");
  reading.read();
  EXPECT_EQ(reading.events.size(), 1U);
  file.write("b\",w,x\nt3,w,x\n");
  reading.read();
  EXPECT_EQ(reading.events,
            (std::vector<std::string>{"label|t1|5\" disk|x|", "label|a\nb|w|x|", "label|t3|w|x|"}));
}

TEST(EventReader, RefusesALineWithoutAnEnd) {
  const std::string endless(std::size_t{66} << 20, 'x');
  for (const char* before : {"", "task,worker,label\nt,w,\"", "{"}) {
    const Growing file;
    file.write(before + endless);
    Reading reading(file.path());
    EXPECT_EQ(testing::error_of([&] { reading.read_to_the_end(); }).what(),
              file.path() +
                  ": a record is longer than 64 MB: is a quote not closed, or is this not a text file?");
  }
}

TEST(EventReader, TakesRowsWithoutAHeader) {
  const Growing file;
  file.write("t1\tann\tcat\nt2\tbob\tdog");
  Reading reading(file.path());
  reading.read_to_the_end();
  EXPECT_EQ(reading.events, (std::vector<std::string>{"label|t1|ann|cat|", "label|t2|bob|dog|"}));
}

TEST(EventReader, ReadsEveryTableThatLabelFilesMayBe) {
  const std::vector<std::string> expected = {"label|t1|ann|cat|", "label|t1|bob|dog|"};
  for (const char* text :
       {"task;worker;label\nt1;ann;cat\nt1;bob;dog\n",
        "\xEF\xBB\xBFtask,worker,label\nt1,ann,cat\nt1,bob,dog\n",
        "\xEF\xBB\xBF\"task\",worker,label\r\nt1,ann,cat\r\n\r\nt1,bob,dog",
        "\n\nt1,ann,cat\nt1,bob,dog\n", "Answer,more,ITEM_ID,annotator\ncat,?,t1,ann\ndog,?,t1,bob\n",
        R"({"item": "t1", "user": "ann", "answer": "cat"}
{"item": "t1", "user": "bob", "answer": "dog"})"}) {
    const Growing file;
    file.write(text);
    Reading reading(file.path());
    reading.read_to_the_end();
    EXPECT_EQ(reading.events, expected) << text;
  }
}

TEST(EventReader, MapsColumnsOfTablesAndOfJson) {
  ReadOptions options;
  options.columns = {{"task", "image"}, {"worker", "by.email"}, {"id", "uuid"}};
  for (const char* text : {"by.email,label,image,uuid,task\nann,cat,1.png,7,x\n",
                           "{\"close\": \"t\"}\n"
                           "{\"task\": \"x\", \"by\": {\"email\": \"ann\"}, \"label\": \"cat\", "
                           "\"image\": \"1.png\", \"uuid\": 7}\n"}) {
    const Growing file;
    file.write(text);
    Reading reading(file.path(), false, options);
    reading.read_to_the_end();
    ASSERT_FALSE(reading.events.empty()) << text;
    EXPECT_EQ(reading.events.back(), "label|1.png|ann|cat|7") << text;
    EXPECT_EQ(reading.reader.report().columns,
              "task = image, worker = by.email, label = label, id = uuid");
  }
  options.columns = {{"colour", "image"}};
  const Growing file;
  file.write("{\"close\": \"t\"}\n");
  Reading reading(file.path(), false, options);
  EXPECT_STREQ(testing::error_of([&] { reading.read_to_the_end(); }).what(),
               "--map colour=image: the columns to map are task, worker, label and id");
}

TEST(EventReader, DecidesByTheFirstLabelHoweverBytesArrive) {
  const std::string text =
      "{\"close\": \"t0\", \"id\": 1}\n\n{\"item\": \"t1\", \"user\": \"ann\", \"label\": null}\n"
      "{\"item\": \"t1\", \"user\": \"bob\", \"label\": \"x\", \"task\": \"no\", \"id\": 2}\n";
  const std::vector<std::string> expected = {"close|t0|||1", "label|t1|ann||", "label|t1|bob|x|2"};
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, text.size()}) {
    const Growing file;
    Reading reading(file.path(), /*follow=*/true);
    for (std::size_t at = 0; at < text.size(); at += piece) {
      file.write(text.substr(at, piece));
      reading.read();
    }
    EXPECT_EQ(reading.events, expected) << piece;
  }
}

TEST(EventReader, TellsWhereTheKeysOfTheFirstLabelAreUnknown) {
  const Growing file;
  file.write("{\"close\": \"t0\"}\n{\"task\": \"t\", \"who\": \"w\", \"label\": \"x\"}\n");
  Reading reading(file.path());
  EXPECT_STREQ(
      testing::error_of([&] { reading.read_to_the_end(); }).what(),
      (file.path() + ":2:1: no 'worker' in this event; it has: task, who, label (name it: --map "
                     "worker=KEY)")
          .c_str());
  EXPECT_EQ(reading.events.size(), 1U);
}

TEST(EventReader, ALabelWithoutItsKeyIsAnErrorAndNullAbstains) {
  const std::string good = "{\"task\": \"t\", \"worker\": \"ann\", \"label\": \"x\"}\n";
  const std::string null = "{\"task\": \"t\", \"worker\": \"bob\", \"label\": null}\n";
  for (const auto& [bad, why] : std::vector<std::pair<std::string, std::string>>{
           {R"({"task": "t", "worker": "cid", "lable": "x"})",
            "no 'label' in this event; it has 'lable'"},
           {R"({"task": "t", "worker": "cid", "answer": 1})",
            "no 'label' in this event; it has 'answer'"},
           {R"({"task": "t", "label": "x", "annotator": 7})",
            "no 'worker' in this event; it has 'annotator'"},
           {R"({"tusk": "t", "worker": "w", "label": "x"})", "no 'task' in this event; it has 'tusk'"},
           {R"({"task": "t", "worker": "cid"})", "no 'label' in this event; it has: task, worker"},
           {R"({"summary": false})", "no 'task' in this event; it has: summary"}}) {
    const Growing file;
    file.write(fmt::format("{}{}{}\n{}", good, null, bad, good));
    Reading reading(file.path());
    const Error error = testing::error_of([&] { reading.read_to_the_end(); });
    EXPECT_EQ(error.code(), ErrorCode::data);
    EXPECT_EQ(std::string(error.what()), file.path() + ":3:1: " + why);
    EXPECT_EQ(reading.events, (std::vector<std::string>{"label|t|ann|x|", "label|t|bob||"}));
  }
}

TEST(EventReader, ALabelWithoutItsKeyIsLeftOutOnRequestAndDoesNotDecideTheKeys) {
  const Growing file;
  file.write(
      "{\"task\": \"t\", \"worker\": \"ann\", \"lable\": \"x\"}\n"
      "{\"task\": \"t\", \"worker\": \"bob\", \"answer\": \"x\"}\n"
      "{\"task\": \"t\", \"worker\": \"cid\", \"label\": \"x\"}\n"
      "{\"task\": \"t\", \"worker\": \"dan\", \"answer\": \"y\"}\n");
  ReadOptions lenient;
  lenient.skip_bad_rows = true;
  Reading reading(file.path(), false, lenient);
  reading.read_to_the_end();
  EXPECT_EQ(reading.events, (std::vector<std::string>{"label|t|bob|x|", "label|t|dan|y|"}));
  EXPECT_EQ(reading.reader.report().skipped_rows, 2U);
  EXPECT_EQ(reading.reader.report().first_skipped,
            file.path() + ":1:1: no 'label' in this event; it has 'lable' (name it: --map label=KEY)");
}

TEST(EventReader, AMappedKeyThatAnEventLacksIsNamed) {
  ReadOptions options;
  options.columns = {{"label", "data.verdict"}};
  const Growing file;
  file.write(
      "{\"task\": \"t\", \"worker\": \"ann\", \"data\": {\"verdict\": \"x\"}}\n"
      "{\"task\": \"t\", \"worker\": \"ann\", \"data\": {\"verdit\": \"x\"}}\n");
  Reading reading(file.path(), false, options);
  EXPECT_EQ(std::string(testing::error_of([&] { reading.read_to_the_end(); }).what()),
            file.path() + ":2:1: no 'data.verdict' in this event; it has 'data.verdit'");
}

TEST(EventReader, TakesAnAbstentionForAnEmptyLabel) {
  ReadOptions options;
  options.abstain = {"skip"};
  const Growing file;
  file.write("task,worker,label\nt,ann,skip\nt,bob,skipped\n");
  Reading reading(file.path(), false, options);
  reading.read_to_the_end();
  EXPECT_EQ(reading.events, (std::vector<std::string>{"label|t|ann||", "label|t|bob|skipped|"}));
}

TEST(EventReader, GivesTheEventsOfAPipeAtOnce) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string path = "/dev/fd/" + std::to_string(ends[0]);
  const auto write = [&](std::string_view text) {
    ASSERT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  };
  {
    Reading reading(path);
    EXPECT_EQ(reading.read(), EventReader::ReadStatus::none_yet);
    write("task;worker;label\n");
    EXPECT_EQ(reading.read(), EventReader::ReadStatus::some);
    EXPECT_TRUE(reading.reader.is_recognised());
    write("t;ann;cat\n");
    EXPECT_EQ(reading.read(), EventReader::ReadStatus::some);
    EXPECT_EQ(reading.events.size(), 1U);
    EXPECT_EQ(reading.read(), EventReader::ReadStatus::none_yet);
    ::close(ends[1]);
    EXPECT_EQ(reading.read(), EventReader::ReadStatus::end);
  }
  ::close(ends[0]);
}

TEST(EventReader, TellsTheLineOfWhatIsWrongAfterWhatIsRight) {
  const Growing file;
  file.write("{\"close\": \"a\"}\n{\"close\": \"b\"}\n{\"task\": \"t\"}\n{\"close\": \"c\"}\n");
  Reading reading(file.path());
  try {
    reading.read_to_the_end();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.location().line, 3U);
    EXPECT_EQ(error.code(), ErrorCode::data);
  }
  EXPECT_EQ(reading.events.size(), 2U);

  ReadOptions lenient;
  lenient.skip_bad_rows = true;
  Reading skipping(file.path(), false, lenient);
  skipping.read_to_the_end();
  EXPECT_EQ(skipping.events.size(), 3U);
  EXPECT_EQ(skipping.reader.report().skipped_rows, 1U);
}

TEST(EventReader, ReadsMoreThanFitsAtOnce) {
  const Growing file;
  std::string text;
  constexpr int kEvents = 30'000;
  for (int i = 0; i < kEvents; ++i) text += R"({"close": "task )" + std::to_string(i) + "\"}\n";
  file.write(text);
  Reading reading(file.path());
  reading.read_to_the_end();
  ASSERT_EQ(reading.events.size(), static_cast<std::size_t>(kEvents));
  EXPECT_EQ(reading.events.back(), "close|task 29999|||");
}

TEST(EventWriter, WritesTextThatIsJson) {
  std::string line;
  append_line(line, TaskUpdate{"a \"b\"\n", "c", .5, 3, true, "labels"});
  EXPECT_EQ(line,
            "{\"task\": \"a \\\"b\\\"\\n\", \"label\": \"c\", \"confidence\": 0.5, \"labels\": 3, "
            "\"closed\": true, \"reason\": \"labels\"}\n");
}

}  // namespace
}  // namespace crowdfold
