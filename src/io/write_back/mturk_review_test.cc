#include <gtest/gtest.h>

#include "crowdfold/write_back.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::error_of;
using testing::read_file;
using testing::TempDir;

std::optional<bool> is_bad(std::string_view worker) {
  if (worker == "A9") return std::nullopt;
  return worker == "A2";
}

TEST(MturkReview, ApprovesAndRejectsWhatIsNotDecided) {
  const TempDir folder;
  const std::string batch =
      folder.write("batch.csv",
                   "\"HITId\",\"WorkerId\",\"AssignmentStatus\",\"Answer.x\",\"Approve\",\"Reject\"\r\n"
                   "\"h1\",\"A1\",\"Submitted\",\"a \"\"b\"\"\nc\",\"\",\"\"\r\n"
                   "\"h1\",\"A2\",\"Submitted\",\"b\",\"\",\"\"\r\n"
                   "\"h1\",\"A2\",\"Approved\",\"b\",\"\",\"\"\r\n"
                   "\"h2\",\"A1\",\"Submitted\",\"b\",\"\",\"said before\"\r\n"
                   "\"h2\",\"A9\",\"Submitted\",\"b\",\"\",\"\"\r\n");
  const ReviewCounts counts = write_mturk_review(folder / "review.csv", batch, is_bad, "too \"often\"");
  EXPECT_EQ(read_file(folder / "review.csv"),
            "\"HITId\",\"WorkerId\",\"AssignmentStatus\",\"Answer.x\",\"Approve\",\"Reject\"\n"
            "\"h1\",\"A1\",\"Submitted\",\"a \"\"b\"\"\nc\",\"x\",\"\"\n"
            "\"h1\",\"A2\",\"Submitted\",\"b\",\"\",\"too \"\"often\"\"\"\n"
            "\"h1\",\"A2\",\"Approved\",\"b\",\"\",\"\"\n"
            "\"h2\",\"A1\",\"Submitted\",\"b\",\"\",\"said before\"\n"
            "\"h2\",\"A9\",\"Submitted\",\"b\",\"\",\"\"\n");
  EXPECT_EQ(counts.approved, 1U);
  EXPECT_EQ(counts.rejected, 1U);
  EXPECT_EQ(counts.decided_before, 2U);
  EXPECT_EQ(counts.unknown, 1U);
}

TEST(MturkReview, AddsTheColumnsThatAreMissing) {
  const TempDir folder;
  write_mturk_review(folder / "r.csv", folder.write("b.csv", "WorkerId\nA1\nA2\n"), is_bad, "no");
  EXPECT_EQ(read_file(folder / "r.csv"),
            "\"WorkerId\",\"Approve\",\"Reject\"\n\"A1\",\"x\",\"\"\n\"A2\",\"\",\"no\"\n");
}

TEST(MturkReview, LeavesNothingWhereTheBatchIsNone) {
  const TempDir folder;
  const auto code = [&](const std::string& text) {
    const std::string batch = folder.write("b.csv", text);
    return error_of([&] { write_mturk_review(folder / "r.csv", batch, is_bad, "no"); }).code();
  };
  EXPECT_EQ(code("task,worker,label\nt,u,a\n"), ErrorCode::usage);
  EXPECT_EQ(code("WorkerId,x\nA1\n"), ErrorCode::data);
  EXPECT_EQ(code("WorkerId,x\n\"A1\n"), ErrorCode::data);
  EXPECT_EQ(code(""), ErrorCode::data);
  EXPECT_FALSE(std::filesystem::exists(folder / "r.csv"));
}

}  // namespace
}  // namespace crowdfold
