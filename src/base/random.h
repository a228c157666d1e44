// Seeded random numbers that are the same on every machine and standard library.
//
// Two kinds: a stream (Random) for simulation and shuffles, and a function of (seed, index)
// (pick) for choices that must not depend on the order in which tasks are judged.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>

namespace crowdfold {

// The finaliser of splitmix64: a bijection that scatters every input bit.
inline std::uint64_t mix64(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

// x * n / 2^64: maps 64 random bits to [0, n).
inline std::uint64_t scale(std::uint64_t x, std::uint64_t n) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(x) * n) >> 64);
}

// A number in [0, n), the same for the same seed and index. The bias is below n / 2^64.
inline std::uint64_t pick(std::uint64_t seed, std::uint64_t index, std::uint64_t n) {
  return scale(mix64(mix64(seed) ^ index), n);
}

// splitmix64 as a stream.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(mix64(seed)) {}

  std::uint64_t next() { return mix64(state_++); }
  // In [0, n).
  std::uint64_t below(std::uint64_t n) { return scale(next(), n); }
  // In [0, 1), 53 random bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double normal();
  double gamma(double shape);
  double beta(double a, double b) {
    const double x = gamma(a);
    const double y = gamma(b);
    return x / (x + y);
  }

  template <class Container>
  void shuffle(Container& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::uint64_t state_;
};

// Marsaglia's polar method.
inline double Random::normal() {
  for (;;) {
    const double u = 2 * uniform() - 1;
    const double v = 2 * uniform() - 1;
    const double s = u * u + v * v;
    if (s > 0 && s < 1) return u * std::sqrt(-2 * std::log(s) / s);
  }
}

// Marsaglia and Tsang (2000); shapes below 1 by the usual power of a uniform.
inline double Random::gamma(double shape) {
  if (shape < 1) {
    const double g = gamma(shape + 1);
    return g * std::pow(1 - uniform(), 1 / shape);
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal();
    const double t = 1 + c * x;
    if (t <= 0) continue;
    const double v = t * t * t;
    const double u = 1 - uniform();
    if (std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

}  // namespace crowdfold
