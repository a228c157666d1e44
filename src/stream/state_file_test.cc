#include "stream/state_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "crowdfold/error.h"
#include "crowdfold/stream.h"
#include "stream/sqlite.h"
#include "watched_stream.h"

namespace crowdfold {
namespace {

using testing::error_of;
using testing::label;
using testing::TempDir;
using testing::TemporaryState;
using testing::Watched;

// Whether another process finds the file locked as SQLite locks it while it is read or written: then it
// leaves the log alone.
bool is_locked_for_others(const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    const int file = ::open(path.c_str(), O_RDWR);
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = 0x4000'0002;  // SQLite's shared lock is on these bytes
    lock.l_len = 510;
    ::_exit(file >= 0 && ::fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

mode_t mode_of(const std::string& path) {
  struct stat found {};
  ::stat(path.c_str(), &found);
  return found.st_mode & 0777;
}

void make_state(const std::string& path) {
  Watched watched({.labels_per_task = 1}, path);
  watched.consume({label("closed", "ann", "cat")});
  watched.stream.commit();
}

TEST(StateFile, ARefusedWriterLeavesTheFirstItsLocks) {
  const TemporaryState file;
  Watched first({.labels_per_task = 2}, file.path());
  first.consume({label("t", "ann", "cat")});
  first.stream.commit();
  ASSERT_TRUE(is_locked_for_others(file.path()));
  const std::string other_name = file.path() + "-link";
  std::filesystem::create_symlink(file.path(), other_name);
  for (const std::string& name : {file.path(), other_name}) {
    const Error error = error_of([&] { open_store(name); });
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_NE(std::string(error.what()).find("another stream writes"), std::string::npos);
    EXPECT_TRUE(is_locked_for_others(file.path()));
  }
}

TEST(StateFile, AWriterThatEndsLeavesAReaderItsLocks) {
  const TemporaryState file;
  make_state(file.path());
  const auto reader = open_store_to_read(file.path());
  ASSERT_TRUE(is_locked_for_others(file.path()));
  for (int i = 0; i < 3; ++i) {
    open_store(file.path());
    EXPECT_TRUE(is_locked_for_others(file.path()));
  }
}

TEST(StateFile, AReaderThatEndsLeavesAWriterItsLocks) {
  const TemporaryState file;
  const auto writer = open_store(file.path());
  open_store_to_read(file.path());
  EXPECT_TRUE(is_locked_for_others(file.path()));
  EXPECT_THROW(open_store(file.path()), Error);
}

TEST(StateFile, ANewStateIsForItsOwnerAlone) {
  const TemporaryState file;
  const mode_t before = ::umask(0);
  {
    Watched watched({}, file.path());
    watched.consume({label("t", "ann", "cat")});
    watched.stream.commit();
    for (const char* beside : {"", "-wal", "-shm"})
      EXPECT_EQ(mode_of(file.path() + beside), 0600U) << beside;
  }
  ::umask(before);
}

TEST(StateFile, EveryNameIsOneOfAFile) {
  const TempDir folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder / "");
  for (const std::string name : {":memory:", "file:a.db", "file::memory:", "file:b?mode=memory", "-"}) {
    make_state(name);
    EXPECT_TRUE(std::filesystem::exists(folder / name)) << name;
    EXPECT_EQ(open_store_to_read(name)->events(), 1U) << name;
  }
  std::filesystem::current_path(before);
  EXPECT_EQ(error_of([&] { open_store(std::string("a\0b", 3)); }).code(), ErrorCode::usage);
  EXPECT_EQ(error_of([&] { open_store_to_read(""); }).code(), ErrorCode::usage);
  EXPECT_NE(
      std::string(error_of([&] { open_store_to_read(folder / "none"); }).what()).find("no such file"),
      std::string::npos);
}

// Nothing in the folder can be written meanwhile, nor by root.
class OnlyReading {
 public:
  explicit OnlyReading(const std::string& path) : folder_(std::filesystem::path(path).parent_path()) {
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      ::chmod(entry.path().c_str(), 0444);
    ::chmod(folder_.c_str(), 0555);
    if (::geteuid() == 0) is_root_ = ::seteuid(65'534) == 0;
  }
  ~OnlyReading() {
    if (is_root_ && ::seteuid(0) != 0) ADD_FAILURE() << "root is lost";
    ::chmod(folder_.c_str(), 0700);
  }
  OnlyReading(const OnlyReading&) = delete;
  OnlyReading& operator=(const OnlyReading&) = delete;

 private:
  std::filesystem::path folder_;
  bool is_root_ = false;
};

TEST(StateFile, AClosedStateCanBeLookedIntoWithoutThePermissionToWrite) {
  const TempDir folder;
  const std::string path = folder / "a state, 100 %?&#.db";
  make_state(path);
  {
    const OnlyReading only(path);
    LiveStream stream(open_store_to_read(path), {}, {});
    EXPECT_EQ(stream.totals().closed_tasks, 1U);
    EXPECT_TRUE(stream.problems().empty());
    EXPECT_EQ(error_of([&] { open_store(path); }).code(), ErrorCode::io);
  }
  EXPECT_EQ(folder.files().size(), 1U);  // nothing was left beside it
}

TEST(StateFile, AnotherUsersStateGetsNoFilesBesideIt) {
  const TemporaryState file;
  make_state(file.path());
  const std::filesystem::path folder = std::filesystem::path(file.path()).parent_path();
  const OnlyReading only(file.path());
  ::chmod(folder.c_str(), 0777);
  EXPECT_EQ(open_store_to_read(file.path())->events(), 1U);
  EXPECT_FALSE(std::filesystem::exists(file.path() + "-shm"));
}

TEST(StateFile, SaysWhyALogCannotBeTakenIn) {
  const TemporaryState file;
  const TempDir copy;
  {
    Watched watched({}, file.path());
    watched.consume({label("t", "ann", "cat")});
    watched.stream.commit();
    for (const char* beside : {"", "-wal"})
      std::filesystem::copy_file(file.path() + beside, (copy / "state.db") + beside);
  }
  {
    const OnlyReading only(copy / "state.db");
    const Error error = error_of([&] { open_store_to_read(copy / "state.db"); });
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_NE(std::string(error.what()).find("state.db-wal holds events"), std::string::npos)
        << error.what();
  }
  for (const char* beside : {"", "-wal"}) ::chmod(((copy / "state.db") + beside).c_str(), 0600);
  EXPECT_EQ(open_store_to_read(copy / "state.db")->events(), 1U);
}

TEST(StateFile, AStateThatIsJustBeingMadeIsWaitedFor) {
  const TemporaryState made, file;
  make_state(made.path());
  const int descriptor = ::open(file.path().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::flock(descriptor, LOCK_EX), 0);
  std::thread maker([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const Database database(made.path(), Database::Use::write);
    sqlite3_busy_timeout(database.handle(), 5'000);  // the reader locks the file for moments
    database.run(("VACUUM INTO '" + file.path() + "'").c_str());
  });
  EXPECT_EQ(open_store_to_read(file.path())->events(), 1U);
  maker.join();
  ::close(descriptor);
}

TEST(StateFile, IsBeingWrittenWhileAStreamHasItOpen) {
  const TemporaryState file;
  make_state(file.path());
  const StateFile seen(file.path(), StateFile::Use::read);
  EXPECT_FALSE(seen.is_being_written(file.path()));
  {
    const StateFile written(file.path(), StateFile::Use::write);
    EXPECT_TRUE(seen.is_being_written(file.path()));
  }
  EXPECT_FALSE(seen.is_being_written(file.path()));
  // Somebody else's lock, as of another process.
  const int descriptor = ::open(file.path().c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(descriptor, LOCK_EX), 0);
  EXPECT_TRUE(seen.is_being_written(file.path()));
  ::close(descriptor);
}

TEST(StateFile, AnEmptyFileIsNoStateYet) {
  const TemporaryState file;
  std::ofstream(file.path()).close();
  EXPECT_NE(std::string(error_of([&] { open_store_to_read(file.path()); }).what())
                .find("no state in this file yet"),
            std::string::npos);
  make_state(file.path());
  EXPECT_EQ(open_store_to_read(file.path())->events(), 1U);
}

}  // namespace
}  // namespace crowdfold
