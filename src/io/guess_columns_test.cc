// Which column is which, by values alone: right or unclear, never wrong, on crowds of many kinds.
#include "io/guess_columns.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "io/column_agreement.h"
#include "io/guess_wide.h"

namespace crowdfold {
namespace {

using TextRows = std::vector<std::vector<std::string>>;

Glimpse glimpse_of(const std::vector<std::string>& names, const TextRows& rows) {
  Glimpse glimpse;
  for (const std::string& name : names) glimpse.columns.emplace_back().name = name;
  for (const auto& row : rows) glimpse.add({row.begin(), row.end()});
  return glimpse;
}

// --- simulated files ----------------------------------------------------------------------

struct CrowdFile {
  int tasks = 50;
  int workers = 10;
  int labels_per_task = 3;
  int classes = 3;
  double quality = 0.8;
  bool shuffled = false;
  const char* look = "names";  // of values: names, numbers
};

enum ExtraColumn {
  row_number_column,
  timestamp_column,
  day_column,
  duration_column,
  free_text_column,
  task_text_column,   // of the task, a second name for it
  task_kind_column,   // an attribute of the task
  country_column,     // an attribute of the worker
  confidence_column,  // of the worker, from 1 to 5
  batch_column,       // constant
  extras_column
};

// Columns: task, worker, label, then the extras.
TextRows rows_of(const CrowdFile& file, const std::vector<ExtraColumn>& extras, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const bool numbers = std::string_view(file.look) == "numbers";
  const std::vector<std::string> people = {"anna",  "berta", "carl", "dora", "emil", "frida", "gustav",
                                           "hanna", "ida",   "jan",  "karl", "lena", "max",   "nora",
                                           "otto",  "paula", "rolf", "sven", "tina", "uwe"};
  const auto task_name = [&](int t) {
    return numbers ? fmt::format("{}", 1000 + t) : fmt::format("x{}q", t);
  };
  const auto worker_name = [&](int w) {
    return numbers ? fmt::format("{}", 7 + 3 * w)
                   : people[static_cast<std::size_t>(w) % people.size()] +
                         (w < 20 ? "" : fmt::format("{}", w));
  };
  const auto class_name = [&](int c) {
    return numbers ? fmt::format("{}", c) : fmt::format("k{}", char('a' + c % 26)) + (c < 26 ? "" : "z");
  };
  TextRows rows;
  int number = 90'000;
  for (int t = 0; t < file.tasks; ++t) {
    const int truth = below(file.classes);
    const int kind = below(4);
    std::vector<int> crowd(static_cast<std::size_t>(file.workers));
    for (int w = 0; w < file.workers; ++w) crowd[static_cast<std::size_t>(w)] = w;
    std::shuffle(crowd.begin(), crowd.end(), random);
    for (int j = 0; j < std::min(file.labels_per_task, file.workers); ++j) {
      const int w = crowd[static_cast<std::size_t>(j)];
      const bool right = below(1000) < 1000 * file.quality;
      const int label = right ? truth : below(file.classes);
      std::vector<std::string> row = {task_name(t), worker_name(w), class_name(label)};
      for (const ExtraColumn extra : extras) {
        switch (extra) {
          case row_number_column: row.push_back(fmt::format("{}", number++)); break;
          case timestamp_column:
            row.push_back(fmt::format("2026-03-{:02}T{:02}:{:02}:{:02}Z", 1 + t % 28, below(24),
                                      below(60), below(60)));
            break;
          case day_column: row.push_back(fmt::format("2026-03-{:02}", 1 + t % 9)); break;
          case duration_column: row.push_back(fmt::format("{}.{}", 1 + below(40), below(10))); break;
          case free_text_column:
            row.push_back(below(3) == 0 ? fmt::format("I am not so sure about number {}", below(100000))
                                        : "");
            break;
          case task_text_column:
            row.push_back(fmt::format("the text that is number {} of all of them", t));
            break;
          case task_kind_column: row.push_back(fmt::format("kind{}", char('a' + kind))); break;
          case country_column: row.emplace_back(w % 3 == 0 ? "DE" : w % 3 == 1 ? "FR" : "PL"); break;
          case confidence_column: row.push_back(fmt::format("{}", 1 + below(5))); break;
          case batch_column: row.emplace_back("pilot"); break;
          case extras_column: break;
        }
      }
      rows.push_back(std::move(row));
    }
  }
  if (file.shuffled) std::shuffle(rows.begin(), rows.end(), random);
  return rows;
}

struct Outcome {
  int right = 0;
  int unclear = 0;
  int wrong = 0;
};

// Tries the file with its columns in some orders.
void try_orders(const TextRows& rows, Outcome& outcome, unsigned seed, const std::string& what) {
  std::mt19937 random(seed);
  std::vector<std::size_t> order(rows[0].size());
  for (std::size_t c = 0; c < order.size(); ++c) order[c] = c;
  for (int i = 0; i < 3; ++i) {
    std::shuffle(order.begin(), order.end(), random);
    std::vector<std::string> names;
    for (std::size_t c = 0; c < order.size(); ++c) names.push_back(fmt::format("c{}", c));
    TextRows turned(rows.size());
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (const std::size_t c : order) turned[r].push_back(rows[r][c]);
    }
    const Glimpse glimpse = glimpse_of(names, turned);
    const ColumnGuess guess = guess_columns(glimpse);
    if (!guess.clear) {
      ++outcome.unclear;
      continue;
    }
    const auto place = [&](std::size_t column) {
      return static_cast<std::size_t>(std::find(order.begin(), order.end(), column) - order.begin());
    };
    const auto same = [&](std::size_t a, std::size_t b) {
      return a == b || are_bijective(glimpse.columns[a], glimpse.columns[b]);
    };
    const bool right = same(guess.best->task, place(0)) && same(guess.best->worker, place(1)) &&
                       same(guess.best->label, place(2));
    ++(right ? outcome.right : outcome.wrong);
    EXPECT_TRUE(right) << what << ": task = column " << order[guess.best->task] << ", worker = column "
                       << order[guess.best->worker] << ", label = column " << order[guess.best->label];
  }
}

std::vector<std::vector<ExtraColumn>> some_extras() {
  std::vector<std::vector<ExtraColumn>> sets = {{}};
  for (int e = 0; e < extras_column; ++e) sets.push_back({static_cast<ExtraColumn>(e)});
  sets.push_back({row_number_column, timestamp_column, duration_column});
  sets.push_back({task_text_column, task_kind_column, country_column});
  sets.push_back({confidence_column, day_column, free_text_column, batch_column});
  sets.push_back({row_number_column, timestamp_column, day_column, duration_column, free_text_column,
                  task_text_column, task_kind_column, confidence_column, batch_column});
  return sets;
}

TEST(GuessColumns, IsRightOrUnclearOnCrowdsOfAllKinds) {
  Outcome all;
  unsigned seed = 0;
  for (const int tasks : {4, 12, 60, 300}) {
    for (const int workers : {3, 8, 40}) {
      for (const int classes : {2, 5, 20}) {
        for (const double quality : {0.55, 0.8, 0.95}) {
          for (const bool shuffled : {false, true}) {
            const CrowdFile file{
                tasks, workers, 3, classes, quality, shuffled, seed % 2 == 0 ? "names" : "numbers"};
            const auto extras = some_extras();
            const auto& chosen = extras[seed % extras.size()];
            const std::string what =
                fmt::format("{} tasks, {} workers, {} classes, quality {}, seed {}, extras {}", tasks,
                            workers, classes, quality, seed, seed % extras.size());
            try_orders(rows_of(file, chosen, seed), all, seed, what);
            ++seed;
          }
        }
      }
    }
  }
  EXPECT_EQ(all.wrong, 0);
  EXPECT_GT(all.right, all.unclear) << all.right << " right, " << all.unclear << " unclear";
}

TEST(GuessColumns, IsClearOnOrdinaryFiles) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const CrowdFile file{60, 12, 4, 3, 0.85, seed % 2 == 0, seed % 4 < 2 ? "names" : "numbers"};
    Outcome outcome;
    const auto extras = some_extras();
    try_orders(rows_of(file, extras[seed % extras.size()], seed), outcome, seed,
               fmt::format("seed {}", seed));
    EXPECT_EQ(outcome.unclear, 0) << "seed " << seed << ", extras " << seed % extras.size();
  }
}

