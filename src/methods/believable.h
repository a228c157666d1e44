// Any method in rounds, held to what labels can tell (methods/overlap.h): where nothing overlaps, the
// prior rules; workers who meet nobody are taken for one of the crowd.
#pragma once

#include <memory>
#include <string>

#include "crowdfold/rounds.h"

namespace crowdfold {

// `method` is the name by which its bytes are told from those of others.
std::unique_ptr<RoundModel> believable(const std::string& method, std::unique_ptr<RoundModel> model,
                                       const RoundsInput& input);

}  // namespace crowdfold
