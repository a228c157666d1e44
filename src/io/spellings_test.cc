#include "io/spellings.h"

#include <gtest/gtest.h>

#include "io/label_notes.h"
#include "io/trim.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::error_of;
using testing::labels_of;
using Lines = std::vector<std::string>;

TEST(Trimmed, TakesAwayBlanksOfAllKindsAtBothEnds) {
  for (const char* text : {"cat", " cat", "cat  ", "\tcat\r", "\u00A0cat\u00A0", "\u200Bcat",
                           "cat\uFEFF", "\uFEFFcat", "\u3000cat\u202F", " \u00A0 cat \u2009"})
    EXPECT_EQ(trimmed(text), "cat") << text;
  EXPECT_EQ(trimmed(""), "");
  EXPECT_EQ(trimmed(" \u00A0\t"), "");
  EXPECT_EQ(trimmed("a b"), "a b");
}

TEST(Trimmed, LeavesOtherCharactersWithTheSameBytes) {
  for (const char* text : {"\u00C2cat\u00E0", "кот", "à", "\u2030", "…", "日本", "\u2014x\u2014", "ïx"})
    EXPECT_EQ(trimmed(text), text) << text;
  EXPECT_EQ(trimmed("\xA0"), "\xA0");  // no UTF-8
}

TEST(Trimmed, TakesAwayQuotesBehindABlank) {
  EXPECT_EQ(trimmed(" \"cat\""), "cat");
  EXPECT_EQ(trimmed("\"cat\""), "\"cat\"");
}

TEST(Spellings, AreFoldedAndNormalized) {
  EXPECT_EQ(fold_case("STRASSE"), fold_case("Straße"));
  EXPECT_EQ(normalize_spelling("caf\u00E9"), normalize_spelling("cafe\u0301"));
  EXPECT_EQ(normalize_spelling("hot  dog"), "hot dog");
  EXPECT_EQ(normalize_spelling("hot\u00A0dog"), "hot dog");
  EXPECT_EQ(normalize_spelling("0.0"), "0");
  EXPECT_EQ(normalize_spelling("-1.50"), "-1.5");
  EXPECT_EQ(normalize_spelling("10"), "10");
  EXPECT_EQ(normalize_spelling("1.0.0"), "1.0.0");
  EXPECT_EQ(fold_case("\xFF"
                      "A"),
            "\xFF"
            "A");  // no UTF-8: stays
}

TEST(Spellings, ThatComeFirstStandForAll) {
  ReadOptions options;
  options.fold_case = true;
  ClassSpellings spellings(options);
  EXPECT_EQ(spellings.class_of("Cat"), "Cat");
  EXPECT_EQ(spellings.class_of("CAT"), "Cat");
  EXPECT_EQ(spellings.class_of("dog"), "dog");
}

TEST(Choices, AreFoundInLabels) {
  EXPECT_EQ(choices_in("a;b"), (Lines{"a", "b"}));
  EXPECT_EQ(choices_in("a | b | c"), (Lines{"a", "b", "c"}));
  EXPECT_EQ(choices_in("[\"a\", \"b\"]"), (Lines{"a", "b"}));
  EXPECT_EQ(choices_in("a"), (Lines{"a"}));
  EXPECT_EQ(choices_in("[]"), (Lines{""}));
}

Lines notes_on(const Labels& labels, const Lines& unmet = {}, const ReadOptions& options = {}) {
  Lines notes;
  append_notes(
      notes, totals_of("f.csv", labels), [&] { return class_counts(labels); }, unmet, options);
  return notes;
}

TEST(Notes, AreFewOnGoodLabels) {
  EXPECT_EQ(
      notes_on(labels_of({{"t1", "u", "a"}, {"t1", "v", "b"}, {"t2", "u", "b"}, {"t2", "v", "b"}})),
      Lines());
}

TEST(Notes, TellRolesThatSayNothing) {
  const Lines tasks =
      notes_on(labels_of({{"1", "u", "a"}, {"2", "v", "b"}, {"3", "u", "b"}, {"4", "v", "b"}}));
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_TRUE(tasks[0].starts_with("no task has labels of two workers")) << tasks[0];
  const Lines workers = notes_on(
      labels_of({{"1", "u", "a"}, {"2", "u", "b"}, {"3", "u", "b"}, {"3", "u", "b"}, {"4", "u", "a"}}));
  ASSERT_EQ(workers.size(), 3U);
  EXPECT_EQ(workers[2],
            "1 row is a further label of their worker on their task: the last row in the file counts "
            "(--duplicates first: the first one)");
  EXPECT_EQ(workers[0].find("no quality"), std::string::npos) << workers[0];
  EXPECT_TRUE(workers[1].starts_with("all labels are by one worker, 'u', so no quality can be learned"))
      << workers[1];
}

