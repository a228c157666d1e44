#include "core/grouping.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "core/random.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::describe;
using testing::LabelRow;

// Splits rows into blocks of random size, each made by one of `readers`, as parallel reading does.
std::vector<LabelBlock> blocks_of(const std::vector<LabelRow>& rows, int readers, Random& random) {
  std::vector<BlockWriter> writers;
  for (int r = 0; r < readers; ++r) writers.emplace_back(r);
  std::vector<LabelBlock> blocks;
  for (std::size_t at = 0; at < rows.size() || blocks.empty();) {
    LabelBlock block;
    BlockWriter& writer = writers[random.below(writers.size())];
    writer.begin(block);
    const std::size_t end =
        std::min<std::size_t>(rows.size(), at + random.below(100));  // empty blocks as well
    while (at < end) {
      RowBatch batch;
      while (at < end && !batch.full()) {
        batch.push(rows[at].task, rows[at].worker, rows[at].label);
        ++at;
      }
      writer.add(batch);
    }
    block.sequence = static_cast<std::uint32_t>(blocks.size());
    blocks.push_back(std::move(block));
  }
  return blocks;
}

Labels group_ordered(const std::vector<LabelBlock>& blocks, Duplicates rule, int threads) {
  OrderedGrouper grouper(rule);
  for (const LabelBlock& block : blocks) grouper.append(block);
  return grouper.finish(threads);
}

constexpr int kMostReaders = 4;

Labels group_partitioned(const std::vector<LabelBlock>& blocks, Duplicates rule, unsigned bits,
                         int threads) {
  PartitionedGrouper grouper(rule, bits, kMostReaders);
  // Readers run ahead of one another: here, the last ones as far as can be.
  for (int reader = kMostReaders; reader-- > 0;) {
    for (const LabelBlock& block : blocks) {
      if (block.reader == reader) grouper.pack(block);
    }
  }
  for (const LabelBlock& block : blocks) grouper.append(block);
  RunContext context;
  context.threads = threads;
  return grouper.finish(context);
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
    text += task + ":";
    for (const auto& [worker, label] : labels[task]) text += " " + worker + "=" + label;
    text += "\n";
  }
  for (const std::string& name : workers) text += name + ",";
  text += "\n";
  for (const std::string& name : classes) text += name + ",";
  text += "\n" + std::to_string(count) + " labels, " + std::to_string(rows.size()) + " rows, " +
          std::to_string(abstentions) + " abstentions, " + std::to_string(duplicates) +
          " duplicates, 0 skipped\n";
  return text;
}

// Names short, of 24 bytes and long; abstentions; repeated pairs.
std::vector<LabelRow> random_rows(Random& random, std::size_t count, std::uint64_t tasks) {
  const auto name = [&](char kind, std::uint64_t i) {
    return kind + std::string(i % 3 == 0 ? 0 : i % 3 == 1 ? 20 : 40, '-') + std::to_string(i);
  };
  std::vector<LabelRow> rows;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t label = random.below(6);
    rows.push_back({name('t', random.below(tasks)), name('w', random.below(15)),
                    label == 0 ? "" : name('c', label)});
  }
  return rows;
}

RC_GTEST_PROP(Grouping, GivesTheSameLabelsByEitherWayForAnyBlocksReadersAndRule, (std::uint64_t seed)) {
  Random random(seed);
  std::vector<LabelRow> rows = random_rows(random, random.below(600), 1 + random.below(80));
  if (random.below(2) == 0) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.task < b.task; });
  }
  const auto rule = std::vector{Duplicates::last, Duplicates::first, Duplicates::keep}[random.below(3)];
  const int readers = 1 + static_cast<int>(random.below(kMostReaders));
  const int threads = 1 + static_cast<int>(random.below(4));
  const auto bits = static_cast<unsigned>(random.below(7));
  const std::vector<LabelBlock> blocks = blocks_of(rows, readers, random);
  const std::string wanted = expected(rows, rule);
  RC_ASSERT(describe(group_ordered(blocks, rule, threads)) == wanted);
  RC_ASSERT(describe(group_partitioned(blocks, rule, bits, threads)) == wanted);
}

