// Where a path leads: through links, and to which file.
#pragma once

#include <string>

namespace crowdfold {

// The path with its last part replaced by what it links to, also where that does not exist yet.
// Error(io) for links that lead round in a circle.
std::string follow_links(const std::string& path);

// " (did you mean 'labels.csv'?)" with the name of a file in the same folder, for a path that leads to
// none.
std::string did_you_mean_file(const std::string& path);

}  // namespace crowdfold
