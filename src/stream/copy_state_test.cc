#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "crowdfold/error.h"
#include "crowdfold/stream.h"
#include "stream/sqlite.h"
#include "watched_stream.h"

namespace crowdfold {
namespace {

using testing::error_of;
using testing::label;
using testing::Said;
using testing::TempDir;
using testing::Watched;

std::uint64_t events_in(const std::string& path) {
  return LiveStream(open_store_to_read(path), {}, {}).totals().events;
}
std::size_t files_in(const TempDir& folder) {
  const std::filesystem::directory_iterator files(std::filesystem::path(folder / "x").parent_path());
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

TEST(CopyState, ACopyWhileAStreamWritesHoldsWhatWasCommitted) {
  const TempDir folder;
  Watched watched({.labels_per_task = 2}, folder / "s.db");
  watched.consume({label("a", "ann", "cat"), label("a", "bob", "cat"), label("b", "ann", "dog")});
  watched.stream.commit();
  watched.consume({label("b", "bob", "dog")});  // in no commit

  const StreamTotals copied = copy_state(folder / "s.db", folder / "copy.db", {});

  EXPECT_EQ(copied.events, 3);
  EXPECT_EQ(copied.open_tasks, 1);
  watched.stream.commit();
  EXPECT_EQ(events_in(folder / "s.db"), 4);
  // A stream goes on from the copy.
  Watched resumed({.labels_per_task = 2}, folder / "copy.db");
  resumed.consume({label("b", "bob", "dog")});
  resumed.stream.commit();
  EXPECT_EQ(resumed.counts(), watched.counts());
  EXPECT_TRUE(resumed.stream.problems().empty());
}

TEST(CopyState, ACopyIsForItsOwnerAlone) {
  const TempDir folder;
  Watched({}, folder / "s.db").stream.commit();
  copy_state(folder / "s.db", folder / "copy.db", {});
  struct stat found {};
  ASSERT_EQ(::stat((folder / "copy.db").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600);
}

TEST(CopyState, NoFileIsReplacedNorAnOldLogTaken) {
  const TempDir folder;
  Watched({}, folder / "s.db").stream.commit();
  for (const char* const taken : {"copy.db", "copy.db-wal"}) {
    std::ofstream(folder / taken) << "mine";
    EXPECT_EQ(error_of([&] { copy_state(folder / "s.db", folder / "copy.db", {}); }).code(),
              ErrorCode::usage);
    std::string text;
    std::ifstream(folder / taken) >> text;
    EXPECT_EQ(text, "mine");
    std::filesystem::remove(folder / taken);
  }
}

TEST(CopyState, ADamagedStateIsNotCopied) {
  const TempDir folder;
  {
    Watched watched({.labels_per_task = 1}, folder / "s.db");
    watched.consume({label("a", "ann", "cat")});
    watched.stream.commit();
  }
  Database(folder / "s.db", Database::Use::write).run("UPDATE workers SET seen = 7");
  const std::size_t before = files_in(folder);
  EXPECT_EQ(error_of([&] { copy_state(folder / "s.db", folder / "copy.db", {}); }).code(),
            ErrorCode::data);
  EXPECT_EQ(files_in(folder), before);
}

TEST(CopyState, ACancelledCopyLeavesNothingBehind) {
  const TempDir folder;
  Watched({}, folder / "s.db").stream.commit();
  const std::size_t before = files_in(folder);
  const std::atomic<bool> cancelled = true;
  RunContext context;
  context.cancelled = &cancelled;
  EXPECT_EQ(error_of([&] { copy_state(folder / "s.db", folder / "copy.db", context); }).code(),
            ErrorCode::interrupted);
  EXPECT_EQ(files_in(folder), before);
}

TEST(Answers, AreThoseOfAllTasksInTheirOrderOrOfOne) {
  Watched watched({.labels_per_task = 2});
  watched.consume({label("b", "ann", "dog"),
                   label("a", "ann", "cat"),
                   label("a", "bob", "cat"),
                   {StreamEvent::Kind::truth, "c", "", "dog", ""}});
  std::vector<std::string> told;
  const auto tell = [&](const TaskUpdate& answer) {
    told.push_back(std::string(answer.task) + " " + std::string(answer.label) +
                   (answer.closed ? " closed" : " open"));
  };
  watched.stream.for_answers(tell);
  EXPECT_EQ(told, (std::vector<std::string>{"b dog open", "a cat closed", "c dog open"}));
  told.clear();
  EXPECT_TRUE(watched.stream.find_answer("a", tell));
  EXPECT_FALSE(watched.stream.find_answer("z", tell));
  EXPECT_EQ(told, std::vector<std::string>{"a cat closed"});
}

}  // namespace
}  // namespace crowdfold
