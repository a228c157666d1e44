#include "labels/digits.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.h"

namespace crowdfold {
namespace {

std::uint32_t number_of(const std::string& text) { return number_behind(text, 0); }

TEST(Digits, AreNumberedShorterOnesFirst) {
  EXPECT_EQ(number_of("0"), 0U);
  EXPECT_EQ(number_of("9"), 9U);
  EXPECT_EQ(number_of("00"), 10U);
  EXPECT_EQ(number_of("99"), 109U);
  EXPECT_EQ(number_of("000"), 110U);
  EXPECT_EQ(number_of("99999999"), 111'111'109U);
}

TEST(Digits, HaveANumberEachAndComeBackFromIt) {
  for (std::uint32_t number = 0; number < 120'000; ++number)
    ASSERT_EQ(number_of(digits_of(number)), number);
  Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string digits(1 + random.below(kMostDigits), '0');
    for (char& c : digits) c = static_cast<char>('0' + random.below(10));
    const std::string name = "image_" + digits;
    ASSERT_EQ(digits_of(number_behind(name, 6)), digits);
    ASSERT_EQ(number_behind(name, 6), number_of(digits));
  }
}

TEST(Digits, AreOneToEight) {
  EXPECT_EQ(number_of(""), kNoNumber);
  EXPECT_EQ(number_of("123456789"), kNoNumber);
  EXPECT_EQ(number_behind("image_", 6), kNoNumber);
}

TEST(Digits, AreNothingElse) {
  for (std::size_t length = 1; length <= kMostDigits; ++length) {
    for (std::size_t at = 0; at < length; ++at) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string text(length, '7');
        text[at] = static_cast<char>(byte);
        const bool digit = byte >= '0' && byte <= '9';
        ASSERT_EQ(number_of(text) != kNoNumber, digit) << length << " " << at << " " << byte;
        ASSERT_EQ(number_behind("x-------" + text, 8) != kNoNumber, digit);
      }
    }
  }
}

TEST(Digits, DoNotDependOnWhatStandsBeforeThem) {
  for (const char* head : {"", "a", "99", "abc", "image_", "12345678", "https://a.org/"}) {
    const std::string text = head;
    EXPECT_EQ(number_behind(text + "042", text.size()), number_of("042")) << head;
  }
}

}  // namespace
}  // namespace crowdfold
