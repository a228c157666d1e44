#include "stream/prefetching_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "support.h"

namespace crowdfold {
namespace {

// A tree of numbers that has several levels.
void fill(const std::string& path) {
  const Database database(path, Database::Use::write);
  database.run("CREATE TABLE numbers(number INTEGER PRIMARY KEY, name TEXT)");
  database.run(
      "WITH RECURSIVE up(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM up WHERE n < 19999) "
      "INSERT INTO numbers SELECT n, 'number ' || n FROM up");
}

class PrefetchingFileTest : public ::testing::Test {
 protected:
  PrefetchingFileTest() {
    fill(path);
    descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    database.emplace(path, Database::Use::read);
    find.emplace(*database, "SELECT name FROM numbers WHERE number = ?");
    database->run("PRAGMA cache_size = -64");
  }
  ~PrefetchingFileTest() override {
    find.reset();
    database.reset();
    ::close(descriptor);
  }
  // How often it was busy before there was a row.
  int tries(std::int64_t number) {
    int busy = 0;
    Statement::Step step = find->bind(number).try_step();
    for (; step == Statement::Step::busy && busy < 10; ++busy) step = find->bind(number).try_step();
    EXPECT_EQ(step, Statement::Step::row);
    EXPECT_EQ(find->text(0), "number " + std::to_string(number));
    find->reset();
    return busy;
  }

  testing::TempDir folder;
  std::string path = folder / "numbers.db";
  int descriptor = -1;
  std::optional<Database> database;
  std::optional<Statement> find;
};

TEST_F(PrefetchingFileTest, IsBusyOncePerPage) {
  PrefetchingFile file(*database, descriptor);
  database->run("BEGIN");
  const int depth = tries(10'000);
  EXPECT_GE(depth, 2);          // a page in the tree, and a leaf
  EXPECT_EQ(tries(10'000), 0);  // they were asked for
  EXPECT_EQ(tries(10'001), 0);  // on the same leaf
  EXPECT_EQ(tries(15'000), 1);  // another leaf
  EXPECT_EQ(file.asked(), static_cast<std::size_t>(depth) + 1);
  database->run("COMMIT");
}

TEST_F(PrefetchingFileTest, AsksAgainAfterItForgot) {
  PrefetchingFile file(*database, descriptor);
  EXPECT_GE(tries(10'000), 2);
  for (int i = 0; i < 20'000; i += 100) tries(i);  // nothing of it is in SQLite's cache any longer
  EXPECT_EQ(tries(10'000), 0);
  for (int i = 0; i < 20'000; i += 100) tries(i);
  file.forget();
  EXPECT_GE(tries(10'000), 1);
}

TEST_F(PrefetchingFileTest, LeavesTheFileAsItWas) {
  { const PrefetchingFile file(*database, descriptor); }
  EXPECT_EQ(tries(10'000), 0);
}

}  // namespace
}  // namespace crowdfold
