// Any method in rounds, held to what labels can tell (methods/overlap.h): where nothing overlaps, the
// prior rules; workers who meet nobody are taken for one of the crowd.
#pragma once

#include <memory>

#include "crowdfold/rounds.h"

namespace crowdfold {

std::unique_ptr<RoundModel> believable(std::unique_ptr<RoundModel> model, const RoundsInput& input);

}  // namespace crowdfold
