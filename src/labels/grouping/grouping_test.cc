#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/random.h"
#include "labels/duplicates.h"
#include "labels/grouping/ordered_grouper.h"
#include "labels/grouping/partitioned_grouper.h"
#include "labels/grouping/row_grouper.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::describe;
using testing::LabelRow;

// Rows cut into blocks of random size, each read by one of `readers`, as parallel reading does.
struct Cut {
  std::size_t begin;
  std::size_t end;
  int reader;
};

std::vector<Cut> cut_into_blocks(std::size_t rows, int readers, Random& random) {
  std::vector<Cut> blocks;
  for (std::size_t at = 0; at < rows || blocks.empty();) {
    const std::size_t end = std::min<std::size_t>(rows, at + random.below(100));  // empty ones as well
    blocks.push_back({at, end, static_cast<int>(random.below(static_cast<std::uint64_t>(readers)))});
    at = end;
  }
  return blocks;
}

template <class Writer>
typename Writer::Block write(const std::vector<LabelRow>& rows, const Cut& cut, std::size_t sequence,
                             Writer& writer) {
  typename Writer::Block block;
  block.sequence = static_cast<std::uint32_t>(sequence);
  writer.begin(block);
  for (std::size_t at = cut.begin; at < cut.end;) {
    RowBatch batch;
    for (; at < cut.end && !batch.full(); ++at)
      batch.push(rows[at].task, rows[at].worker, rows[at].label);
    writer.add(batch);
  }
  return block;
}

constexpr int kMostReaders = 4;

// Keeps what it takes.
class Taken : public TasksAhead {
 public:
  void take(const Tasks& tasks) override {
    complete_ = complete_ && !withdrawn && tasks.first == num_tasks;
    for (std::size_t i = 0; i + 1 < tasks.ends.size(); ++i) {
      for (std::uint64_t j = tasks.ends[i]; j < tasks.ends[i + 1]; ++j) {
        complete_ =
            complete_ && tasks.workers[j] < tasks.num_workers && tasks.classes[j] < tasks.num_classes;
        labels.emplace_back(num_tasks, tasks.workers[j], tasks.classes[j]);
      }
      ++num_tasks;
    }
  }
  void withdraw() override { withdrawn = true; }

  // Whether it was told the truth about these labels.
  bool agrees(const Labels& all) const {
    if (withdrawn) return true;
    std::vector<std::tuple<TaskId, WorkerId, ClassId>> expected;
    for (TaskId t = 0; t < all.num_tasks(); ++t) {
      for (std::size_t j = 0; j < all.task(t).size(); ++j)
        expected.emplace_back(t, all.task(t).workers[j], all.task(t).classes[j]);
    }
    return complete_ && num_tasks == all.num_tasks() && labels == expected;
  }

  bool withdrawn = false;
  TaskId num_tasks = 0;
  std::vector<std::tuple<TaskId, WorkerId, ClassId>> labels;

 private:
  bool complete_ = true;
};

Labels group_ordered(const std::vector<LabelRow>& rows, const std::vector<Cut>& blocks, Duplicates rule,
                     int threads, TasksAhead* ahead = nullptr) {
  std::vector<BlockWriter> writers;
  for (int reader = 0; reader < kMostReaders; ++reader) writers.emplace_back(reader);
  OrderedGrouper grouper(rule, ahead);
  for (std::size_t i = 0; i < blocks.size(); ++i)
    grouper.append(write(rows, blocks[i], i, writers[static_cast<std::size_t>(blocks[i].reader)]));
  return grouper.finish(threads);
}

Labels group_partitioned(const std::vector<LabelRow>& rows, const std::vector<Cut>& blocks,
                         Duplicates rule, unsigned bits, int threads, TasksAhead* ahead = nullptr) {
  // Heads that some names begin with, and others do not; some are a number behind the second.
  const std::vector<NameHead> heads = {NameHead({"t-------a", "t-------b"}), NameHead({"ta", "tb"}),
                                       NameHead()};
  const NameHead& head = heads[bits % heads.size()];
  PartitionedGrouper grouper(rule, bits, kMostReaders, {}, head);
  std::vector<BlockSummary> summaries(blocks.size());
  // Readers run ahead of one another: here, the last ones as far as can be.
  for (int reader = kMostReaders; reader-- > 0;) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (blocks[i].reader == reader) summaries[i] = write(rows, blocks[i], i, grouper.packer(reader));
    }
  }
  for (const BlockSummary& block : summaries) grouper.append(block);
  RunContext context;
  context.threads = threads;
  return grouper.finish(context, ahead);
}

