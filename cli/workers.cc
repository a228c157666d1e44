// crowdfold workers: the workers of a file of labels that a rule is about, and their pay on MTurk.
#include <fmt/format.h>

#include <optional>

#include "commands.h"
#include "crowdfold/aggregate.h"
#include "crowdfold/error.h"
#include "crowdfold/report.h"
#include "crowdfold/words.h"
#include "crowdfold/write_back.h"
#include "flags.h"

namespace crowdfold::cli {
namespace {

struct Workers {
  std::string labels;
  std::string rule;
  std::string method = kDefaultMethod;
  std::vector<std::string> settings;
  std::string truths;
  std::string batch;
  std::string reason = "Your answers differ too often from the answers that the others agree on.";
  std::string output = "-";
  bool details = false;
  InputFlags input;
  OutputFlags output_flags;
  RunFlags run;

  void operator()() const;

 private:
  void write_matching(const AggregateSummary& summary, const std::vector<bool>& matches,
                      const RunContext& context) const;
  void write_review(const AggregateSummary& summary, const std::vector<bool>& matches) const;
};

void Workers::operator()() const {
  std::optional<WorkerRule> wanted;
  if (!rule.empty()) wanted.emplace(rule);
  if (!batch.empty() && !wanted) throw Error(ErrorCode::usage, "--mturk needs --rule: whom to reject");
  AggregateRequest request;
  request.method = find_method(method).name;
  request.settings = parse_settings(settings);
  find_method(method).check(request.settings);
  require_outputs({output}, {labels, truths, batch});
  request.labels = {labels};
  request.read = input.options();
  request.truths = truths;
  request.read_known = input.options_for_tables();
  const RunContext context = run.context();
  const AggregateSummary summary =
      aggregate(request, context, {[this](const ReadReport& read) { run.say(read); }});
  const WorkerState& learned = summary.result.learned;
  std::vector<bool> matches;
  for (WorkerId w = 0; w < summary.workers().size(); ++w)
    matches.push_back(!wanted || wanted->holds(learned.quality(w), learned.counts_of(w)));
  run.end_progress();
  if (summary.labels && truths.empty()) {
    const std::string doubt = words_of(footing_of(*summary.labels));
    if (!doubt.empty()) run.say("note: " + doubt);
  }
  if (wanted) {
    const auto count = static_cast<std::uint64_t>(std::count(matches.begin(), matches.end(), true));
    run.say(fmt::format("{} of {}: {}", with_commas(count), count_noun(matches.size(), "worker"), rule));
  }
  batch.empty() ? write_matching(summary, matches, context) : write_review(summary, matches);
}

void Workers::write_matching(const AggregateSummary& summary, const std::vector<bool>& matches,
                             const RunContext& context) const {
  NameTable names("workers", kMaxWorkers);
  WorkerState state;
  state.alpha = summary.result.learned.alpha;
  state.beta = summary.result.learned.beta;
  for (WorkerId w = 0; w < matches.size(); ++w) {
    if (!matches[w]) continue;
    names.intern(summary.workers()[w]);
    state.counts.push_back(summary.result.learned.counts_of(w));
  }
  write_workers(output, names, state, details, context, output_flags.options());
}

void Workers::write_review(const AggregateSummary& summary, const std::vector<bool>& matches) const {
  const ReviewCounts counts = write_mturk_review(
      output, batch,
      [&](std::string_view worker) -> std::optional<bool> {
        const std::optional<WorkerId> known = summary.workers().find(worker);
        if (!known) return std::nullopt;
        return matches[*known];
      },
      reason, output_flags.options());
  run.say(
      fmt::format("{}: {} to approve, {} to reject; {} decided before, {} of unknown workers left open",
                  batch, count_noun(counts.approved, "assignment"), with_commas(counts.rejected),
                  with_commas(counts.decided_before), with_commas(counts.unknown)));
}

}  // namespace

void add_workers(CLI::App& app) {
  auto state = std::make_shared<Workers>();
  CLI::App& command =
      *app.add_subcommand("workers", "workers that a rule is about; approve or reject them on MTurk");
  command.add_option("LABELS", state->labels, "file of labels, or - for standard input")->required();
  command
      .add_option("--rule", state->rule,
                  "which workers, as 'upper < 0.6 and labels >= 20': quality, lower, upper or labels; "
                  "default: all")
      ->type_name("RULE")
      ->check([](const std::string& text) {
        return text.empty() ? "an empty rule is about nobody; leave the option out for all workers" : "";
      });
  command.add_option("-m,--method", state->method, "see 'crowdfold methods'")->capture_default_str();
  command.add_option("--set", state->settings, "an option of the method; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command.add_option("--truth", state->truths, "known truths: task,label")
      ->type_name("FILE")
      ->check(is_file_name);
  const char* out = "Output";
  command
      .add_option("-o,--output", state->output,
                  "workers: worker,quality,lower,upper,labels; with --mturk: the batch to upload")
      ->type_name("FILE")
      ->check(is_file_name)
      ->capture_default_str()
      ->group(out);
  command.add_flag("--details", state->details, "more columns for workers")->group(out);
  command
      .add_option(
          "--mturk", state->batch,
          "results of a batch: written again with a reason under Reject for workers of the rule, "
          "and an x under Approve for others")
      ->type_name("FILE")
      ->check(is_file_name)
      ->group(out);
  command.add_option("--reason", state->reason, "what those who are rejected are told")
      ->type_name("TEXT")
      ->capture_default_str()
      ->group(out);
  state->output_flags.add_to(command);
  state->input.add_to(command);
  state->run.add_seed_to(command);
  state->run.add_threads_to(command);
  state->run.add_quiet_to(command);
  state->run.add_memory_to(command);
  command.footer(
      "Examples:\n"
      "  crowdfold workers labels.csv --rule 'upper < 0.6'\n"
      "  crowdfold workers labels.csv --rule 'upper < 0.5 and labels >= 20' --mturk batch_results.csv "
      "-o "
      "review.csv");
  command.callback([state] { (*state)(); });
}

}  // namespace crowdfold::cli
