// What count_work.py counts: a method on files of labels, one after another.
//
//   crowdfold-work                   the names of all methods
//   crowdfold-work METHOD FILE...
#include <cstdio>
#include <string>

#include "crowdfold/aggregate.h"

namespace {

// With which all sizes take the same number of steps.
const crowdfold::Settings kSteps = {{"iterations", "4"},  {"tolerance", "0"}, {"starts", "1"},
                                    {"rounds", "2"},      {"imitation", "4"}, {"epochs", "1"},
                                    {"start_epochs", "0"}};

}  // namespace

// Known to count_work.py by its name.
extern "C" [[gnu::noinline]] void counted_aggregate(const crowdfold::MethodInfo& method,
                                                    const char* file) {
  crowdfold::AggregateRequest request{.method = method.name, .labels = {file}, .output = "/dev/null"};
  for (const auto& setting : kSteps) {
    if (method.has_option(setting.first)) request.settings.push_back(setting);
  }
  crowdfold::RunContext context;
  context.threads = 1;
  crowdfold::aggregate(request, context);
}

int main(int argc, char** argv) {
  for (const crowdfold::MethodInfo& method : crowdfold::methods()) {
    if (argc == 1) std::puts(method.name.c_str());
    for (int i = 2; i < argc && method.name == argv[1]; ++i) counted_aggregate(method, argv[i]);
  }
}
