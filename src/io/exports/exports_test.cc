// Every export format on a small input in its true structure, and the rules they share.
#include "crowdfold/exports.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "crowdfold/aggregate.h"
#include "io/exports/export_format.h"
#include "label_files.h"
#include "packed.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::error_of;
using testing::TempDir;

// Labels as "task worker label", truths as "task = label", a line each.
std::string rows_of(const ImportedLabels& imported) {
  std::string text;
  const Labels& labels = imported.labels;
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const TaskLabels task = labels.task(t);
    for (std::size_t j = 0; j < task.size(); ++j) {
      text += std::string(labels.tasks()[t]) + " " + std::string(labels.workers()[task.workers[j]]) +
              " " + std::string(labels.classes()[task.classes[j]]) + "\n";
    }
  }
  for (const auto& [task, label] : imported.truths)
    text.append(task).append(" = ").append(label).append("\n");
  return text;
}

class Exports : public ::testing::Test {
 protected:
  ImportedLabels import(const std::string& name, std::string_view text,
                        const ReadOptions& options = {}) {
    return import_labels({folder_.write(name, text)}, options, {});
  }
  static ReadOptions asking(const std::string& question) {
    ReadOptions options;
    options.question = question;
    return options;
  }

  TempDir folder_;
};

constexpr const char* kLabelStudio = R"([
 {"id": 101, "data": {"image": "1.jpg"}, "annotations": [
   {"id": 1, "completed_by": 11, "was_cancelled": false, "ground_truth": false, "created_at": "2026-03-02T09:00:00Z",
    "result": [{"id": "k3", "from_name": "animal", "type": "choices", "value": {"choices": ["cat"]}},
               {"id": "k4", "from_name": "quality", "type": "rating", "value": {"rating": 4}}]},
   {"id": 2, "completed_by": {"id": 12, "email": "bob@example.org"}, "updated_at": "2026-03-02T09:06:00Z",
    "result": [{"from_name": "animal", "type": "choices", "value": {"choices": ["cat", "dog"]}},
               {"from_name": "topic", "type": "taxonomy", "value": {"taxonomy": [["animals", "mammals"]]}}]},
   {"id": 3, "completed_by": 13, "was_cancelled": true, "result": []},
   {"id": 4, "completed_by": 1, "ground_truth": true,
    "result": [{"from_name": "animal", "type": "choices", "value": {"choices": ["cat"]}}]}],
  "drafts": [77], "predictions": [902,
   {"model_version": "resnet-3", "score": 0.8,
    "result": [{"from_name": "animal", "type": "choices", "value": {"choices": ["dog"]}}]}]},
 {"id": 102, "data": {"image": "2.jpg"}, "annotations": [
   {"id": 5, "completed_by": 12, "updated_at": "2026-03-02T09:30:00Z",
    "result": [{"from_name": "animal", "type": "choices", "value": {"choices": ["dog"]}}]},
   {"id": 6, "completed_by": 12, "updated_at": "2026-03-02T09:10:00Z",
    "result": [{"from_name": "animal", "type": "choices", "value": {"choices": ["cat"]}}]},
   {"id": 7, "completed_by": 11, "result": [
     {"id": "r1", "from_name": "box", "type": "rectanglelabels", "value": {"x": 1, "y": 2, "rectanglelabels": ["cat"]}},
     {"id": "r1", "from_name": "animal", "type": "choices", "value": {"choices": ["dog"]}}]}]}
])";

TEST_F(Exports, LabelStudioReadsOneQuestionAndCountsTheRest) {
  const ImportedLabels imported = import("export.json", kLabelStudio, asking("animal"));
  // The later answer of bob on 102 counts, and 12 is bob.
  EXPECT_EQ(rows_of(imported), "101 11 cat\n102 bob@example.org dog\n101 = cat\n");
  EXPECT_EQ(imported.report.format, "Label Studio JSON");
  EXPECT_EQ(
      imported.report.notes.at(0),
      "5 rows read: 3 labels, 2 abstentions; 1 truth (for 'crowdfold import --truth-out'); "
      "left out: 1 answer with several classes (--question 'animal=CLASS' reads one class of them as "
      "yes or no), 1 draft, 1 prediction without contents, an id only, 1 prediction "
      "(--with-predictions takes them as workers model:VERSION), 2 regions (or answer about one)");
}

TEST_F(Exports, SeveralQuestionsAreNamedWithTheirCounts) {
  const Error error = error_of([&] { import("export.json", kLabelStudio); });
  EXPECT_EQ(error.code(), ErrorCode::usage);
  EXPECT_NE(std::string(error.what())
                .find("several questions: animal (3 labels), quality (1 label), topic "
                      "(1 label); choose one with --question NAME"),
            std::string::npos)
      << error.what();
}

TEST_F(Exports, AClassOfSeveralIsReadAsYesOrNo) {
  EXPECT_EQ(rows_of(import("export.json", kLabelStudio, asking("animal=dog"))),
            "101 11 no\n101 bob@example.org yes\n102 bob@example.org yes\n101 = no\n");
}

TEST_F(Exports, AClassThatNobodyChoseIsRefused) {
  const std::string what =
      error_of([&] { import("e.json", kLabelStudio, asking("animal=zebra")); }).what();
  EXPECT_NE(what.find("no answer to 'animal' has the class 'zebra'; there are: cat, dog"), what.npos)
      << what;
}

TEST_F(Exports, AQuestionThatIsNotThereIsToldWithThoseThatAre) {
  const std::string what = error_of([&] { import("e.json", kLabelStudio, asking("colour")); }).what();
  EXPECT_NE(what.find("no question 'colour' that has labels; there are: animal (3 labels)"), what.npos)
      << what;
}

TEST_F(Exports, PredictionsAreWorkersIfWanted) {
  ReadOptions options = asking("animal");
  options.with_predictions = true;
  EXPECT_EQ(rows_of(import("export.json", kLabelStudio, options)),
            "101 11 cat\n101 model:resnet-3 dog\n102 bob@example.org dog\n101 = cat\n");
}

TEST_F(Exports, DuplicatesFollowTheRuleOfTheCaller) {
  ReadOptions options = asking("animal");
  options.duplicates = Duplicates::first;
  EXPECT_NE(rows_of(import("export.json", kLabelStudio, options)).find("102 bob@example.org cat"),
            std::string::npos);
  options.duplicates = Duplicates::error;
  EXPECT_EQ(error_of([&] { import("export.json", kLabelStudio, options); }).code(), ErrorCode::data);
}