TEST(GuessColumns, SeesManyClassesAndFewTasks) {
  Outcome outcome;
  for (unsigned seed = 0; seed < 20; ++seed) {
    try_orders(rows_of({200, 20, 5, 50, 0.8, true, "names"}, {}, seed), outcome, seed, "50 classes");
    try_orders(rows_of({6, 30, 20, 3, 0.8, true, "names"}, {}, seed), outcome, seed, "6 tasks");
    try_orders(rows_of({40, 2, 2, 2, 0.85, true, "numbers"}, {}, seed), outcome, seed, "2 workers");
  }
  EXPECT_EQ(outcome.wrong, 0);
  EXPECT_GT(2 * outcome.right, outcome.unclear);  // of 6 tasks by 30 workers, either may be the tasks
}

// --- files as people have them ------------------------------------------------------------

ColumnGuess guess(const std::vector<std::string>& names, const TextRows& rows) {
  return guess_columns(glimpse_of(names, rows));
}

TEST(GuessColumns, ReadsTheLooksOfValuesInSmallFiles) {
  const TextRows rows = {{"http://x/1.jpg", "ann@x.org", "cat"},
                         {"http://x/1.jpg", "bob@x.org", "cat"},
                         {"http://x/2.jpg", "ann@x.org", "dog"},
                         {"http://x/2.jpg", "bob@x.org", "cat"},
                         {"http://x/3.jpg", "bob@x.org", "dog"}};
  const ColumnGuess found = guess({"image_url", "email", "verdict"}, rows);
  EXPECT_TRUE(found.clear);
  EXPECT_EQ(found.best, (ColumnRoles{0, 1, 2}));
}

