// Learned: a method's knowledge of workers, by their names. Judges other tasks than those it learned
// from and, for online methods, goes on learning. Used by one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "crowdfold/registry.h"
#include "crowdfold/result.h"

namespace crowdfold {

class Learned {
 public:
  // Nothing yet.
  Learned(const std::string& method, Settings settings, std::uint64_t seed);

  // Takes over the result of a fit.
  void adopt(NameTable worker_names, NameTable class_names, const Result& result);

  // The same labels by the ids of `workers` and `classes`; new names get the ids after them.
  // `new_workers` and `new_classes` are the ids that the new names have in the given labels.
  Labels renumber(const Labels& labels, std::vector<std::uint64_t>& new_workers,
                  std::vector<std::uint64_t>& new_classes) const;

  // Estimates of all tasks; `workers` and `classes` of the labels begin with those known here.
  Result observe(const Labels& labels, std::span<const ClassId> truths, const RunContext& context);
  Result judge(const Labels& labels, const RunContext& context) const;

  // One task: worker workers[j] said classes[j]. judge_one() learns nothing; unknown workers have ids
  // beyond the known ones.
  Estimate learn_one(std::span<const WorkerId> workers, std::span<const ClassId> classes, ClassId truth);
  std::vector<double> judge_one(std::span<const WorkerId> workers, std::span<const ClassId> classes);

  // Matches workers and classes by their names. Error(usage) if the other one has another method or
  // other settings.
  void merge(const Learned& other);

  WorkerState state() const { return judge_->state(); }
  void restore(WorkerState state);
  const MethodInfo& info() const { return info_; }
  const Settings& settings() const { return settings_; }
  std::uint64_t seed() const { return seed_; }
  bool is_online() const { return static_cast<bool>(info_.make_online); }
  // Error(usage) that names the methods that go on learning, if this one does not.
  void require_online() const;

  NameTable workers;
  NameTable classes;
  std::uint64_t tasks_seen = 0;

  // Confusion matrices and the share of each class, for methods on whole data sets that have them;
  // otherwise empty.
  std::vector<double> confusion;
  std::vector<double> priors;

 private:
  void renew_judge(double alpha, double beta);
  bool judges_by_confusion() const { return !confusion.empty() && !info_.make_judge; }
  Estimate estimate_by_confusion(const TaskLabels& task, std::span<double> posterior) const;
  Result judge_by_confusion(const Labels& labels, const RunContext& context) const;

  const MethodInfo& info_;
  Settings settings_;
  std::uint64_t seed_;
  // The method itself, its judge, or a method that votes with the qualities that it has found.
  std::unique_ptr<Judge> judge_;
  OnlineMethod* online_ = nullptr;  // judge_, if it goes on learning
};

}  // namespace crowdfold
