// How many labels a stop rule saves: the labels of a data set are bought again, in another order, and
// only as many as the rule asks for.
#pragma once

#include <cstdint>
#include <span>

#include "crowdfold/labels.h"
#include "crowdfold/method.h"
#include "crowdfold/stream.h"

namespace crowdfold {

struct Spending {
  double accuracy = 0;         // over known truths, once all tasks were judged again at the end
  double accuracy_then = 0;    // of the answers that tasks closed with
  double claimed = 0;          // the mean of their confidences
  double labels_per_task = 0;  // bought
  double closed = 0;           // share of tasks that the rule closed before their labels ran out
};

// Tasks come one after another, in an order drawn by the seed, and so do the labels of a task. After
// each label the method judges the task; when it is done, the method learns from it. `truths` is by
// TaskId, kNoClass where not known. The method must be new.
Spending replay(const Labels& labels, std::span<const ClassId> truths, OnlineMethod& method,
                const StopRule& stop, std::uint64_t seed, const RunContext& context);

}  // namespace crowdfold
