// Aggregation in rounds over packed labels on a disk: for labels that do not fit into memory.
#pragma once

#include <string>
#include <vector>

#include "crowdfold/aggregate.h"
#include "crowdfold/packed.h"

namespace crowdfold {

// Why it does not fit; empty if it does.
std::string why_not_in_rounds(const AggregateRequest& request);

// Labels in blocks: packed ones as they are, others packed into a temporary file in the folder.
PackedLabels labels_in_blocks(const std::vector<std::string>& paths, const ReadOptions& options,
                              const std::string& folder, const RunContext& context,
                              const AggregateListener& listener);
// Truths by task. Of the names of tasks only those are in memory that the file has. `classes` gains
// those that no label names.
std::vector<ClassId> truths_by_task(const std::string& path, const ReadOptions& options,
                                    const PackedLabels& labels, NameTable& classes,
                                    const RunContext& context, ReadReport& report);

// The same bytes as in memory. In memory is what is known of workers and, with truths, two bytes for
// each task.
AggregateSummary aggregate_in_rounds(const AggregateRequest& request, const std::string& folder,
                                     const RunContext& context, const AggregateListener& listener);

}  // namespace crowdfold
