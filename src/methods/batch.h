// The adaptor that makes a batch method out of an online one, and the registry entry for both.
#pragma once

#include <functional>
#include <memory>

#include "crowdfold/method.h"
#include "crowdfold/registry.h"
#include "methods/vote.h"

namespace crowdfold {

// Observes all tasks in `order`; if the method looks twice, the whole data set is one chunk.
Result fit_online(OnlineMethod& method, Order order, const Labels& labels, const Given& given,
                  const RunContext& context);

template <class Online>
MethodInfo online_method(std::string name, std::string summary, std::string citation) {
  using Options = typename Online::Options;

  class Batch final : public Method {
   public:
    explicit Batch(const Options& options) : options_(options) {}
    Result fit(const Labels& labels, const Given& given, const RunContext& context) const override {
      Online method(options_, context.seed);
      return fit_online(method, options_.order, labels, given, context);
    }

   private:
    Options options_;
  };

  MethodInfo info{name, std::move(summary), std::move(citation), Online::option_table().describe(), {},
                  {}};
  info.make = [name](const Settings& settings) -> std::unique_ptr<Method> {
    return std::make_unique<Batch>(Online::option_table().parse(name.c_str(), settings));
  };
  info.make_online = [name](const Settings& settings,
                            std::uint64_t seed) -> std::unique_ptr<OnlineMethod> {
    return std::make_unique<Online>(Online::option_table().parse(name.c_str(), settings), seed);
  };
  return info;
}

}  // namespace crowdfold