TEST_F(Exports, ALabelThatMeansNothingAbstains) {
  ReadOptions options = asking("animal");
  options.abstain = {"dog"};
  const ImportedLabels imported = import("export.json", kLabelStudio, options);
  EXPECT_EQ(rows_of(imported), "101 11 cat\n102 bob@example.org cat\n101 = cat\n");
  EXPECT_EQ(imported.labels.rows().abstentions, 3);
}

TEST_F(Exports, AWorkerWhoIsLeftOutAbstains) {
  ReadOptions options = asking("animal");
  options.without_workers = {"bob@example.org"};
  EXPECT_EQ(rows_of(import("export.json", kLabelStudio, options)).find(" bob@example.org "),
            std::string::npos);
}

TEST_F(Exports, EveryCommandThatReadsLabelsReadsAnExport) {
  const std::string path = folder_.write("export.json", kLabelStudio);
  ReadReport report;
  EXPECT_EQ(read_labels(path, asking("quality"), {}, &report).num_labels(), 1);
  EXPECT_EQ(report.columns, "task = id, worker = completed_by, label = quality");
  AggregateRequest request;
  request.method = "onepass";  // takes files task by task where it can
  request.labels = {path};
  request.read = asking("animal");
  EXPECT_EQ(aggregate(request, {}).counts.labels, 2);
  request.road = Road::low_memory;
  EXPECT_NE(std::string(error_of([&] { aggregate(request, {}); }).what()).find("crowdfold import"),
            std::string::npos);
}

TEST_F(Exports, OptionsOfExportsAreRefusedForTables) {
  const std::string path = folder_.write("t.csv", "task,worker,label\nt,w,a\n");
  EXPECT_EQ(error_of([&] { read_labels(path, asking("animal"), {}); }).code(), ErrorCode::usage);
}

TEST_F(Exports, AnArrayIsReadWhateverItsLineBreaksAndCompression) {
  std::string one_line(kLabelStudio);
  std::erase(one_line, '\n');
  const std::string expected = rows_of(import("a.json", kLabelStudio, asking("animal")));
  EXPECT_EQ(rows_of(import("b.json", one_line, asking("animal"))), expected);
  EXPECT_EQ(rows_of(import("c.json.gz", testing::gzip(one_line), asking("animal"))), expected);
  EXPECT_EQ(rows_of(import("d.json", "\xEF\xBB\xBF" + one_line, asking("animal"))), expected);
}

TEST_F(Exports, AnArrayThatFillsManyBuffersIsReadWhole) {
  std::string text = "[";
  for (int i = 0; i < 20'000; ++i) {
    text +=
        (i == 0 ? "" : ",") + std::string(R"({"id": )") + std::to_string(i) + R"(, "data": {"text": ")" +
        std::string(static_cast<std::size_t>(i % 400), 'x') +
        R"( \" \\ ]}{["}, "annotations": [{"completed_by": 1, "result": [{"from_name": "s", "value": {"choices": ["a"]}}]}]})";
  }
  const ImportedLabels imported = import("large.json", text + "]");
  EXPECT_EQ(imported.labels.num_tasks(), 20'000);
  EXPECT_EQ(imported.labels.num_labels(), 20'000);
}

TEST_F(Exports, AnArrayThatIsCutIsAnErrorWithItsPlace) {
  const std::string whole(kLabelStudio);
  const Error error = error_of([&] { import("cut.json", whole.substr(0, whole.size() - 40)); });
  EXPECT_EQ(error.code(), ErrorCode::data);
  EXPECT_NE(std::string(error.what()).find("element 2: the text ends within it"), std::string::npos)
      << error.what();
}

constexpr const char* kBobsChoice =
    R"({"_input_hash": -9, "_task_hash": 1, "accept": ["POS"], "answer": "accept", "_session_id": "bob"})";

TEST_F(Exports, ARecordThatIsNoJsonIsSkippedIfWanted) {
  const std::string text =
      R"([{"id": 1, "data": {}, "annotations": [{"completed_by": 1, "result": [{"from_name": "s", "value": {"choices": ["a"]}}]}]},
{"id": 2, "data": {}, "annotations": [tru]}])";
  const std::string what = error_of([&] { import("bad.json", text); }).what();
  EXPECT_NE(what.find("bad.json: element 2: not JSON"), what.npos) << what;
  ReadOptions options;
  options.skip_bad_rows = true;
  const ImportedLabels imported = import("bad.json", text, options);
  EXPECT_EQ(rows_of(imported), "1 1 a\n");
  EXPECT_EQ(imported.report.skipped_rows, 1);
}

TEST_F(Exports, ALineThatIsNoJsonIsToldByItsNumber) {
  const std::string good = std::string(kBobsChoice) + "\n";
  const Error error =
      error_of([&] { import("bad.jsonl", good + "\n" + good + "{\"_input_hash\": 1, }\n"); });
  EXPECT_EQ(error.location().line, 4) << error.what();
  EXPECT_EQ(error_of([&] { import("cut.jsonl", good + good.substr(0, 30)); }).code(), ErrorCode::data);
}

TEST_F(Exports, RecordsMayGoOverLinesWithoutAnArray) {
  std::string lines(kBobsChoice);
  for (std::size_t at = 0; (at = lines.find(", ", at)) != lines.npos; ++at) lines[at + 1] = '\n';
  EXPECT_EQ(rows_of(import("lines.json", lines + "\n" + lines)), "-9 bob POS\n");
}

TEST_F(Exports, AnObjectByIdMayBeEmptyOrHoldAnything) {
  ReadOptions options;
  options.platform = "wrench";
  for (const char* text : {"{}", " {\n} \n"}) {
    const std::string what = error_of([&] { import("w.json", text, options); }).what();
    EXPECT_NE(what.find("no labels in it"), what.npos) << what;
  }
  for (const char* text : {"{\"a\"}", "{\"a\": 1: 2}", "{\"a\": }", "[1]", "1", "{\"a\": {}} {}",
                           R"({"a": {"weak_labels": [1]})", "{,}"}) {
    EXPECT_EQ(error_of([&] { import("w.json", text, options); }).code(), ErrorCode::data) << text;
  }
  EXPECT_EQ(rows_of(import("w.json", R"({"a": null, "b": {"weak_labels": [1]}, "c": 3})", options)),
            "b lf_0 1\n");
}

