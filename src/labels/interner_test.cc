#include "labels/interner.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <map>

#include "base/random.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::error_of;

std::string random_bytes(Random& random, std::size_t size) {
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(random.next());
  return text;
}

// The name that a key was made of.
std::string text_of(const NameKey& key) {
  std::string name(key.size, '\0');
  char* p = name.data();
  if (key.size > 16) {
    std::memcpy(p, &key.a, 8);
    std::memcpy(p + 8, &key.b, 8);
    std::memcpy(p + key.size - 8, &key.c, 8);
  } else if (key.size >= 4) {
    const std::size_t word = key.size >= 8 ? 8 : 4;
    std::memcpy(p, &key.a, word);
    std::memcpy(p + key.size - word, &key.b, word);
  } else {
    for (std::size_t i = 0; i < key.size; ++i)
      p[i] = static_cast<char>(key.a >> (8 * (key.size - 1 - i)));
  }
  return name;
}

TEST(NameKey, GivesBackTheNameOfEveryLengthItHolds) {
  Random random(1);
  for (std::size_t size = 0; size <= NameKey::kMostBytes; ++size) {
    for (int i = 0; i < 50; ++i) {
      const std::string name = random_bytes(random, size);
      ASSERT_EQ(text_of(NameKey::of(name)), name) << size;
    }
    const std::string zeros(size, '\0');
    ASSERT_EQ(text_of(NameKey::of(zeros)), zeros) << size;
  }
}

TEST(NameKey, ReadsNoByteBesideTheName) {
  const std::string text = "XabcdefghijklmnopqrstuvwxyzX";
  for (std::size_t size = 0; size <= NameKey::kMostBytes; ++size) {
    std::string other = text;
    other.front() = '?';
    for (std::size_t i = size + 1; i < other.size(); ++i) other[i] = '?';
    const NameKey key = NameKey::of(std::string_view(text).substr(1, size));
    EXPECT_EQ(key, NameKey::of(std::string_view(other).substr(1, size))) << size;
  }
}

RC_GTEST_PROP(NameKey, TellsAnyTwoNamesApart, (std::string a, std::string b)) {
  a.resize(std::min(a.size(), NameKey::kMostBytes));
  b.resize(std::min(b.size(), NameKey::kMostBytes));
  RC_ASSERT((NameKey::of(a) == NameKey::of(b)) == (a == b));
}

TEST(NameKey, TellsNamesApartThatDifferInOneBitOrInTrailingZeros) {
  Random random(2);
  for (std::size_t size = 1; size <= NameKey::kMostBytes; ++size) {
    const std::string name = random_bytes(random, size);
    for (std::size_t bit = 0; bit < 8 * size; ++bit) {
      std::string other = name;
      other[bit / 8] = static_cast<char>(other[bit / 8] ^ (1 << (bit % 8)));
      ASSERT_NE(NameKey::of(name), NameKey::of(other)) << size;
    }
    ASSERT_NE(NameKey::of(std::string(size, '\0')), NameKey::of(std::string(size - 1, '\0')));
  }
}

TEST(HashName, SpreadsNumberedNamesOverTheLowAndTheMiddleBits) {
  // Tables use the low bits, partitions those above: neither may be lopsided.
  constexpr int kNames = 64'000;
  std::vector<int> low(64);
  std::vector<int> middle(64);
  for (int i = 0; i < kNames; ++i) {
    const std::uint64_t hash = hash_name("image_" + std::to_string(10'000'000 + i));
    ++low[hash % 64];
    ++middle[(hash >> 26) % 64];
  }
  for (std::size_t b = 0; b < 64; ++b) {
    EXPECT_NEAR(low[b], kNames / 64.0, 200) << b;
    EXPECT_NEAR(middle[b], kNames / 64.0, 200) << b;
  }
}

