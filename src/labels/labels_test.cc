#include "crowdfold/labels.h"

#include <gtest/gtest.h>

#include <array>

#include "support.h"

namespace crowdfold {
namespace {

using testing::describe;
using testing::error_of;
using testing::labels_of;
using testing::names_of;

TEST(LabelsBuilder, GroupsRowsByTaskInOrderOfFirstAppearance) {
  const Labels labels =
      labels_of({{"t2", "v", "no"}, {"t1", "u", "yes"}, {"t2", "u", "yes"}, {"t1", "w", "no"}});
  EXPECT_EQ(describe(labels),
            "t2: v=no u=yes\n"
            "t1: u=yes w=no\n"
            "v,u,w,\n"
            "no,yes,\n"
            "4 labels, 4 rows, 0 abstentions, 0 duplicates, 0 skipped\n");
  EXPECT_EQ(labels.task(1).index, 1U);
}

TEST(LabelsBuilder, CountsAnEmptyLabelAsAnAbstentionAndKeepsItsTaskAndWorker) {
  const Labels labels = labels_of({{"t1", "u", ""}, {"t2", "v", "a"}, {"t2", "u", ""}});
  EXPECT_EQ(describe(labels),
            "t1:\n"
            "t2: v=a\n"
            "u,v,\n"
            "a,\n"
            "1 labels, 3 rows, 2 abstentions, 0 duplicates, 0 skipped\n");
}

TEST(LabelsBuilder, FollowsTheRuleForDuplicates) {
  const std::vector<testing::LabelRow> rows = {
      {"t", "u", "a"}, {"t", "v", "b"}, {"s", "u", "c"}, {"t", "u", "b"}, {"t", "u", "c"}};
  EXPECT_TRUE(describe(labels_of(rows, Duplicates::last)).starts_with("t: u=c v=b\ns: u=c\n"));
  EXPECT_TRUE(describe(labels_of(rows, Duplicates::first)).starts_with("t: u=a v=b\ns: u=c\n"));
  EXPECT_TRUE(describe(labels_of(rows, Duplicates::keep)).starts_with("t: u=a v=b u=b u=c\ns: u=c\n"));
  EXPECT_EQ(labels_of(rows, Duplicates::last).rows().duplicates, 2U);
  EXPECT_EQ(labels_of(rows, Duplicates::first).num_labels(), 3U);

  const Error error = error_of([&] { labels_of(rows, Duplicates::error); });
  EXPECT_EQ(error.code(), ErrorCode::data);
  EXPECT_NE(std::string(error.what()).find("worker 'u' labels task 't' a second time"),
            std::string::npos)
      << error.what();
}

TEST(LabelsBuilder, DoesNotTakeALabelAfterAnAbstentionForADuplicate) {
  const Labels labels = labels_of({{"t", "u", "a"}, {"t", "u", ""}}, Duplicates::error);
  EXPECT_EQ(labels.num_labels(), 1U);
  EXPECT_EQ(labels.rows().duplicates, 0U);
}

TEST(LabelsBuilder, IsEmptyAfterBuildingAndKeepsItsRule) {
  LabelsBuilder builder(Duplicates::keep);
  builder.add("t", "u", "a");
  EXPECT_EQ(builder.build().num_labels(), 1U);
  EXPECT_EQ(builder.build().num_tasks(), 0U);
  builder.add("t", "u", "b");
  builder.add("t", "u", "b");
  const Labels labels = builder.build();
  EXPECT_EQ(labels.num_labels(), 2U);
  EXPECT_EQ(names_of(labels.classes()), std::vector<std::string>{"b"});
}

TEST(LabelsBuilder, HoldsMoreRowsThanOneBlock) {
  LabelsBuilder builder;
  constexpr int kTasks = 10'000;
  for (int pass = 0; pass < 5; ++pass) {
    for (int t = 0; t < kTasks; ++t) {
      builder.add("t" + std::to_string(t), "w" + std::to_string(pass), std::to_string((t + pass) % 3));
    }
  }
  const Labels labels = builder.build();
  ASSERT_EQ(labels.num_tasks(), kTasks);
  ASSERT_EQ(labels.num_labels(), 5U * kTasks);
  for (TaskId t = 0; t < kTasks; ++t) {
    const TaskLabels task = labels.task(t);
    ASSERT_EQ(labels.tasks()[t], "t" + std::to_string(t));
    for (std::size_t j = 0; j < 5; ++j) {
      ASSERT_EQ(task.workers[j], j);
      ASSERT_EQ(labels.classes()[task.classes[j]], std::to_string((t + j) % 3));
    }
  }
}

TEST(LabelsBuilder, TakesNamesOfAnyLengthAndBytes) {
  const std::string long_name(1000, 'x');
  const std::string bytes("\x01\xFF", 2);  // NUL is refused, see below
  const Labels labels =
      labels_of({{long_name, bytes, "a"}, {long_name, long_name, bytes}, {long_name + "y", bytes, "a"}});
  EXPECT_EQ(names_of(labels.tasks()), (std::vector<std::string>{long_name, long_name + "y"}));
  EXPECT_EQ(names_of(labels.workers()), (std::vector<std::string>{bytes, long_name}));
  EXPECT_EQ(names_of(labels.classes()), (std::vector<std::string>{"a", bytes}));
}

TEST(LabelsBuilder, RefusesMoreClassesThanIdsCanHold) {
  LabelsBuilder builder;
  const Error error = error_of([&] {
    for (int c = 0; c <= 65'534; ++c) builder.add("t", "w" + std::to_string(c), std::to_string(c));
    builder.build();
  });
  EXPECT_EQ(error.code(), ErrorCode::data);
  EXPECT_STREQ(error.what(), "more than 65534 different classes: they do not fit");
}

TEST(Labels, DropsLabelsThatSayTheSameAgainAndKeepsThoseThatContradict) {
  LabelsBuilder builder(Duplicates::keep);
  for (const auto& [task, worker, label] : std::vector<std::array<const char*, 3>>{{"1", "u", "a"},
                                                                                   {"1", "u", "a"},
                                                                                   {"1", "u", "b"},
                                                                                   {"1", "v", "a"},
                                                                                   {"2", "u", "a"},
                                                                                   {"1", "u", "b"}}) {
    builder.add(task, worker, label);
  }
  const Labels labels = drop_exact_duplicates(builder.build());
  EXPECT_EQ(
      describe(labels),
      "1: u=a u=b v=a\n2: u=a\nu,v,\na,b,\n4 labels, 6 rows, 0 abstentions, 2 duplicates, 0 skipped\n");
}

TEST(KeepLastLabels, LeavesOneLabelOfAWorkerOnATask) {
  LabelsBuilder builder(Duplicates::keep);
  for (const char* label : {"a", "b", "a", "b"}) builder.add("1", "u", label);
  builder.add("1", "v", "a");
  builder.add("2", "u", "a");
  EXPECT_EQ(
      describe(keep_last_labels(builder.build())),
      "1: u=b v=a\n2: u=a\nu,v,\na,b,\n3 labels, 6 rows, 0 abstentions, 3 duplicates, 0 skipped\n");
}

TEST(Labels, KeepTheirLabelsWhenNamesAreAdded) {
  const Labels labels = labels_of({{"1", "u", "a"}, {"2", "v", "b"}}, Duplicates::last);
  const Labels more = testing::with_more_classes(labels, {"c"});
  EXPECT_EQ(labels.num_classes(), 2U);
  EXPECT_EQ(more.num_classes(), 3U);
  EXPECT_EQ(more.num_labels(), 2U);
  EXPECT_EQ(more.classes().find("c"), 2U);
}

TEST(Labels, ClassesComeInTheOrderThatIsAskedFor) {
  const Labels labels =
      labels_of({{"1", "u", "b"}, {"1", "v", "a"}, {"2", "u", "c"}, {"2", "v", "a"}}, Duplicates::last);
  const Labels sorted = Labels(labels).with_class_order(std::vector<ClassId>{1, 0, 2});
  EXPECT_EQ(sorted.classes()[0], "a");
  EXPECT_EQ(sorted.classes()[1], "b");
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    for (std::size_t j = 0; j < labels.task(t).size(); ++j) {
      EXPECT_EQ(sorted.classes()[sorted.task(t).classes[j]],
                labels.classes()[labels.task(t).classes[j]]);
    }
  }
  EXPECT_THROW(Labels(labels).with_class_order(std::vector<ClassId>{1, 1, 2}), Error);
  EXPECT_THROW(Labels(labels).with_class_order(std::vector<ClassId>{1, 0}), Error);
}

TEST(Labels, RefuseArraysThatDoNotFitTheirNames) {
  LabelNames names;
  names.tasks.intern("1");
  const auto refused = [&names](LabelArrays arrays) {
    return error_of([&] { Labels(names, std::move(arrays), {}); }).code() == ErrorCode::internal;
  };
  EXPECT_TRUE(refused({{0, 0, 1}, {0}, {0}}));                       // a second task, without a name
  EXPECT_TRUE(refused({{0, 0}, {0}, {0}}));                          // a label of no task
  EXPECT_TRUE(refused({{0, 0}, {}, {0}}));                           // a class without a worker
  EXPECT_EQ(Labels({}, {{0, 0, 1}, {0}, {0}}, {}).num_tasks(), 2U);  // somebody else names all tasks
  EXPECT_TRUE(error_of([] {
                labels_of({{"1", "u", "a"}}, Duplicates::last).with_classes(NameTable());
              }).code() == ErrorCode::internal);
}

TEST(Labels, RefuseANameWithANulCharacter) {
  const std::string name("a\0b", 3);
  const auto message = [](const std::vector<testing::LabelRow>& rows) {
    return std::string(testing::error_of([&] { testing::labels_of(rows); }).what());
  };
  const std::string after = ", behind 'a': no name may hold one";
  EXPECT_EQ(message({{"t", "u", "x"}, {name, "u", "x"}}),
            "a NUL character in the name of a task" + after);
  EXPECT_EQ(message({{"t", name, "x"}, {"t", "u", "x"}}),
            "a NUL character in the name of a worker" + after);
  EXPECT_EQ(message({{"t", "u", name}}), "a NUL character in the name of a class" + after);
  EXPECT_EQ(testing::error_of([&] {
              testing::with_more_classes(testing::labels_of({{"t", "u", "x"}}), {name});
            }).code(),
            ErrorCode::data);
}

}  // namespace
}  // namespace crowdfold
