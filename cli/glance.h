// A run at a glance, for people: who is good, who is not, which tasks need more labels.
#pragma once

#include "crowdfold/labels.h"
#include "crowdfold/result.h"

namespace crowdfold::cli {

// On standard error.
void tell_glance(const Labels& labels, const Result& result);

}  // namespace crowdfold::cli
