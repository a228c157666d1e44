// Aggregation task by task: for input that is grouped by task, without keeping its labels.
#pragma once

#include "crowdfold/aggregate.h"

namespace crowdfold {

inline constexpr const char* kNotTaskByTask = "labels cannot be read task by task: ";
inline constexpr const char* kExportIsWhole =
    "an export of a platform is read as a whole ('crowdfold import' makes plain rows of it)";

// Reads the input as often as the method needs: twice if it judges after learning, or if a class turns
// up late. The same bytes as in memory. 8 bytes per task notice one that comes back; none are spent if
// the caller vouches for grouped input (Road::grouped), and estimates then leave as they are made, with
// the number of classes met so far. False if a task came back: nothing was written, and the labels must
// be held in memory.
bool aggregate_grouped(const AggregateRequest& request, const RunContext& context,
                       AggregateSummary& summary, std::vector<ReadReport>& reports);

}  // namespace crowdfold
