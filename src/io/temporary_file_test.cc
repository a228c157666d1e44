#include "io/temporary_file.h"

#include <gtest/gtest.h>

#include "crowdfold/error.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::TempDir;

TEST(TemporaryFile, HasNoName) {
  const TempDir folder;
  TemporaryFile file(folder / "");
  EXPECT_EQ(file.append("one"), 0U);
  EXPECT_EQ(file.append("two"), 3U);
  file.write_at(0, "ONE");
  std::string read(6, ' ');
  file.read_at(0, read.data(), read.size());
  EXPECT_EQ(read, "ONEtwo");
  EXPECT_EQ(file.size(), 6U);
  EXPECT_TRUE(folder.files().empty());
}

TEST(TemporaryFile, NeedsAFolder) {
  const TempDir folder;
  EXPECT_THROW(TemporaryFile(folder / "none"), Error);
}

TEST(TemporaryFile, IsNotReadBehindItsEnd) {
  const TempDir folder;
  TemporaryFile file(folder / "");
  file.append("one");
  std::string read(4, ' ');
  EXPECT_THROW(file.read_at(0, read.data(), read.size()), Error);
}

TEST(FreeSpace, IsKnownOfFoldersThatThereAre) {
  const TempDir folder;
  EXPECT_GT(free_space(folder / ""), 0U);
  EXPECT_EQ(free_space(folder / "none"), 0U);
}

}  // namespace
}  // namespace crowdfold
