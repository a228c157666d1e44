// Answers to the tasks of packed labels, whose names are in the file: blocks are judged and turned into
// records on all threads, and leave in order.
#pragma once

#include <functional>
#include <span>

#include "crowdfold/aggregate.h"
#include "crowdfold/packed.h"

namespace crowdfold {

// By place in the block; `posteriors`: a number for each class, or empty. Called by several threads.
using JudgeBlock = std::function<void(const TaskBlock& block, std::span<Estimate> estimates,
                                      std::span<double> posteriors)>;

// To the request's output; without one, the summary keeps them, and the names of tasks. `labels` says
// whether judging needs them, or but the numbers of tasks.
enum class BlocksWith { labels, numbers };
void give_answers(const AggregateRequest& request, const PackedLabels& packed, BlocksWith with,
                  const NameTable& classes, const JudgeBlock& judge, const RunContext& context,
                  AggregateSummary& summary);

}  // namespace crowdfold
