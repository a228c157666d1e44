#include <gtest/gtest.h>

#include "crowdfold/write_back.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::error_of;
using testing::read_file;
using testing::TempDir;

class ExportEstimates : public ::testing::Test {
 protected:
  std::string exported(const std::string& name, const std::string& format, const ExportOptions& options,
                       const std::string& estimates = kEstimates) const {
    const Estimates given = read_estimates(folder.write("e.csv", estimates), {});
    without = export_estimates(folder / name, format, given, options);
    return read_file(folder / name);
  }
  static constexpr const char* kEstimates =
      "task,label,confidence,cat,\"do\"\"g\"\n7,cat,0.9,0.9,0.1\nx "
      "y,\"do\"\"g\",0.6,0.4,0.6\nnone,,,,\n";
  const TempDir folder;
  mutable std::uint64_t without = 0;
};

TEST_F(ExportEstimates, ArePredictionsForTasksOfLabelStudio) {
  EXPECT_EQ(exported("p.json", "label-studio", {.question = "animal", .object = "img"}),
            "[\n{\"task\":7,\"model_version\":\"crowdfold\",\"score\":0.9,\"result\":[{\"from_name\":"
            "\"animal\",\"to_name\":\"img\",\"type\":\"choices\",\"value\":{\"choices\":[\"cat\"]}}]},\n"
            "{\"task\":\"x y\",\"model_version\":\"crowdfold\",\"score\":0.6,\"result\":[{\"from_name\":"
            "\"animal\",\"to_name\":\"img\",\"type\":\"choices\",\"value\":{\"choices\":[\"do\\\"g\"]}}]"
            "}\n]\n");
  EXPECT_EQ(without, 1U);
}

TEST_F(ExportEstimates, AreTasksToImportIntoLabelStudio) {
  EXPECT_EQ(
      exported("p.json", "Label Studio",
               {.question = "animal", .object = "img", .data_key = "image", .agent = "crowdfold mv"},
               "task,label\n1.jpg,cat\n"),
      "[\n{\"data\":{\"image\":\"1.jpg\"},\"predictions\":[{\"model_version\":\"crowdfold "
      "mv\",\"result\":[{"
      "\"from_name\":\"animal\",\"to_name\":\"img\",\"type\":\"choices\",\"value\":{\"choices\":["
      "\"cat\"]}}]"
      "}]}\n]\n");
}

TEST_F(ExportEstimates, AreAnAggregateReportOfAppen) {
  EXPECT_EQ(exported("a.csv", "appen", {.question = "animal"}),
            "_unit_id,animal,animal:confidence\n7,cat,0.9\nx y,\"do\"\"g\",0.6\n");
  EXPECT_EQ(exported("a.csv", "appen", {.question = "animal"}, "task,label\nt,cat\n"),
            "_unit_id,animal\nt,cat\n");
}

TEST_F(ExportEstimates, AreSuggestionsOfArgilla) {
  EXPECT_EQ(exported("a.jsonl", "argilla", {.question = "animal"}),
            "{\"id\":\"7\",\"suggestions\":{\"animal\":{\"value\":\"cat\",\"score\":0.9,\"agent\":"
            "\"crowdfold\"}}}\n"
            "{\"id\":\"x y\",\"suggestions\":{\"animal\":{\"value\":\"do\\\"g\",\"score\":0.6,\"agent\":"
            "\"crowdfold\"}}}\n");
  EXPECT_EQ(exported("a.json", "argilla", {.question = "animal"}).substr(0, 13), "[\n{\"id\":\"7\",\"");
}

TEST_F(ExportEstimates, AreOneMoreSessionOfProdigy) {
  EXPECT_EQ(
      exported("p.jsonl", "prodigy", {}),
      "{\"_input_hash\":7,\"accept\":[\"cat\"],\"answer\":\"accept\",\"_view_id\":\"choice\",\"score\":"
      "0.9,\"_annotator_id\":\"crowdfold\",\"_session_id\":\"crowdfold\"}\n"
      "{\"text\":\"x y\",\"accept\":[\"do\\\"g\"],\"answer\":\"accept\",\"_view_id\":\"choice\","
      "\"score\":0.6,\"_annotator_id\":\"crowdfold\",\"_session_id\":\"crowdfold\"}\n");
}

TEST_F(ExportEstimates, AreSoftLabels) {
  EXPECT_EQ(exported("s.csv", "soft-labels", {}), "task,cat,\"do\"\"g\"\n7,0.9,0.1\nx y,0.4,0.6\n");
  EXPECT_EQ(exported("s.jsonl", "soft labels", {}),
            "{\"task\":\"7\",\"probabilities\":{\"cat\":0.9,\"do\\\"g\":0.1}}\n"
            "{\"task\":\"x y\",\"probabilities\":{\"cat\":0.4,\"do\\\"g\":0.6}}\n");
  const Error error = error_of([&] { exported("s.csv", "soft-labels", {}, "task,label\nt,cat\n"); });
  EXPECT_EQ(error.code(), ErrorCode::data);
}

TEST_F(ExportEstimates, AreRefusedBeforeAnythingIsRead) {
  const auto complaint = [](const std::string& path, const std::string& format,
                            const ExportOptions& options) {
    const Error error = error_of([&] { require_exportable(path, format, options); });
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return std::string(error.what());
  };
  EXPECT_EQ(
      complaint("x.json", "labelstudo", {}),
      "no format 'labelstudo' (did you mean 'label-studio'?); there are: label-studio, appen, argilla, "
      "prodigy, soft-labels");
  EXPECT_EQ(complaint("x.csv", "label-studio", {}),
            "x.csv: label-studio is another kind of file; its name ends in .json");
  EXPECT_NE(complaint("x.json", "label-studio", {}).find("--question NAME"), std::string::npos);
  EXPECT_NE(complaint("-", "label-studio", {.question = "q"}).find("--object NAME"), std::string::npos);
}

}  // namespace
}  // namespace crowdfold
