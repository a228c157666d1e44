// Workers who give one label and no other: labelling functions, which abstain unless they see a sign of
// their class, and people who always click the same.
//
// A confusion matrix says nothing of them: all its rows are the same. What tells is where they speak up.
// On a task of class k, worker i with n_i labels, all of them l, adds to the score of k
//
//   Tab_i[k,l] = log (n_i[k] + s b_i[k]) / (n_i mu_k + s)
//
// how much more often i speaks up on tasks of class k than their share mu_k would say. n_i[k] are
// credits. Somebody who labels all tasks alike has 0 for every class. b_i is what we believe before:
//
//   log b_i[k] = 1/2 log (v_i[k] + s) / (v_i[.] nu_k + s),   + log q (K - 1) / (1 - q)  if k = l
//
// scaled to sum_k mu_k b_i[k] = 1. v_i[k] are the shares of votes for k on the tasks that only such
// workers labelled, nu_k those of all votes there. The half keeps the number of votes before the shares:
// of classes with as many votes, that one wins whose workers speak up on it more than elsewhere.
//
// Nothing else is learned from tasks that only such workers labelled: their credits would be an echo of
// the votes, which gets louder with each round where rates count in full (docs/weak_supervision.md has
// figures). Where such workers prevail, the labels of others cannot drown that echo, and n_i counts
// known truths only.
//
// Cost: one look at every label, and one more at every task if there are such workers.
#pragma once

#include <boost/container/flat_map.hpp>
#include <span>
#include <vector>

#include "crowdfold/labels.h"
#include "crowdfold/method.h"

namespace crowdfold {

// Who has given one label so far, and no other.
class OneLabelCounts {
 public:
  void add(const TaskLabels& task);
  void add(WorkerId w, ClassId label, double labels);
  bool has_one(WorkerId w) const { return seen_[w].labels > 0 && !seen_[w].several; }
  // The same, and not by chance.
  bool is_sure(WorkerId w) const;
  ClassId label_of(WorkerId w) const { return seen_[w].label; }
  double labels_of(WorkerId w) const { return seen_[w].labels; }
  double labels() const { return labels_; }
  WorkerId workers() const { return static_cast<WorkerId>(seen_.size()); }
  // Whether most labels are by workers who are sure to be such.
  bool prevail() const;

 private:
  struct Seen {
    double labels = 0;
    ClassId label = kNoClass;
    bool several = false;
  };
  std::vector<Seen> seen_;  // by worker
  std::vector<double> of_class_;
  double labels_ = 0;
};

class OneLabelWorkers {
 public:
  // Nobody.
  OneLabelWorkers() = default;
  // Workers with a history elsewhere are not among them: which labels they gave there is not known.
  OneLabelWorkers(const Labels& labels, const Knowledge& given);

  bool empty() const { return number_.empty(); }
  // Whether most labels are theirs: then they are labelling functions, rather than odd ones in a crowd.
  bool prevail() const { return prevail_; }
  bool has(WorkerId w) const { return !empty() && number_[w] != kNobody; }
  // Whether nobody else labelled the task, and somebody did.
  bool alone_on(const TaskLabels& task) const;
  ClassId label_of(WorkerId w) const { return workers_[number_[w]].label; }

  // Tab_i[., l]. `credits` are n_i by class and `shares` mu, unless they prevail. Without what one task
  // of the truth `without` told, if that is a class.
  void write_row(WorkerId w, std::span<const double> credits, std::span<const double> shares,
                 std::span<float> row, ClassId without = kNoClass) const;

 private:
  static constexpr std::uint32_t kNobody = 0xFFFF'FFFF;
  using ByClass = boost::container::flat_map<ClassId, double>;  // where it is not 0
  struct Worker {
    ClassId label = kNoClass;
    ByClass votes;   // v_i
    ByClass truths;  // of the tasks that the worker labelled
  };

  void find(const Labels& labels, const Knowledge& given);
  void count(const Labels& labels, const Knowledge& given);

  std::vector<std::uint32_t> number_;  // by worker: in workers_, or kNobody
  std::vector<Worker> workers_;
  bool prevail_ = false;
  std::vector<double> vote_shares_;   // nu
  std::vector<double> truth_shares_;  // mu, if they prevail
};

}  // namespace crowdfold
