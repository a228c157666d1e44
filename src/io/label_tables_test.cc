// Files of labels as people have them: read right, or refused with what to type.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "base/random.h"
#include "crowdfold/io.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::error_of;
using testing::names_of;
using testing::TempDir;
using Names = std::vector<std::string>;

// What a file was understood as: its roles, and the labels as "task worker label", sorted by nothing.
struct Understood {
  ReadReport report;
  Names labels;
};

Understood understand(const std::string& text, const ReadOptions& options = {},
                      const std::string& name = "f.csv") {
  const TempDir folder;
  Understood understood;
  const Labels labels = read_labels(folder.write(name, text), options, {}, &understood.report);
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const TaskLabels task = labels.task(t);
    for (std::size_t j = 0; j < task.size(); ++j) {
      understood.labels.push_back(fmt::format("{} {} {}", labels.tasks()[t],
                                              labels.workers()[task.workers[j]],
                                              labels.classes()[task.classes[j]]));
    }
  }
  return understood;
}

std::string refusal(const std::string& text, const ReadOptions& options = {},
                    const std::string& name = "f.csv") {
  const TempDir folder;
  const std::string path = folder.write(name, text);
  const Error error = error_of([&] { read_labels(path, options, {}); });
  return std::string(error.what()).substr(path.size());
}

constexpr const char* kWorkedOut = " (worked out from the values; --map … to say otherwise)";

// A small crowd in other words.
std::string rows_below(const std::string& format) {
  std::string text;
  for (int t = 1; t <= 6; ++t) {
    for (const char* worker : {"anna", "bernd", "carla"}) {
      const bool wrong = t == 2 && *worker == 'a';
      text += fmt::format(fmt::runtime(format), fmt::arg("task", fmt::format("b{}.jpg", t)),
                          fmt::arg("worker", worker),
                          fmt::arg("label", (t % 2 == 0) != wrong ? "ja" : "nein"),
                          fmt::arg("row", text.size())) +
              "\n";
    }
  }
  return text;
}

TEST(LabelTables, WithUnknownNamesAreWorkedOutFromTheValues) {
  const Understood german =
      understand("Aufgabe;Person;Antwort\n" + rows_below("{task};{worker};{label}"));
  EXPECT_EQ(german.report.columns,
            "task = Aufgabe, worker = Person, label = Antwort" + std::string(kWorkedOut));
  EXPECT_EQ(german.labels.size(), 18U);
  EXPECT_EQ(german.labels[0], "b1.jpg anna nein");
  const Understood turned =
      understand("verdict,image_url,email\n" + rows_below("{label},{task},{worker}@x.org"));
  EXPECT_EQ(turned.report.columns,
            "task = image_url, worker = email, label = verdict" + std::string(kWorkedOut));
  EXPECT_EQ(turned.labels[0], "b1.jpg anna@x.org nein");
}

TEST(LabelTables, TellOfTruthsBesideTheLabels) {
  const std::string below = rows_below("{task},{worker},{label},ja");
  const Understood gold = understand("task,worker,label,gold\n" + below);
  ASSERT_EQ(gold.report.notes.size(), 1U);
  EXPECT_EQ(gold.report.notes[0],
            "'gold' may hold truths: --truth " + gold.report.source + " makes use of them");
  EXPECT_EQ(understand("task,worker,label,correct\n" + below).report.notes, std::vector<std::string>{});
  EXPECT_EQ(understand("task,worker,gold,label\n" + below).report.columns,
            "task = task, worker = worker, label = label");
}

TEST(LabelTables, MayBeginWithLinesOfBlanks) {
  const std::string table = "task,worker,label\nt1,u,a\nt1,v,b\n";
  for (const char* const above : {"\n", "  \n", "\t\n \r\n"}) {
    const Understood read = understand(above + table);
    EXPECT_EQ(read.report.columns, "task = task, worker = worker, label = label") << above;
    EXPECT_EQ(read.labels, (std::vector<std::string>{"t1 u a", "t1 v b"})) << above;
  }
}

TEST(LabelTables, WithAnIdForEachRowHaveAnotherTask) {
  const Understood table =
      understand("id,filename,annotator,label\n" + rows_below("{row},{task},{worker},{label}"));
  EXPECT_EQ(table.report.columns,
            "task = filename, worker = annotator, label = label" + std::string(kWorkedOut));
  std::string json;
  for (int t = 0; t < 5; ++t) {
    for (const char* worker : {"a", "b"}) {
      json += fmt::format("{{\"id\":{},\"filename\":\"f{}\",\"annotator\":\"{}\",\"label\":\"{}\"}}\n",
                          json.size(), t, worker, t % 2);
    }
  }
  EXPECT_EQ(understand(json, {}, "f.jsonl").report.columns,
            "task = filename, worker = annotator, label = label" + std::string(kWorkedOut));
}

TEST(LabelTables, KeepAnIdThatIsTheTask) {
  EXPECT_EQ(understand("id,annotator,label\n" + rows_below("{task},{worker},{label}")).report.columns,
            "task = id, worker = annotator, label = label");
  EXPECT_EQ(understand("id,text,annotator,label\n1,some text,a,x\n2,other text,b,y\n3,third text,a,x\n")
                .report.columns,
            "task = id, worker = annotator, label = label");
}

