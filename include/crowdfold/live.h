// The options that the method `live` and the live stream share: a stream judges as that method does.
#pragma once

namespace crowdfold {

struct LiveOptions {
  // The prior of worker quality, Beta(alpha, beta). Not an even one as elsewhere: by workers who are as
  // often right as wrong, two classes could not be told apart, and no task of a stream would ever close.
  // Chosen by `crowdfold budget` on four data sets: see docs/stream.md.
  double alpha = 4;
  double beta = 1.5;
  // A label counts half after `half_life` more labels of its worker; 0: labels do not fade.
  double half_life = 0;

  bool operator==(const LiveOptions&) const = default;
};

}  // namespace crowdfold
