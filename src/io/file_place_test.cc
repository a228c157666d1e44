#include "io/file_place.h"

#include <gtest/gtest.h>

#include "crowdfold/io.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::error_of;
using testing::TempDir;

class FilePlace : public ::testing::Test {
 protected:
  FilePlace() {
    folder.write("a.csv", "text");
    std::filesystem::create_directory(folder / "sub");
    std::filesystem::create_symlink("a.csv", folder / "link.csv");
    std::filesystem::create_symlink("new.csv", folder / "dangling.csv");
    std::filesystem::create_hard_link(folder / "a.csv", folder / "hard.csv");
  }
  void expect_refused(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs,
                      const std::string& why) const {
    const Error error = error_of([&] { require_separate(outputs, inputs); });
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_EQ(std::string(error.what()), why);
  }
  const TempDir folder;
};

TEST_F(FilePlace, AFileThatIsNotThereIsPerhapsOneOfAnotherName) {
  folder.write("labels.csv", "text");
  EXPECT_EQ(did_you_mean_file(folder / "lables.csv"),
            " (did you mean '" + std::string(folder / "labels.csv") + "'?)");
  EXPECT_EQ(did_you_mean_file(folder / "labels"),
            " (did you mean '" + std::string(folder / "labels.csv") + "'?)");
  EXPECT_EQ(did_you_mean_file(folder / "something.else"), "");
  EXPECT_EQ(did_you_mean_file(folder / "truth.csv"), "");
  EXPECT_EQ(did_you_mean_file(folder / "none/labels.csv"), "");
}

TEST_F(FilePlace, IsTheSameByAnyName) {
  const std::string a = folder / "a.csv";
  for (const char* name : {"a.csv", "./a.csv", "sub/../a.csv", "link.csv", "hard.csv"})
    EXPECT_TRUE(is_same_file(a, folder / name)) << name;
  for (const char* name : {"new.csv", "dangling.csv", "sub"})
    EXPECT_FALSE(is_same_file(a, folder / name)) << name;
  for (const char* name : {"new.csv", "./new.csv", "sub/../new.csv", "dangling.csv"})
    EXPECT_TRUE(is_same_file(folder / "new.csv", folder / name)) << name;
  EXPECT_FALSE(is_same_file(folder / "new.csv", folder / "sub/new.csv"));
}

TEST_F(FilePlace, OfTwoOutputsDiffers) {
  const std::string rest = ": two outputs in one place; give each a file of its own";
  const std::string a = folder / "a.csv";
  const std::string fresh = folder / "new.csv";
  expect_refused({a, a}, {}, a + rest);
  expect_refused({a, "", folder / "link.csv"}, {}, a + " and " + (folder / "link.csv") + rest);
  expect_refused({folder / "b", fresh, folder / "dangling.csv"}, {},
                 fresh + " and " + (folder / "dangling.csv") + rest);
  expect_refused({"-", "-"}, {}, "standard output" + rest);
  EXPECT_NO_THROW(require_separate({a, fresh, folder / "sub/new.csv", "", "", "-"}, {}));
  EXPECT_NO_THROW(require_separate({"/dev/null", "/dev/null"}, {}));
}

TEST_F(FilePlace, OfAnOutputIsNotThatOfAnInput) {
  const std::string rest = ": an input, too; give the output a file of its own";
  expect_refused({folder / "new.csv", folder / "link.csv"}, {"", folder / "a.csv"},
                 (folder / "link.csv") + rest);
  EXPECT_NO_THROW(require_separate({folder / "new.csv"}, {folder / "a.csv", folder / "a.csv"}));
  EXPECT_NO_THROW(require_separate({"/dev/null"}, {"/dev/null"}));
}

TEST_F(FilePlace, IsFoundBehindLinks) {
  EXPECT_EQ(follow_links("plain"), "plain");
  EXPECT_EQ(follow_links(folder / "link.csv"), folder / "a.csv");
  EXPECT_EQ(follow_links(folder / "dangling.csv"), folder / "new.csv");
}

}  // namespace
}  // namespace crowdfold
