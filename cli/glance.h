// A run at a glance, for people: who is good, who is not, which tasks need more labels.
#pragma once

#include <cstdio>

#include "crowdfold/labels.h"
#include "crowdfold/result.h"

namespace crowdfold::cli {

void print_glance(std::FILE* stream, const Labels& labels, const Result& result);

}  // namespace crowdfold::cli