TEST_F(Exports, LegacyCompletionsWithoutWorkersAreNotInvented) {
  const std::string what =
      error_of([&] {
        import(
            "legacy.json",
            R"([{"id": 1, "data": {"text": "fine"}, "completions": [{"id": 1001, "created_at": 1600000000, "skipped": true, "result": []},
{"id": 1002, "created_at": 1600000100, "result": [{"from_name": "s", "value": {"choices": ["positive"]}}]}]}])");
      }).what();
  EXPECT_NE(what.find("no labels in it; left out: 2 answers without a worker"), what.npos) << what;
}

TEST_F(Exports, LabelStudioMinTellsAnswersFromDataByTheOrderOfKeys) {
  const ImportedLabels imported = import("min.json", R"([
  {"image": "1.jpg", "id": 101, "animal": "cat", "quality": [{"rating": 4}], "annotator": 11, "annotation_id": 1, "created_at": "2026-03-02T09:00:00Z", "updated_at": "2026-03-02T09:00:00Z", "lead_time": 4.2},
  {"image": "1.jpg", "id": 101, "animal": {"choices": ["cat", "dog"]}, "annotator": "bob@example.org", "annotation_id": 2, "lead_time": 2.0},
  {"image": "2.jpg", "id": 102, "animal": "dog", "annotator": 11, "annotation_id": 3, "lead_time": 2.0}])",
                                         asking("animal"));
  EXPECT_EQ(rows_of(imported), "101 11 cat\n102 11 dog\n");
  EXPECT_EQ(imported.report.format, "Label Studio JSON-MIN");
}

constexpr const char* kLabelStudioCsv =
    R"("animal","annotation_id","annotator","created_at","id","image","lead_time","quality","updated_at"
"dog",4,"bob@example.org","2026-03-02T09:09:00Z",102,"2.jpg",2.0,"","2026-03-02T09:09:00Z"
"cat",1,"11","2026-03-02T09:00:00Z",101,"1.jpg",4.2,"[{""rating"":4}]","2026-03-02T09:00:00Z"
"{""choices"":[""cat"",""dog""]}",2,"bob@example.org","2026-03-02T09:05:00Z",101,"1.jpg",2.0,"","2026-03-02T09:06:00Z"
"cat",3,"11","2026-03-02T08:00:00Z",102,"2.jpg",4.2,"[{""rating"":5}]","2026-03-02T08:00:00Z"
)";

TEST_F(Exports, LabelStudioCsvLeavesTheDataOfTasksOut) {
  EXPECT_EQ(rows_of(import("export.csv", kLabelStudioCsv, asking("animal"))),
            "102 bob@example.org dog\n102 11 cat\n101 11 cat\n");
  const std::string what = error_of([&] { import("export.csv", kLabelStudioCsv); }).what();
  // The ratings differ from task to task, as data would, but they are no bare texts.
  EXPECT_NE(what.find("several questions: animal (3 labels), quality (2 labels)"), what.npos) << what;
}

TEST_F(Exports, MturkTakesInputsForTasksAndLeavesRejectedAssignmentsOut) {
  const ImportedLabels imported = import(
      "batch.csv",
      R"("HITId","AssignmentId","WorkerId","AssignmentStatus","SubmitTime","Input.image_url","Answer.category.label","Answer.comment"
"H1","A1","W1","Approved","Sun Mar 08 04:18:20 PDT 2026","1.jpg","cat",""
"H1","A2","W2","Submitted","Sun Mar 08 04:20:04 PDT 2026","1.jpg","cat|dog",""
"H1","A3","W3","Rejected","Sun Mar 08 04:21:01 PDT 2026","1.jpg","dog",""
"H9","A4","W2","Approved","Sun Mar 08 04:22:01 PDT 2026","1.jpg","dog",""
"H2","A5","W1","Approved","Sun Mar 08 04:23:01 PDT 2026","2.jpg","{}",""
)");
  EXPECT_EQ(rows_of(imported), "1.jpg W1 cat\n1.jpg W2 dog\n");
  EXPECT_EQ(imported.report.columns, "task = Input.image_url, worker = WorkerId, label = category");
  EXPECT_EQ(imported.labels.rows().abstentions, 1);
  EXPECT_NE(imported.report.notes.at(0).find("1 answer of rejected assignments"), std::string::npos);
}

TEST_F(Exports, MturkReadsFormsAndNamesTheirQuestions) {
  const std::string text =
      R"("HITId","AssignmentId","WorkerId","AssignmentStatus","Input.a","Input.b","Answer.taskAnswers"
"H1","A1","W1","Approved","x","1","[{""category"":{""label"":""cat""},""is_cat"":{""no"":false,""yes"":true}}]"
"H1","A2","W2","Approved","x","1","[{""is_cat"":{""no"":true,""yes"":false}}]"
"H2","A3","W2","Approved","x","2","[{""category"":{""labels"":[""cat"",""dog""]},""is_cat"":{""no"":true,""yes"":true}}]"
)";
  EXPECT_EQ(rows_of(import("form.csv", text, asking("is_cat"))), "1 W1 yes\n1 W2 no\n");
  EXPECT_EQ(rows_of(import("form.csv", text, asking("Answer.category"))), "1 W1 cat\n");
}

TEST_F(Exports, MturkReadsColumnsOfOptions) {
  const std::string text =
      "HITId,AssignmentId,WorkerId,Input.url,Answer.is_cat.yes,Answer.is_cat.no,Answer.toxic.on\n"
      "H1,A1,W1,a.jpg,true,false,false\nH1,A2,W2,a.jpg,FALSE,TRUE,true\nH1,A3,W3,a.jpg,false,false,"
      "true\n";
  EXPECT_EQ(rows_of(import("o.csv", text, asking("is_cat"))), "a.jpg W1 yes\na.jpg W2 no\n");
  EXPECT_EQ(rows_of(import("o.csv", text, asking("toxic.on"))),
            "a.jpg W1 false\na.jpg W2 true\na.jpg W3 true\n");
}

TEST_F(Exports, MturkTakesNoBlanksForAbstentionsWhereEachItemHasItsColumn) {
  std::string header = "HITId,AssignmentId,WorkerId,Input.url";
  std::string row = "H1,A1,W1,a.jpg";
  for (int i = 0; i < 300; ++i) {
    header += ",Answer.item" + std::to_string(i);
    row += i == 7 ? ",cat" : ",";
  }
  const ImportedLabels imported = import("sparse.csv", header + "\n" + row + "\n");
  EXPECT_EQ(rows_of(imported), "a.jpg W1 cat\n");
  EXPECT_EQ(imported.labels.rows().abstentions, 0);
}

