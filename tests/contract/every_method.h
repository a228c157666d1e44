// Suites of contracts: a fixture for every method, and those for the methods that a contract is about.
// contract_test.cc says which methods those are.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "crowdfold/registry.h"

namespace crowdfold {

// Registering a method enrols it here.
class EveryMethod : public ::testing::TestWithParam<std::string> {
 protected:
  const MethodInfo& info() const { return find_method(GetParam()); }

  Result fit(const Labels& labels, const Settings& settings = {}, const Knowledge& given = {},
             const RunContext& context = {}) const {
    return info().make(settings)->fit(labels, given, context);
  }

  // Those of the settings that the method has.
  Settings fitting(const Settings& settings) const {
    Settings those;
    for (const auto& setting : settings) {
      if (info().has_option(setting.first)) those.push_back(setting);
    }
    return those;
  }
  // A few iterations, where more would make the test slow.
  Settings quick() const {
    return fitting({{"iterations", "3"},
                    {"imitation", "3"},
                    {"epochs", "2"},
                    {"start_epochs", "1"},
                    {"hidden", "16"},
                    {"hidden_2", "8"},
                    {"rounds", "5"},
                    {"starts", "2"},
                    {"subtypes", "2"},
                    {"ties", "random"}});
  }

  static RunContext with(int threads, std::uint64_t seed, bool posterior) {
    RunContext context;
    context.threads = threads;
    context.seed = seed;
    context.posterior = posterior;
    return context;
  }

  // As many classes as are wanted, or as the method takes.
  std::uint32_t up_to(std::uint32_t classes) const {
    return std::min(classes, info().traits.most_classes);
  }
};

class MethodThatDrawsNothing : public EveryMethod {};
class MethodWithoutOrder : public EveryMethod {};
class MethodOfShares : public EveryMethod {};
class MethodThatTakesTruths : public EveryMethod {};
class MethodForTwoClasses : public EveryMethod {};
class MethodOnWholeDataSets : public EveryMethod {};
class MethodOnline : public EveryMethod {};
class MethodThatMerges : public EveryMethod {};
class MethodThatGoesOn : public EveryMethod {};
class MethodThatClimbs : public EveryMethod {};
class MethodWithATolerance : public EveryMethod {};
class MethodWithConfusion : public EveryMethod {};
class MethodWithFreeMatrices : public EveryMethod {};
class MethodInRounds : public EveryMethod {};

}  // namespace crowdfold
