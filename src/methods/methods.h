// One line per method: its entry in the registry, defined at the end of its file.
#pragma once

#include "crowdfold/registry.h"

namespace crowdfold {

MethodInfo mv_method();
MethodInfo onepass_method();
MethodInfo twopass_method();
MethodInfo threepass_method();
MethodInfo fivepass_method();
MethodInfo live_method();
MethodInfo sbic_method();
MethodInfo wawa_method();
MethodInfo zbs_method();
MethodInfo iwmv_method();
MethodInfo crh_method();
MethodInfo zc_method();
MethodInfo onecoin_ds_method();
MethodInfo glad_method();
MethodInfo mace_method();
MethodInfo mmsr_method();
MethodInfo kos_method();
MethodInfo ds_method();
MethodInfo fast_ds_method();
MethodInfo opt_ds_method();
MethodInfo lfc_method();
MethodInfo ibcc_method();
MethodInfo ebcc_method();
MethodInfo bwa_method();
MethodInfo laa_method();
MethodInfo bila_method();

}  // namespace crowdfold
