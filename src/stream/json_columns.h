// Columns in which the store keeps several values: as JSON, so that whoever reads the database can look
// into them with SQL. A row for each of them would take several times as long.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stream/store.h"

namespace crowdfold {

// [[worker, label], …] in the order of workers; [worker, label, tick] where there is one.
std::string& put_labels(std::span<const StreamLabel> labels, std::string& text);
// {"class": share, …}
std::string& put_credits(std::span<const Credit> credits, std::string& text);

// [[truth, label, count], …] of a worker; [truth, label, count, history] where there is one.
std::string& put_counts(SparseConfusion::Part part, const SparseConfusion& history, std::string& text);

// False if the text is not what was put.
bool read_labels(std::string_view text, std::vector<StreamLabel>& labels);
bool read_credits(std::string_view text, std::vector<Credit>& credits);
bool read_counts(std::string_view text, StreamWorker& worker);

}  // namespace crowdfold
