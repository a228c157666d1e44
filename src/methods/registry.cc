#include "crowdfold/registry.h"

#include <fmt/format.h>

#include <algorithm>

#include "crowdfold/error.h"
#include "methods/methods.h"
#include "methods/online_driver.h"

namespace crowdfold {

const std::vector<MethodInfo>& methods() {
  // clang-format off
  static const std::vector<MethodInfo> list = {
      mv_method(),
      onepass_method(),
      twopass_method(),
      threepass_method(),
      sbic_method(),
      wawa_method(),
      zbs_method(),
      iwmv_method(),
      crh_method(),
      zc_method(),
      onecoin_ds_method(),
      glad_method(),
      mace_method(),
      mmsr_method(),
      kos_method(),
      ds_method(),
      fast_ds_method(),
      opt_ds_method(),
      lfc_method(),
      ibcc_method(),
      ebcc_method(),
      bwa_method(),
      laa_method(),
      bila_method(),
  };
  // clang-format on
  return list;
}

const MethodInfo& find_method(const std::string& name) {
  std::vector<std::string> names;
  for (const MethodInfo& method : methods()) {
    if (method.name == name) return method;
    names.push_back(method.name);
  }
  throw Error(ErrorCode::usage,
              fmt::format("no method '{}'; there are: {}", name, fmt::join(names, ", ")));
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

bool MethodInfo::needs_second_look(const Settings& settings) const {
  return make_online && crowdfold::needs_second_look(*make_online(settings, 0));
}

}  // namespace crowdfold
