#include "crowdfold/words.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace crowdfold {
namespace {

TEST(Printable, LeavesTextsOfAllScriptsAlone) {
  for (const char* text :
       {"", R"(plain text, "quoted" \ {})", "café", "犬", "😀", "שלום", "a\u200Db", "~"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, ShowsCharactersThatSteerATerminal) {
  EXPECT_EQ(printable("\x1b[2J\x07"), "\\u001b[2J\\u0007");
  EXPECT_EQ(printable("a\r\n\tb"), "a\\r\\n\\tb");
  EXPECT_EQ(printable(std::string_view("\0x", 2)), "\\u0000x");
  EXPECT_EQ(printable("\x7f"), "\\u007f");
  EXPECT_EQ(printable("\u0080\u009b31m\u00a0"), "\\u0080\\u009b31m\u00a0");
  EXPECT_EQ(printable("\u202eevil\u202c"), "\\u202eevil\\u202c");
  EXPECT_EQ(printable("\u2029\u202a\u2065\u2066\u2069\u206a"),
            "\u2029\\u202a\u2065\\u2066\\u2069\u206a");
}

TEST(Printable, ShowsBytesThatAreNotUtf8) {
  EXPECT_EQ(printable("caf\xe9"), "caf\\xe9");
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "\\x9b31m");
  EXPECT_EQ(printable("\xc2"), "\\xc2");
  EXPECT_EQ(printable("\xe2\x80"), "\\xe2\\x80");
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");           // longer than needed
  EXPECT_EQ(printable("\xe0\x82\x9b"), "\\xe0\\x82\\x9b");  // longer than needed
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a pair
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(printable("\xff\xc3\xa9"), "\\xffé");
}

TEST(Printable, KeepsWhatTheCallerNeeds) { EXPECT_EQ(printable("a\n\x1b\n", "\n"), "a\n\\u001b\n"); }

RC_GTEST_PROP(Printable, IsPrintable, (const std::string& text)) {
  const std::string shown = printable(text);
  RC_ASSERT(printable(shown) == shown);
  for (const char c : shown) RC_ASSERT(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
}

}  // namespace
}  // namespace crowdfold