// The same for rows that come with ids.
Labels group_ids(const std::vector<LabelRow>& rows, const std::vector<Cut>& blocks, Duplicates rule,
                 RowGrouper::Rows times, int threads) {
  NameTable tasks, workers, classes;
  RowGrouper grouper(rule, times);
  const auto give = [&](void (RowGrouper::*take)(const IdRows&)) {
    for (const Cut& cut : blocks) {
      std::vector<TaskId> t;
      std::vector<WorkerId> w;
      std::vector<ClassId> c;
      for (std::size_t i = cut.begin; i < cut.end; ++i) {
        t.push_back(tasks.intern(rows[i].task));
        w.push_back(workers.intern(rows[i].worker));
        c.push_back(rows[i].label.empty() ? kNoClass
                                          : static_cast<ClassId>(classes.intern(rows[i].label)));
      }
      (grouper.*take)({t, w, c});
    }
  };
  give(&RowGrouper::add);
  if (grouper.wants_rows_again()) give(&RowGrouper::add_again);
  return grouper.build({std::move(tasks), std::move(workers), std::move(classes)}, threads);
}

// What grouping means, in the simplest way there is.
std::string expected(const std::vector<LabelRow>& rows, Duplicates rule) {
  std::vector<std::string> tasks, workers, classes;
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> labels;
  std::uint64_t abstentions = 0, duplicates = 0, count = 0;
  const auto note = [](std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const LabelRow& row : rows) {
    note(tasks, row.task);
    note(workers, row.worker);
    if (row.label.empty()) {
      ++abstentions;
      continue;
    }
    note(classes, row.label);
    auto& list = labels[row.task];
    const auto same =
        std::find_if(list.begin(), list.end(), [&](const auto& l) { return l.first == row.worker; });
    if (rule == Duplicates::keep || same == list.end()) {
      list.emplace_back(row.worker, row.label);
      ++count;
      continue;
    }
    ++duplicates;
    if (rule == Duplicates::last) same->second = row.label;
  }
  std::string text;
  for (const std::string& task : tasks) {
    text += task;
    text += ':';
    for (const auto& [worker, label] : labels[task])
      text.append(" ").append(worker).append("=").append(label);
    text += '\n';
  }
  for (const std::string& name : workers) text += name + ",";
  text += "\n";
  for (const std::string& name : classes) text += name + ",";
  text += "\n" + std::to_string(count) + " labels, " + std::to_string(rows.size()) + " rows, " +
          std::to_string(abstentions) + " abstentions, " + std::to_string(duplicates) +
          " duplicates, 0 skipped\n";
  return text;
}

// Names short, of 22 bytes, long, and one that is the tail of another behind "t-------"; abstentions;
// repeated pairs.
std::vector<LabelRow> random_rows(Random& random, std::size_t count, std::uint64_t tasks) {
  const auto name = [&](char kind, std::uint64_t i) {
    if (i % 4 == 3) return std::string(13, '-') + std::to_string(i - 2);
    return kind + std::string(i % 4 * 20, '-') + std::to_string(i);
  };
  std::vector<LabelRow> rows;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t label = random.below(6);
    rows.push_back({name('t', random.below(tasks)), name('w', random.below(15)),
                    label == 0 ? "" : name('c', label)});
  }
  return rows;
}

