#include "io/columns.h"

#include <gtest/gtest.h>

#include "support.h"

namespace crowdfold {
namespace {

using testing::error_of;
using Columns = std::vector<std::size_t>;

const std::vector<Role> kLabelRoles = {task_role(), worker_role(), label_role()};

std::optional<Columns> match(const std::vector<std::string>& header, const ReadOptions& options = {}) {
  return match_columns(header, kLabelRoles, options, {"f.csv", 1, 0});
}

TEST(Columns, AreRecognisedByTheirUsualNames) {
  EXPECT_EQ(match({"task", "worker", "label"}), (Columns{0, 1, 2}));
  EXPECT_EQ(match({"label", "x", "worker", "task"}), (Columns{3, 2, 0}));
  EXPECT_EQ(match({"item", "annotator", "answer"}), (Columns{0, 1, 2}));
  EXPECT_EQ(match({"question", "performer", "response"}), (Columns{0, 1, 2}));
  EXPECT_EQ(match({"unit", "user", "class"}), (Columns{0, 1, 2}));
}

TEST(Columns, AreRecognisedWhateverTheirCasePunctuationAndId) {
  EXPECT_EQ(match({"Task ID", "worker_id", "LABEL"}), (Columns{0, 1, 2}));
  EXPECT_EQ(match({"taskId", "WorkerID", "Label"}), (Columns{0, 1, 2}));
}

TEST(Columns, AreTakenByTheBestOfSeveralNames) {
  EXPECT_EQ(match({"id", "task", "worker", "value", "label"}), (Columns{1, 2, 4}));
}

TEST(Columns, AreNotRecognisedWhereNoNameFits) { EXPECT_FALSE(match({"17", "alice", "cat"})); }

TEST(Columns, AreMappedByNameOrNumber) {
  ReadOptions options;
  options.columns = {{"task", "image"}, {"label", "3"}};
  EXPECT_EQ(match({"worker", "image", "verdict", "label"}, options), (Columns{1, 0, 2}));
  options.columns = {{"label", "7"}};  // a name before a number
  EXPECT_EQ(match({"task", "worker", "7"}, options), (Columns{0, 1, 2}));
}

TEST(Columns, AreComplainedAboutWhereOneIsMissing) {
  const Error error = error_of([] { match({"task", "label", "x"}); });
  EXPECT_EQ(error.code(), ErrorCode::usage);
  EXPECT_STREQ(
      error.what(),
      "f.csv:1: no column for worker; the columns are: task, label, x (name it: --map worker=COLUMN)");
}

TEST(Columns, AreComplainedAboutWhereAMappingDoesNotFit) {
  ReadOptions options;
  options.columns = {{"task", "image"}};
  const Error missing = error_of([&] { match({"task", "worker", "label"}, options); });
  EXPECT_EQ(missing.code(), ErrorCode::usage);
  EXPECT_STREQ(missing.what(),
               "f.csv:1: no column 'image' for task; the columns are: task, worker, label");
  options.columns = {{"truth", "x"}};
  const Error unknown = error_of([&] { match({"task", "worker", "label"}, options); });
  EXPECT_EQ(unknown.code(), ErrorCode::usage);
  EXPECT_STREQ(unknown.what(), "--map truth=x: the columns to map are task, worker and label");
  options.columns = {{"task", "task"}, {"worker", "worker"}, {"task", "label"}};
  const Error twice = error_of([&] { match({"task", "worker", "label"}, options); });
  EXPECT_EQ(twice.code(), ErrorCode::usage);
  EXPECT_STREQ(twice.what(), "--map task=task,task=label: only one column can be the task");
  options.columns = {{"task", "0"}};
  EXPECT_EQ(error_of([&] { match({"task", "worker", "label"}, options); }).code(), ErrorCode::usage);
}

TEST(Columns, OfTruthsGoByMoreNames) {
  const std::vector<Role> roles = {task_role(), truth_role()};
  for (const char* name : {"truth", "gold", "ground_truth", "label", "true_label"}) {
    EXPECT_EQ(match_columns({"task", name}, roles, {}, {"t", 1, 0}), (Columns{0, 1})) << name;
  }
}

TEST(Columns, ThatAreOptionalMayBeMissing) {
  const std::vector<Role> roles = {task_role(), label_role(), {"confidence", {"confidence"}, false}};
  EXPECT_EQ(match_columns({"task", "label"}, roles, {}, {"t", 1, 0}), (Columns{0, 1, kNoColumn}));
}

TEST(Columns, WithoutAHeaderStandInOrderOrWhereTheyAreMapped) {
  EXPECT_EQ(columns_by_position(3, kLabelRoles, {}, {"f", 1, 0}), (Columns{0, 1, 2}));
  ReadOptions options;
  options.columns = {{"task", "4"}, {"worker", "1"}, {"label", "2"}};
  EXPECT_EQ(columns_by_position(4, kLabelRoles, options, {"f", 1, 0}), (Columns{3, 0, 1}));
  options.columns = {{"task", "name"}};
  EXPECT_EQ(error_of([&] {
              columns_by_position(3, kLabelRoles, options, {"f", 1, 0});
            }).code(),
            ErrorCode::usage);
  EXPECT_STREQ(error_of([&] {
                 columns_by_position(2, kLabelRoles, {}, {"f", 1, 0});
               }).what(),
               "f:1: no column 3 for label: the first row has 2");
}

}  // namespace
}  // namespace crowdfold