TEST(Notes, TellWhatFollowsWhereWorkersNeverMeet) {
  const Lines notes = notes_on(
      labels_of({{"1", "u", "a"}, {"1", "u", "b"}, {"2", "v", "b"}, {"2", "v", "a"}, {"3", "w", "a"}},
                Duplicates::keep));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(
      notes[0],
      "no task has labels of two workers, so no quality can be learned without truths or an earlier "
      "run, and confidences are those of an unknown worker: is this the right column for tasks? "
      "(--map task=COLUMN)");
}

TEST(Notes, TellLabelsThatMayMeanNothing) {
  EXPECT_EQ(
      notes_on(labels_of({{"t1", "u", "N/A"}, {"t1", "v", "b"}, {"t2", "u", "N/A"}, {"t2", "v", "-"}})),
      (Lines{"label 'N/A' (2 rows) may mean no answer: --abstain N/A",
             "label '-' (1 row) may mean no answer: --abstain=-"}));
}

TEST(Notes, TellClassesInSeveralSpellings) {
  EXPECT_EQ(notes_on(labels_of({{"t1", "u", "Cat"},
                                {"t1", "v", "cat"},
                                {"t2", "u", "0"},
                                {"t2", "v", "0.0"},
                                {"t3", "u", "cat"}})),
            (Lines{"'0' (1 row) and '0.0' (1 row) look like one class: --normalize makes them one",
                   "'Cat' (1 row) and 'cat' (2 rows) look like one class: --fold-case makes them one"}));
}

TEST(Notes, TellAbstentionsThatNoLabelIs) {
  EXPECT_EQ(
      notes_on(labels_of({{"t1", "u", "a"}, {"t1", "v", "b"}}), {"unsure", "no idea"}),
      (Lines{"--abstain unsure: no label is 'unsure'", "--abstain 'no idea': no label is 'no idea'"}));
}

TEST(Notes, RefuseManyLabelsWithSeveralChoices) {
  const Labels many =
      labels_of({{"t1", "u", "a;b"}, {"t1", "v", "b"}, {"t2", "u", "a"}, {"t2", "v", "b;a"}});
  const Error error = error_of([&] { notes_on(many); });
  EXPECT_EQ(error.code(), ErrorCode::data);
  EXPECT_TRUE(
      std::string(error.what()).starts_with("f.csv: 2 labels hold several choices, such as 'a;b', and"))
      << error.what();
  ReadOptions options;
  options.multi_select = MultiSelect::keep;
  EXPECT_EQ(notes_on(many, {}, options), Lines());
  EXPECT_EQ(notes_on(labels_of({{"t1", "u", "New York, NY"}, {"t1", "v", "b"}})), Lines());
}

TEST(Notes, RefuseLabelsWhoseChoicesComeInOtherLabelsOnly) {
  // No choice is ever given alone, but those of a vocabulary come again in other combinations.
  const Labels combined = labels_of({{"t1", "u", "cat;indoor"},
                                     {"t1", "v", "cat;outdoor"},
                                     {"t2", "u", "dog;indoor"},
                                     {"t2", "v", "dog;outdoor"}});
  EXPECT_TRUE(std::string(error_of([&] { notes_on(combined); }).what())
                  .starts_with("f.csv: 4 labels hold several choices, such as 'cat;indoor', and"));
  // Beside labels with one choice.
  const Labels added = labels_of(
      {{"t1", "u", "cat"}, {"t1", "v", "cat;new"}, {"t2", "u", "dog"}, {"t2", "v", "dog;new"}});
  EXPECT_EQ(error_of([&] { notes_on(added); }).code(), ErrorCode::data);
}

TEST(Notes, TellALabelThatMayHoldSeveralChoices) {
  EXPECT_EQ(
      notes_on(labels_of({{"t1", "u", "yes; surely"}, {"t1", "v", "no"}, {"t2", "u", "no"}})),
      (Lines{"label 'yes; surely' (1 row) may hold several choices: it counts as a class of its own"}));
}

}  // namespace
}  // namespace crowdfold
