#include "crowdfold/registry.h"

#include <gtest/gtest.h>

#include <set>

#include "support.h"

namespace crowdfold {
namespace {

using testing::error_of;

std::string complaint(const std::string& method, const Settings& settings) {
  const Error error = error_of([&] { find_method(method).make(settings); });
  EXPECT_EQ(error.code(), ErrorCode::usage);
  return error.what();
}

TEST(Registry, ListsTheMethodsWithWhatPeopleNeedToKnow) {
  std::vector<std::string> names;
  for (const MethodInfo& info : methods()) {
    names.push_back(info.name);
    EXPECT_FALSE(info.summary.empty());
    EXPECT_FALSE(info.citation.empty());
    EXPECT_TRUE(info.make({}) != nullptr);
    for (const OptionInfo& option : info.options) {
      EXPECT_FALSE(option.help.empty()) << option.name;
      EXPECT_TRUE(info.has_option(option.name));
      // Every default is a value that the option takes.
      EXPECT_NO_THROW(info.make({{option.name, option.fallback}})) << option.name;
    }
  }
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  for (const char* name : {"mv", "onepass", "twopass"})
    EXPECT_TRUE(find_method(name).make_online({}, 0) != nullptr);
}

TEST(Registry, DeclaresTheOptionsOfThePaper) {
  for (const char* name : {"onepass", "twopass"}) {
    for (const char* option : {"alpha", "beta", "ties", "order"})
      EXPECT_TRUE(find_method(name).has_option(option));
  }
  EXPECT_FALSE(find_method("mv").has_option("order"));
}

TEST(Registry, NamesTheMethodsThatExistWhereOneDoesNot) {
  const Error error = error_of([] { find_method("twopas"); });
  EXPECT_EQ(error.code(), ErrorCode::usage);
  EXPECT_EQ(std::string(error.what())
                .rfind("no method 'twopas' (did you mean 'twopass'?); there are: "
                       "mv, onepass, twopass, ",
                       0),
            0U);
  EXPECT_NE(std::string(error_of([] { find_method("david-skene"); }).what()).find("'dawid-skene'"),
            std::string::npos);
}

TEST(Registry, FindsMethodsByTheNamesThatPeopleType) {
  for (const char* name : {"dawid-skene", "dawid_skene", "Dawid Skene", "DawidSkene", "DS"})
    EXPECT_EQ(find_method(name).name, "ds") << name;
  for (const char* name : {"majority", "majority-vote", "MajorityVote", "MV"})
    EXPECT_EQ(find_method(name).name, "mv") << name;
  EXPECT_EQ(find_method("GLAD").name, "glad");
  EXPECT_EQ(find_method("Kos").name, "kos");
  EXPECT_EQ(find_method("three-pass").name, "threepass");
}

TEST(Registry, NoTwoMethodsShareAName) {
  for (const MethodInfo& info : methods()) {
    EXPECT_EQ(&find_method(info.name), &info);
    for (const std::string& alias : info.aliases) EXPECT_EQ(&find_method(alias), &info) << alias;
  }
}

TEST(Registry, NamesTheOptionsThatExistWhereOneDoesNot) {
  EXPECT_EQ(complaint("onepass", {{"gamma", "1"}}),
            "onepass has no option 'gamma'; it has: alpha, beta, ties, order");
  EXPECT_EQ(complaint("onepass", {{"alhpa", "1"}}),
            "onepass has no option 'alhpa' (did you mean 'alpha'?); it has: alpha, beta, ties, order");
}

TEST(Registry, NamesTheRangeOfAValueOutsideIt) {
  EXPECT_EQ(complaint("onepass", {{"alpha", "0.5"}}), "option alpha=0.5: onepass takes 1 to 1000000000");
  EXPECT_EQ(complaint("twopass", {{"ties", "last"}}), "option ties=last: twopass takes first | random");
}

TEST(Registry, RefusesValuesThatAreNotWhollyNumbers) {
  for (const char* value : {"", "x", "2x", " 2", "2 ", "nan", "inf", "-inf", "1e10", "0x2", "-1"}) {
    EXPECT_NE(complaint("twopass", {{"beta", value}}).find("twopass takes 1 to"), std::string::npos)
        << value;
  }
}

TEST(Registry, TakesTheLastOfTwoSettings) {
  const auto method = find_method("onepass").make_online({{"alpha", "3"}, {"alpha", "5"}}, 0);
  EXPECT_EQ(method->state().alpha, 5);
}

}  // namespace
}  // namespace crowdfold
