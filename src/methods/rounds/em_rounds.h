// Expectation-maximisation in rounds (crowdfold/rounds.h): a round judges every task by the present
// parameters, the E-step, and adds up what the M-step needs. Nothing is kept of a task.
//
//   q_t(k)  ~  exp score_t(k)           E-step, by Tables::add_scores
//   sums    =  sum_t q_t                by class, and by worker: Tables::add_counts
//   tables  =  m_step(sums)
//
// Probabilities are added up in units of 2^-32, log-likelihoods in units of 2^-28, so that sums are
// exact in any order. A method derives from EmModel<Tables> and says what its M-step is.
//
// Starts with shares of votes for q and the M-step, or with tables of its own and the E-step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/vector_math.h"
#include "crowdfold/rounds.h"
#include "methods/em.h"
#include "methods/vote.h"

namespace crowdfold {

// Of a probability: sums are exact up to 2^32 tasks, and up to as many labels of a worker.
inline constexpr double kShareUnits = 0x1p32;
inline double share_of_units(std::uint64_t units) { return static_cast<double>(units) / kShareUnits; }

// Sums over tasks.
struct EmSums {
  FlatArray<std::uint64_t> counts;    // of Tables::add_counts, in units
  std::vector<std::uint64_t> totals;  // by class, of tasks with a label or a known truth; in units
  std::int64_t evidence = 0;          // log-likelihood, in its units
  double change = 0;                  // the largest of a probability since the round before

  bool same_counts(const EmSums& other) const {
    return counts == other.counts && totals == other.totals;
  }
  // m_k, in tasks.
  std::vector<double> shares() const;
};

struct EmSummary final : RoundSummary {
  void add(const RoundSummary& summary) override;
  void exchange(Archive& archive) override;

  EmSums sums;
  std::size_t width = 1;       // of a row of counts
  std::size_t per_worker = 1;  // rows
};

// How EM goes.
struct EmPlan {
  const char* name = "";
  Stopping stopping;
  bool starts_with_votes = true;  // else with tables
  // What `tolerance` is compared with: the largest move of a probability, or by how much the objective
  // grows per label.
  bool watches_probabilities = true;
  // Tasks are credited with their best class in full; a tie among votes is decided so.
  std::optional<Ties> decides = {};
};

// Probabilities of tasks first … last - 1 before any is judged: shares of votes, or what truths say.
// Rows are row_width(classes) wide.
void write_vote_shares(const TaskBlock& block, std::uint32_t classes, TaskId first, TaskId last,
                       std::span<double> rows);
// What scores do not know: truths, and that a task without labels can be of any class.
void correct_scores(const TaskBlock& block, std::uint32_t classes, TaskId first, TaskId last,
                    std::span<double> scores);
// The class with most votes.
ClassId elected(const TaskLabels& task, std::uint32_t classes, const TieRule& rule);

// `Tables` holds what is known of workers and classes, and has
//   prepare(workers, classes)                       makes room
//   add_scores(block, first, last, rows)            scores of tasks, kImpossible in padding
//   count_size(), count_width(), count_rows()       of EmSums::counts: numbers, those of a row, and rows
//   of
//                                                   a worker
//   add_counts(block, first, last, units, counts)   what rows of q_t, in units, say of workers
//   exchange(archive)
template <class Tables>
class EmModel : public RoundModel {
 public:
  EmModel(const EmPlan& plan, const RoundsInput& input)
      : plan_(plan),
        workers_(input.workers),
        classes_(input.classes),
        seed_(input.seed),
        history_(input.history().begin(), input.history().end()),
        asks_votes_(plan.starts_with_votes) {
    tables_.prepare(workers_, classes_);
    converged_ = plan.stopping.tolerance == 0;
  }

  std::unique_ptr<RoundSummary> nothing() const override {
    auto summary = std::make_unique<EmSummary>();
    summary->width = tables_.count_width();
    summary->per_worker = tables_.count_rows();
    summary->sums.counts.resize(tables_.count_size(), 0);
    summary->sums.totals.resize(classes_);
    return summary;
  }
  void judge(const TaskBlock& block, RoundSummary& into) const override {
    EmSums& sums = static_cast<EmSummary&>(into).sums;
    Scratch scratch(width() * tasks_at_once());
    for_some(block, [&](TaskId first, TaskId last) {
      const std::span<double> rows = scratch.rows(first, last, width());
      if (asks_votes_) {
        write_vote_shares(block, classes_, first, last, rows);
      } else {
        if (watches_change()) judge_before(block, first, last, scratch);
        const NormalizedInUnits judged = judge_rows(tables_, block, first, last, scratch);
        sums.evidence += judged.log_sums;
        // Else the rows held nothing to compare with.
        if (watches_change()) sums.change = std::max(sums.change, judged.change);
      }
      if (plan_.decides) decide(block, first, last, rows, sums);
      credit(block, first, last, scratch, sums);
    });
  }

