#include "core/name_head.h"

#include <gtest/gtest.h>

namespace crowdfold {
namespace {

TEST(NameHead, IsWhatAllNamesBeginWith) {
  EXPECT_EQ(NameHead({"image_0017", "image_0042"}).text(), "image_00");
  EXPECT_EQ(NameHead({"image_0017", "image_2042", "image_3"}).text(), "");  // "image_3" is no whole word
  EXPECT_EQ(NameHead({"image_12", "image_34"}).text(), "image_");
  EXPECT_EQ(NameHead({"https://a.org/photos/1", "https://a.org/photos/2"}).text(), "https://a.org/ph");
  EXPECT_EQ(NameHead({"same_name", "same_name"}).text(), "same_nam");
  EXPECT_EQ(NameHead({"cats____", "dogs____"}).text(), "");
  EXPECT_EQ(NameHead(std::vector<std::string_view>{}).text(), "");
}

TEST(NameHead, BeginsNamesThatAreLongEnoughToTell) {
  const NameHead head({"image_12", "image_34"});
  EXPECT_TRUE(head.begins("image_99"));
  EXPECT_TRUE(head.begins("image_123456"));
  EXPECT_FALSE(head.begins("image-99"));
  EXPECT_FALSE(head.begins(std::string("image_9")));
  EXPECT_FALSE(head.begins(std::string()));
  const NameHead longer({"https://a.org/12345", "https://a.org/photo"});
  EXPECT_EQ(longer.text(), "https://a.org/");
  EXPECT_TRUE(longer.begins("https://a.org/??"));
  EXPECT_FALSE(longer.begins("https://a.com/??"));
  EXPECT_FALSE(longer.begins("http_://a.org/??"));
}

TEST(NameHead, BeginsEveryNameWhenItIsEmpty) {
  EXPECT_TRUE(NameHead().begins(""));
  EXPECT_TRUE(NameHead().begins("x"));
}

}  // namespace
}  // namespace crowdfold