RC_GTEST_PROP(Grouping, GivesTheSameLabelsByEveryWayForAnyBlocksReadersAndRule, (std::uint64_t seed)) {
  Random random(seed);
  std::vector<LabelRow> rows = random_rows(random, random.below(600), 1 + random.below(80));
  // As they come, by task as texts, or as numbers: sorted, but for what stands at the end.
  const auto sorted_by = random.below(3);
  if (sorted_by > 0) {
    const auto key = [&](const LabelRow& row) {
      return std::pair(sorted_by == 1 ? 0 : row.task.size(), row.task);
    };
    const auto end = rows.end() - static_cast<std::ptrdiff_t>(random.below(1 + rows.size() / 2) / 2);
    std::stable_sort(rows.begin(), end, [&](const auto& a, const auto& b) { return key(a) < key(b); });
  }
  const auto rule = std::vector{Duplicates::last, Duplicates::first, Duplicates::keep}[random.below(3)];
  const int readers = 1 + static_cast<int>(random.below(kMostReaders));
  const int threads = 1 + static_cast<int>(random.below(4));
  const auto bits = static_cast<unsigned>(random.below(7));
  const std::vector<Cut> blocks = cut_into_blocks(rows.size(), readers, random);
  const std::string wanted = expected(rows, rule);
  RC_ASSERT(describe(group_ordered(rows, blocks, rule, threads)) == wanted);
  RC_ASSERT(describe(group_partitioned(rows, blocks, rule, bits, threads)) == wanted);
  for (const auto times : {RowGrouper::Rows::once, RowGrouper::Rows::twice})
    RC_ASSERT(describe(group_ids(rows, blocks, rule, times, threads)) == wanted);

  // The same with somebody who takes tasks ahead: labels of both, or a withdrawal.
  Taken ordered;
  Taken partitioned;
  const Labels labels = group_ordered(rows, blocks, rule, threads, &ordered);
  RC_ASSERT(describe(labels) == wanted);
  RC_ASSERT(ordered.agrees(labels));
  RC_ASSERT(describe(group_partitioned(rows, blocks, rule, bits, threads, &partitioned)) == wanted);
  RC_ASSERT(!partitioned.withdrawn && partitioned.agrees(labels));
}

TEST(Grouping, GivesTasksAheadUnlessTheyChange) {
  const auto given = [](const std::vector<LabelRow>& rows, Duplicates rule) {
    Taken taken;
    const Labels labels = group_ordered(rows, {{0, 2, 0}, {2, rows.size(), 0}}, rule, 1, &taken);
    EXPECT_TRUE(taken.agrees(labels));
    return !taken.withdrawn;
  };
  const std::vector<LabelRow> grouped = {
      {"a", "u", "x"}, {"a", "v", "y"}, {"b", "u", "x"}, {"c", "v", ""}};
  EXPECT_TRUE(given(grouped, Duplicates::last));
  const std::vector<LabelRow> comes_back = {{"a", "u", "x"}, {"b", "v", "y"}, {"a", "v", "x"}};
  EXPECT_FALSE(given(comes_back, Duplicates::last));
  const std::vector<LabelRow> twice = {{"a", "u", "x"}, {"b", "v", "y"}, {"b", "v", "x"}};
  EXPECT_FALSE(given(twice, Duplicates::last));
  EXPECT_TRUE(given(twice, Duplicates::keep));
}

RC_GTEST_PROP(Grouping, RefusesASecondLabelByEitherWayAndNamesTheSameOne, (std::uint64_t seed)) {
  Random random(seed);
  const std::vector<LabelRow> rows = random_rows(random, 40 + random.below(100), 1 + random.below(50));
  std::set<std::pair<std::string, std::string>> seen;
  std::set<std::pair<std::string, std::string>> repeated;
  for (const LabelRow& row : rows) {
    if (!row.label.empty() && !seen.insert({row.task, row.worker}).second)
      repeated.insert({row.task, row.worker});
  }
  const std::vector<Cut> blocks = cut_into_blocks(rows.size(), 2, random);
  const auto offender = [&](auto&& group) -> std::pair<std::string, std::string> {
    try {
      group();
    } catch (const DuplicateLabel& error) {
      return {error.task, error.worker};
    }
    return {};
  };
  for (const int threads : {1, 3}) {
    const auto ordered = offender([&] { group_ordered(rows, blocks, Duplicates::error, threads); });
    const auto partitioned =
        offender([&] { group_partitioned(rows, blocks, Duplicates::error, 3, threads); });
    const auto by_ids =
        offender([&] { group_ids(rows, blocks, Duplicates::error, RowGrouper::Rows::twice, threads); });
    RC_ASSERT(ordered.first.empty() == repeated.empty());
    RC_ASSERT(partitioned.first.empty() == repeated.empty());
    RC_ASSERT(by_ids.first.empty() == repeated.empty());
    if (repeated.empty()) continue;
    RC_ASSERT(repeated.contains(ordered));
    RC_ASSERT(by_ids == ordered);
    for (const unsigned bits : {1U, 3U, 5U}) {
      RC_ASSERT(offender([&] { group_partitioned(rows, blocks, Duplicates::error, bits, threads); }) ==
                ordered);
    }
  }
}

