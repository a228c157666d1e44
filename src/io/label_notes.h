// What looks wrong about labels as a whole, in sentences for people. Cheap: the labels are counted by
// class only where the names of classes give a reason to.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "crowdfold/io.h"
#include "crowdfold/labels.h"

namespace crowdfold {

struct LabelTotals {
  std::string source;  // how messages call the input
  std::uint64_t labels = 0;
  std::uint64_t duplicates = 0;  // labels besides these that did not count
  std::uint64_t tasks = 0;
  const NameTable& workers;
  const NameTable& classes;
  bool workers_meet = true;              // some task has labels by two workers
  std::string last_task = {};            // where rows of totals stand
  std::vector<std::string> header = {};  // names of all columns, where the inputs have them
  bool has_columns = true;               // that --map could choose: it is no export of a platform
  const Labels* grouped = nullptr;       // the labels, where they are in memory
};
LabelTotals totals_of(const std::string& source, const Labels& labels);

// Labels by class.
std::vector<std::uint64_t> class_counts(const Labels& labels);
using ClassCounts = std::function<std::vector<std::uint64_t>()>;

// Error(data) if there is no row at all.
void require_labels(const std::vector<ReadReport>& reports, std::uint64_t rows);

// Notes on finished labels. `unmet` are values of ReadOptions::abstain that no label had. Error(data)
// for many labels with several choices, unless the options say what to do with them, and where a row is
// a header in another order than the first.
void append_notes(std::vector<std::string>& notes, const LabelTotals& totals, const ClassCounts& counts,
                  const std::vector<std::string>& unmet, const ReadOptions& options);

// Whether a word such as "N/A" stands for no answer.
bool means_nothing(std::string_view label);

// What looks wrong about the names of classes, without counts: of a stream, whose labels still come.
std::vector<std::string> notes_on_classes(const NameTable& classes);

// Notes on classes that truths alone have, from number `before` on: nobody can have said them.
void append_unnamed_truths(std::vector<std::string>& notes, const NameTable& classes,
                           std::uint32_t before, const std::vector<ClassId>& truths);

// How truths are spelled: `classes` has those of the labels, `before` of them, then those that only
// truths have. Notes say what looks like the same.
enum class TruthSpelling { fits, differs };
TruthSpelling compare_spellings(const NameTable& classes, std::uint32_t before, std::uint64_t truths,
                                bool any_shared, std::vector<std::string>& notes);

}  // namespace crowdfold
