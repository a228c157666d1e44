// An iteration of ibcc and ebcc from their equations, one number at a time, to compare with. With one
// subtype a class the two differ in the class prior only.
#pragma once

#include <boost/math/special_functions/digamma.hpp>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "crowdfold/labels.h"

namespace crowdfold::testing {

using Row = std::vector<double>;

struct Dirichlet {
  explicit Dirichlet(Row before) : prior(before), nu(std::move(before)) {}
  Row prior;
  Row nu;

  double expected_log(std::size_t i) const {
    return boost::math::digamma(nu[i]) - boost::math::digamma(sum(nu));
  }
  // KL(Dirichlet(nu) || Dirichlet(prior))
  double divergence() const {
    double value = std::lgamma(sum(nu)) - std::lgamma(sum(prior));
    for (std::size_t i = 0; i < nu.size(); ++i)
      value += std::lgamma(prior[i]) - std::lgamma(nu[i]) + (nu[i] - prior[i]) * expected_log(i);
    return value;
  }
  static double sum(const Row& row) { return std::accumulate(row.begin(), row.end(), 0.0); }
};

// With the default priors of workers and subtypes.
struct BccIteration {
  std::vector<Row> q;  // by task; subtype g of class k is at k * subtypes + g
  double bound = 0;    // E log p(labels, states | rho, tau, pi) - E log q - divergences

  BccIteration(const Labels& labels, const Row& class_prior, const std::vector<Row>& before)
      : q(before) {
    const std::size_t classes = class_prior.size();
    const std::size_t states = before[0].size();
    const std::size_t subtypes = states / classes;
    Dirichlet rho(class_prior);
    std::vector<Dirichlet> tau(classes, Dirichlet(Row(subtypes, .1 / static_cast<double>(subtypes))));
    std::vector<std::vector<Dirichlet>> pi(labels.num_workers());  // by state
    for (auto& rows : pi) {
      for (std::size_t s = 0; s < states; ++s) {
        Row row(classes, 1);
        row[s / subtypes] = 4;
        rows.emplace_back(row);
      }
    }
    for (TaskId t = 0; t < q.size(); ++t) {
      const TaskLabels task = labels.task(t);
      for (std::size_t s = 0; s < states; ++s) {
        rho.nu[s / subtypes] += before[t][s];
        tau[s / subtypes].nu[s % subtypes] += before[t][s];
        for (std::size_t j = 0; j < task.size(); ++j)
          pi[task.workers[j]][s].nu[task.classes[j]] += before[t][s];
      }
    }
    for (TaskId t = 0; t < q.size(); ++t) {
      const TaskLabels task = labels.task(t);
      Row score(states);
      for (std::size_t s = 0; s < states; ++s) {
        score[s] = rho.expected_log(s / subtypes) + tau[s / subtypes].expected_log(s % subtypes);
        for (std::size_t j = 0; j < task.size(); ++j)
          score[s] += pi[task.workers[j]][s].expected_log(task.classes[j]);
        q[t][s] = std::exp(score[s]);
      }
      const double total = Dirichlet::sum(q[t]);
      for (std::size_t s = 0; s < states; ++s) {
        q[t][s] /= total;
        bound += q[t][s] * (score[s] - std::log(q[t][s]));
      }
    }
    bound -= rho.divergence();
    for (const Dirichlet& of_class : tau) bound -= of_class.divergence();
    for (const auto& rows : pi) {
      for (const Dirichlet& row : rows) bound -= row.divergence();
    }
  }
};

}  // namespace crowdfold::testing