TEST(Grouping, KeepsTasksWhereEveryoneAbstained) {
  const std::vector<LabelRow> rows = {{"b", "u", ""}, {"a", "u", "x"}, {"c", "v", ""}, {"b", "v", ""}};
  Random random(1);
  const std::vector<Cut> blocks = cut_into_blocks(rows.size(), 1, random);
  const std::string text =
      "b:\na: u=x\nc:\nu,v,\nx,\n1 labels, 4 rows, 3 abstentions, 0 duplicates, 0 skipped\n";
  EXPECT_EQ(describe(group_ordered(rows, blocks, Duplicates::last, 1)), text);
  EXPECT_EQ(describe(group_partitioned(rows, blocks, Duplicates::last, 4, 1)), text);
}

TEST(Grouping, KnowsTasksThatComeBackAfterTheyAscended) {
  Random random(1);
  for (const char* const back : {"t1", "t09", "t10", "t2"}) {
    const std::vector<LabelRow> rows = {{"t09", "u", "x"}, {"t1", "u", "x"}, {"t10", "u", "x"},
                                        {"t2", "u", "y"},  {back, "v", "y"}, {"t3", "v", "x"}};
    for (int turn = 0; turn < 20; ++turn) {
      const std::vector<Cut> blocks = cut_into_blocks(rows.size(), 2, random);
      EXPECT_EQ(describe(group_ordered(rows, blocks, Duplicates::last, 1)),
                expected(rows, Duplicates::last));
    }
  }
}

TEST(Ascent, HoldsForNamesInTheOrderOfTextsOrOfNumbers) {
  const auto ascends = [](const std::vector<std::string>& names) {
    Ascent ascent;
    for (std::size_t i = 1; i < names.size(); ++i) ascent.add(names[i - 1], names[i]);
    return ascent.holds();
  };
  EXPECT_TRUE(ascends({"a", "aa", "ab", "b"}));
  EXPECT_TRUE(ascends({"t8", "t9", "t10", "t11"}));
  EXPECT_TRUE(ascends({"t\x7F", "t\xFF"}));
  EXPECT_FALSE(ascends({"t8", "t10", "t11", "t9"}));
  EXPECT_FALSE(ascends({"b", "a"}));
  EXPECT_FALSE(ascends({"a", "a"}));
}

TEST(Partitions, TellNumberedTasksApartAndFillAlikeWhateverTheNumbersHaveInCommon) {
  for (const unsigned bits : {1U, 6U, 10U}) {
    for (const std::uint32_t step : {1U, 10U, 64U, 1024U}) {
      constexpr std::uint32_t kTasks = 30'000;
      std::vector<std::set<std::uint32_t>> partitions(std::size_t{1} << bits);
      for (std::uint32_t i = 0; i < kTasks; ++i) {
        CutName name;
        name.number = i * step;
        const bool is_new =
            partitions[partition_of(name, bits)].insert(within_partition(name, bits).number).second;
        ASSERT_TRUE(is_new);
      }
      const double even = kTasks / static_cast<double>(partitions.size());
      for (const auto& partition : partitions)
        EXPECT_NEAR(static_cast<double>(partition.size()), even, 6 * std::sqrt(even))
            << bits << ' ' << step;
    }
  }
}