TEST(LabelTables, AreRefusedWhereAnIdMayBeTheRowsOwn) {
  std::string text = "id,filename,annotator,label\n";
  for (int row = 0; row < 120'000; ++row)
    text += fmt::format("{},f{}.png,ann{},{}\n", row, row % 60'000, row / 60'000, row % 2);
  EXPECT_EQ(
      refusal(text),
      ":1: columns 1 ('id') and 2 ('filename') could both be the task: choose one, --map task=id or "
      "--map task=filename");
}

TEST(LabelTables, TakeNoIdOfAnAnnotationForALabel) {
  // Much as Label Studio writes them, but not enough to be known as its export.
  const Understood table =
      understand(R"("animal","annotation_id","annotator","created_at","id")"
                 "\n" +
                 rows_below(R"("{label}",5{row},"{worker}","2026-03-02T09:00:00Z",{task})"));
  EXPECT_EQ(table.report.columns,
            "task = id, worker = annotator, label = animal" + std::string(kWorkedOut));
}

TEST(LabelTables, TakeTheThirdOfThreeColumnsForWhatIsMissing) {
  EXPECT_EQ(understand("item,rater,score\n1,a,3\n1,b,4\n").report.columns,
            "task = item, worker = rater, label = score" + std::string(kWorkedOut));
  EXPECT_EQ(understand("label,worker,Bild\nx,a,1\nx,b,1\n").report.columns,
            "task = Bild, worker = worker, label = label" + std::string(kWorkedOut));
  EXPECT_NE(refusal("task,label,confidence\n1,a,.9\n2,b,.8\n").find("which column is the worker"),
            std::string::npos);
  EXPECT_NE(refusal("item,rater,seconds\n1,a,5\n1,b,7\n2,a,7\n").find("which column is the label"),
            std::string::npos);
  EXPECT_NE(refusal("worker,label,when\na,x,2026-03-01\nb,x,2026-03-01\na,y,2026-03-02\n")
                .find("which column is the task"),
            std::string::npos);
  std::string times = "item,rater,at\n";
  for (int row = 0; row < 20; ++row) times += fmt::format("{},w{},09:{}\n", row / 2, row % 2, 10 + row);
  EXPECT_NE(refusal(times).find("cannot tell which column is the label"), std::string::npos);
}

TEST(LabelTables, TakeTheColumnBesideTheTextOfTasks) {
  EXPECT_EQ(
      understand("comment_id,annotator_id,hatespeech,text\n47,108,0,some text\n47,203,2,some text\n")
          .report.columns,
      "task = comment_id, worker = annotator_id, label = hatespeech" + std::string(kWorkedOut));
  EXPECT_EQ(
      understand("comment_id,annotator_id,insult,url\n1,a,0,u1\n1,b,2,u1\n2,a,0,u2\n").report.columns,
      "task = comment_id, worker = annotator_id, label = insult" + std::string(kWorkedOut));
  // A remark of the worker's is no text of the task, and no task.
  EXPECT_NE(refusal("comment_id,annotator_id,insult,comment\n1,a,0,why\n1,b,2,so\n")
                .find("cannot tell which column is the label"),
            std::string::npos);
  EXPECT_EQ(understand("id,worker,label,comment\n1,a,x,so\n1,b,x,so\n2,a,y,why\n").report.columns,
            "task = id, worker = worker, label = label");
}

TEST(LabelTables, AreNotRefusedWithALabelThatIsOfTheTask) {
  EXPECT_NE(
      refusal("unit,golden,_worker_id,animal,image_url\n1,false,w1,cat,1.jpg\n1,false,w2,\"dog\ncat\","
              "1.jpg\n9,true,w1,dog,9.jpg\n")
          .find("(name it: --map task=unit,worker=_worker_id,label=COLUMN)"),
      std::string::npos);
}

TEST(LabelTables, TakeARowWithANameForAHeaderThoughWorkersAreCalledLikeClasses) {
  std::string table = "sentence_id,1,2\n";
  for (int row = 0; row < 40; ++row)
    table += fmt::format("{:x}-{},{},{}\n", row * 7919 % 65'536, row, row % 3, (row + row / 9) % 3);
  EXPECT_NE(refusal(table).find("--wide-workers 1,2 --map task=sentence_id"), std::string::npos);
}

TEST(LabelTables, TakeTheAnnotatorAndNotTheAccount) {
  EXPECT_EQ(understand("task,user,annotator_name,label\n" + rows_below("{task},acme,{worker},{label}"))
                .report.columns,
            "task = task, worker = annotator_name, label = label");
  EXPECT_EQ(
      understand("task,user,rater,label\n" + rows_below("{task},acme,{worker},{label}")).report.columns,
      "task = task, worker = rater, label = label");
}

TEST(LabelTables, TakeNoAuthorOfATaskForTheWorker) {
  std::string text;
  for (int t = 0; t < 9; ++t) {
    for (const char* coder : {"anna", "bernd", "carla"})
      text +=
          fmt::format("{},writer{},{},{}\n", t, t % 4, coder, (t % 2 == 0) != (t == 3 && *coder == 'a'));
  }
  EXPECT_EQ(understand("item,user,coder,label\n" + text).report.columns,
            "task = item, worker = coder, label = label" + std::string(kWorkedOut));
  EXPECT_EQ(understand("item,user,Prüferin,label\n" + text).report.columns,
            "task = item, worker = Prüferin, label = label" + std::string(kWorkedOut));
  EXPECT_EQ(understand("item,worker,coder,label\n" + text).report.columns,
            "task = item, worker = worker, label = label");
}

TEST(LabelTables, AreRefusedWhereAPropertyOfTasksIsCalledLikeALabel) {
  std::string text;
  for (int t = 0; t < 9; ++t) {
    for (const char* worker : {"anna", "bernd", "carla"})
      text += fmt::format("{},{},{},{}\n", t, t % 3 == 0 ? "toys" : "books", worker,
                          (t == 3 && *worker == 'a' ? 4 : 0) + t % 2);
  }
  EXPECT_EQ(refusal("item,category,rater,score\n" + text),
            ":1: columns 2 ('category') and 4 ('score') could both be the label: choose one, --map "
            "label=category or --map label=score");
  EXPECT_EQ(understand("item,label,rater,score\n" + text).report.columns,
            "task = item, worker = rater, label = label");
  std::string approved = "item,result,rater,said\n";
  for (const char* row :
       {"1,ok,a,x", "1,ok,b,x", "2,ok,a,y", "2,ok,b,y", "3,ok,a,x", "3,ok,b,y", "4,ok,a,y", "4,ok,b,y"})
    approved += std::string(row) + "\n";
  EXPECT_NE(refusal(approved).find("('result') and 4 ('said') could both be the label"),
            std::string::npos);
}

TEST(LabelTables, AreRefusedWhereTasksAreNamedByTwoColumns) {
  std::string text = "document,sentence,annotator,label\n";
  std::string pages = "document,image,annotator,label\n";
  for (int t = 0; t < 12; ++t) {
    for (const char* worker : {"anna", "bernd"}) {
      text += fmt::format("d{},{},{},{}\n", t / 4, t % 4, worker, t % 2);
      pages += fmt::format("d{},p{}.png,{},{}\n", t / 4, t, worker, t % 2);
    }
  }
  EXPECT_EQ(
      refusal(text),
      ":1: workers have several labels on one task; columns 1 ('document') and 2 ('sentence') seem "
      "to name the task together: write both into one column, or choose one, --map task=document");
  EXPECT_NE(refusal(pages).find("('document') and 2 ('image') could both be the task"),
            std::string::npos);
  ReadOptions options;
  options.columns = {{"task", "document"}};
  EXPECT_EQ(understand(text, options).report.notes,
            (Names{"18 of 24 labels are not the only one of their worker on their task, and one of them "
                   "counts: is this the right column for tasks? (--map task=COLUMN)"}));
}

TEST(LabelTables, OfJsonObjectsById) {
  const Understood rows = understand(
      R"({"r1": {"task": "t1", "worker": "a", "label": "x"}, "r2": {"task": "t1", "worker": "b", "label": "y"}})",
      {}, "f.json");
  EXPECT_EQ(rows.labels, (Names{"t1 a x", "t1 b y"}));
  EXPECT_EQ(rows.report.columns, "task = value.task, worker = value.worker, label = value.label");
  const Understood tasks =
      understand(R"({"t1": {"annotator": "a", "answer": "x"}, "t2": {"annotator": "b", "answer": "y"}})",
                 {}, "f.json");
  EXPECT_EQ(tasks.labels, (Names{"t1 a x", "t2 b y"}));
  const Understood wide = understand(
      R"({"t1": {"ann": "x", "bob": "x"}, "t2": {"bob": "y", "cid": "y"}, "t3": {"ann": "x", "cid": "x"},
          "t4": {"ann": "y", "bob": "y", "cid": "x"}, "t5": {"ann": "x", "bob": "x", "cid": "x"},
          "t6": {"ann": "y", "bob": "y", "cid": "y"}, "t7": {"ann": "x", "bob": "x", "cid": "x"}})",
      {}, "f.json");
  EXPECT_EQ(wide.labels.size(), 18U);
  EXPECT_EQ(wide.labels[0], "t1 ann x");
  EXPECT_EQ(wide.labels[3], "t2 cid y");
}

