#include "labels/name_head.h"

#include <gtest/gtest.h>

namespace crowdfold {
namespace {

TEST(NameHead, IsWhatAllNamesBeginWith) {
  EXPECT_EQ(NameHead({"image_a", "image_b", "image_"}).text(), "image_");
  EXPECT_EQ(NameHead({"https://a.org/photos/x", "https://a.org/photos/y"}).text(),
            "https://a.org/photos/");
  EXPECT_EQ(NameHead({"same_name", "same_name"}).text(), "same_name");
  EXPECT_EQ(NameHead({"cats____", "dogs____"}).text(), "");
  EXPECT_EQ(NameHead({"a", ""}).text(), "");
  EXPECT_EQ(NameHead(std::vector<std::string_view>{}).text(), "");
}

TEST(NameHead, LeavesDigitsToTheNumberBehindIt) {
  EXPECT_EQ(NameHead({"image_0017", "image_0042"}).text(), "image_");
  EXPECT_EQ(NameHead({"17", "18"}).text(), "");
  // As many as fit a number.
  EXPECT_EQ(NameHead({"id000000000017", "id000000000018"}).text(), "id0000");
}

TEST(NameHead, CutsNamesIntoANumberWhatFollowsOrNothing) {
  for (const char* text : {"", "t", "img_", "image_b", "https://a.org/photos/"}) {
    const std::string head_text = text;
    const NameHead head({head_text + "a", head_text + "b"});
    ASSERT_EQ(head.text(), head_text);

    const std::string numbered = head_text + "0042";
    EXPECT_EQ(head.cut(numbered).number, number_behind("0042", 0)) << text;

    const std::string tailed = head_text + "0042.jpg";
    EXPECT_EQ(head.cut(tailed).number, kNoNumber) << text;
    EXPECT_EQ(head.cut(tailed).text, "0042.jpg") << text;
    EXPECT_FALSE(head.cut(tailed).whole) << text;

    const std::string long_name = head_text + std::string(NameKey::kMostBytes + 1, 'x');
    EXPECT_EQ(head.cut(long_name).text, long_name);
    EXPECT_TRUE(head.cut(long_name).whole);
  }
}

TEST(NameHead, LeavesNamesWholeThatBeginOtherwise) {
  for (const char* text : {"t", "img_", "image_b", "https://a.org/photos/"}) {
    const std::string head_text = text;
    const NameHead head({head_text + "a", head_text + "b"});
    for (std::size_t at = 0; at < head_text.size(); ++at) {
      std::string other = head_text + "17";
      other[at] = '?';
      EXPECT_TRUE(head.cut(other).whole) << other;
      EXPECT_EQ(head.cut(other).number, kNoNumber) << other;
      EXPECT_TRUE(head.cut(head_text.substr(0, at)).whole) << at;
    }
    EXPECT_FALSE(head.cut(head_text).whole);
  }
}

TEST(NameHead, KnowsNamesThatAreItAndANumber) {
  const NameHead head({"image_1", "image_2"});
  EXPECT_EQ(head.number_of("image_0042"), number_behind("0042", 0));
  for (const char* other : {"image_", "image_4.jpg", "image_123456789", "42", "imagE_42", ""})
    EXPECT_EQ(head.number_of(other), kNoNumber) << other;
}

TEST(NameHead, RestoresEveryNameThatItCuts) {
  const NameHead head({"image_1", "image_2"});
  for (const std::string& name :
       {std::string("image_17"), std::string("image_0017"), std::string("image_"),
        std::string("image_x"), std::string("imag"), std::string(), std::string("17"),
        std::string(100, 'x'), "image_" + std::string(100, '1')}) {
    EXPECT_EQ(head.restore(head.cut(name)), name);
  }
}

}  // namespace
}  // namespace crowdfold
