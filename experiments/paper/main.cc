// crowdfold-paper: the experiments of the paper on onepass and twopass, as commands.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <vector>

#include "crowdfold/error.h"
#include "crowdfold/version.h"
#include "experiments.h"
#include "import.h"
#include "report.h"
#include "signed_rank.h"

namespace {

using namespace crowdfold;
using namespace crowdfold::paper;

constexpr int kExitData = 1;
constexpr int kExitUsage = 2;
constexpr int kExitInterrupted = 130;

std::atomic<bool> interrupted = false;

void on_interrupt(int) {
  if (interrupted.exchange(true)) std::_Exit(kExitInterrupted);
}

StudyOptions defaults() {
  StudyOptions options;
  const char* given = std::getenv("CROWDFOLD_DATA");
  options.data = given != nullptr ? given : "../shared/datasets";
  options.out = "paper-results";
  return options;
}

void add_out(CLI::App& command, StudyOptions& options) {
  command.add_option("--out", options.out, "folder of the results")
      ->type_name("DIR")
      ->capture_default_str();
}

void add_study_options(CLI::App& command, StudyOptions& options) {
  command
      .add_option("--data", options.data,
                  "folder of the data sets, each a folder with labels.csv and truth.csv; default: "
                  "$CROWDFOLD_DATA, or ../shared/datasets")
      ->type_name("DIR");
  add_out(command, options);
  command.add_option("--runs", options.runs, "with different seeds, which draw orders, ties and crowds")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command.add_option("--seed", options.seed, "of the first run")->capture_default_str();
  command
      .add_option("--methods", options.methods,
                  "offline, wilcoxon, online: a,b,… or all; default: those of the paper")
      ->delimiter(',');
  command.add_option("--threads", options.threads, "that a method may use; seconds depend on it")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command.add_flag("--fresh", options.fresh, "measure everything again, also where there are results");
  command.add_flag("-q,--quiet", options.quiet, "say nothing but errors");
}

void add_experiment(CLI::App& app, StudyOptions& options, const std::string& name,
                    const std::string& summary, const std::vector<Experiment>& parts) {
  CLI::App& command = *app.add_subcommand(name, summary);
  add_study_options(command, options);
  command.footer(
      fmt::format("Results go to CSV files in --out, and with charts to report.html there. A run that "
                  "was stopped goes\n"
                  "on where it was; results of more runs or methods are added to those that are there.\n"
                  "Examples:\n"
                  "  crowdfold-paper {0} --data datasets --out results\n"
                  "  crowdfold-paper {0} --runs 3 --seed 7 --out quick",
                  name));
  command.callback([&options, parts] {
    Study study(options, interrupted);
    for (const Experiment& experiment : parts) {
      experiment.measure(study);
      write_report(study);
    }
  });
}

void add_import(CLI::App& app, ImportOptions& options) {
  CLI::App& command = *app.add_subcommand(
      "import", "makes data sets of copies of the public repositories they come from");
  command.add_option("DIR", options.from, "a copy of such a repository, or a folder of several")
      ->required();
  command.add_option("--data", options.to, "where the data sets go")->required()->type_name("DIR");
  command.add_flag("-q,--quiet", options.quiet, "say nothing but errors");
  command.footer(
      "Recognised are, anywhere below DIR: label.csv and truth.csv in folders of their own (the paper's "
      "and\n"
      "yuan-li/truth-inference-at-scale); answer.csv and truth.csv (zhydhkcws/crowd_truth_infer); "
      "Data/CF.csv …\n"
      "(orchidproject/active-crowd-toolkit); bluebird_crowd.txt and bluebird_truth.txt …\n"
      "(zhangyuc/SpectralMethodsMeetEM); mturklabels.txt and groundtruth.txt (Duchenne smiles). Data "
      "sets that\n"
      "are in the folder already stay as they are.\n"
      "Example:\n"
      "  crowdfold-paper import LA_onepass --data datasets");
  command.callback([&options] { import_sets(options); });
}

void add_report(CLI::App& app, StudyOptions& options, std::string& page) {
  CLI::App& command =
      *app.add_subcommand("report", "report.html again, from the results that are there");
  add_out(command, options);
  command
      .add_option(
          "--fill", page,
          "a Markdown page: the text between <!-- NAME --> and <!-- end --> becomes the experiment's "
          "tables; charts go to img/ beside it")
      ->type_name("FILE");
  command.footer(
      "Example:\n"
      "  crowdfold-paper report --out results --fill docs/reproduction.md");
  command.callback([&options, &page] {
    Study study(options, interrupted);
    write_report(study);
    if (!page.empty()) fill_page(study, page);
  });
}

// For scripts: the differences are numbers on standard input.
void add_signed_rank(CLI::App& app) {
  CLI::App& command = *app.add_subcommand(
      "signed-rank", "Wilcoxon's one-sided test of differences, which it reads from standard input");
  command.footer(
      "Prints JSON. Example:\n"
      "  printf '.01\\n-.002\\n.03\\n' | crowdfold-paper signed-rank");
  command.callback([] {
    const std::vector<double> differences(std::istream_iterator<double>(std::cin), {});
    if (!std::cin.eof()) throw Error(ErrorCode::data, "standard input: expected numbers");
    const SignedRank test = signed_rank(differences);
    fmt::print("{{\"statistic\": {}, \"pairs\": {}, \"p\": {}}}\n", test.statistic, test.pairs, test.p);
  });
}

int complain(const std::string& message, int code) {
  fmt::print(stderr, "crowdfold-paper: {}\n", message);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);

  CLI::App app{
      "crowdfold-paper: the experiments of \"A Light-weight, Effective and Efficient Model for Label "
      "Aggregation in Crowdsourcing\", run again"};
  app.name("crowdfold-paper");
  app.set_version_flag("--version", std::string("crowdfold-paper ") + kVersion);
  app.require_subcommand(1);
  app.get_formatter()->column_width(30);
  app.footer(
      "Examples:\n"
      "  crowdfold-paper import LA_onepass --data datasets\n"
      "  crowdfold-paper all --data datasets --out results\n"
      "  crowdfold-paper COMMAND --help");
  StudyOptions options = defaults();
  ImportOptions import;
  std::string page;
  for (const Experiment& experiment : experiments())
    add_experiment(app, options, experiment.name, experiment.summary, {experiment});
  // The quick ones first; the last one also runs the experiment that it is based on.
  add_experiment(app, options, "all", "all of these", {convergence(), priors(), online(), wilcoxon()});
  add_report(app, options, page);
  add_import(app, import);
  add_signed_rank(app);

  try {
    const std::string first = argc > 1 ? argv[1] : "";
    if (!first.empty() && first[0] != '-' &&
        app.get_subcommands([&](const CLI::App* command) { return command->get_name() == first; })
            .empty())
      return complain(fmt::format("no command '{}' (crowdfold-paper --help)", first), kExitUsage);
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return complain(fmt::format("{} (crowdfold-paper --help)", error.what()), kExitUsage);
  } catch (const Error& error) {
    return complain(error.what(), error.code() == ErrorCode::usage         ? kExitUsage
                                  : error.code() == ErrorCode::interrupted ? kExitInterrupted
                                                                           : kExitData);
  } catch (const std::exception& error) {
    return complain(error.what(), kExitData);
  }
}
