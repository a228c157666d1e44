// Shared by variational methods with confusion matrices: Dirichlet posteriors of their rows.
#pragma once

#include "methods/confusion/confusion.h"
#include "methods/dirichlet.h"
#include "methods/em.h"

namespace crowdfold {

// The Dirichlet posteriors of all confusion matrices, as E[log pi] in `expected_logs`. Returns their
// divergence from the prior.
double learn_confusion(const ExpectedCounts& said, const PriorCounts& prior, Confusion& expected_logs,
                       int threads);

// report_workers() with the posterior means of pi, which it writes over `confusion`.
void report_posterior_workers(const ExpectedCounts& said, const PriorCounts& prior,
                              std::span<const double> state_prior, Confusion& confusion,
                              const RunContext& context, Result& result);

}  // namespace crowdfold