  void learn(RoundSummary& said, int threads) override {
    EmSums sums = std::move(static_cast<EmSummary&>(said).sums);
    const bool is_start = asks_votes_ || starts_;
    asks_votes_ = starts_ = false;
    if (is_start) {
      start(sums, threads);
      last_ = std::move(sums);
      return;
    }
    const double objective = static_cast<double>(sums.evidence) / kEvidenceUnits + prior_;
    const double change = change_of(objective, sums);
    trace_.push_back(objective);
    const bool rests = trace_.size() + (plan_.starts_with_votes ? 1 : 0) > 1 && sums.same_counts(last_);
    last_ = std::move(sums);
    const bool settled = (plan_.stopping.tolerance > 0 && change <= plan_.stopping.tolerance) || rests;
    converged_ = converged_ || settled;
    is_done_ = settled || trace_.size() >= static_cast<std::size_t>(plan_.stopping.iterations);
    if (is_done_) return;
    if (watches_change()) before_ = tables_;
    prior_ = m_step(last_, tables_, threads);
  }
  bool is_done() const override { return is_done_; }
  const char* stage() const override { return asks_votes_ ? "votes" : plan_.name; }
  int summaries_at_once() const override {
    return static_cast<int>(std::clamp<std::uint64_t>(
        kMostBytes / std::max<std::uint64_t>(1, 8 * tables_.count_size()), 1, 1 << 10));
  }

  void answer(const TaskBlock& block, std::span<Estimate> estimates,
              std::span<double> posteriors) const override {
    Scratch scratch(width() * tasks_at_once());
    const std::size_t asked = posteriors.size() / std::max<std::size_t>(1, estimates.size());
    for_some(block, [&](TaskId first, TaskId last) {
      judge_rows(tables_, block, first, last, scratch);
      for (TaskId t = first; t < last; ++t) {
        const std::span<double> row = scratch.rows(t, t + 1, width(), first).first(classes_);
        const TaskLabels task = block.task(t);
        Estimate& estimate = estimates[t - block.first()];
        if (const ClassId truth = block.truth(t); truth != kNoClass) {
          estimate = certain(truth, row);
        } else if (task.size() == 0) {
          estimate = {};
        } else {
          for (double& p : row) p = std::min(p, 1.0);
          const ClassId best = most_probable(row, task);
          estimate = {best, row[best]};
        }
        std::copy_n(row.begin(), asked, posteriors.subspan((t - block.first()) * asked).begin());
      }
    });
  }
  void report(const RunContext& context, Result& result) const override {
    result.trace = trace_;
    result.converged = converged_;
    report_workers(last_, context, result);
  }

  void exchange(Archive& archive) override {
    archive.value(asks_votes_);
    archive.value(starts_);
    archive.value(is_done_);
    archive.value(converged_);
    archive.value(prior_);
    archive.array(trace_);
    if (!asks_votes_) tables_.exchange(archive);  // else they are as they were made
    bool has_before = before_.has_value();
    archive.value(has_before);
    if (has_before && !before_) before_.emplace().prepare(workers_, classes_);
    if (has_before) before_->exchange(archive);
    archive.rows(last_.counts, tables_.count_width(), tables_.count_rows());
    archive.array(last_.totals);
  }

 protected:
  // Tables after the first M-step.
  virtual void start(const EmSums& sums, int threads) { prior_ = m_step(sums, tables_, threads); }
  // The parameters that the sums speak for. Returns what the prior adds to the objective.
  virtual double m_step(const EmSums& sums, Tables& tables, int threads) const = 0;
  virtual void report_workers(const EmSums& sums, const RunContext& context, Result& result) const = 0;

  // Shares of votes are needed all the same, for start().
  void ask_votes() { asks_votes_ = true; }
  // The present tables take the place of votes.
  void start_with_tables() {
    asks_votes_ = false;
    starts_ = true;
    before_ = tables_;
  }

  std::uint32_t workers() const { return workers_; }
  std::uint32_t classes() const { return classes_; }
  const std::vector<WorkerCounts>& history() const { return history_; }
  Tables& tables() { return tables_; }
  const Tables& tables() const { return tables_; }
  // Of methods that start with tables: those that the last sums speak for; else those that judged last.
  Tables final_tables(int threads) const {
    Tables last = tables_;
    if (!plan_.starts_with_votes) m_step(last_, last, threads);
    return last;
  }

 private:
  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

