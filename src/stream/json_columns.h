// Columns in which the store keeps several values: as JSON, which SQL can look into. A row for each
// value would take several times as long.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stream/store.h"

namespace crowdfold {

// More labels than there are, also of an imported history. With larger counts arithmetic ends; and what
// is written keeps to it too: a sum of two must not make the state unreadable.
inline constexpr double kMostCounted = 1e16;
bool is_count(double number);

// [[worker, label], …] in the order of workers; [worker, label, tick] where there is one.
std::string& put_labels(std::span<const LiveLabel> labels, std::string& text);
// {"class": share, …}
std::string& put_credits(std::span<const Credit> credits, std::string& text);

// [[truth, label, count], …] of a worker; [truth, label, count, history] where there is one.
std::string& put_counts(SparseConfusion::Part part, const SparseConfusion& history, std::string& text);

// False if put_…() cannot have written the text: also for ids that are not there, and for what is out of
// order or range.
bool read_labels(std::string_view text, std::vector<LiveLabel>& labels, const KnownIds& known = {});
bool read_credits(std::string_view text, std::vector<Credit>& credits, const KnownIds& known = {});
// Behind what was read of the worker's other parts.
bool read_counts(std::string_view text, const Confusions& to, const KnownIds& known = {});

}  // namespace crowdfold
