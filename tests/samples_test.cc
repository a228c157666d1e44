// Samples of exports that are not ours to ship, with counts that people read off them:
// $CROWDFOLD_SAMPLES, or the folder beside the repository. Skipped where it is not there.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "crowdfold/error.h"
#include "crowdfold/exports.h"

namespace crowdfold {
namespace {

struct Sample {
  const char* path;
  const char* question;  // to ask for; "": none
  std::uint64_t labels;
  std::uint64_t abstentions;
  std::size_t truths;
};

const Sample kSamples[] = {
    {"appen/f1234567_full.csv", "", 2, 0, 1},
    {"argilla/records.json", "", 2, 0, 0},
    {"argilla/records_flattened.jsonl", "", 1, 1, 0},
    {"caesar/extracts.csv", "", 1, 0, 0},
    {"cvat/job_12_annotations.xml", "", 1, 0, 0},
    {"doccano/bob.csv", "", 1, 0, 0},
    {"doccano/export", "", 2, 0, 0},
    {"huggingface/list_columns.jsonl", "", 3, 0, 0},
    {"huggingface/one_hot_rater.csv", "", 1, 1, 0},
    {"label_studio/export.csv", "animal", 1, 0, 0},
    {"label_studio/export.json", "animal", 1, 1, 1},
    {"label_studio/export.json", "quality", 1, 1, 0},
    {"label_studio/export_ids_only_predictions.json", "", 1, 0, 0},
    {"label_studio/json_min.json", "animal", 1, 0, 0},
    {"lewidi/data.json", "", 5, 0, 0},
    {"mturk/batch_results.csv", "", 1, 0, 0},
    {"mturk/batch_results_crowd_form.csv", "category", 1, 0, 0},
    {"mturk/batch_results_crowd_form.csv", "is_cat", 1, 0, 0},
    {"peerannot/answers.json", "", 3, 0, 0},
    {"potato/annotation_output", "", 1, 0, 0},
    {"prodigy/choice.jsonl", "", 1, 1, 0},
    {"prodigy/textcat_binary.jsonl", "", 2, 0, 0},
    {"qualtrics/survey.csv", "", 2, 0, 0},
    {"toloka/assignments.tsv", "", 2, 0, 1},
    {"wrench/train.json", "", 2, 4, 2},
    {"zooniverse/classifications.csv", "", 1, 1, 1},
};

// Recognised, and refused in a sentence.
const char* const kRefused[] = {
    "appen/a1234567_aggregated.csv",
    "mturk/review_upload.csv",
    "label_studio_webhook/tasks_deleted.json",
    "label_studio_webhook/annotations_deleted.json",
    "label_studio_webhook/annotations_created.json",
    "label_studio_webhook/annotation_updated.json",
    "label_studio_webhook/annotation_created.json",
    "doccano/bob.txt",
    "argilla/webhook_response_created.json",
    "caesar/subject_reductions.csv",
    "label_studio/import_predictions.json",
    "label_studio/legacy_completions.json",
    "prolific/prolific_export_671b.csv",
};

// Tables, and what is no file of labels.
const char* const kNoExports[] = {
    "caesar/external_reducer.http",
    "cleanlab/long.csv",
    "cleanlab/wide.csv",
    "crowd_kit/gold.csv",
    "crowd_kit/labels.csv",
    "gal/labels.txt",
    "huggingface/long.csv",
    "label_studio_ml_backend/exchange.http",
    "peerannot/metadata.json",
    "wrench/label.json",
};

std::filesystem::path samples_folder() {
  const char* given = std::getenv("CROWDFOLD_SAMPLES");
  return given != nullptr ? given : CROWDFOLD_DEFAULT_SAMPLES;
}

std::string sample_path(const char* sample) { return (samples_folder() / sample).string(); }

class Samples : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(samples_folder()))
      GTEST_SKIP() << "CROWDFOLD_SAMPLES names the folder of samples; there is no " << samples_folder();
  }
};

TEST_F(Samples, AreReadAsPeopleReadThem) {
  for (const Sample& sample : kSamples) {
    SCOPED_TRACE(sample.path);
    ReadOptions options;
    options.question = sample.question;
    EXPECT_TRUE(is_export(sample_path(sample.path), options));
    const ImportedLabels imported = import_labels({sample_path(sample.path)}, options, {});
    EXPECT_EQ(imported.labels.num_labels(), sample.labels);
    EXPECT_EQ(imported.labels.rows().abstentions, sample.abstentions);
    EXPECT_EQ(imported.truths.size(), sample.truths);
  }
}

TEST_F(Samples, AreRefusedWhereTheyHoldNoLabels) {
  for (const char* sample : kRefused) {
    SCOPED_TRACE(sample);
    EXPECT_TRUE(is_export(sample_path(sample), {}));
    EXPECT_THROW(import_labels({sample_path(sample)}, {}, {}), Error);
  }
}

TEST_F(Samples, AreNotTakenForExportsByChance) {
  for (const char* sample : kNoExports) EXPECT_FALSE(is_export(sample_path(sample), {})) << sample;
}

TEST_F(Samples, AreAllKnownHere) {
  std::set<std::string> known(std::begin(kNoExports), std::end(kNoExports));
  known.insert(std::begin(kRefused), std::end(kRefused));
  for (const Sample& sample : kSamples) known.insert(sample.path);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(samples_folder())) {
    const std::filesystem::path path = std::filesystem::relative(entry.path(), samples_folder());
    bool found = entry.is_directory();
    for (std::filesystem::path part = path; !part.empty() && !found; part = part.parent_path())
      found = known.contains(part.string());
    EXPECT_TRUE(found) << path;
  }
}

TEST_F(Samples, OfGetAnotherLabelNeedTheirFormat) {
  ReadOptions options;
  options.platform = "gal";
  const ImportedLabels imported = import_labels({sample_path("gal/labels.txt")}, options, {});
  EXPECT_EQ(imported.labels.num_labels(), 2);
  EXPECT_EQ(imported.labels.num_tasks(), 1);
}

}  // namespace
}  // namespace crowdfold
