// crowdfold evaluate: estimates against known truths.
#include <fmt/format.h>

#include "commands.h"
#include "crowdfold/error.h"
#include "crowdfold/io.h"
#include "crowdfold/metrics.h"
#include "crowdfold/words.h"
#include "flags.h"
#include "print_json.h"

namespace crowdfold::cli {
namespace {

constexpr std::uint32_t kMostClassesInConfusion = 20;     // nobody reads a wider matrix
constexpr std::uint32_t kMostClassesToEvaluate = 20'000;  // K x K counts must fit

struct Evaluate {
  std::string estimates;
  std::string truths;
  bool json = false;
  InputFlags input;
  RunFlags run;

  void operator()() const;
};

nlohmann::json to_json(const Evaluation& e, const NameTable& classes) {
  nlohmann::json json = {{"tasks", e.tasks},
                         {"correct", e.correct},
                         {"accuracy", e.accuracy},
                         {"macro_f1", e.macro_f1},
                         {"classes", nlohmann::json::array()}};
  for (std::uint32_t c = 0; c < classes.size(); ++c) {
    const ClassScores& s = e.classes[c];
    json["classes"].push_back({{"class", classes[c]},
                               {"truths", s.truths},
                               {"estimates", s.estimates},
                               {"precision", s.precision},
                               {"recall", s.recall},
                               {"f1", s.f1}});
  }
  if (e.has_confidence) {
    json["log_loss"] = e.log_loss;
    json["calibration_error"] = e.calibration_error;
  }
  return json;
}

void print_text(const Evaluation& e, const NameTable& classes) {
  const bool color = wants_color(stdout);
  Table summary({"measure", "value"});
  summary.add({"tasks", with_commas(e.tasks)});
  summary.add({"accuracy", decimal(e.accuracy)});
  summary.add({"macro F1", decimal(e.macro_f1)});
  if (e.has_confidence) {
    summary.add({"log-loss", decimal(e.log_loss)});
    summary.add({"calibration error", decimal(e.calibration_error)});
  }
  print(summary.text(color) + "\n");

  Table scores({"class", "truths", "estimates", "precision", "recall", "F1"});
  for (std::uint32_t c = 0; c < classes.size(); ++c) {
    const ClassScores& s = e.classes[c];
    if (s.truths + s.estimates == 0) continue;
    scores.add({std::string(classes[c]), with_commas(s.truths), with_commas(s.estimates),
                decimal(s.precision), decimal(s.recall), decimal(s.f1)});
  }
  print(scores.text(color) + "\n");

  if (classes.size() <= kMostClassesInConfusion) {
    std::vector<std::string> header = {"truth \\ estimate"};
    for (std::uint32_t c = 0; c < classes.size(); ++c) header.emplace_back(classes[c]);
    Table confusion(header);
    for (std::uint32_t r = 0; r < classes.size(); ++r) {
      std::vector<std::string> row = {std::string(classes[r])};
      for (std::uint32_t c = 0; c < classes.size(); ++c)
        row.push_back(with_commas(e.confusion[r * classes.size() + c]));
      confusion.add(row);
    }
    print(confusion.text(color));
  }

  if (e.has_confidence) {
    Table bins({"confidence", "tasks", "mean", "accuracy"});
    for (const CalibrationBin& bin : e.bins) {
      if (bin.tasks == 0) continue;
      bins.add({fmt::format("{} to {}", decimal(bin.lower, 1), decimal(bin.upper, 1)),
                with_commas(bin.tasks), decimal(bin.confidence), decimal(bin.accuracy)});
    }
    print("\n" + bins.text(color));
  }
}

// Of the confusion matrix, and of a probability per task and class.
void require_memory(const Estimates& estimates, std::uint64_t classes, std::uint64_t most) {
  const std::uint64_t rows = classes + (estimates.posterior.empty() ? 0 : estimates.estimate.size());
  if (most == 0 || rows * classes * sizeof(double) <= most) return;
  throw Error(ErrorCode::usage,
              fmt::format("{} on {} need more memory than the {} that may be used: allow more with "
                          "--max-memory",
                          count_noun(classes, "class"), count_noun(estimates.estimate.size(), "task"),
                          memory_size(most)));
}

void Evaluate::operator()() const {
  if (truths.empty()) throw CLI::RequiredError("--truth");
  ReadReport read;
  const RunContext context = run.context();
  Estimates given = read_estimates(estimates, within(context, input.options()), &read);
  run.say(read);
  const std::size_t columns =
      given.estimate.empty() ? 0 : given.posterior.size() / given.estimate.size();
  const std::vector<ClassId> known = read_truths(truths, given.tasks, given.classes,
                                                 within(context, input.options_for_tables()), &read);
  require_same_spelling(read);
  run.say(read);
  const std::uint32_t num_classes = given.classes.size();
  if (num_classes > kMostClassesToEvaluate) {
    throw Error(ErrorCode::data, fmt::format("{} classes: more than {} are not evaluated", num_classes,
                                             kMostClassesToEvaluate));
  }
  require_memory(given, num_classes, context.max_memory);
  // A truth may name a class for which the file has no column: its probability was 0.
  std::vector<double> posterior;
  if (!given.posterior.empty()) {
    posterior.resize(static_cast<std::size_t>(num_classes) * given.estimate.size(), 0);
    for (std::size_t t = 0; t < given.estimate.size(); ++t) {
      std::copy_n(given.posterior.begin() + static_cast<std::ptrdiff_t>(t * columns), columns,
                  posterior.begin() + static_cast<std::ptrdiff_t>(t * num_classes));
    }
  }
  const Evaluation evaluation =
      evaluate(given.estimate, known, num_classes, given.confidence, posterior);
  if (evaluation.tasks == 0) throw Error(ErrorCode::data, truths + ": no truth to compare with");
  json ? print_json(to_json(evaluation, given.classes)) : print_text(evaluation, given.classes);
}

}  // namespace

void add_evaluate(CLI::App& app) {
  auto state = std::make_shared<Evaluate>();
  CLI::App& command = *app.add_subcommand("evaluate", "how good estimates are, given truths");
  command.add_option("ESTIMATES", state->estimates, "task,label[,confidence[,one column per class]]")
      ->required();
  command
      .add_option("--truth,TRUTH", state->truths,
                  "known truths: task,label; needed, by this name or behind ESTIMATES")
      ->type_name("FILE")
      ->check(is_file_name);
  command.add_flag("--json", state->json, "print JSON");
  state->input.add_columns_to(command, {"task", "label", "confidence"});
  state->input.add_spellings_to(command);
  state->input.add_skip_to(command);
  state->run.add_quiet_to(command);
  state->run.add_memory_to(command);
  command.footer(
      "Examples:\n"
      "  crowdfold aggregate labels.csv -o answers.csv\n"
      "  crowdfold evaluate answers.csv --truth truth.csv");
  command.callback([state] { (*state)(); });
}

}  // namespace crowdfold::cli
