// Packed labels where a file of labels is read: what of ReadOptions they take, and what is told of them.
#pragma once

#include <string>
#include <vector>

#include "crowdfold/packed.h"

namespace crowdfold {

bool any_packed(const std::vector<std::string>& paths);

// All of these paths, without the workers that the options leave out. Error(usage) if one of them is not
// packed, and for options that say how to understand rows: they belong to packing.
PackedLabels open_packed_labels(const std::vector<std::string>& paths, const ReadOptions& options,
                                const RunContext& context);

// Rows that were left out are told when labels are packed, not here.
ReadReport report_on(const PackedLabels& labels, const ReadOptions& options);

// read_labels() of packed labels.
Labels read_packed(const std::vector<std::string>& paths, const ReadOptions& options,
                   const RunContext& context, std::vector<ReadReport>* reports);

}  // namespace crowdfold