TEST(LabelTables, OfJsonWithAKeyPerWorkerNeedAllOfThemInSight) {
  std::string text;
  for (int t = 0; t < 150; ++t)
    text += fmt::format(R"({{"photo": "p{}", "labels": {{"ann": "{}", "w{}": "{}"}}}})", t, t % 2,
                        t / 50, t % 2) +
            "\n";
  EXPECT_EQ(understand(text, {}, "f.jsonl").labels.size(), 300U);
  EXPECT_EQ(understand(text, {}, "f.jsonl").labels[1], "p0 w0 0");
  for (int t = 150; text.size() < (std::size_t{1} << 21); ++t)
    text +=
        fmt::format(R"({{"photo": "p{}", "labels": {{"ann": "{}", "w0": "{}"}}}})", t, t % 2, t % 2) +
        "\n";
  EXPECT_NE(refusal(text, {}, "f.jsonl").find("more workers may come later"), std::string::npos);
}

TEST(LabelTables, AreRefusedWhereTwoColumnsHaveOneName) {
  EXPECT_EQ(
      refusal("Task,task,worker,label\n1,x,a,b\n"),
      ":1: columns 1 and 2 are both named 'Task', but for case and punctuation ('task'): rename one of "
      "them, or choose by number: --map task=2");
  EXPECT_EQ(
      refusal("task,task_id,worker,label\n1,x,a,b\n2,x,b,b\n1,y,c,b\n2,y,c,a\n"),
      ":1: columns 1 ('task') and 2 ('task_id') could both be the task: choose one, --map task=task or "
      "--map task=task_id");
}

TEST(LabelTables, AreRefusedWithALineToCopyWhereTheyAreNotClear) {
  EXPECT_EQ(refusal("a,b,c\nx,y,z\nu,v,w\nx,v,w\n"),
            ":1: cannot tell which column is the task, which the worker and which the label; the "
            "columns are: a, b, c "
            "(say so, perhaps --map task=b,worker=a,label=c)");
  EXPECT_EQ(
      refusal("task,label,x\n1,a,b\n"),
      ":1: cannot tell which column is the worker; the columns are: task, label, x (name it: --map "
      "task=task,label=label,worker=COLUMN)");
}

TEST(LabelTables, WithoutAHeaderKeepTheirFirstRow) {
  EXPECT_EQ(understand(rows_below("{task},{worker},{label}")).labels.size(), 18U);
  // The worker first.
  const Understood turned = understand(rows_below("{worker}\t{task}\t{label}"), {}, "f.txt");
  EXPECT_EQ(turned.report.columns,
            "task = column 2, worker = column 1, label = column 3" + std::string(kWorkedOut));
  EXPECT_EQ(turned.labels.size(), 18U);
  ReadOptions options;
  options.columns = {{"task", "3"}, {"worker", "2"}, {"label", "1"}};
  EXPECT_EQ(understand(rows_below("{label},{worker},{task}"), options).labels.size(), 18U);
  EXPECT_EQ(
      understand("Antwort,Person,Bild\n" + rows_below("{label},{worker},{task}"), options).labels.size(),
      18U);
}

// Numbers for everything, in every order of the columns: values have to say which is which.
TEST(LabelTables, WithoutAHeaderAreReadInNoOrderThatTheValuesDoNotSay) {
  const Names orders = {"{t},{w},{l}", "{t},{l},{w}", "{w},{t},{l}",
                        "{w},{l},{t}", "{l},{t},{w}", "{l},{w},{t}"};
  for (const int workers : {2, 3, 9, 30}) {
    for (const std::string& order : orders) {
      for (const int tasks : {2, 8, 60}) {
        for (const char* const before : {"", "{row},", "2026-03-02T09:00:00Z,"}) {
          std::string text;
          Names right;
          for (int t = 0; t < tasks; ++t) {
            // Some workers have more labels than others, each task has three.
            for (int j = 0; j < std::min(workers, 3); ++j) {
              const int w = (t + j * j * (1 + t % 3)) % workers;
              const int label = (t * w) % 7 == 1 ? 5 : 4 + t % 2;
              text +=
                  fmt::format(fmt::runtime(before + order + "\n"), fmt::arg("t", 700 + 3 * t),
                              fmt::arg("w", 20 + w), fmt::arg("l", label), fmt::arg("row", text.size()));
              const std::string said = fmt::format("{} {} {}", 700 + 3 * t, 20 + w, label);
              if (std::find(right.begin(), right.end(), said) == right.end()) right.push_back(said);
            }
          }
          for (const Header header : {Header::automatic, Header::no}) {
            ReadOptions options;
            options.header = header;
            options.duplicates = Duplicates::keep;
            Names labels;
            try {
              labels = understand(text, options).labels;
            } catch (const Error& error) {
              EXPECT_EQ(error.code(), ErrorCode::usage) << text;
              EXPECT_NE(std::string(error.what()).find("--map task="), std::string::npos)
                  << error.what();
              continue;
            }
            std::sort(labels.begin(), labels.end());
            labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
            std::sort(right.begin(), right.end());
            EXPECT_EQ(labels, right) << order << " of " << tasks << " by " << workers;
          }
        }
      }
    }
  }
}

