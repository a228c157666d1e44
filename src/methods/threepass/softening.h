// Answers that promise no more than is kept, for methods with a temperature beta from held-out labels:
//
//   answer = (1 - doubt) softmax(soften min(beta, 1) a) + doubt / K
//
// Held-out labels cannot see an error that the whole crowd shares, so beta alone is too sure. `soften`
// and `doubt` were chosen on the data sets of the paper, and are better on others than 1 and 0: see
// docs/confidence.md. Known truths tell which values are right for the data at hand: SofteningFit.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "crowdfold/labels.h"
#include "crowdfold/result.h"
#include "methods/option_table.h"

namespace crowdfold {

struct Softening {
  double soften = .7;
  double doubt = .05;
  // Set by somebody: known truths do not change it.
  bool soften_is_set = false;
  bool doubt_is_set = false;

  double temperature(double beta) const { return soften * std::min(beta, 1.0); }
};

// The options of methods whose Options are a Softening besides.
template <class Options>
std::vector<OptionEntry<Options>> softening_options() {
  static_assert(std::is_base_of_v<Softening, Options>);
  const auto noting = [](OptionEntry<Options> entry, bool Softening::*is_set) {
    entry.set = [set = std::move(entry.set), is_set](Options& options, std::string_view text) {
      return options.*is_set = set(options, text);
    };
    entry.info.fitted = true;
    return entry;
  };
  return {
      noting(real<Options>("soften", &Options::soften, .05, 10,
                           "factor of the temperature of answers; fitted to known truths unless set"),
             &Softening::soften_is_set),
      noting(real<Options>("doubt", &Options::doubt, 0, .9,
                           "share of an answer's probability that all classes get alike; fitted to "
                           "known truths unless set"),
             &Softening::doubt_is_set)};
}

// How likely truths were under answers of every softening, as sums of logarithms. Sums add.
//
// The fitted values are means over their posterior, in logarithms. The prior is as wide as the best
// values of single data sets differ, so that few truths change the defaults little.
class SofteningFit {
 public:
  // More truths than this would cost time, and change nothing.
  static constexpr std::uint64_t kEnough = 5'000;

  // Takes in a task whose truth did not help to compute its scores a, one per class.
  void add(std::span<const float> scores, double beta, ClassId truth);
  // Another sum, its logarithms rounded to whole units (methods/rounds/units.h), so that sums of such
  // sums do not depend on their order.
  void add_in_units(const SofteningFit& other);
  // A value that was set stays. Without truths: `set` itself.
  Softening fitted(const Softening& set) const;
  double truths() const { return truths_; }
  bool is_enough() const { return truths_ >= kEnough; }

  // For a state. Numbers missing in `saved` are 0.
  std::vector<double> save() const;
  static SofteningFit load(std::span<const double> saved);

 private:
  static constexpr std::size_t kSize = 11;  // of both grids
  static constexpr std::size_t kMiddle = kSize / 2;

  static double grid(double middle, double step, std::size_t place);
  static std::array<double, kSize> log_prior(double spread, double step);
  static std::array<double, kSize> log_prior_at(double set, double middle, double step);

  std::array<double, kSize * kSize> log_likelihood_{};  // by soften, then by doubt
  double truths_ = 0;
};

}  // namespace crowdfold
