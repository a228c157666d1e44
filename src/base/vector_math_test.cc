#include "base/vector_math.h"

#include <gtest/gtest.h>

#include <boost/math/special_functions/digamma.hpp>
#include <cmath>
#include <vector>

#include "base/random.h"

namespace crowdfold {
namespace {

// 1,003 numbers between `lowest` and `highest`, evenly by their logarithm: no multiple of a vector.
std::vector<double> numbers(double lowest, double highest) {
  std::vector<double> values;
  for (int i = 0; i < 1'003; ++i) values.push_back(lowest * std::pow(highest / lowest, i / 1'002.0));
  return values;
}

template <class Reference>
void expect_near(const std::vector<double>& at, const std::vector<double>& found,
                 const Reference& reference, double error) {
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double expected = reference(at[i]);
    ASSERT_NEAR(found[i], expected, error * std::max(1.0, std::abs(expected))) << at[i];
  }
}

TEST(VectorMath, Exp) {
  std::vector<double> at;
  for (int i = -700; i <= 700; ++i) at.push_back(i + 0.1);
  std::vector<double> values = at;
  vector_exp(values);
  expect_near(
      at, values, [](double x) { return std::exp(x); }, 1e-15);
  for (const double value : values) EXPECT_GT(value, 0);
}

TEST(VectorMath, Log) {
  const std::vector<double> at = numbers(1e-300, 1e300);
  std::vector<double> values = at;
  vector_log(values);
  expect_near(
      at, values, [](double x) { return std::log(x); }, 1e-15);
}

TEST(VectorMath, Digamma) {
  const std::vector<double> at = numbers(1e-6, 1e12);
  std::vector<double> values = at;
  vector_digamma(values);
  expect_near(
      at, values, [](double x) { return boost::math::digamma(x); }, 1e-13);
}

TEST(VectorMath, LogGamma) {
  const std::vector<double> at = numbers(1e-6, 1e12);
  std::vector<double> values = at;
  vector_log_gamma(values);
  expect_near(
      at, values, [](double x) { return std::lgamma(x); }, 1e-12);
}

TEST(VectorMath, TouchesNothingBehindTheEnd) {
  for (std::size_t size = 0; size < 20; ++size) {
    std::vector<double> values(size + 8, 2);
    vector_log(std::span(values).first(size));
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(values[i], i < size ? std::log(2) : 2, 1e-15);
  }
}

}  // namespace
}  // namespace crowdfold