TEST(GuessColumns, KnowsWordsOfOtherLanguages) {
  const TextRows rows = {
      {"1", "Anna", "ja"}, {"1", "Bernd", "nein"}, {"2", "Anna", "ja"}, {"2", "Bernd", "ja"}};
  const ColumnGuess found = guess({"Aufgabe", "Person", "Antwort"}, rows);
  EXPECT_TRUE(found.clear);
  EXPECT_EQ(found.best, (ColumnRoles{0, 1, 2}));
}

TEST(GuessColumns, TakesNoTruthForALabel) {
  TextRows rows;
  for (const auto& row : rows_of({60, 8, 3, 3, 0.8, false, "names"}, {}, 1)) {
    rows.push_back(row);
    rows.back().push_back(
        "k" + std::string(1, static_cast<char>(
                                 'a' + (row[0].size() + static_cast<unsigned char>(row[0][1])) % 3)));
  }
  const ColumnGuess found = guess({"page", "person", "said", "gold"}, rows);
  EXPECT_TRUE(found.clear);
  EXPECT_EQ(found.best, (ColumnRoles{0, 1, 2}));
}

TEST(GuessColumns, IsUnclearWhereTwoQuestionsWereAsked) {
  TextRows rows = rows_of({60, 8, 3, 3, 0.8, false, "names"}, {}, 1);
  std::mt19937 random(3);
  for (auto& row : rows) row.emplace_back(random() % 4 == 0 ? "maybe" : row[2] == "ka" ? "yes" : "no");
  EXPECT_FALSE(guess({"c1", "c2", "c3", "c4"}, rows).clear);
}

TEST(GuessColumns, NeedsRows) {
  EXPECT_FALSE(guess({"a", "b", "c"}, {}).clear);
  EXPECT_FALSE(guess({"a", "b", "c"}, {{"x", "y", "z"}}).clear);
  EXPECT_FALSE(guess({"a", "b"}, {{"x", "y"}, {"x", "z"}}).clear);
}

