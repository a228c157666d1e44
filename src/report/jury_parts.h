// The parts of a jury's figures, each in a file of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "crowdfold/jury.h"
#include "crowdfold/result.h"
#include "labels/worker_major.h"

namespace crowdfold {

inline constexpr double kNormal95 = 1.959963984540054;  // of a normal distribution, 95 % lie within
inline constexpr std::uint64_t kFewestCommonTasks = 20;
inline constexpr std::uint64_t kFewestJudgedTasks = 30;

// Right answers as far as they are known: for each task some classes with shares that add up to 1, or
// none. A known truth is one class with share 1.
struct RightAnswers {
  std::vector<std::uint64_t> offsets = {0};  // by task
  std::vector<ClassId> classes;
  std::vector<double> shares;

  void add(ClassId c, double share) {
    classes.push_back(c);
    shares.push_back(share);
  }
  void end_task() { offsets.push_back(classes.size()); }
  bool covers(TaskId t) const { return offsets[t] < offsets[t + 1ULL]; }
  double share_of(TaskId t, ClassId c) const;
};

// --- jury_votes.cc: do judges err together? -------------------------------------------------

// Labels on the tasks that a reference covers. A judge's habit is how often each outcome follows from
// each stratum: classes and classes, or, where classes have too few tasks, one stratum and the outcomes
// wrong (0) and right (1).
struct ReferredVotes {
  std::size_t judges = 0;
  std::size_t strata = 0;
  std::size_t outcomes = 0;
  bool by_class = true;
  std::vector<std::uint64_t> offsets = {0};  // by task: votes
  std::vector<std::uint32_t> judge;
  std::vector<ClassId> outcome;
  std::vector<std::uint64_t> stratum_offsets = {0};  // by task: strata
  std::vector<ClassId> stratum;
  std::vector<double> share;

  std::size_t tasks() const { return offsets.size() - 1; }
};
// `is_truth`: shares are 0 or 1. Without that, votes are compared class by class or not at all: then the
// result is empty.
ReferredVotes refer(const Labels& labels, const RightAnswers& reference, bool is_truth);

struct IndependentVotes {
  Bounded whole;
  std::vector<Bounded> without;  // by judge
};
IndependentVotes count_independent_votes(const ReferredVotes& votes, int resamples,
                                         const RunContext& context);

// Pairs with common tasks, and means over those with at least kFewestCommonTasks. `family` by judge:
// those with the same number are kin, -1 is kin of nobody.
struct PairedJudges {
  std::vector<JudgePair> pairs;
  FamilyExcess all;
  FamilyExcess within;
  FamilyExcess between;
};
PairedJudges pair_judges(const ReferredVotes& votes, std::span<const int> family);

// --- jury_names.cc: what names say -----------------------------------------------------------

// Endings of two orders, "/ab" and "/ba": those given, or recognised; both empty if there are none.
struct Orders {
  std::string first;
  std::string second;
  bool are_there() const { return !first.empty(); }
};
Orders find_orders(const Labels& labels, const JuryOptions& options);
// The name without the ending of an order.
std::string without_order(std::string_view name, const Orders& orders);
// Model and version of "model@version" or "model@version/strategy": "model/strategy" and "version".
std::pair<std::string, std::string> split_version(std::string_view name);
// The row of the map that speaks of a judge: by the whole name, the name without order, without version,
// or both. Rows.size() if none does.
std::size_t family_of(std::string_view judge, const Orders& orders, std::span<const FamilyRow> families);

std::vector<PositionBias> compare_orders(const Labels& labels, const WorkerMajor& by_judge,
                                         const Orders& orders, const JuryOptions& options,
                                         std::vector<std::string>& notes);
// What the versions of a model, judges by place, are compared by.
using AnswersFor = std::function<RightAnswers(std::span<const std::uint32_t> versions)>;
std::vector<VersionPair> compare_versions(const Labels& labels, const WorkerMajor& by_judge,
                                          std::span<const JudgeSummary> judges,
                                          const AnswersFor& answers_for);

// --- jury_panels.cc: other panels --------------------------------------------------------------

// The labels of some judges.
Labels labels_of(const Labels& labels, const std::vector<bool>& is_member);

struct PanelInput {
  const Labels& labels;
  std::span<const ClassId> truths;  // by task, or empty
  const Result& whole;
  const JuryOptions& options;
  std::span<const double> costs;  // by judge
};
// Fills accuracy_without, changed_without and confidence_without; false if that would take too long.
bool leave_out_each(const PanelInput& input, std::vector<JudgeSummary>& judges,
                    const RunContext& context);
std::vector<Panel> find_panels(const PanelInput& input, const RunContext& context);

// --- small statistics ---------------------------------------------------------------------------

Bounded share_with_interval(double part, double whole);  // Jeffreys
// The difference of two paired shares: `more` tasks speak for it, `less` against it (Bonett and Price).
Bounded paired_difference(double more, double less, double tasks);
// Which of these hypotheses fall, by Holm's rule: a false one among all with at most 5 %.
std::vector<bool> fallen(std::span<const double> p_values);
double two_sided_p(double z);

// A judge's labels by task; kNoClass: none.
std::vector<ClassId> votes_by_task(const WorkerLabels& given, TaskId tasks);

}  // namespace crowdfold
