#include "io/input_paths.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "crowdfold/io.h"
#include "packed.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::TempDir;
using Paths = std::vector<std::string>;

TEST(InputPaths, NameAFileOrAFileInAnArchive) {
  const TempDir folder;
  const std::string zip = folder.write("a.zip", "any");
  EXPECT_EQ(place_of_input(zip + ":b/c:d.csv").file, zip);
  EXPECT_EQ(place_of_input(zip + ":b/c:d.csv").member, "b/c:d.csv");
  EXPECT_EQ(place_of_input(zip).member, "");
  EXPECT_EQ(place_of_input("-").file, "-");
  EXPECT_EQ(place_of_input(folder / "missing:b").file, folder / "missing:b");
  const std::string colon = folder.write("a.zip:b", "any");
  EXPECT_EQ(place_of_input(colon).file, colon);
  EXPECT_TRUE(is_rereadable(zip + ":c"));
  EXPECT_THROW(require_separate({zip}, {zip + ":c"}), Error);
}

TEST(InputPaths, OfFoldersAreTheirDataFiles) {
  const TempDir folder;
  for (const char* name : {"b.csv", "a.JSONL.gz", ".hidden.csv", "notes.md", "c.txt"})
    folder.write(name, "x");
  std::filesystem::create_directory(folder / "inner");
  folder.write("inner/d.csv", "x");
  Paths left_out;
  EXPECT_EQ(expand_inputs({"-", folder / "", folder / "b.csv", "missing"}, &left_out),
            (Paths{"-", folder / "a.JSONL.gz", folder / "b.csv", folder / "b.csv", "missing"}));
  EXPECT_EQ(left_out, (Paths{folder / "c.txt", folder / "inner", folder / "notes.md"}));
  const TempDir texts;
  texts.write("c.txt", "x");
  EXPECT_EQ(expand_inputs({texts / ""}), Paths{texts / "c.txt"});
}

TEST(InputPaths, OfFoldersOfFoldersAreTheFilesInThose) {
  const TempDir folder;
  for (const char* name : {"bob", "ann", "nobody"}) std::filesystem::create_directory(folder / name);
  folder.write("bob/user_state.json", "{}");
  folder.write("ann/user_state.json", "{}");
  EXPECT_EQ(expand_inputs({folder / ""}),
            (Paths{folder / "ann/user_state.json", folder / "bob/user_state.json"}));
  const TempDir empty;
  EXPECT_EQ(testing::error_of([&] { expand_inputs({empty / ""}); }).code(), ErrorCode::data);
}

TEST(InputPaths, OfFoldersLieAtAnyDepth) {
  const TempDir folder;
  std::filesystem::create_directories(folder / "project/output/ann");
  folder.write("project/config.yaml", "x");
  folder.write("project/output/ann/user_state.json", "{}");
  Paths left_out;
  EXPECT_EQ(expand_inputs({folder / ""}, &left_out),
            Paths{folder / "project/output/ann/user_state.json"});
  EXPECT_EQ(left_out, Paths{folder / "project/config.yaml"});
}

TEST(InputPaths, OfArchivesLeaveOutWhatIsNoData) {
  const TempDir folder;
  const std::string zip =
      folder.write("a.zip", testing::zip({{"b.xml", "x"}, {"images/1.jpg", "x"}, {"readme.txt", "x"}}));
  Paths left_out;
  EXPECT_EQ(expand_inputs({zip}, &left_out), Paths{zip + ":b.xml"});
  EXPECT_EQ(left_out, (Paths{zip + ":images/1.jpg", zip + ":readme.txt"}));
  EXPECT_EQ(file_name_of(zip + ":images/1.jpg"), "1.jpg");
  EXPECT_EQ(file_name_of(zip), "a.zip");
  EXPECT_EQ(file_name_of(folder.write("c.zip", testing::zip({{"d/e.csv", "x"}}))), "e.csv");
}

TEST(InputPaths, OfArchivesOfOneKindAreTheirFiles) {
  const TempDir folder;
  const std::string alike =
      folder.write("a.zip", testing::zip({{"b.jsonl", "{}"}, {"a.jsonl", "{}"}, {".x", ""}}));
  EXPECT_EQ(expand_inputs({alike}), (Paths{alike + ":a.jsonl", alike + ":b.jsonl"}));
  for (const std::string& bytes :
       {testing::zip({{"a.jsonl", "{}"}, {"b.csv", ""}}), testing::zip({{"a.csv", ""}}),
        testing::zip({{"xl/workbook.xml", ""}, {"b.xml", ""}}),
        testing::zip({{"a.png", ""}, {"b.png", ""}}), std::string("PK\x03\x04 damaged"),
        std::string("text")}) {
    const std::string path = folder.write("b.zip", bytes);
    EXPECT_EQ(expand_inputs({path}), Paths{path});
  }
}

}  // namespace
}  // namespace crowdfold