// The first names of workers are numbers; those that follow are not, or look like them.
TEST(ReaderIds, KnowWorkersByNumbersAndByOtherNames) {
  BlockWriter writer;
  LabelBlock block;
  writer.begin(block);
  RowBatch first;
  first.push("t", "w17", "x");
  first.push("t", "w18", "x");
  writer.add(first);
  RowBatch others;
  const std::string long_name = "w17" + std::string(40, '7');
  for (const std::string_view worker :
       {"w17", "17", "w017", "w", "v17", "w17x", "w99999999", "w999999999"})
    others.push("t", worker, "x");
  others.push("t", long_name, "x");
  writer.add(others);
  writer.add(others);
  const std::vector<std::uint32_t> ids(block.workers.begin(), block.workers.end());
  EXPECT_EQ(ids, (std::vector<std::uint32_t>{0, 1, 0, 2, 3, 4, 5, 6, 7, 8, 9,  //
                                             0, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(block.new_workers, (std::vector<std::string>{"w17", "w18", "17", "w017", "w", "v17", "w17x",
                                                         "w99999999", "w999999999", long_name}));
}

TEST(Grouping, OfNothingIsNothing) {
  EXPECT_EQ(group_ordered({}, {}, Duplicates::last, 2).num_tasks(), 0U);
  EXPECT_EQ(group_partitioned({}, {}, Duplicates::last, 4, 2).num_tasks(), 0U);
}

TEST(Grouping, ClosesGapsOfDuplicatesOverManyTasks) {
  // More tasks than one thread takes at a time, every third with a duplicate.
  std::vector<LabelRow> rows;
  for (int t = 0; t < 40'000; ++t) {
    rows.push_back({std::to_string(t), "u", "a"});
    if (t % 3 == 0) rows.push_back({std::to_string(t), "u", "b"});
    rows.push_back({std::to_string(t), "v", "a"});
  }
  Random random(2);
  const std::vector<Cut> blocks = cut_into_blocks(rows.size(), 3, random);
  const Labels ordered = group_ordered(rows, blocks, Duplicates::last, 3);
  EXPECT_EQ(ordered.num_labels(), 80'000U);
  EXPECT_EQ(ordered.rows().duplicates, 13'334U);
  for (TaskId t = 0; t < ordered.num_tasks(); ++t) {
    const TaskLabels task = ordered.task(t);
    ASSERT_EQ(task.size(), 2U);
    ASSERT_EQ(ordered.classes()[task.classes[0]], t % 3 == 0 ? "b" : "a");
  }
  EXPECT_EQ(describe(group_partitioned(rows, blocks, Duplicates::last, 5, 2)), describe(ordered));
}

TEST(Grouping, RefusesToBuildWhenRowsDidNotComeAgain) {
  RowGrouper grouper(Duplicates::last, RowGrouper::Rows::twice);
  const std::vector<TaskId> tasks = {0, 1, 0};
  const std::vector<WorkerId> workers = {0, 0, 0};
  const std::vector<ClassId> classes = {0, 0, 0};
  grouper.add({tasks, workers, classes});
  ASSERT_TRUE(grouper.wants_rows_again());
  EXPECT_EQ(testing::error_of([&] { grouper.build({}); }).code(), ErrorCode::internal);
}

TEST(Grouping, RefusesATaskWhoseLabelsCannotBeCounted) {
  LabelNames names;
  names.tasks.intern("t");
  names.workers.intern("w");
  names.classes.intern("c");
  const std::vector<std::uint32_t> sizes = {0};  // what 2^32 labels look like in 32 bits
  const Error error = testing::error_of([&] {
    grouped_labels(Duplicates::keep, sizes, {0, 0}, {0, 0}, names, {});
  });
  EXPECT_EQ(error.code(), ErrorCode::data);
  EXPECT_STREQ(error.what(), "a task has more than 4294967295 labels: they do not fit");
}

TEST(Grouping, StopsWhenItIsCancelled) {
  const std::vector<LabelRow> rows = {{"t", "u", "a"}};
  PartitionedGrouper grouper(Duplicates::last, 2, 1);
  grouper.append(write(rows, {0, 1, 0}, 0, grouper.packer(0)));
  const std::atomic<bool> cancelled = true;
  RunContext context;
  context.cancelled = &cancelled;
  EXPECT_EQ(testing::error_of([&] { grouper.finish(context); }).code(), ErrorCode::interrupted);
}

}  // namespace
}  // namespace crowdfold