// Names up to 40 bytes, so that short and long ones mix, from few bytes, so that they repeat.
RC_GTEST_PROP(Interner, NumbersNamesByFirstAppearanceWhateverTheirLength, (std::uint64_t seed)) {
  Random random(seed);
  Interner interner("workers", 1'000'000);
  std::map<std::string, std::uint32_t> expected;
  std::vector<std::string> pool;
  for (int i = 0; i < 300; ++i) pool.push_back(random_bytes(random, random.below(41)));
  for (int i = 0; i < 3'000; ++i) {
    const std::string& name = pool[random.below(pool.size())];
    const auto id = static_cast<std::uint32_t>(expected.size());
    RC_ASSERT(interner.intern(name) == expected.try_emplace(name, id).first->second);
    RC_ASSERT(interner.size() == expected.size());
  }
}

TEST(Interner, KeepsIdsWhileItGrows) {
  Interner interner("workers", 1'000'000);
  for (std::uint32_t i = 0; i < 100'000; ++i) ASSERT_EQ(interner.intern("w" + std::to_string(i)), i);
  for (std::uint32_t i = 0; i < 100'000; ++i) ASSERT_EQ(interner.intern("w" + std::to_string(i)), i);
}

TEST(Interner, FindsInTwoStepsWhatItFindsInOne) {
  Interner interner("workers", 100);
  interner.intern("first");
  const std::uint64_t hash = hash_name("second");
  interner.prefetch(hash);
  EXPECT_EQ(interner.intern("second", hash), 1U);
  EXPECT_EQ(interner.intern("second"), 1U);
}

TEST(Interner, TellsCutNamesApartByWhatTheyWere) {
  // "17" behind the head, as a whole name, and as the tail of a name with something else behind it.
  const NameHead head({"image_a", "image_b"});
  Interner interner("tasks", 100);
  const auto intern = [&](const std::string& name) {
    const CutName cut = head.cut(name);
    interner.prefetch(cut, cut.hash());
    return interner.intern(cut, cut.hash());
  };
  for (int turn = 0; turn < 2; ++turn) {
    EXPECT_EQ(intern("image_17"), 0U);
    EXPECT_EQ(intern("17"), 1U);
    EXPECT_EQ(intern("image_17.jpg"), 2U);
    EXPECT_EQ(intern("17.jpg"), 3U);
    EXPECT_EQ(intern("image_017"), 4U);
    EXPECT_EQ(intern("image_" + std::string(40, '7')), 5U);
  }
  interner.clear();
  EXPECT_EQ(interner.size(), 0U);
  EXPECT_EQ(intern("17.jpg"), 0U);
  EXPECT_EQ(intern("image_17"), 1U);
}

TEST(Interner, KeepsTheIdsOfNumbersWhileItGrows) {
  const NameHead head({"w0", "w1"});
  Interner interner("workers", 1'000'000);
  for (int turn = 0; turn < 2; ++turn) {
    for (std::uint32_t i = 0; i < 100'000; ++i) {
      const std::string name = "w" + std::to_string(i);
      const CutName cut = head.cut(name);
      ASSERT_NE(cut.number, kNoNumber);
      ASSERT_EQ(interner.intern(cut, cut.hash()), i);
    }
  }
}

TEST(Interner, KnowsNumbersSmallAndLargeBesideNames) {
  Interner interner("tasks", 1'000'000);
  const std::vector<std::uint32_t> numbers = {0, 7, (1 << 18) - 1, 1 << 18, 111'111'109};
  for (int turn = 0; turn < 2; ++turn) {
    for (std::uint32_t i = 0; i < numbers.size(); ++i) {
      EXPECT_EQ(interner.intern_number(numbers[i]), 2 * i);
      EXPECT_EQ(interner.intern(std::to_string(numbers[i])), 2 * i + 1);
    }
  }
  interner.clear();
  EXPECT_EQ(interner.intern_number(1 << 18), 0U);
  EXPECT_EQ(interner.intern_number(7), 1U);
}

TEST(Interner, RefusesOneNameMoreThanItsLimitShortOrLong) {
  for (const std::string& third : {std::string("c"), std::string(30, 'c')}) {
    Interner interner("classes", 2);
    interner.intern("a");
    interner.intern(std::string(30, 'b'));
    EXPECT_EQ(interner.intern("a"), 0U);
    const Error error = error_of([&] { interner.intern(third); });
    EXPECT_EQ(error.code(), ErrorCode::data);
    EXPECT_STREQ(error.what(), "more than 2 different classes: they do not fit");
  }
}

}  // namespace
}  // namespace crowdfold