RC_GTEST_PROP(Grouping, RefusesASecondLabelByEitherWayAndNamesOneThatExists, (std::uint64_t seed)) {
  Random random(seed);
  const std::vector<LabelRow> rows = random_rows(random, 40 + random.below(100), 1 + random.below(50));
  std::set<std::pair<std::string, std::string>> seen;
  std::set<std::pair<std::string, std::string>> repeated;
  for (const LabelRow& row : rows) {
    if (!row.label.empty() && !seen.insert({row.task, row.worker}).second)
      repeated.insert({row.task, row.worker});
  }
  const std::vector<LabelBlock> blocks = blocks_of(rows, 2, random);
  const auto offender = [&](auto&& group) -> std::pair<std::string, std::string> {
    try {
      group();
    } catch (const DuplicateLabel& error) {
      return {error.task, error.worker};
    }
    return {};
  };
  for (const int threads : {1, 3}) {
    const auto ordered = offender([&] { group_ordered(blocks, Duplicates::error, threads); });
    const auto partitioned = offender([&] { group_partitioned(blocks, Duplicates::error, 3, threads); });
    RC_ASSERT(ordered.first.empty() == repeated.empty());
    RC_ASSERT(partitioned.first.empty() == repeated.empty());
    if (repeated.empty()) continue;
    RC_ASSERT(repeated.contains(ordered));
    RC_ASSERT(repeated.contains(partitioned));
  }
}

TEST(Grouping, KeepsTasksWhereEveryoneAbstained) {
  const std::vector<LabelRow> rows = {{"b", "u", ""}, {"a", "u", "x"}, {"c", "v", ""}, {"b", "v", ""}};
  Random random(1);
  const std::vector<LabelBlock> blocks = blocks_of(rows, 1, random);
  const std::string text =
      "b:\na: u=x\nc:\nu,v,\nx,\n1 labels, 4 rows, 3 abstentions, 0 duplicates, 0 skipped\n";
  EXPECT_EQ(describe(group_ordered(blocks, Duplicates::last, 1)), text);
  EXPECT_EQ(describe(group_partitioned(blocks, Duplicates::last, 4, 1)), text);
}

TEST(Grouping, OfNothingIsNothing) {
  EXPECT_EQ(group_ordered({}, Duplicates::last, 2).num_tasks(), 0U);
  EXPECT_EQ(group_partitioned({}, Duplicates::last, 4, 2).num_tasks(), 0U);
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
  const std::vector<LabelBlock> blocks = blocks_of(rows, 3, random);
  const Labels ordered = group_ordered(blocks, Duplicates::last, 3);
  EXPECT_EQ(ordered.num_labels(), 80'000U);
  EXPECT_EQ(ordered.duplicates, 13'334U);
  for (TaskId t = 0; t < ordered.num_tasks(); ++t) {
    const TaskLabels task = ordered.task(t);
    ASSERT_EQ(task.size(), 2U);
    ASSERT_EQ(ordered.classes[task.classes[0]], t % 3 == 0 ? "b" : "a");
  }
  EXPECT_EQ(describe(group_partitioned(blocks, Duplicates::last, 5, 2)), describe(ordered));
}

TEST(Grouping, StopsWhenItIsCancelled) {
  Random random(3);
  const std::vector<LabelBlock> blocks = blocks_of({{"t", "u", "a"}}, 1, random);
  PartitionedGrouper grouper(Duplicates::last, 2, 1);
  for (const LabelBlock& block : blocks) {
    grouper.pack(block);
    grouper.append(block);
  }
  const std::atomic<bool> cancelled = true;
  RunContext context;
  context.cancelled = &cancelled;
  EXPECT_EQ(testing::error_of([&] { grouper.finish(context); }).code(), ErrorCode::interrupted);
}

}  // namespace
}  // namespace crowdfold
