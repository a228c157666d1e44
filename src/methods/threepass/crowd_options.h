// The options that threepass and fivepass share: what is believed of a crowd before any label, and how
// answers are softened.
#pragma once

#include <type_traits>
#include <vector>

#include "methods/option_table.h"
#include "methods/threepass/softening.h"

namespace crowdfold {

struct CrowdOptions : Softening {
  double symmetry = 16;
  double crowd = 20;
  double own = 5;
  double weakest = 2;
  double strongest = 64;
  double guard = .01;
};

// The options of methods whose Options are CrowdOptions besides.
template <class Options>
std::vector<OptionEntry<Options>> crowd_options() {
  static_assert(std::is_base_of_v<CrowdOptions, Options>);
  std::vector<OptionEntry<Options>> entries = softening_options<Options>();
  entries.insert(
      entries.end(),
      {real<Options>("symmetry", &Options::symmetry, 0, 1e9,
                     "c0: larger values trust more that a whole crowd is better on some classes"),
       real<Options>("crowd", &Options::crowd, 1e-3, 1e9, "s1: weight of a symmetric crowd, in labels"),
       real<Options>("own", &Options::own, 1e-3, 1e9, "s2: weight of the crowd's accuracy, in labels"),
       real<Options>("weakest", &Options::weakest, 1, 128,
                     "smallest strength s of the prior of a worker's rows"),
       real<Options>("strongest", &Options::strongest, 1, 128, "largest strength s of that prior"),
       real<Options>("guard", &Options::guard, 0, 1e9,
                     "gain in nats per held-out label above which class shares count in full")});
  return entries;
}

}  // namespace crowdfold