TEST(LabelTables, WithoutAHeaderTakeTheRestOfAMappingFromTheValues) {
  ReadOptions options;
  options.header = Header::no;
  options.columns = {{"worker", "1"}};
  EXPECT_EQ(understand(rows_below("{worker},{task},{label}"), options).report.columns,
            "task = column 2, worker = column 1, label = column 3" + std::string(kWorkedOut));
  options.columns = {{"task", "1"}, {"worker", "1"}};
  const TempDir folder;
  const std::string path = folder.write("f.csv", rows_below("{task},{worker},{label}"));
  EXPECT_STREQ(error_of([&] { read_labels(path, options, {}); }).what(),
               "--map task=1,worker=1: a column has one role");
}

TEST(LabelTables, OfGetAnotherLabelAreNotReadByTheirPlaces) {
  EXPECT_EQ(
      refusal("worker1\turl1\tporn\nworker1\turl2\tnotporn\nworker2\turl1\tnotporn\n", {}, "f.txt"),
      ":1: no header, and the values do not say which column is the task, which the worker and "
      "which the label: say --no-header --map task=1,worker=2,label=3, or the order that it is");
}

TEST(LabelTables, MayBeWide) {
  const std::string text =
      "photo,ann,bob,carol\np1,cat,cat,dog\np2,dog,dog,dog\np3,cat,,cat\np4,dog,dog,nan\np5,cat,cat,"
      "cat\n";
  const Understood table = understand(text);
  EXPECT_EQ(table.report.columns,
            "task = photo, a column per worker: ann, bob, carol (worked out from the values; "
            "--wide-workers A,B,… or "
            "--map … to say otherwise)");
  EXPECT_EQ(table.labels.size(), 13U);
  EXPECT_EQ(table.labels[2], "p1 carol dog");
  EXPECT_EQ(table.report.rows, 15U);
  EXPECT_EQ(understand("id;text;gold;x1;x2;x3\n0;a text of some length, number 0;no;no;no;\n"
                       "1;a text of some length, number 1;yes;yes;yes;yes\n"
                       "2;a text of some length, number 2;no;no;no;\n"
                       "3;a text of some length, number 3;yes;yes;yes;yes\n"
                       "4;a text of some length, number 4;no;no;yes;\n")
                .report.columns.substr(0, 66),
            "task = id, a column per worker: x1, x2, x3; no workers: text, gold");
  ReadOptions options;
  options.wide_workers = {"ann", "3"};
  EXPECT_EQ(understand(text, options).labels.size(), 9U);
}

// A wide table of people of some quality, whose last column is made from theirs.
using Computed = std::function<std::string(const Names& labels)>;
std::string wide_with(const std::string& name, const Names& classes, const Computed& computed) {
  const Names people = {"ann", "bob", "carol", "dave", "eve"};
  std::string text = "photo,ann,bob,carol,dave,eve," + name + "\n";
  Random random(7);
  for (int row = 0; row < 120; ++row) {
    const auto truth = random.below(classes.size());
    Names labels;
    for (std::size_t w = 0; w < people.size(); ++w)
      labels.push_back(classes[random.uniform() < 0.7 ? truth : random.below(classes.size())]);
    text += fmt::format("p{},{},{}\n", row, fmt::join(labels, ","), computed(labels));
  }
  return text;
}
std::string mode_of(const Names& labels) {
  return *std::max_element(labels.begin(), labels.end(), [&](const auto& a, const auto& b) {
    return std::count(labels.begin(), labels.end(), a) < std::count(labels.begin(), labels.end(), b);
  });
}
std::string middle_of(Names labels) {
  std::sort(labels.begin(), labels.end());
  return labels[labels.size() / 2];
}
std::string mean_of(const Names& labels) {
  double sum = 0;
  for (const std::string& label : labels) sum += std::stod(label);
  return fmt::format("{:.0f}", sum / static_cast<double>(labels.size()));
}

TEST(WideTables, LeaveOutWhatIsComputedFromWorkersByItsName) {
  for (const char* name : {"mode", "Mehrheit", "median", "mean", "agreed", "Referenz", "y_true", "pred",
                           "prediction", "model", "y", "majority_vote"}) {
    const Understood table = understand(wide_with(name, {"cat", "dog", "cow"}, mode_of));
    EXPECT_EQ(table.report.columns.find(std::string("no workers: ") + name) == std::string::npos, false)
        << table.report.columns;
    EXPECT_EQ(table.labels.size(), 600U) << name;
  }
  for (const char* name : {"n_votes", "count", "num_annotators", "length", "difficulty", "page"}) {
    EXPECT_EQ(understand(wide_with(name, {"1", "2"}, [](const Names&) { return "1"; })).labels.size(),
              600U)
        << name;
  }
}

TEST(WideTables, AreRefusedWhereAColumnMayBeComputedFromTheOthers) {
  const auto refused = [](const std::string& text, const std::string& what) {
    const std::string told = refusal(text);
    EXPECT_NE(told.find("column 7 ('erg') is " + what), std::string::npos) << told;
    EXPECT_NE(
        told.find("if it is no worker, --wide-workers ann,bob,carol,dave,eve --map task=photo; if it "
                  "is one, --wide-workers ann,bob,carol,dave,eve,erg --map task=photo"),
        std::string::npos)
        << told;
  };
  refused(wide_with("erg", {"cat", "dog", "cow"}, mode_of), "the most frequent label of the others in ");
  refused(wide_with("erg", {"1", "2", "3", "4", "5"}, middle_of), "the median of the others in ");
  refused(wide_with("erg", {"1", "2", "3", "4", "5"}, mean_of), "the rounded mean of the others in ");
  refused(wide_with("erg", {"1", "2"}, [](const Names&) { return "1"; }), "'1' in all 120 rows");
  ReadOptions wide;
  wide.wide = true;
  EXPECT_NE(
      refusal(wide_with("erg", {"cat", "dog"}, mode_of), wide).find("('erg') is the most frequent"),
      std::string::npos);
  ReadOptions named;
  named.wide_workers = {"ann", "bob", "erg"};
  EXPECT_EQ(understand(wide_with("erg", {"cat", "dog"}, mode_of), named).labels.size(), 360U);
}

