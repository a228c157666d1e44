// The program, and one function per sub-command: declares its options on the application and what it
// does when called.
#pragma once

#include <CLI/CLI.hpp>

namespace crowdfold::cli {

// All of it, from argv to the exit code. Takes over signals and standard streams: it is for a process of
// its own, once.
int run_program(int argc, char** argv);

void add_aggregate(CLI::App& app);
void add_evaluate(CLI::App& app);
void add_compare(CLI::App& app);
void add_report(CLI::App& app);
void add_methods(CLI::App& app);
void add_simulate(CLI::App& app);
void add_import(CLI::App& app);
void add_pack(CLI::App& app);
void add_agreement(CLI::App& app);
void add_jury(CLI::App& app);
void add_stream(CLI::App& app);
void add_state(CLI::App& app);
void add_next(CLI::App& app);
void add_budget(CLI::App& app);
void add_export(CLI::App& app);
void add_workers(CLI::App& app);
void add_serve(CLI::App& app);
void add_completion(CLI::App& app);

}  // namespace crowdfold::cli
