// The program: parses the command line, calls the library, maps errors to exit codes.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <limits>
#include <new>
#include <sstream>

#include "commands.h"
#include "crowdfold/error.h"
#include "crowdfold/io.h"
#include "crowdfold/version.h"
#include "crowdfold/words.h"
#include "flags.h"
#include "usage.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace {

constexpr int kExitData = 1;  // the input, or the operating system
constexpr int kExitUsage = 2;
constexpr int kExitInterrupted = 130;

int exit_code(crowdfold::ErrorCode code) {
  switch (code) {
    case crowdfold::ErrorCode::usage: return kExitUsage;
    case crowdfold::ErrorCode::interrupted: return kExitInterrupted;
    default: return kExitData;
  }
}

void on_interrupt(int signal) {
  if (signal == SIGTERM) crowdfold::cli::terminated() = true;
  // The second Ctrl-C does not wait for the program to notice the first.
  if (crowdfold::cli::interrupted().exchange(true)) std::_Exit(kExitInterrupted);
}

// The reader of our output is gone. The write fails too, so files and states are closed on the way out;
// then the signal has its way.
std::atomic<bool> nobody_reads = false;
void on_broken_pipe(int) { nobody_reads = true; }

// Has malloc keep what is freed: a command goes through a few large arrays, one after another, and pages
// that the kernel must clear again cost more than the work on them.
void keep_memory() {
#ifdef __GLIBC__
  ::mallopt(M_ARENA_MAX, 1);
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TOP_PAD, 16 << 20);
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
}

// A file that is opened while a standard descriptor is closed would get its number, and notes would be
// written into it. The places are taken: notes vanish, and whatever reads or prints fails.
void occupy_standard_descriptors() {
  constexpr int kUseless[] = {O_WRONLY, O_RDONLY, O_WRONLY};
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) < 0) ::open("/dev/null", kUseless[descriptor]);
  }
}

constexpr const char* kOutOfMemory =
    "crowdfold: out of memory; --low-memory reads grouped input twice instead of keeping it\n";

std::atomic<bool> is_out_of_memory = false;

[[noreturn]] void on_failed_allocation() {
  is_out_of_memory = true;
  throw std::bad_alloc();
}

// Libraries allocate in functions that must not throw, where the exception cannot be caught, nor asked
// for here. Anything else is a fault of ours: the core tells where.
[[noreturn]] void on_terminate() {
  if (!is_out_of_memory) std::abort();
  crowdfold::remove_unfinished_outputs();
  crowdfold::cli::tell(kOutOfMemory);
  ::_exit(kExitData);
}

int complain(const std::string& message, int code) {
  crowdfold::cli::tell(fmt::format("{}crowdfold: {}\n",
                                   crowdfold::cli::stderr_is_terminal() ? "\r\x1b[K" : "",
                                   crowdfold::printable(message)));
  return code;
}

void declare_commands(CLI::App& app) {
  app.name("crowdfold");
  app.set_version_flag("--version", std::string("crowdfold ") + crowdfold::kVersion);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  app.footer(
      "Examples:\n"
      "  crowdfold aggregate labels.csv -o answers.csv --workers-out workers.csv\n"
      "  crowdfold compare labels.csv --truth truth.csv\n"
      "  crowdfold help COMMAND");
  using namespace crowdfold::cli;
  add_aggregate(app);
  add_evaluate(app);
  add_compare(app);
  add_report(app);
  add_methods(app);
  add_simulate(app);
  add_import(app);
  add_pack(app);
  add_agreement(app);
  add_jury(app);
  add_workers(app);
  add_export(app);
  add_stream(app);
  add_state(app);
  add_next(app);
  add_budget(app);
  add_serve(app);
  add_completion(app);
}

void run(int argc, char** argv) {
  CLI::App app{"crowdfold: one label per task and a quality per worker, from labels that disagree"};
  declare_commands(app);
  std::vector<std::string> words = crowdfold::cli::words_of(argc, argv);
  crowdfold::cli::require_command(app, words);
  std::reverse(words.begin(), words.end());  // the parser takes them from the end
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0)
      throw crowdfold::Error(crowdfold::ErrorCode::usage, crowdfold::cli::explain(error, app));
    std::ostringstream asked_for;  // --help, --version
    app.exit(error, asked_for, asked_for);
    if (!asked_for) throw std::bad_alloc();  // a stream of text does not throw by itself
    crowdfold::cli::print(asked_for.str());
  }
}

}  // namespace

int crowdfold::cli::run_program(int argc, char** argv) {
  std::set_new_handler(on_failed_allocation);
  std::set_terminate(on_terminate);
  occupy_standard_descriptors();
  keep_memory();
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  // A terminal that is closed, unless nohup says that it does not matter.
  if (std::signal(SIGHUP, on_interrupt) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
  if (std::signal(SIGPIPE, on_broken_pipe) == SIG_IGN) std::signal(SIGPIPE, SIG_IGN);
  try {
    run(argc, argv);
    return 0;
  } catch (const crowdfold::Error& error) {
    if (nobody_reads) {
      std::signal(SIGPIPE, SIG_DFL);
      std::raise(SIGPIPE);
    }
    const bool leaves = error.code() == crowdfold::ErrorCode::interrupted;
    return complain(error.what() + (leaves ? crowdfold::cli::outcome_of_outputs() : ""),
                    exit_code(error.code()));
  } catch (const std::bad_alloc&) {
    crowdfold::cli::tell(kOutOfMemory);
    return kExitData;
  } catch (const std::exception& error) {
    return complain(error.what(), kExitData);
  }
}