  // Rows of some tasks.
  struct Scratch {
    explicit Scratch(std::size_t numbers) : scores(numbers), shares(numbers), units(numbers) {}
    std::span<double> rows(TaskId first, TaskId last, std::size_t width, TaskId begin) {
      return std::span(shares).subspan((first - begin) * width, (last - first) * width);
    }
    std::span<double> rows(TaskId first, TaskId last, std::size_t width) {
      return rows(first, last, width, first);
    }
    FlatArray<double> scores;
    FlatArray<double> shares;  // q
    FlatArray<std::uint64_t> units;
  };

  std::size_t width() const { return row_width(classes_); }
  std::size_t tasks_at_once() const {
    constexpr std::size_t kNumbers = 4'096;  // that stay in the first-level cache
    return std::clamp<std::size_t>(kNumbers / width(), 1, 256);
  }
  template <class Body>
  void for_some(const TaskBlock& block, const Body& body) const {
    const auto step = static_cast<TaskId>(tasks_at_once());
    for (TaskId first = block.first(); first < block.last();
         first += std::min(step, block.last() - first))
      body(first, first + std::min(step, block.last() - first));
  }
  bool watches_change() const {
    return plan_.stopping.tolerance > 0 && plan_.watches_probabilities && !plan_.decides;
  }
  double change_of(double objective, const EmSums& sums) {
    if (plan_.watches_probabilities) return plan_.decides ? 1e300 : sums.change;
    std::uint64_t labels = 0;
    for (WorkerId w = 0; w < workers_; ++w) labels += tables_.labels_of(w, sums.counts);
    const double grown = trace_.empty() ? 1e300 : objective - trace_.back();
    return grown / static_cast<double>(std::max<std::uint64_t>(1, labels));
  }

  // E-step; the change is that to what the rows held.
  NormalizedInUnits judge_rows(const Tables& tables, const TaskBlock& block, TaskId first, TaskId last,
                               Scratch& scratch) const {
    const std::span<double> rows = scratch.rows(first, last, width());
    const std::span<double> scores = std::span(scratch.scores).first(rows.size());
    tables.add_scores(block, first, last, scores);
    correct_scores(block, classes_, first, last, scores);
    return normalize_log_rows_in_units(scores, width(), rows);
  }
  // What the rows were in the round before.
  void judge_before(const TaskBlock& block, TaskId first, TaskId last, Scratch& scratch) const {
    if (before_) {
      judge_rows(*before_, block, first, last, scratch);
    } else {
      write_vote_shares(block, classes_, first, last, scratch.rows(first, last, width()));
    }
  }
  // All to the best class. The evidence becomes that of labels and decisions together.
  void decide(const TaskBlock& block, TaskId first, TaskId last, std::span<double> rows,
              EmSums& sums) const {
    for (TaskId t = first; t < last; ++t) {
      const std::span<double> row = rows.subspan((t - first) * width(), classes_);
      const TaskLabels task = block.task(t);
      ClassId best = block.truth(t);
      if (best == kNoClass && task.size() > 0)
        best = asks_votes_ ? elected(task, classes_, {*plan_.decides, seed_, task.index})
                           : most_probable(row, task);
      if (best == kNoClass) continue;
      if (!asks_votes_)
        sums.evidence += std::llround(std::log(std::max(row[best], kLeastProbability)) * kEvidenceUnits);
      std::fill(row.begin(), row.end(), 0.0);
      row[best] = 1;
    }
  }
  void credit(const TaskBlock& block, TaskId first, TaskId last, Scratch& scratch, EmSums& sums) const {
    const std::span<double> rows = scratch.rows(first, last, width());
    const std::span<std::uint64_t> units = std::span(scratch.units).first(rows.size());
    write_units(rows, units);
    for (TaskId t = first; t < last; ++t) {
      const std::uint64_t* const row = units.data() + (t - first) * width();
      if (block.task(t).size() == 0 && block.truth(t) == kNoClass) continue;
      for (std::size_t k = 0; k < classes_; ++k) sums.totals[k] += row[k];
    }
    tables_.add_counts(block, first, last, units, sums.counts);
  }

  EmPlan plan_;
  std::uint32_t workers_;
  std::uint32_t classes_;
  std::uint64_t seed_;
  std::vector<WorkerCounts> history_;

  bool asks_votes_;
  bool starts_ = false;  // tables that take the place of votes judge in this round
  bool is_done_ = false;
  bool converged_ = false;
  double prior_ = 0;  // of the tables, in the objective
  std::vector<double> trace_;
  Tables tables_;                 // by which tasks are judged
  std::optional<Tables> before_;  // by which they were judged in the round before, if that matters
  EmSums last_;                   // of the last round
};

}  // namespace crowdfold