TEST_F(Exports, MturkMakesATaskOfEachItemInAHit) {
  const ImportedLabels imported = import(
      "items.csv",
      R"("HITId","AssignmentId","WorkerId","AssignmentStatus","Input.image_1","Input.image_2","Answer.choice1","Answer.choice2"
"H1","A1","W1","Approved","a.jpg","b.jpg","cat","dog"
"H1","A2","W2","Approved","a.jpg","b.jpg","cat",""
"H2","A3","W1","Approved","c.jpg","a.jpg","dog","dog"
)");
  EXPECT_EQ(rows_of(imported), "a.jpg W1 dog\na.jpg W2 cat\nb.jpg W1 dog\nc.jpg W1 dog\n");
}

TEST_F(Exports, MturkAnswersThatAreNotItemsStayQuestions) {
  const std::string what =
      error_of([&] {
        import("questions.csv", R"("HITId","AssignmentId","WorkerId","Input.url","Answer.Q1","Answer.Q2"
"H1","A1","W1","a.jpg","cat","red"
)");
      }).what();
  EXPECT_NE(what.find("several questions: Q1 (1 label), Q2 (1 label)"), what.npos) << what;
}

TEST_F(Exports, MturkAnswersAreTasksIfTheUserSaysSo) {
  const std::string what =
      error_of([&] {
        import("q.csv", "HITId,AssignmentId,WorkerId,Answer.q1,Answer.q2\nH,A,W,a,b\n");
      }).what();
  EXPECT_NE(what.find("--question 'q*' takes each q… for a task of its own"), what.npos) << what;
  // Without inputs, all HITs are the same.
  const ImportedLabels same = import("q.csv",
                                     "HITId,AssignmentId,WorkerId,Answer.q1,Answer.q2,Answer.remark\n"
                                     "H1,A1,W1,cat,dog,fine\nH2,A2,W2,cat,,\n",
                                     asking("q*"));
  EXPECT_EQ(rows_of(same), "q1 W1 cat\nq1 W2 cat\nq2 W1 dog\n");
  EXPECT_EQ(same.report.columns, "task = Answer.q*, worker = WorkerId, label = q*");
  // With inputs, they are not.
  const std::string inputs =
      "HITId,AssignmentId,WorkerId,Input.url,Answer.q1,Answer.q2\n"
      "H1,A1,W1,a.jpg,cat,dog\nH2,A2,W2,b.jpg,cat|bird,dog\n";
  EXPECT_EQ(rows_of(import("i.csv", inputs, asking("Answer.q*"))),
            "a.jpg | q1 W1 cat\na.jpg | q2 W1 dog\nb.jpg | q2 W2 dog\n");
  EXPECT_EQ(rows_of(import("i.csv", inputs, asking("q*=cat"))),
            "a.jpg | q1 W1 yes\na.jpg | q2 W1 no\nb.jpg | q1 W2 yes\nb.jpg | q2 W2 no\n");
  EXPECT_EQ(rows_of(import("i.csv", inputs, asking("q2"))), "a.jpg W1 dog\nb.jpg W2 dog\n");
  EXPECT_EQ(error_of([&] { import("i.csv", inputs, asking("r*")); }).code(), ErrorCode::usage);
}

TEST_F(Exports, MturkWithoutWorkersIsRefused) {
  const std::string what =
      error_of([&] { import("b.csv", "HITId,AssignmentId,Answer.x\nH1,A1,cat\n"); }).what();
  EXPECT_NE(what.find("no column WorkerId"), what.npos) << what;
}

constexpr const char* kToloka =
    "INPUT:image\tOUTPUT:result\tGOLDEN:result\tHINT:text\tASSIGNMENT:task_id\tASSIGNMENT:worker_"
    "id\tASSIGNMENT:status\n"
    "1.jpg\tcat\t\t\ta1\tw01\tAPPROVED\n"
    "1.jpg\tdog\t\t\ta1\tw02\tREJECTED\n"
    "9.jpg\tcat\tcat\t\tg1\tw01\tAPPROVED\n"
    "\t\t\t\t\t\t\n"
    "\n"
    "2.jpg\t\t\t\ta2\tw02\tSKIPPED\n"
    "2.jpg\t[\"a\",\"b\"]\t\t\ta2\tw03\tSUBMITTED\n"
    "3.jpg\tcat\tdog\tlook at its ears\ta3\tw03\tAPPROVED\n"
    "4.jpg\t\t\t\ta4\tw03\tEXPIRED\n";

TEST_F(Exports, TolokaKnowsStatusesControlTasksAndBlankLines) {
  const ImportedLabels imported = import("assignments.tsv", kToloka);
  EXPECT_EQ(rows_of(imported), "a1 w01 cat\ng1 w01 cat\ng1 = cat\n");
  EXPECT_EQ(imported.labels.rows().abstentions, 1);
  const std::string& summary = imported.report.notes.at(0);
  for (const char* part : {"1 answer with several classes", "1 answer of rejected assignments",
                           "1 answer of unfinished assignments", "1 answer to training tasks",
                           "1 truth of tasks without labels"})
    EXPECT_NE(summary.find(part), std::string::npos) << summary;
}

TEST_F(Exports, TolokaWithoutTaskIdsTakesTheInputs) {
  EXPECT_EQ(rows_of(import(
                "a.tsv",
                "INPUT:image\tINPUT:text\tOUTPUT:result\tASSIGNMENT:worker_id\n1.jpg\tx\ttrue\tw1\n")),
            "1.jpg | x w1 true\n");
}

TEST_F(Exports, AppenReadsGoldTaintAndSeveralAnswers) {
  const ImportedLabels imported =
      import("f1.csv",
             "_unit_id,_created_at,_golden,_tainted,_worker_id,_city,animal,animal_gold,image_url\n"
             "1,3/2/2026 09:00:30,false,false,w1,Iasi,cat,,1.jpg\n"
             "1,3/2/2026 09:01:10,false,true,w2,Iasi,dog,,1.jpg\n"
             "1,3/2/2026 09:01:10,false,false,w3,Iasi,\"dog\ncat\",,1.jpg\n"
             "9,3/2/2026 09:02:30,TRUE,false,w1,Iasi,dog,cat,9.jpg\n"
             "8,3/2/2026 09:02:30,true,false,w1,Iasi,dog,\"cat\ndog\",8.jpg\n");
  EXPECT_EQ(rows_of(imported), "1 w1 cat\n9 w1 dog\n8 w1 dog\n9 = cat\n");
  const std::string& summary = imported.report.notes.at(0);
  for (const char* part :
       {"1 answer with several classes", "1 judgment of untrusted contributors (_tainted)",
        "1 truth with several classes"})
    EXPECT_NE(summary.find(part), std::string::npos) << summary;
}

