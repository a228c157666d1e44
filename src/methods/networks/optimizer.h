// Gradient descent with a step of its own for every weight: Adam, and RMSProp with clipped gradients.
// Both in the form in which the published networks were trained (TensorFlow 1): the epsilon that keeps a
// divisor above 0 is added before corrections of moments (Adam), or under the root (RMSProp). The means
// of RMSProp start at 1.
//
// Weights, gradients and moments are Eigen arrays of the same shape, which belong to the caller: parts
// of them may be updated by several threads at once.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstdint>

namespace crowdfold {

// D. P. Kingma, J. Ba: Adam: A Method for Stochastic Optimization. ICLR 2015.
//
//   m  =  b1 m + (1 - b1) g            b1 = .9
//   v  =  b2 v + (1 - b2) g^2          b2 = .999
//   w  =  w  -  rate  sqrt(1 - b2^n) / (1 - b1^n)  m / (sqrt(v) + 1e-8)          in the n-th step
//
// m and v start at 0.
class Adam {
 public:
  explicit Adam(double rate) : rate_(rate) {}

  // Before the updates of a step.
  void begin_step() {
    first_power_ *= kFirst;
    second_power_ *= kSecond;
    step_ = rate_ * std::sqrt(1 - second_power_) / (1 - first_power_);
  }
  template <class Gradient, class Weights, class Moment>
  void update(const Gradient& g, Weights&& w, Moment&& m, Moment&& v) const {
    m = kFirst * m + (1 - kFirst) * g;
    v = kSecond * v + (1 - kSecond) * g.square();
    w -= step_ * m / (v.sqrt() + kEpsilon);
  }

 private:
  static constexpr double kFirst = .9;
  static constexpr double kSecond = .999;
  static constexpr double kEpsilon = 1e-8;

  double rate_;
  double first_power_ = 1;
  double second_power_ = 1;
  double step_ = 0;
};

// T. Tieleman, G. Hinton: Lecture 6.5, rmsprop. Coursera 2012.
//
//   v  =  d v + (1 - d) g^2            d = .9; g is clipped to [-1, 1]
//   w  =  w  -  rate  g / sqrt(v + 1e-10)
//
// Where a gradient is 0, v decays and w stays: steps that are left out can be made up for by decay().
// network_kernels.h has update() as a loop of its own, with vectors.
template <class Scalar>
class RmsProp {
 public:
  static constexpr double kMeanSquare = 1;  // v to start with

  explicit RmsProp(double rate) : rate_(static_cast<Scalar>(rate)) {}

  template <class Gradient>
  static auto clip(const Gradient& g) {
    return g.cwiseMin(Scalar(1)).cwiseMax(Scalar(-1));
  }
  template <class Gradient, class Weights, class Moment>
  void update(const Gradient& clipped, Weights&& w, Moment&& v) const {
    v = kDecay * v + (1 - kDecay) * clipped.square();
    w -= rate_ * clipped / (v + kEpsilon).sqrt();
  }
  // The factor by which `steps` steps without a gradient change v.
  static Scalar decay(std::uint64_t steps) {
    double factor = 1;
    auto power = static_cast<double>(kDecay);
    for (; steps > 0; steps /= 2, power *= power) factor *= steps % 2 == 1 ? power : 1;
    return static_cast<Scalar>(factor);
  }

  Scalar rate() const { return rate_; }
  static constexpr Scalar kDecay = Scalar(.9);
  static constexpr Scalar kEpsilon = Scalar(1e-10);

 private:
  Scalar rate_;
};

}  // namespace crowdfold
