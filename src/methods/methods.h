// One line per method: its entry in the registry, defined at the end of its file.
#pragma once

#include "crowdfold/registry.h"

namespace crowdfold {

MethodInfo mv_method();
MethodInfo onepass_method();
MethodInfo twopass_method();

}  // namespace crowdfold