TEST_F(Exports, AppenWithoutTestQuestionsTellsAnswersFromData) {
  EXPECT_EQ(rows_of(import("f2.csv",
                           "_unit_id,_worker_id,_trust,animal,image_url\n1,w1,1,cat,1.jpg\n1,w2,1,dog,1."
                           "jpg\n2,w1,1,cat,2.jpg\n")),
            "1 w1 cat\n1 w2 dog\n2 w1 cat\n");
}

TEST_F(Exports, ReportsWithoutWorkersAreRefusedInASentence) {
  for (const auto& [name, text] : std::initializer_list<std::pair<const char*, const char*>>{
           {"a1.csv", "_unit_id,_golden,animal,animal:confidence\n1,FALSE,cat,0.68\n"},
           {"r.csv", "id,reducer_key,reducible_id,data.most_likely\n7,x,10,yes\n"},
           {"p.csv", "Submission id,Participant id,Status\n1,2,APPROVED\n"},
           {"all.jsonl", "{\"id\": 1, \"text\": \"x\", \"label\": [\"a\"], \"Comments\": []}\n"}}) {
    const Error error = error_of([&, &file = name, &content = text] { import(file, content); });
    EXPECT_EQ(error.code(), ErrorCode::data) << name;
  }
}

constexpr const char* kZooniverse =
    R"(classification_id,user_name,user_id,workflow_id,workflow_version,created_at,gold_standard,metadata,annotations,subject_ids
1,ann,108,10,16.55,2026-03-02 09:00:42 UTC,,"{""live_project"":true}","[{""task"":""T0"",""value"":""Yes""},{""task"":""T1"",""value"":[""Host"",""Glare""]}]",900
2,not-logged-in-b6,,10,16.55,2026-03-02 09:01:48 UTC,,"{""live_project"":true}","[{""task"":""T0"",""value"":null}]",900
3,lead,1,10,16.55,2026-03-02 09:02:00 UTC,true,"{}","[{""task"":""T0"",""value"":""Yes""}]",900
4,ann,108,10,16.60,2026-03-02 08:00:42 UTC,,"{}","[{""task"":""T0"",""value"":""No""}]",900
5,bob,109,10,16.55,2026-03-02 09:03:00 UTC,,"{""live_project"":false}","[{""task"":""T0"",""value"":""No""}]",900
6,bob,109,10,16.55,2026-03-02 09:03:00 UTC,,"{}","[{""task"":""T2"",""value"":[{""task"":""T0"",""value"":""No""},{""task"":""T3"",""value"":[{""choice"":""LION"",""answers"":{}}]}]},{""task"":""T4"",""value"":[{""x"":1,""y"":2}]}]",901
)";

TEST_F(Exports, ZooniverseReadsATaskOfTheWorkflow) {
  const ImportedLabels imported = import("c.csv", kZooniverse, asking("T0"));
  EXPECT_EQ(rows_of(imported), "900 ann Yes\n901 bob No\n900 = Yes\n");
  EXPECT_EQ(imported.labels.rows().abstentions, 1);
  EXPECT_NE(imported.report.notes.at(0).find("1 classification from before the project was live"),
            std::string::npos);
  EXPECT_NE(imported.report.notes.at(1).find("not logged in"), std::string::npos);
  EXPECT_EQ(rows_of(import("c.csv", kZooniverse, asking("T3"))), "901 bob LION\n");
  EXPECT_EQ(rows_of(import("c.csv", kZooniverse, asking("T1=Host"))), "900 ann yes\n");
}

TEST_F(Exports, ZooniverseMixesNoMajorVersions) {
  const std::string text =
      std::string(kZooniverse) +
      R"(7,ann,108,10,14.1,2026-03-02 09:00:42 UTC,,"{}","[{""task"":""T0"",""value"":""Maybe""}]",902
)";
  const std::string what = error_of([&] { import("c.csv", text, asking("T0")); }).what();
  EXPECT_NE(
      what.find(
          "10/14 (1 classification), 10/16 (5 classifications); choose one with --question 10/14/T0"),
      what.npos)
      << what;
  EXPECT_EQ(rows_of(import("c.csv", text, asking("14/T0"))), "902 ann Maybe\n");
}

TEST_F(Exports, CaesarExtractsOfMachinesArePredictions) {
  const std::string text =
      "id,classification_at,extractor_key,user_id,subject_id,machine_data,data.no,data.yes\n"
      "1,2026-03-02 09:00:42 UTC,rising,108,900,false,,1\n2,2026-03-02 09:01:48 "
      "UTC,rising,,900,false,1,\n"
      "3,2026-03-02 09:02:10 UTC,rising,5,900,true,,1\n";
  EXPECT_EQ(rows_of(import("extracts.csv", text)), "900 108 yes\n");
  ReadOptions options;
  options.with_predictions = true;
  EXPECT_EQ(rows_of(import("extracts.csv", text, options)), "900 108 yes\n900 model:5 yes\n");
}

