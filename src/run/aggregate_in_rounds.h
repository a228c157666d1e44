// Aggregation in rounds over packed labels on a disk: for labels that do not fit into memory.
#pragma once

#include <string>

#include "crowdfold/aggregate.h"
#include "crowdfold/packed.h"

namespace crowdfold {

// Why it does not fit; empty if it does.
std::string why_not_in_rounds(const AggregateRequest& request, const RunContext& context);

// The same bytes as in memory. In memory is what is known of workers and, with truths, two bytes for
// each task.
void aggregate_in_rounds(const AggregateRequest& request, PackedLabels labels, const RunContext& context,
                         AggregateSummary& summary, std::vector<ReadReport>& reports);

}  // namespace crowdfold