// A worker who says the same of nearly all tasks agrees with himself, as workers agree on tasks.
TEST(GuessColumns, IsUnclearWhereWorkersAgreeWithThemselves) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    TextRows few_tasks;  // by many workers, all of whom answer all
    for (int t = 0; t < 6; ++t) {
      for (int w = 0; w < 39; ++w) {
        const bool own = random() % 10 < 5;  // goes by the worker, not by the task
        few_tasks.push_back({fmt::format("{}", t), fmt::format("{}", w),
                             (own ? w % 2 == 0 : random() % 2 == 0) ? "1" : "0"});
      }
    }
    EXPECT_FALSE(guess({"a", "b", "c"}, few_tasks).clear) << seed;
    TextRows many_tasks;  // a few workers take most of them
    for (int i = 0; i < 600; ++i) {
      const auto w = static_cast<int>(std::min(random() % 40, random() % 40));
      const bool own = random() % 10 < 9;
      many_tasks.push_back({fmt::format("{}", i / 3), fmt::format("{}", 7 * w + i % 3),
                            (own ? w % 2 == 0 : random() % 2 == 0) ? "1" : "0"});
    }
    const ColumnGuess found = guess({"a", "b", "c"}, many_tasks);
    EXPECT_TRUE(!found.clear || found.best == ColumnRoles({0, 1, 2})) << seed;
  }
}

TEST(GuessColumns, TakesNoNumberOfSecondsForAWorker) {
  TextRows rows;
  std::mt19937 random(1);
  for (int t = 0; t < 100; ++t) {
    for (int w = 0; w < 3; ++w) {
      const std::string label =
          fmt::format("k{}", random() % 5 < 3 ? t % 11 : static_cast<int>(random() % 11));
      rows.push_back({fmt::format("{}", 1000 + t), fmt::format("m{}z", char('a' + w)), label,
                      fmt::format("{}", 2 + random() % 87)});
    }
  }
  const ColumnGuess found = guess({"a", "b", "c", "d"}, rows);
  EXPECT_TRUE(!found.clear || found.best == ColumnRoles({0, 1, 2}));
}

// --- first rows ---------------------------------------------------------------------------

FirstRow first_row(const std::vector<std::string>& row, const TextRows& below) {
  return guess_first_row(row, glimpse_of(std::vector<std::string>(row.size()), below));
}

TEST(GuessFirstRow, IsDataWhereItsValuesComeAgain) {
  EXPECT_EQ(first_row({"t1", "ann", "cat"}, {{"t1", "bob", "cat"}, {"t2", "ann", "dog"}}),
            FirstRow::data);
  EXPECT_EQ(first_row({"x", "ann", "cat"}, {{"y", "bob", "cat"}}), FirstRow::data);
  EXPECT_EQ(first_row({"1", "7", "0"}, {{"2", "8", "1"}, {"3", "9", "1"}}), FirstRow::data);
}

TEST(GuessFirstRow, IsAHeaderWhereItLooksOtherThanTheRowsBelow) {
  EXPECT_EQ(first_row({"image_url", "email", "verdict"},
                      {{"http://x/1.jpg", "ann@x.org", "cat"}, {"http://x/2.jpg", "bob@x.org", "dog"}}),
            FirstRow::header);
  EXPECT_EQ(first_row({"Aufgabe", "Person", "Antwort"}, {{"1", "Anna", "ja"}, {"2", "Anna", "nein"}}),
            FirstRow::header);
  EXPECT_EQ(first_row({"", "w1", "w2"}, {{"t1", "0", "1"}, {"t2", "1", "1"}}), FirstRow::header);
}

TEST(GuessFirstRow, SaysNothingWhereWordsStandAboveWords) {
  EXPECT_EQ(first_row({"photo", "who", "verdict"}, {{"sunset", "ann", "yes"}, {"beach", "bob", "no"}}),
            FirstRow::no_matter);
  EXPECT_EQ(first_row({"photo", "who", "verdict"}, {}), FirstRow::no_matter);
}