// As a table, "accept" would be its label.
TEST_F(Exports, ProdigyIsKnownByOneHashOrItsView) {
  EXPECT_EQ(
      rows_of(import(
          "choice.jsonl",
          R"({"text": "x", "_input_hash": 7, "accept": ["POS"], "answer": "accept", "_annotator_id": "shop-bob"}
{"text": "x", "_input_hash": 7, "accept": ["NEG"], "answer": "accept", "_annotator_id": "shop-eve"}
)")),
      "7 shop-bob POS\n7 shop-eve NEG\n");
  const std::string what =
      error_of([&] {
        import(
            "old.jsonl",
            R"({"text": "x", "accept": ["POS"], "answer": "accept", "_view_id": "choice", "_annotator_id": "shop-bob"}
)");
      }).what();
  EXPECT_NE(what.find("1 answer without a task"), what.npos) << what;
}

TEST_F(Exports, ProdigyReadsChoicesAndQuestionsOfYesOrNo) {
  const ImportedLabels choice = import(
      "choice.jsonl",
      R"({"_input_hash": -9, "_task_hash": 1, "options": [{"id": "POS"}], "accept": ["POS"], "answer": "accept", "_timestamp": 1772442000, "_annotator_id": "shop-j%C3%B6rg"}
{"_input_hash": -9, "_task_hash": 1, "accept": [], "answer": "ignore", "_session_id": "shop-bob"}
{"_input_hash": -9, "_task_hash": 1, "accept": ["NEG"], "answer": "reject", "_session_id": "shop-eve"}
{"_input_hash": -9, "_task_hash": 1, "accept": ["NEG"], "answer": "accept", "_session_id": "2024-02-06_10-17-19"}
{"_input_hash": -9, "_task_hash": 1, "accept": ["POS", "NEG"], "answer": "accept", "_session_id": "shop-cy"}
{"_input_hash": -9, "_task_hash": 1, "accept": ["POS"], "answer": "accept", "versions": [{}], "sessions": ["a"]}
{"_input_hash": -8, "_task_hash": 2, "spans": [], "answer": "accept", "_session_id": "shop-bob"}
)");
  EXPECT_EQ(rows_of(choice), "-9 shop-jörg POS\n-9 2024-02-06_10-17-19 NEG\n-9 = POS\n");
  EXPECT_EQ(choice.labels.rows().abstentions, 2);
  EXPECT_NE(choice.report.notes.at(1).find("sessions without a name"), std::string::npos);
  EXPECT_EQ(
      rows_of(import(
          "binary.jsonl",
          R"({"text": "x", "label": "DOC", "_input_hash": 101, "_task_hash": 202, "answer": "accept", "_annotator_id": "ann"}
{"text": "x", "label": "DOC", "_input_hash": 101, "_task_hash": 202, "answer": "reject", "_annotator_id": "bob"}
)")),
      "202 ann accept\n202 bob reject\n");
}

TEST_F(Exports, ArgillaWarnsOfNestedRecordsAndKnowsStatusesOfFlattenedOnes) {
  const std::string nested =
      R"([{"id": "r1", "fields": {"text": "x"}, "suggestions": {"s": {"value": "neg", "agent": "gpt-x"}},
 "responses": {"s": [{"value": "pos", "user_id": "u1"}, {"value": "neg", "user_id": "u2"}], "topics": [{"value": ["a", "b"], "user_id": "u1"}], "rank": [{"value": [{"value": "a", "rank": 1}], "user_id": "u1"}]}}])";
  const ImportedLabels imported = import("records.json", nested);
  EXPECT_EQ(rows_of(imported), "r1 u1 pos\nr1 u2 neg\n");
  EXPECT_NE(imported.report.notes.at(1).find("to_dict(flatten=True)"), std::string::npos);
  ReadOptions options;
  options.with_predictions = true;
  EXPECT_EQ(rows_of(import("records.json", nested, options)),
            "r1 u1 pos\nr1 u2 neg\nr1 model:gpt-x neg\n");

  const ImportedLabels flat = import(
      "flat.jsonl",
      R"({"id": "r1", "text": "x", "s.responses": ["pos", "neg", "neg"], "s.responses.users": ["u1", "u2", "u3"], "s.responses.status": ["submitted", "discarded", "draft"], "s.suggestion": "neg", "s.suggestion.score": 0.7, "s.suggestion.agent": "gpt-x"}
)");
  EXPECT_EQ(rows_of(flat), "r1 u1 pos\n");
  EXPECT_EQ(flat.labels.rows().abstentions, 1);
  EXPECT_NE(flat.report.notes.at(0).find("1 draft"), std::string::npos);
}

TEST_F(Exports, DoccanoNamesWorkersByFilesOfAFolder) {
  std::filesystem::create_directory(folder_ / "export");
  folder_.write("export/ann@example.org.jsonl",
                "{\"id\": 1, \"text\": \"Great.\", \"label\": [\"pos\"], \"Comments\": []}\n"
                "{\"id\": 2, \"text\": \"Bad.\", \"label\": [], \"Comments\": []}\n");
  folder_.write(
      "export/bob.jsonl",
      "{\"id\": 1, \"text\": \"Great.\", \"label\": [\"pos\", \"sarcasm\"], \"Comments\": [\"?\"]}\n"
      "{\"id\": 2, \"text\": \"Bad.\", \"label\": [\"neg\"], \"Comments\": []}\n");
  const ImportedLabels imported = import_labels({folder_ / "export"}, {}, {});
  EXPECT_EQ(rows_of(imported), "1 ann@example.org pos\n2 bob neg\n");
  EXPECT_EQ(rows_of(import_labels(
                {folder_ / "export/ann@example.org.jsonl", folder_ / "export/bob.jsonl"}, {}, {})),
            rows_of(imported));
  EXPECT_EQ(rows_of(import("bob.csv", "id,text,label,Comments\n1,Great.,pos#sarcasm,\n2,Bad.,neg,\n")),
            "2 bob neg\n");
}

