// crowdfold agreement: how much the workers of a data set agree with each other.
#include <fmt/format.h>

#include <cmath>

#include "commands.h"
#include "crowdfold/io.h"
#include "crowdfold/metrics.h"
#include "crowdfold/words.h"
#include "flags.h"
#include "print_json.h"

namespace crowdfold::cli {
namespace {

struct AgreementCommand {
  bool json = false;
  InputFlags input;
  RunFlags run;

  void operator()() const {
    const Labels data = read_and_tell(input, run, run.context());
    const Agreement a = agreement(data);
    if (json) {
      const auto number = [](double x) {
        return std::isfinite(x) ? nlohmann::json(x) : nlohmann::json(nullptr);
      };
      const nlohmann::json object = {{"tasks", a.tasks},
                                     {"labels", a.labels},
                                     {"percent", number(a.percent)},
                                     {"cohen_kappa", number(a.cohen_kappa)},
                                     {"worker_pairs", a.worker_pairs},
                                     {"fleiss_kappa", number(a.fleiss_kappa)},
                                     {"krippendorff_alpha", number(a.krippendorff_alpha)}};
      print_json(object);
      return;
    }
    Table table({"measure", "value", "over"});
    const std::string tasks = count_noun(a.tasks, "task") + " with two labels or more";
    const auto value = [](double x) { return std::isfinite(x) ? decimal(x) : std::string("undefined"); };
    table.add({"percent agreement", value(a.percent), tasks});
    table.add({"Cohen's kappa", value(a.cohen_kappa),
               count_noun(a.worker_pairs, "pair") + " of workers, mean by common tasks"});
    table.add({"Fleiss' kappa", value(a.fleiss_kappa), tasks});
    table.add({"Krippendorff's alpha", value(a.krippendorff_alpha),
               count_noun(a.labels, "label") + ", nominal"});
    print(table.text(wants_color(stdout)));
  }
};

}  // namespace

void add_agreement(CLI::App& app) {
  auto state = std::make_shared<AgreementCommand>();
  CLI::App& command =
      *app.add_subcommand("agreement", "how much the workers agree: percent, kappa, alpha");
  state->input.add_files_to(command);
  command.add_flag("--json", state->json, "print JSON");
  state->input.add_to(command);
  state->run.add_threads_to(command);
  state->run.add_quiet_to(command);
  state->run.add_memory_to(command);
  command.footer("Example:\n  crowdfold agreement labels.csv");
  command.callback([state] { (*state)(); });
}

}  // namespace crowdfold::cli
