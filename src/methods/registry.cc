#include "crowdfold/registry.h"

#include <fmt/format.h>

#include <algorithm>

#include "crowdfold/error.h"
#include "crowdfold/words.h"
#include "methods/methods.h"
#include "methods/online_driver.h"

namespace crowdfold {
namespace {

// A method with the other names that people type for it.
MethodInfo called(MethodInfo info, std::vector<std::string> aliases) {
  info.aliases = std::move(aliases);
  return info;
}

}  // namespace

const std::vector<MethodInfo>& methods() {
  // clang-format off
  static const std::vector<MethodInfo> list = {
      called(mv_method(), {"majority", "majority-vote"}),
      onepass_method(),
      twopass_method(),
      threepass_method(),
      fivepass_method(),
      live_method(),
      sbic_method(),
      wawa_method(),
      called(zbs_method(), {"zero-based-skill"}),
      iwmv_method(),
      crh_method(),
      called(zc_method(), {"zen-crowd"}),
      called(onecoin_ds_method(), {"one-coin-dawid-skene"}),
      glad_method(),
      mace_method(),
      mmsr_method(),
      kos_method(),
      called(ds_method(), {"dawid-skene"}),
      called(fast_ds_method(), {"fast-dawid-skene"}),
      called(opt_ds_method(), {"opt-dawid-skene"}),
      called(lfc_method(), {"learning-from-crowds"}),
      ibcc_method(),
      ebcc_method(),
      bwa_method(),
      called(laa_method(), {"label-aware-autoencoder"}),
      bila_method(),
  };
  // clang-format on
  return list;
}

const MethodInfo& find_method(const std::string& name) {
  std::vector<std::string> names;
  std::vector<std::string> all_names;
  for (const MethodInfo& method : methods()) {
    std::vector<std::string> its_names = method.aliases;
    its_names.push_back(method.name);
    for (const std::string& known : its_names) {
      if (is_alike(known, name)) return method;
    }
    names.push_back(method.name);
    all_names.insert(all_names.end(), its_names.begin(), its_names.end());
  }
  throw Error(ErrorCode::usage, fmt::format("no method '{}'{}; there are: {}", name,
                                            did_you_mean(name, all_names), fmt::join(names, ", ")));
}

void require_rounds(const MethodInfo& method, const Settings& settings) {
  if (method.works_in_rounds(settings)) return;
  std::vector<std::string> names;
  for (const MethodInfo& info : methods()) {
    if (info.make_rounds) names.push_back(info.name);
  }
  const bool by_setting = static_cast<bool>(method.make_rounds);
  throw Error(ErrorCode::usage,
              fmt::format("{} cannot judge tasks in rounds{}; methods that can: {}", method.name,
                          by_setting ? " without --set vote_rounds=2" : "", fmt::join(names, ", ")));
}

bool MethodInfo::works_in_rounds(const Settings& settings) const {
  return make_rounds && make_rounds(settings, {}) != nullptr;
}

bool MethodInfo::has_option(const std::string& option) const {
  return std::any_of(options.begin(), options.end(),
                     [&](const OptionInfo& o) { return o.name == option; });
}

namespace {

// The value of an option, as text: as it was set last, or its default. Empty if there is no such option.
std::string value_of(const MethodInfo& info, const Settings& settings, const char* name) {
  std::string value;
  for (const OptionInfo& option : info.options) {
    if (option.name == name) value = option.fallback;
  }
  for (const auto& [key, text] : settings) {
    if (key == name) value = text;
  }
  return value;
}

}  // namespace

BetaQuality MethodInfo::prior(const Settings& settings) const {
  const auto number = [&](const char* option, double otherwise) {
    const std::string text = value_of(*this, settings, option);
    return text.empty() ? otherwise : std::stod(text);
  };
  return {number("alpha", WorkerState().alpha), number("beta", WorkerState().beta)};
}

bool MethodInfo::shuffles(const Settings& settings) const {
  return value_of(*this, settings, "order") == "shuffled";
}

bool MethodInfo::learns_from_votes(const Settings& settings) const {
  const std::string rounds = value_of(*this, settings, "vote_rounds");
  return !rounds.empty() && rounds != "0";
}

bool MethodInfo::needs_second_look(const Settings& settings) const {
  return make_online && crowdfold::needs_second_look(*make_online(settings, 0));
}

}  // namespace crowdfold