TEST(GuessFirstRow, IsUnclearWhereValuesContradictEachOther) {
  EXPECT_EQ(first_row({"bild", "1", "2"}, {{"b1", "2", "1"}, {"b2", "1", "2"}}), FirstRow::unclear);
}

TEST(GuessFirstRow, IsNotMadeDataByAHeaderThatComesAgain) {
  EXPECT_EQ(first_row({"photo", "who", "verdict"},
                      {{"a", "ann", "yes"}, {"photo", "who", "verdict"}, {"b", "bob", "no"}}),
            FirstRow::no_matter);
}

// --- wide tables --------------------------------------------------------------------------

WideGuess wide(const std::vector<std::string>& names, const TextRows& rows,
               std::size_t task = kUnknown) {
  return guess_wide(glimpse_of(names, rows), task, false);
}

// A row per task, with labels of workers that mostly agree.
TextRows wide_rows(int tasks, int workers, unsigned seed) {
  std::mt19937 random(seed);
  TextRows rows;
  for (int t = 0; t < tasks; ++t) {
    const auto truth = random() % 3;
    rows.push_back({fmt::format("p{}.jpg", t)});
    for (int w = 0; w < workers; ++w) {
      const auto label = random() % 5 == 0 ? random() % 3 : truth;
      rows.back().push_back(random() % 10 == 0 ? "" : fmt::format("k{}", label));
    }
  }
  return rows;
}

TEST(GuessWide, FindsAColumnPerWorker) {
  for (const int workers : {2, 3, 7}) {
    std::vector<std::string> names = {"photo", "ann", "bob", "cid", "dan", "eve", "fay", "gus"};
    names.resize(static_cast<std::size_t>(workers) + 1);
    const WideGuess found = wide(names, wide_rows(30, workers, 1));
    ASSERT_TRUE(found.clear) << workers;
    EXPECT_EQ(found.best->task, 0U);
    EXPECT_EQ(found.best->workers.size(), static_cast<std::size_t>(workers));
  }
}

TEST(GuessWide, GoesByNamesOfWorkersInSmallTables) {
  const WideGuess found = wide({"", "w1", "w2", "w3"}, {{"t1", "0", "1", ""}, {"t2", "", "1", "1"}});
  ASSERT_TRUE(found.clear);
  EXPECT_EQ(found.best->task, 0U);
  EXPECT_EQ(found.best->workers, (std::vector<std::size_t>{1, 2, 3}));
}

TEST(GuessWide, LeavesTruthsAndTextsOut) {
  TextRows rows = wide_rows(30, 3, 2);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    rows[r].push_back(fmt::format("k{}", r % 3));
    rows[r].push_back(fmt::format("a text of some length about number {}", r));
  }
  const WideGuess found = wide({"photo", "ann", "bob", "cid", "gold_label", "text"}, rows);
  ASSERT_TRUE(found.clear);
  EXPECT_EQ(found.best->workers, (std::vector<std::size_t>{1, 2, 3}));
}

TEST(GuessWide, IsUnclearWhereColumnsDoNotAgree) {
  TextRows rows;
  for (int r = 0; r < 60; ++r)
    rows.push_back(
        {fmt::format("p{}.jpg", r), r % 2 == 0 ? "yes" : "no", r / 2 % 2 == 0 ? "yes" : "no"});
  const WideGuess found = wide({"photo", "blurry", "dark"}, rows);
  EXPECT_TRUE(found.best);
  EXPECT_FALSE(found.clear);
}

TEST(GuessWide, IsNotATableWithARowPerLabel) {
  for (unsigned seed = 0; seed < 20; ++seed)
    EXPECT_FALSE(
        wide({"c1", "c2", "c3"}, rows_of({40, 6, 3, 3, 0.8, false, "numbers"}, {}, seed)).clear);
}

}  // namespace
}  // namespace crowdfold