TEST(WideTables, AreRefusedWhereAColumnMayBeComputedFromTwo) {
  std::string text = "photo,ann,bob,erg\n";
  Random random(9);
  for (int row = 0; row < 200; ++row) {
    const bool dog = random.uniform() < 0.5;
    const bool ann = dog == (random.uniform() < 0.8);
    const bool bob = dog == (random.uniform() < 0.8);
    text += fmt::format("p{},{},{},{}\n", row, ann ? "dog" : "cat", bob ? "dog" : "cat",
                        ann && bob ? "dog" : "cat");  // as pandas' mode() has it
  }
  EXPECT_NE(refusal(text).find("column 4 ('erg') is the smaller label of the others in"),
            std::string::npos);
}

TEST(WideTables, KeepAGoodWorker) {
  Random random(3);
  EXPECT_EQ(understand(wide_with("fred", {"cat", "dog"},
                                 [&](const Names& labels) {
                                   return random.uniform() < 0.6   ? mode_of(labels)
                                          : random.uniform() < 0.5 ? "cat"
                                                                   : "dog";
                                 }))
                .labels.size(),
            720U);
}

TEST(WideTables, AreAdvisedWithTheWorkersAlone) {
  for (const char* name : {"n_votes", "count", "difficulty", "page", "previous", "label"}) {
    const std::string told =
        refusal(fmt::format("photo,ann,bob,carol,{}\np1,1,2,2,3\np2,2,1,1,1\np3,1,1,2,"
                            "2\np4,2,2,1,1\n",
                            name));
    EXPECT_NE(told.find("--wide-workers ann,bob,carol --map task=photo"), std::string::npos) << told;
  }
}

TEST(LabelTables, OfARowPerPersonAreRefusedAsThat) {
  for (const char* text :
       {"Timestamp,Email Address,Is A fine?,Is B "
        "fine?\n1,a@x.org,yes,no\n2,b@x.org,yes,yes\n3,c@x.org,no,"
        "no\n",
        "respondent,Q0,Q1,Q2\nr1,yes,no,yes\nr2,yes,yes,yes\nr3,no,no,yes\nr4,yes,no,no\n",
        "participant,Q0,Q1,Q2\n17,a,b,b\n18,a,a,b\n19,b,b,b\n20,b,a,a\n"}) {
    const std::string told = refusal(text);
    EXPECT_TRUE(
        told.starts_with(":1: a row per person and a column per question, as it seems: turn it into "
                         "a row per answer (task, worker, label)"))
        << told;
  }
}

TEST(LabelTables, RefuseAColumnWithTwoRoles) {
  const auto mapped = [](const std::string& header, const std::string& role, const std::string& column) {
    ReadOptions options;
    options.columns = {{role, column}};
    return refusal(header + "\nt1,a,x\nt1,b,y\nt2,a,x\nt2,b,x\n", options);
  };
  EXPECT_EQ(mapped("task,worker,label", "label", "task"),
            ":1: column 'task' is mapped to task and label: it is the task by its name, so name another "
            "column for that, --map task=COLUMN,label=task");
  EXPECT_EQ(mapped("task,worker,label", "task", "2").substr(0, 48),
            ":1: column 'worker' is mapped to worker and task");
  ReadOptions both;
  both.columns = {{"task", "worker"}, {"worker", "2"}};
  EXPECT_NE(refusal("task,worker,label\nt1,a,x\n", both).find("a column has one role"),
            std::string::npos);
  // Another column has a name for the role.
  ReadOptions other;
  other.columns = {{"label", "sample"}};
  EXPECT_EQ(understand("image,worker,sample\nt1,a,x\nt1,b,y\nt2,a,x\n", other).report.columns,
            "task = image, worker = worker, label = sample");
}

TEST(LabelTables, LeaveOutAHeaderInOtherWords) {
  for (const char* again : {"item,user,answer", "TASK,WORKER,LABEL", "Question ID,annotator,rating"}) {
    const Understood table =
        understand(fmt::format("task,worker,label\nt1,a,x\nt1,b,y\n{}\nt2,a,x\n", again));
    EXPECT_EQ(table.labels.size(), 3U) << again;
    EXPECT_EQ(table.report.repeated_headers, 1U) << again;
  }
  const Understood wide = understand(
      "photo,ann,bob\np1,cat,cat\np2,dog,dog\np3,cat,cat\nPHOTO,ANN,BOB\np4,dog,cat\np5,cat,cat\n");
  EXPECT_EQ(wide.labels.size(), 10U);
  EXPECT_EQ(wide.report.repeated_headers, 1U);
}

TEST(LabelTables, TellTasksInSeveralSpellings) {
  const auto notes = [](const std::string& tasks) {
    std::string text = "task,worker,label\n";
    int worker = 0;
    for (std::size_t at = 0; at < tasks.size();) {
      const std::size_t end = std::min(tasks.find('|', at), tasks.size());
      text += fmt::format("{},w{},x\n{},v{},y\n", tasks.substr(at, end - at), worker % 2,
                          tasks.substr(at, end - at), worker % 2);
      ++worker;
      at = end + 1;
    }
    const Understood table = understand(text);
    return std::string(fmt::format("{}", fmt::join(table.report.notes, "|")));
  };
  EXPECT_NE(
      notes("1|2|1.0|2.0|3")
          .find("tasks '1' (2 labels) and '1.0' (2 labels) look like one, and 1 more, and count as two: "
                "write them the same way if they are (pandas keeps numbers as they are by read_csv(…, "
                "dtype=str))"),
      std::string::npos);
  EXPECT_NE(notes("p1|P1").find("tasks 'p1' (2 labels) and 'P1' (2 labels) look like one"),
            std::string::npos);
  EXPECT_NE(notes("a b|a  b").find("tasks 'a b' (2 labels)"), std::string::npos);
  EXPECT_EQ(notes("p1|p2|p10").find("tasks '"), std::string::npos);
}

