#include "io/numbers.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/random.h"

namespace crowdfold {
namespace {

std::string written(double value) {
  char text[kNumberRoom];
  return {text, write_number(text, value)};
}

// fmt writes the shortest text that parses back; of those, the nearest.
void expect_shortest(double value) {
  ASSERT_EQ(written(value), fmt::format("{}", value));
  ASSERT_EQ(std::strtod(written(value).c_str(), nullptr), value);
}

TEST(WriteNumber, GivesKnownTexts) {
  EXPECT_EQ(written(.5), "0.5");
  EXPECT_EQ(written(.1), "0.1");
  EXPECT_EQ(written(.3), "0.3");
  EXPECT_EQ(written(.1 + .2), "0.30000000000000004");
  EXPECT_EQ(written(2. / 3), "0.6666666666666666");
  EXPECT_EQ(written(.9999999999999999), "0.9999999999999999");
  EXPECT_EQ(written(.7001), "0.7001");
  EXPECT_EQ(written(0), "0");
  EXPECT_EQ(written(1), "1");
  EXPECT_EQ(written(-.25), "-0.25");
  EXPECT_EQ(written(1e-9), "1e-09");
  EXPECT_EQ(written(NAN), "nan");
}

TEST(WriteNumber, IsTheShortestTextForEveryKindOfNumber) {
  Random random(1);
  for (int i = 0; i < 300'000; ++i) {
    expect_shortest(random.uniform());            // any
    expect_shortest(1 - random.uniform() / 1e4);  // nearly certain
    expect_shortest(std::ldexp(random.uniform(), static_cast<int>(random.below(200)) - 100));
  }
}

// Where few digits suffice, where two texts are equally near, and beside powers of two.
TEST(WriteNumber, IsTheShortestTextWhereItIsClose) {
  for (int n = 1; n < 100'000; ++n) {
    expect_shortest(n / 1e5);
    expect_shortest(std::nextafter(n / 1e5, 0));
    expect_shortest(std::nextafter(n / 1e5, 1));
  }
  for (int bits = 1; bits <= 53; ++bits) {
    Random random(static_cast<std::uint64_t>(bits));
    for (int i = 0; i < 5'000; ++i) {
      const double all = std::ldexp(1, bits);
      expect_shortest(std::floor(random.uniform() * all) / all);
    }
  }
  for (double power : {1., .5, .25, .125, .0625, .1}) {
    for (int i = 0; i < 1000; ++i) expect_shortest(power = std::nextafter(power, 0));
  }
  for (double power : {.5, .25, .125, .0625, .1}) {
    for (int i = 0; i < 1000; ++i) expect_shortest(power = std::nextafter(power, 1));
  }
}

}  // namespace
}  // namespace crowdfold
