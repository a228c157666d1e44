// Jury: few judges who label nearly everything, most often models. What each is worth, whether they err
// together, how many independent votes the panel is worth, and whether a cheaper panel would do.
// docs/jury.md has the definitions. What is found is shown and never acted upon: answers stay those of
// the method. The same labels, options and seed give the same jury on any number of threads.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "crowdfold/document.h"
#include "crowdfold/io.h"
#include "crowdfold/labels.h"
#include "crowdfold/registry.h"
#include "crowdfold/run_context.h"

namespace crowdfold {

struct JuryOptions {
  std::string method = "threepass";
  Settings settings = {};
  std::vector<FamilyRow> families = {};
  // The two endings by which a judge's names differ who was asked in both orders: {"/ab", "/ba"}; empty:
  // recognised; {"none"}: there are none.
  std::vector<std::string> orders = {};
  // The classes of the answers that the first of these orders shows first and second. Empty: the two
  // classes there are beside one for ties, by name.
  std::vector<std::string> places = {};
  double may_lose = 0.02;  // accuracy that a cheaper panel may lose; without truths: answers that change
  int resamples = 1000;    // at most; fewer where labels or classes are many, at least 200
  bool panels = true;      // also judge the tasks by smaller panels
};

// A number with its 95 % interval; all NaN where it cannot be told.
struct Bounded {
  static constexpr double kUntold = std::numeric_limits<double>::quiet_NaN();
  double value = kUntold;
  Interval interval = {kUntold, kUntold};

  bool is_told() const { return value == value; }
};

struct ClassQuality {
  ClassId truth = kNoClass;
  std::uint64_t tasks = 0;
  Bounded quality;
};

struct JudgeSummary {
  WorkerId worker = 0;
  std::string family;   // of the map; empty: none
  std::string model;    // the name without version
  std::string version;  // behind '@'; empty: none
  double cost = 1;
  std::uint64_t votes = 0;
  std::uint64_t missing = 0;
  bool is_regular =
      false;        // answered half of the tasks or more; others do not count as a vote of the panel
  Bounded quality;  // by truths, where there are some; else the method's
  std::vector<ClassQuality> by_class;  // by truths
  // The class that the judge names more often than tasks have it, and by which share of the labels;
  // kNoClass where chance explains it.
  ClassId leans_to = kNoClass;
  Bounded leaning;
  // The panel without the judge.
  Bounded votes_without;     // independent votes
  Bounded accuracy_without;  // minus that of the whole panel
  std::uint64_t changed_without = 0;
  double confidence_without = Bounded::kUntold;  // mean
};

// Two judges, by places in Jury::judges, on the tasks that both labelled.
struct JudgePair {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint64_t common = 0;
  std::uint64_t agreed = 0;  // same label; without Jury::by_class: both right or both wrong
  double expected = 0;       // share that agrees if they err independently
  Bounded excess;            // (agreed - expected) / (1 - expected), shares of common
  bool marked = false;       // the excess is above 0, all pairs considered
};

struct PositionBias {
  std::string judge;        // the name without order
  std::uint32_t first = 0;  // places in Jury::judges: in the first order, in the second
  std::uint32_t second = 0;
  std::uint64_t tasks = 0;      // asked and answered in both orders
  std::uint64_t same = 0;       // with the same answer in both
  std::uint64_t to_first = 0;   // with the answer shown first in both
  std::uint64_t to_second = 0;  // with the one shown second in both
  Bounded chosen_first;         // share of verdicts for the answer shown first; .5: no bias
  bool marked = false;          // differs from .5, all judges considered
};

struct VersionPair {
  std::string model;
  std::uint32_t a = 0;  // places in Jury::judges
  std::uint32_t b = 0;
  std::uint64_t common = 0;
  Bounded agreement;
  // Quality of b minus that of a, on common tasks: by truths, or by the answers of the judges who are no
  // versions of the model.
  Bounded difference;
  bool marked = false;  // differs from 0, all pairs of versions considered
};

struct Panel {
  std::vector<std::uint32_t> judges;  // places in Jury::judges
  double cost = 0;                    // share of the whole panel's
  Bounded same;                       // share of tasks with the whole panel's answer
  Bounded accuracy;
  double confidence = Bounded::kUntold;  // mean
  // Panels of at most this cost minus the whole panel: accuracy with truths, share of unchanged answers
  // - 1 without. Each half of the tasks is judged by the panel that was chosen on the other half.
  Bounded difference;
  bool does_as_well = false;  // loses at most may_lose; so do all dearer panels of the list
};

struct FamilyExcess {
  std::uint64_t pairs = 0;
  Bounded excess;  // mean over pairs
};

struct Jury {
  JuryOptions options;
  std::uint64_t tasks = 0;  // with labels
  std::uint64_t labels = 0;
  std::uint64_t truths = 0;  // tasks with labels and a known truth
  double density = 0;        // labels by judges times tasks
  bool by_class = true;      // errors are compared class by class; else as right and wrong
  Bounded accuracy;          // of the whole panel, by truths
  double confidence = Bounded::kUntold;
  Bounded independent_votes;
  FamilyExcess all;
  FamilyExcess within;               // families
  FamilyExcess between;              // families
  std::vector<JudgeSummary> judges;  // in the order of their ids, those without votes among them
  std::vector<JudgePair> pairs;
  std::vector<PositionBias> positions;
  std::vector<VersionPair> versions;
  std::vector<Panel> panels;       // dearest first; empty where none was looked for
  std::string untold;              // why the verdict says nothing of the whole panel; empty if it does
  std::vector<std::string> notes;  // what else cannot be told, what was recognised; a sentence each
};

// `truths` are by TaskId, kNoClass where unknown; or empty. Qualities and errors then come from tasks
// with truths alone. Error(usage) for orders or places that are not there.
Jury make_jury(const Labels& labels, std::span<const ClassId> truths, const JuryOptions& options,
               const RunContext& context);

// Whether a crowd looks like a jury: 3 to 50 workers, who gave four fifths of all labels that they
// could.
bool is_jury(const Labels& labels);

// Two or three sentences; each holds with 95 % probability, or says what cannot be told.
std::vector<std::string> verdict_of(const Jury& jury, const Labels& labels);

// As a document of its own, and as a section of the report.
Document document_of(const Jury& jury, const Labels& labels, const std::string& source);
Section jury_section(const Jury& jury, const Labels& labels);

// Everything, for programs.
std::string to_json(const Jury& jury, const Labels& labels);
// By the ending: a page (.html), all of it (.json), else a row per judge as other tables are written.
// Whole or not at all.
void write_jury(const std::string& path, const Jury& jury, const Labels& labels,
                const std::string& source, const WriteOptions& options = {});
// Throws the Error(usage) with which write_jury() would end for want of a page, before the work is done.
void require_jury_output(const std::string& path);

}  // namespace crowdfold