TEST(LabelTables, TellTasksInSeveralSpellingsAmongVeryMany) {
  std::string text = "task,worker,label\n";
  for (int t = 0; t < 30'000; ++t) text += fmt::format("{},a,x\n{}.0,b,y\n", t, t);
  const Understood table = understand(text);
  EXPECT_NE(table.report.notes.back().find("and 29,999 more"), std::string::npos)
      << table.report.notes.back();
}

TEST(LabelTables, TellChoicesThatWordsOrHashesJoin) {
  for (const char* joined : {"cat and dog", "cat#dog", "cat#dog#cat"}) {
    const Understood table = understand(fmt::format(
        "task,worker,label\nt1,a,cat\nt1,b,dog\nt2,a,{}\nt2,b,dog\nt3,a,cat\nt3,b,cat\n", joined));
    ASSERT_FALSE(table.report.notes.empty()) << joined;
    EXPECT_EQ(table.report.notes[0],
              fmt::format("label '{}' (1 row) may hold several choices: it counts as a class of its own",
                          joined));
  }
  const Understood list = understand(
      "task,worker,label\nt1,a,cat\nt1,b,dog\nt2,a,\"[\"\"cat\"\"]\"\nt2,b,dog\nt3,a,cat\nt3,b,cat\n");
  ASSERT_FALSE(list.report.notes.empty());
  EXPECT_EQ(
      list.report.notes[0],
      "'[\"cat\"]' (1 row) is a list of one choice beside 'cat' (3 rows): --multi-select first makes "
      "them one class");
}

TEST(LabelTables, AreRefusedWhereAnUnanimousColumnMayBeTheLabel) {
  std::string text = "document;user;is_spam;flagged\n";
  for (int t = 0; t < 30; ++t) {
    for (int w = 0; w < 3; ++w) text += fmt::format("d{};u{};{};{}\n", t, w, t % 3 % 2, (t + w * t) % 2);
  }
  EXPECT_EQ(refusal(text),
            ":1: columns 4 ('flagged') and 3 ('is_spam') could both be the label: choose one, --map "
            "label=flagged or --map label=is_spam");
}

TEST(LabelTables, SayHowToTakeNestedRowsOut) {
  EXPECT_EQ(
      refusal(R"([{"id":1,"annotations":[{"annotator":"a","label":"x"}]}])", {}, "f.json"),
      ": the rows are in an array under 'annotations': jq -c '.[] | .id as $t | .annotations[] | . + "
      "{task: $t}' makes rows of them");
  EXPECT_EQ(
      refusal(R"([{"id":1,"text":"t","annotations":[{"annotator":"a","label":"x"}]}])", {}, "f.json"),
      ": the rows are in an array under 'annotations': jq -c '.[] | .id as $t | .annotations[] | . + "
      "{task: $t}' makes rows of them");
  EXPECT_EQ(
      refusal("{\"id\":1,\"annotations\":[{\"annotator\":\"a\",\"label\":\"x\"}]}\n", {}, "f.jsonl"),
      ": the rows are in an array under 'annotations': jq -c '.id as $t | .annotations[] | . + "
      "{task: $t}' makes rows of them");
}

TEST(LabelTables, ThatAreNoneSayWhatMakesOneOfThem) {
  EXPECT_NE(refusal("\"task,worker,label\"\n\"t1,ann,x\"\n\"t1,bob,y\"\n")
                .find("each line is in quotes as a whole"),
            std::string::npos);
  EXPECT_NE(refusal("task   worker  label\nt1     ann     x\nt10    bob     y\n")
                .find("columns stand below one another by blanks"),
            std::string::npos);
  EXPECT_NE(refusal("\"image\" \"who\" \"said\"\n\"1\" \"t1\" \"ann\" \"cat\"\n")
                .find("sed '1s/^/row /' adds one"),
            std::string::npos);
  const std::string told = refusal("\"task\",\"worker\",\"label\"\n\"1\",t1,ann,x\n\"2\",t1,bob,y\n");
  EXPECT_NE(told.find("as that of R's write.table does: sed '1s/^/row,/' adds one"), std::string::npos)
      << told;
  EXPECT_NE(
      refusal("task,worker,label\nt1,ann,x\nt1,bob\n").find("--skip-bad-rows leaves such rows out"),
      std::string::npos);
}

TEST(LabelTables, TellRepeatedRowsAndFilesGivenTwice) {
  const Understood table = understand(
      "task,worker,label,created\nt1,a,x,2\nt1,b,y,1\nt1,a,y,1\nt2,a,x,1\nt2,b,x,1\nt3,a,x,1\nt3,b,y,"
      "1\n");
  ASSERT_FALSE(table.report.notes.empty());
  EXPECT_EQ(table.report.notes[0],
            "1 row is a further label of their worker on their task: the last row in the file counts, "
            "whatever 'created' says (--duplicates first: the first one)");
  const TempDir folder;
  const std::string path = folder.write("f.csv", "task,worker,label\nt1,a,x\nt1,b,y\nt2,a,y\nt2,b,y\n");
  std::vector<ReadReport> reports;
  read_labels({path, path}, {}, {}, &reports);
  EXPECT_EQ(reports.back().notes.at(0), path + " is given twice: its labels are read twice");
}

TEST(LabelTables, WithoutAnyLabelLeftAreTold) {
  ReadOptions options;
  options.without_workers = {"a", "b"};
  const Understood table = understand("task,worker,label\nt1,a,x\nt1,b,y\n", options);
  EXPECT_EQ(table.report.notes.at(0), "no label is left: --without-workers names all workers");
}

TEST(LabelTables, MayBeWideWithTwoWorkers) {
  const Understood table = understand(
      "photo,ann,bob\np1,cat,cat\np2,dog,dog\np3,cat,cat\np4,dog,cat\np5,cat,cat\np6,dog,dog\n");
  EXPECT_EQ(table.labels.size(), 12U);
  EXPECT_EQ(table.labels[1], "p1 bob cat");
  EXPECT_EQ(
      refusal("photo,blurry,dark\np1,no,no\np2,yes,no\np3,no,yes\np4,yes,yes\n"),
      ":1: cannot tell which column is the task, which the worker and which the label; the "
      "columns are: photo, "
      "blurry, dark (if there is a column per worker: --wide-workers blurry,dark --map task=photo)");
}

TEST(LabelTables, HaveNoBlanksAtTheEndsOfFields) {
  const Understood table = understand(
      "task, worker, label\nt1, ann, cat\nt1,bob ,\u00A0cat\nt2,\tann,\u200Bcat\nt2 , bob, \"cat\"\n");
  EXPECT_EQ(table.labels, (Names{"t1 ann cat", "t1 bob cat", "t2 ann cat", "t2 bob cat"}));
  EXPECT_EQ(refusal("task,worker,label\nt1, ,cat\n"), ":2:4: no worker: the field is empty");
}

TEST(LabelTables, LeaveOutHeadersThatComeAgainAndTotals) {
  const Understood table =
      understand("task,worker,label\nt1,a,x\nt1,b,y\ntask,worker,label\nt2,a,x\nt2,b,x\nTotal,,\n");
  EXPECT_EQ(table.labels.size(), 4U);
  EXPECT_EQ(table.report.rows, 4U);
  EXPECT_EQ(table.report.repeated_headers, 1U);
  EXPECT_EQ(table.report.total_rows, 1U);
}

TEST(LabelTables, LeaveOutRowsOfSeparators) {
  const Understood table = understand("task,worker,label,note\n,,,\nt1,a,x,\nt1,b,y,\n , ,,\n,,,\n");
  EXPECT_EQ(table.labels.size(), 2U);
  EXPECT_EQ(table.report.empty_rows, 3U);
  EXPECT_EQ(understand("p,w1,w2\np1,x,y\np2,x,x\n,,\n").report.empty_rows, 1U);
  EXPECT_EQ(refusal("task,worker,label\n,,x\n"), ":2:1: no task: the field is empty");
  EXPECT_EQ(refusal("{\"task\":\"t\",\"worker\":\"a\",\"label\":\"x\"}\n{\"x\":1}\n"),
            ":2:1: no task: the field is empty");
}

TEST(LabelTables, AreRefusedWhereAHeaderComesAgainInAnotherOrder) {
  const std::string told =
      ": a row has '{}' for a label, which is the name of a column: if it is a header in another order, "
      "cut the file there, and give both parts";
  EXPECT_EQ(refusal("task,worker,label\nt1,a,x\nt2,a,y\nworker,task,label\nb,t1,x\nb,t2,y\n"),
            fmt::format(fmt::runtime(told), "label"));
  EXPECT_EQ(refusal("task,worker,label,time\nt1,a,x,1\nt2,a,y,2\ntime,task,worker,label\n3,t1,b,x\n"),
            fmt::format(fmt::runtime(told), "worker"));
  EXPECT_EQ(refusal("photo,w1,w2\np1,x,y\np2,x,x\nphoto,w2,w1\np3,y,x\n"),
            fmt::format(fmt::runtime(told), "w1"));
}

TEST(LabelTables, MayBeginBelowOtherLines) {
  const std::string table = "task,worker,label\nt1,a,x\nt1,b,y\n";
  const Understood skipped = understand("Results of March\n\nexported,2026-03-02\n" + table);
  EXPECT_EQ(skipped.labels.size(), 2U);
  EXPECT_EQ(skipped.report.notes,
            (Names{"the table begins in line 4: the lines above it are left out"}));
  ReadOptions options;
  options.skip_lines = 3;
  EXPECT_EQ(understand("Results of March\n\nexported,2026-03-02\n" + table, options).labels.size(), 2U);
  const Understood unknown =
      understand("Results of March\n\nPhoto,Who,What\n" + rows_below("{task},{worker},{label}"));
  EXPECT_EQ(unknown.labels.size(), 18U);
  EXPECT_EQ(unknown.report.notes,
            (Names{"the table begins in line 3: the lines above it are left out"}));
  EXPECT_EQ(refusal("Results of March\n\nPhoto,Who,What\np1,ann,yes\np1,bob,no\n"),
            ":1: this line has fewer fields than the 3 from line 3 on: if the table begins there, "
            "--skip-lines 2");
  EXPECT_EQ(refusal("Results, March\n\nPhoto,Who,What\n" + rows_below("{task},{worker},{label}")),
            ":1: this line has fewer fields than the 3 from line 3 on: if the table begins there, "
            "--skip-lines 2");
  EXPECT_EQ(understand("sep=;\n" + std::string("task;worker;label\nt1;a,b;x\n")).labels,
            (Names{"t1 a,b x"}));
  EXPECT_EQ(understand("task|worker|label\nt1|a|x,y\nt1|b|y\n").labels.size(), 2U);
}

TEST(LabelTables, CountErrorsFromTheFirstLineOfTheFile) {
  EXPECT_EQ(refusal("Results\n\ntask,worker,label\nt1,a,x\nt1,,y\n"),
            ":5:4: no worker: the field is empty");
  ReadOptions options;
  options.skip_lines = 1;
  EXPECT_EQ(refusal("x,y,z\ntask,worker,label\nt1,,y\n", options),
            ":3:4: no worker: the field is empty");
}

TEST(LabelTables, HaveSeveralAbstentions) {
  ReadOptions options;
  options.abstain = {"N/A", "unsure", "never"};
  const Understood table =
      understand("task,worker,label\nt1,a,x\nt1,b,N/A\nt2,a,unsure\nt2,b,y\n", options);
  EXPECT_EQ(table.labels, (Names{"t1 a x", "t2 b y"}));
  EXPECT_EQ(table.report.notes, (Names{"--abstain never: no label is 'never'"}));
}

TEST(LabelTables, MergeSpellingsOnAnyNumberOfThreads) {
  std::string text = "task,worker,label\n";
  for (int row = 0; row < 30'000; ++row)
    text += fmt::format("t{},w{},{}\n", row / 3, row % 3,
                        row % 5 == 0   ? "CAT"
                        : row % 2 == 0 ? "Cat"
                                       : "dog");
  const TempDir folder;
  const std::string path = folder.write("f.csv", text);
  ReadOptions options;
  options.fold_case = true;
  options.block_bytes = 1 << 12;
  for (const int count : {1, 3}) {
    RunContext context;
    context.threads = count;
    EXPECT_EQ(names_of(read_labels(path, options, context).classes()), (Names{"CAT", "dog"}));
  }
}

TEST(LabelTables, AreReadOneAfterAnother) {
  const TempDir folder;
  const Names paths = {folder.write("a.csv", "task,worker,label\nt1,a,x\nt1,b,y\n"),
                       folder.write("b.tsv", "label\tworker\ttask\nx\ta\tt2\ny\tc\tt1\n")};
  std::vector<ReadReport> reports;
  const Labels labels = read_labels(paths, {}, {}, &reports);
  EXPECT_EQ(labels.num_labels(), 4U);
  EXPECT_EQ(names_of(labels.tasks()), (Names{"t1", "t2"}));
  EXPECT_EQ(labels.task(0).size(), 3U);
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0].rows, 2U);
  EXPECT_EQ(reports[1].rows, 2U);
  EXPECT_EQ(reports[1].format, "tsv");
  ReadOptions strict;
  strict.duplicates = Duplicates::error;
  const std::string again = folder.write("c.csv", "task,worker,label\nt9,a,x\nt1,b,y\n");
  EXPECT_EQ(error_of([&] { read_labels(Names{paths[0], again}, strict, {}); }).location().line, 3U);
}

