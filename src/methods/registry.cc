#include "crowdfold/registry.h"

#include <fmt/format.h>

#include <algorithm>

#include "crowdfold/error.h"
#include "methods/methods.h"

namespace crowdfold {

const std::vector<MethodInfo>& methods() {
  // clang-format off
  static const std::vector<MethodInfo> list = {
      mv_method(),
      onepass_method(),
      twopass_method(),
      threepass_method(),
      live_method(),
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

}  // namespace crowdfold