TEST_F(Exports, CvatReadsTagsOfJobs) {
  const auto job = [](const std::string& worker, const std::string& images) {
    return "<?xml version=\"1.0\" "
           "encoding=\"utf-8\"?>\n<annotations><version>1.1</version><meta><job><id>12</id>"
           "<owner><username>lead</username></owner><assignee><username>" +
           worker + "</username><email></email></assignee></job></meta>" + images + "</annotations>\n";
  };
  const std::string ann = folder_.write(
      "a.xml",
      job("ann",
          R"(<image id="0" name="1.jpg"><tag label="cat" source="manual"><attribute name="sure">false</attribute></tag></image>
<image id="1" name="2.jpg"><tag label="dog" source="auto"><attribute name="sure">true</attribute></tag></image>
<image id="2" name="3.jpg"></image><image id="3" name="4.jpg"><tag label="cat"/><tag label="dog"/><box label="x" xtl="1"/></image>)"));
  const std::string bob = folder_.write(
      "b.xml", job("bob &amp; co", R"(<image id="9" name="1.jpg"><tag label="dog"/></image>)"));
  const ImportedLabels imported = import_labels({ann, bob}, {}, {});
  EXPECT_EQ(rows_of(imported), "1.jpg ann cat\n1.jpg bob & co dog\n");
  EXPECT_EQ(imported.labels.rows().abstentions, 1);
  for (const char* part : {"1 answer with several classes", "1 prediction", "1 shape in an image"})
    EXPECT_NE(imported.report.notes.at(0).find(part), std::string::npos) << imported.report.notes.at(0);
  EXPECT_EQ(rows_of(import_labels({ann}, asking("sure"), {})), "1.jpg ann false\n");
  EXPECT_EQ(error_of([&] { import("cut.xml", job("ann", "<image id=\"0\" name=\"1.jpg\">")); }).code(),
            ErrorCode::data);
}

TEST_F(Exports, ResearchFormatsAreReadById) {
  EXPECT_EQ(
      rows_of(import(
          "train.json",
          R"({"0": {"label": 1, "data": {"text": "x"}, "weak_labels": [-1, 1, -1]}, "1": {"data": {}, "weak_labels": [0, -1, 0]}})")),
      "0 lf_1 1\n1 lf_0 0\n1 lf_2 0\n0 = 1\n");
  EXPECT_EQ(
      rows_of(import(
          "lewidi.json",
          R"({"1": {"text": {"context": "c"}, "annotators": "Ann1,Ann2", "annotations": {"Ann1": "2", "Ann2": "5"}, "split": "dev"},
 "2": {"text": "t", "annotators": "Ann1,Ann2", "annotations": "0,1", "hard_label": "0"},
 "3": {"text": "t", "annotators": "Ann1", "annotations": "0,1"}})")),
      "1 Ann1 2\n1 Ann2 5\n2 Ann1 0\n2 Ann2 1\n");
  EXPECT_EQ(rows_of(import("answers.json", R"({"0": {"0": 1, "2": 0}, "1": {"1": 1}})")),
            "0 0 1\n0 2 0\n1 1 1\n");
  EXPECT_EQ(rows_of(import("lists.jsonl",
                           R"({"id": "q1", "label": 1, "annotators": ["a", "b"], "annotations": [1, 0]}
{"id": "q2", "annotator_labels": ["x", "y"]}
)")),
            "q1 a 1\nq1 b 0\n");
  EXPECT_EQ(rows_of(import("emotions.csv",
                           "text,id,rater_id,example_very_unclear,joy,anger\nx,e1,37,False,0,1\nx,e1,18,"
                           "True,0,0\nx,e1,9,False,1,1\n")),
            "e1 37 anger\n");
  ReadOptions gal;
  gal.platform = "gal";
  EXPECT_EQ(rows_of(import("labels.txt", "w1\tt1\tcat\nw2\tt1\tdog\n", gal)), "t1 w1 cat\nt1 w2 dog\n");
}

TEST_F(Exports, PotatoIsAFolderOfUsers) {
  std::filesystem::create_directories(folder_ / "out/ann");
  folder_.write(
      "out/ann/user_state.json",
      R"({"user_id": "ann", "instance_id_to_label_to_value": {"i1": {"s": {"labels": {"positive": true}}}, "i2": {"topics": {"labels": {"price": true, "service": true}}}}, "instance_id_to_span_to_value": {"i1": {"ner": [{"start": 0}]}}})");
  EXPECT_EQ(rows_of(import_labels({folder_ / "out"}, {}, {})), "i1 ann positive\n");
  EXPECT_EQ(rows_of(import_labels({folder_ / "out"}, asking("topics=price"), {})), "i2 ann yes\n");
}

TEST_F(Exports, QualtricsIsARowPerPerson) {
  EXPECT_EQ(rows_of(import("survey.csv", R"(StartDate,Status,Finished,ResponseId,PROLIFIC_PID,Q1_1,Q1_2
Start Date,Response Type,Finished,Response ID,PROLIFIC_PID,"Is 1 true,
really?",Is 2 true?
"{""ImportId"":""startDate""}","{""ImportId"":""status""}","{""ImportId"":""finished""}","{""ImportId"":""_recordId""}","{""ImportId"":""PROLIFIC_PID""}","{""ImportId"":""QID1_1""}","{""ImportId"":""QID1_2""}"
2026-03-02 12:27:09,IP Address,True,R_1,5e90,True,False
2026-03-02 12:28:09,IP Address,True,R_3,,True,
2026-03-02 12:30:00,Survey Preview,False,R_2,,,
)")),
            "Q1_1 5e90 True\nQ1_1 R_3 True\nQ1_2 5e90 False\n");
}

TEST_F(Exports, TablesAreNoExports) {
  for (const char* text :
       {"task,worker,label\nt,w,a\n", "id,worker,label,Comments\n1,w,a,x\n",
        "task,annotator,label\nt1,w1,0\n", "id,filename,annotator,label\n1,a.jpg,ann,cat\n",
        "w1\tt1\tcat\nw2\tt1\tdog\n", ",w1,w2\nt1,0,1\n",
        "comment_id,annotator_id,hatespeech,text\n1,2,0,x\n", "HITId,WorkerId,answer\nh,w,a\n",
        "{\"task\": 1, \"worker\": 2, \"label\": 3}\n",
        "{\"id\": 1, \"user\": \"u\", \"data\": {\"answer\": \"a\"}}\n",
        "{\"item\": 1, \"annotators\": \"ann\", \"annotations\": \"cat\"}\n", "", " \n", "\"", "{", "[",
        "<", "[[[["}) {
    EXPECT_FALSE(is_export(folder_.write("plain", text), {})) << text;
  }
  ReadOptions as_table;
  as_table.format = Format::csv;
  EXPECT_FALSE(is_export(folder_.write("e.csv", kLabelStudioCsv), as_table));
  ReadOptions mapped;
  mapped.columns = {{"label", "animal"}};
  EXPECT_FALSE(is_export(folder_ / "e.csv", mapped));
}

// A pipe that holds a text, which must fit into it.
class Pipe {
 public:
  explicit Pipe(const std::string& text) {
    EXPECT_EQ(::pipe(ends_), 0);
    EXPECT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    ::close(ends_[1]);
  }
  ~Pipe() { ::close(ends_[0]); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(ends_[0]); }

 private:
  int ends_[2] = {};
};

TEST_F(Exports, OnPipesAreReadLikeFiles) {
  const std::string text(kLabelStudio);
  const std::string rows = rows_of(import("export.json", text, asking("animal")));
  for (const std::string& bytes : {text, testing::gzip(text), testing::zip({{"export.json", text}})}) {
    const ImportedLabels imported = import_labels({Pipe(bytes).path()}, asking("animal"), {});
    EXPECT_EQ(rows_of(imported), rows);
    EXPECT_EQ(imported.report.format, "Label Studio JSON");
    EXPECT_EQ(read_labels(Pipe(bytes).path(), asking("animal"), {}).num_labels(), 2);
  }
  EXPECT_EQ(rows_of(import_labels({Pipe(kToloka).path()}, {}, {})), rows_of(import("a.tsv", kToloka)));
  // Of formats that share a name, it is the one that fits.
  ReadOptions named = asking("animal");
  named.platform = "label-studio";
  EXPECT_EQ(rows_of(import_labels({Pipe(kLabelStudioCsv).path()}, named, {})),
            rows_of(import("export.csv", kLabelStudioCsv, asking("animal"))));
}

TEST_F(Exports, TablesOnPipesStayTables) {
  for (const char* text : {"task,worker,label\nt,w,a\n", R"([{"task":1,"worker":2,"label":3}])"}) {
    EXPECT_EQ(read_labels(Pipe(text).path(), {}, {}).num_labels(), 1);
    EXPECT_EQ(import_labels({Pipe(text).path()}, {}, {}).labels.num_labels(), 1);
  }
  ReadOptions as_table;
  as_table.columns = {{"task", "id"}, {"worker", "annotator"}, {"label", "animal"}};
  EXPECT_EQ(read_labels(Pipe(kLabelStudioCsv).path(), as_table, {}).num_tasks(), 2);
}

TEST_F(Exports, OnPipesAreNotReadTaskByTask) {
  const Pipe pipe(kToloka);
  AggregateRequest request;
  request.method = "onepass";
  request.labels = {pipe.path()};
  request.road = Road::grouped;
  EXPECT_NE(std::string(error_of([&] { aggregate(request, {}); }).what()).find("crowdfold import"),
            std::string::npos);
  const Pipe table("task,worker,label\nt,w,a\n");
  request.labels = {table.path()};
  EXPECT_EQ(aggregate(request, {}).counts.labels, 1);
}

constexpr const char* kAnn =
    "{\"id\": 1, \"text\": \"Great.\", \"label\": [\"pos\"], \"Comments\": []}\n"
    "{\"id\": 2, \"text\": \"Bad.\", \"label\": [], \"Comments\": []}\n";
constexpr const char* kBob = "{\"id\": 2, \"text\": \"Bad.\", \"label\": [\"neg\"], \"Comments\": []}\n";

TEST_F(Exports, OfDoccanoAreAnArchiveOfAFileForEachWorker) {
  const ImportedLabels imported = import(
      "doccano.zip",
      testing::zip({{"ann@example.org.jsonl", kAnn}, {"bob.jsonl", kBob}, {"notes.txt", "hello"}}));
  EXPECT_EQ(rows_of(imported), "1 ann@example.org pos\n2 bob neg\n");
  EXPECT_NE(imported.report.notes.at(0).find("1 file of another kind"), std::string::npos);
  // The worker is the file in the archive, also where it is the only one, and whatever its name.
  EXPECT_EQ(rows_of(import("one.zip", testing::zip({{"folder/bob.jsonl", kBob}}))), "2 bob neg\n");
  EXPECT_EQ(rows_of(import("download", testing::zip({{"ann.jsonl", kAnn}, {"bob.jsonl", kBob}}))),
            "1 ann pos\n2 bob neg\n");
  EXPECT_NE(std::string(error_of([&] {
                          import("all.zip", testing::zip({{ "all.jsonl", kBob }}));
                        }).what())
                .find("this one is for all"),
            std::string::npos);
}

TEST_F(Exports, OfDoccanoNeedTheNameOfAFile) {
  EXPECT_NE(std::string(error_of([&] { read_labels(Pipe(kBob).path(), {}, {}); }).what())
                .find("a pipe has no name"),
            std::string::npos);
}

TEST_F(Exports, OfCvatMayLieBesideTheirImages) {
  const std::string xml =
      "<?xml version=\"1.0\"?>\n<annotations><meta><job><assignee><username>ann</username></assignee>"
      "</job></meta><image id=\"0\" name=\"1.jpg\"><tag label=\"cat\"/></image></annotations>\n";
  EXPECT_EQ(rows_of(import("job.zip", testing::zip({{"annotations.xml", xml}, {"images/1.jpg", "x"}}))),
            "1.jpg ann cat\n");
}

TEST_F(Exports, AnArchiveOfTablesIsNone) {
  const std::string table = "task,worker,label\nt,w,a\n";
  const std::string path = folder_.write("two.zip", testing::zip({{"a.csv", table}, {"b.csv", table}}));
  EXPECT_FALSE(is_export(path, {}));
  EXPECT_NE(std::string(error_of([&] { read_labels(path, {}, {}); }).what()).find("name one"),
            std::string::npos);
}

TEST_F(Exports, AFormatThatDoesNotExistIsRefused) {
  ReadOptions options;
  options.platform = "labelstudio";
  EXPECT_EQ(error_of([&] { import("e.json", "[]", options); }).code(), ErrorCode::usage);
}

TEST(ExportFormats, AreDescribedOnce) {
  std::vector<std::string> titles;
  for (const ExportInfo& format : export_formats()) {
    EXPECT_FALSE(format.name.empty() || format.title.empty() || format.recognised_by.empty());
    titles.push_back(format.title);
  }
  std::sort(titles.begin(), titles.end());
  EXPECT_EQ(std::adjacent_find(titles.begin(), titles.end()), titles.end());
}

TEST(ExportTimes, AreComparable) {
  EXPECT_EQ(moment_of("1970-01-02T00:00:00Z"), 86'400'000'000);
  EXPECT_EQ(moment_of("2026-03-02T09:00:00.000000Z"), moment_of("2026-03-02 11:00:00+02:00"));
  EXPECT_EQ(moment_of("2026-03-02 09:00:42 UTC"), moment_of("3/2/2026 09:00:42"));
  EXPECT_EQ(moment_of("Sun Mar 08 04:18:20 PDT 2026"), moment_of("2026-03-08T11:18:20Z"));
  EXPECT_EQ(moment_of("1600000000"), 1'600'000'000'000'000);
  EXPECT_LT(moment_of("2026-03-02T09:00:00.250Z"), moment_of("2026-03-02T09:00:00.500Z"));
  for (const char* none : {"", "yesterday", "2026-13-45T99:00:00", "1e300", "nan"})
    EXPECT_EQ(moment_of(none), 0) << none;
}

}  // namespace
}  // namespace crowdfold