TEST(Truths, UnderOtherNamesAreReadToo) {
  const TempDir folder;
  Labels labels =
      testing::labels_of({{"t1", "u", "a"}, {"t1", "v", "b"}, {"t2", "u", "b"}, {"t3", "u", "b"}});
  ReadReport report;
  EXPECT_EQ(read_truths(folder.write("t.csv", "Bild;Antwort\nt2;b\nt1;a\nt3;b\n"), labels, {}, &report),
            (std::vector<ClassId>{0, 1, 1}));
  EXPECT_EQ(read_truths(folder.write("v.csv", "correct_answer,item\nb,t2\na,t1\nb,t3\n"), labels, {}),
            (std::vector<ClassId>{0, 1, 1}));
  EXPECT_EQ(read_truths(folder.write("u.csv", "t2,b\nt1,a\nt3,b\n"), labels, {}),
            (std::vector<ClassId>{0, 1, 1}));
}

// Eight tasks, each with labels of both classes.
Labels labels_of_eight() {
  std::vector<testing::LabelRow> rows;
  for (int t = 0; t < 8; ++t) {
    rows.push_back({fmt::format("q{}", t), "u", "cat"});
    rows.push_back({fmt::format("q{}", t), "v", "dog"});
  }
  return testing::labels_of(rows);
}
std::string truths_of_eight(const std::string& header, const std::string& format) {
  std::string text = header + "\n";
  for (int t = 0; t < 8; ++t) {
    text += fmt::format(fmt::runtime(format + "\n"), fmt::arg("task", fmt::format("q{}", t)),
                        fmt::arg("truth", t % 2 == 0 ? "cat" : "dog"));
  }
  return text;
}

