// How the columns of a glimpse go together: whether rows of one group have the same value more often
// than chance has it, and whether values come together once.
#pragma once

#include "io/glimpse.h"

namespace crowdfold {

inline constexpr std::size_t kRowsCompared = 10'000;

// How much more often rows of one group have the same value than any two rows.
struct ColumnAgreement {
  double kappa = 0;       // 1: always, 0: as by chance
  double deviations = 0;  // from chance, as many of the standard deviation
  double certainty = 0;   // 0 to 1: whether this can be chance
  bool complete = false;  // no group has two values, and there are groups enough to say so
  double groups = 0;      // of two rows or more
  double repeats = 0;     // rows that are not the first of their group
};
ColumnAgreement agreement_within(const GlimpseColumn& group, const GlimpseColumn& value,
                                 std::size_t rows);

// The share of rows whose task and worker come together for the first time; 0 if no row has both.
double unique_pairs(const GlimpseColumn& task, const GlimpseColumn& worker, std::size_t rows);

// The coefficient of variation of how often its values come: 0 where all come as often.
double unevenness(const GlimpseColumn& column);

// A column with a value for each pair of values.
GlimpseColumn joined(const GlimpseColumn& a, const GlimpseColumn& b);

// Whether two columns have the same values under other names.
bool are_bijective(const GlimpseColumn& a, const GlimpseColumn& b);

}  // namespace crowdfold