TEST(Truths, AreTheColumnThatIsCalledSoAlsoBesideLabels) {
  const TempDir folder;
  Labels labels = labels_of_eight();
  const std::vector<ClassId> right = {0, 1, 0, 1, 0, 1, 0, 1};
  for (const auto& [header, format] : std::vector<std::pair<std::string, std::string>>{
           {"task,label,gold", "{task},cat,{truth}"},
           {"task,worker,label,ground_truth", "{task},u,dog,{truth}"},
           {"id,answer key,text", "{task},{truth},some text"},
           {"id,text,reference", "{task},some text,{truth}"},
           {"y,item", "{truth},{task}"},
           {"target;question;split", "{truth};{task};test"}})
    EXPECT_EQ(read_truths(folder.write("t.csv", truths_of_eight(header, format)), labels, {}), right)
        << header;
  EXPECT_EQ(read_truths(folder.write("t.csv", truths_of_eight("", "{truth},{task}")), labels, {}),
            right);
}

TEST(Truths, OfNoClassOrSeveralAreAnErrorOrSkipped) {
  const TempDir folder;
  Labels labels = labels_of_eight();
  const auto why = [&](const std::string& rows) {
    const std::string path = folder.write("t.csv", "task,truth\n" + rows);
    return std::string(error_of([&] { read_truths(path, labels, {}); }).what()).substr(path.size());
  };
  EXPECT_EQ(why("q0,cat\nq1,cat;dog\n"),
            ":3:4: 'cat;dog' are several classes, and a task has one: --multi-select says what they are "
            "(--skip-bad-rows leaves such truths out)");
  EXPECT_EQ(why("q0,N/A\n"),
            ":2:4: 'N/A' may mean that the truth is not known (--skip-bad-rows leaves such truths out)");
  ReadOptions options;
  options.skip_bad_rows = true;
  const std::string other = folder.write("o.csv", "task,truth\nid7,cat\nid8,dog\n");
  EXPECT_EQ(
      std::string(error_of([&] { read_truths(other, labels, options); }).what()).substr(other.size()),
      ": no row is the truth of a task that is there; the first: " + other +
          ":2:1: task 'id7' is not there; tasks are such as 'q0' (--skip-bad-rows leaves such truths "
          "out)");
}

TEST(Truths, InsideAnExportAreNotReadFromIt) {
  const TempDir folder;
  Labels labels = labels_of_eight();
  const std::string path = folder.write(
      "e.json",
      R"([{"id":1,"data":{},"annotations":[{"id":1,"completed_by":1,"ground_truth":true,"result":[]}]}])");
  const Error error = error_of([&] { read_truths(path, labels, {}); });
  EXPECT_EQ(error.code(), ErrorCode::usage);
  EXPECT_NE(std::string(error.what()).find("--truth-out"), std::string::npos);
}

TEST(Truths, ThatShareNoSpellingWithTheLabelsAreTold) {
  const TempDir folder;
  Labels labels = testing::labels_of({{"t1", "u", "cat"}, {"t2", "v", "dog"}});
  ReadReport report;
  const std::string path = folder.write("t.csv", "task,label\nt2,Dog\nt1,Cat\n");
  read_truths(path, labels, {}, &report);
  EXPECT_EQ(report.notes, (Names{"no truth is a class that a label names: truths are such as 'Dog', "
                                 "labels such as 'cat'; write both "
                                 "the same way (--fold-case and --normalize help)"}));
  ReadOptions options;
  options.fold_case = true;
  labels = testing::labels_of({{"t1", "u", "cat"}, {"t2", "v", "dog"}});
  EXPECT_EQ(read_truths(path, labels, options, &report), (std::vector<ClassId>{0, 1}));
  EXPECT_EQ(report.notes, Names());
}

}  // namespace
}  // namespace crowdfold
