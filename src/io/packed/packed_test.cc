#include "crowdfold/packed.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "base/random.h"
#include "crowdfold/aggregate.h"
#include "crowdfold/error.h"
#include "crowdfold/simulate.h"
#include "io/packed/layout.h"
#include "io/packed/packed_writer.h"
#include "io/packed/scattered_rows.h"
#include "io/packed/sections.h"
#include "io/temporary_file.h"
#include "label_files.h"
#include "packed_seal.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::as_csv;
using testing::big_crowd;
using testing::describe;
using testing::LabelRow;
using testing::read_file;
using testing::same_labels;
using testing::seal_packed;
using testing::TempDir;
using testing::threads;

// So little that rows are written to a file after every block.
constexpr std::uint64_t kLittle = 1 << 20;

std::vector<LabelRow> in_any_order(std::vector<LabelRow> rows) {
  Random(1).shuffle(rows);
  return rows;
}

std::string pack(const TempDir& folder, const std::string& csv, PackRequest request = {},
                 RunContext context = {}) {
  request.labels = {folder.write("labels.csv", csv)};
  pack_labels(request, folder / "labels.cfp", context);
  return folder / "labels.cfp";
}

std::string small_file(const TempDir& folder) {
  return pack(folder, as_csv({{"t1", "ann", "cat"},
                              {"t1", "bob", "dog"},
                              {"t2", "ann", ""},
                              {"t3", "cy", "cat"},
                              {"t10", "ann", "dog"}}));
}

// An error's code and what it says; "" without one.
std::pair<ErrorCode, std::string> complaint_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {ErrorCode::internal, ""};
}
ErrorCode code_of(const std::function<void()>& work) { return complaint_of(work).first; }
std::string message_of(const std::function<void()>& work) { return complaint_of(work).second; }

// Of a file that is nowhere on a disk, which would be slow where there are thousands.
PackedLabels of_bytes(const std::string& bytes) {
  const int descriptor = ::memfd_create("packed", MFD_CLOEXEC);
  EXPECT_EQ(::pwrite(descriptor, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  return {descriptor, "damaged"};
}

TEST(PackedLabels, SayWhatTheRowsSaid) {
  for (const bool in_order : {true, false}) {
    for (const int count : {1, 3}) {
      for (const std::uint64_t memory : {std::uint64_t{0}, kLittle}) {
        const TempDir folder;
        const std::string csv = as_csv(in_order ? big_crowd() : in_any_order(big_crowd()));
        RunContext context = threads(count);
        PackRequest request;
        request.read.block_bytes = 4'000;
        context.max_memory = memory;
        const std::string path = pack(folder, csv, request, context);
        const Labels wanted = read_labels(folder / "labels.csv", {}, threads(1));
        ReadReport report;
        const Labels read = read_labels(path, {}, threads(count), &report);
        EXPECT_TRUE(same_labels(read, wanted)) << in_order << count << memory;
        EXPECT_EQ(report.format, "packed labels");
        EXPECT_EQ(folder.files(), (std::vector<std::string>{"labels.cfp", "labels.csv"}));
      }
    }
  }
}

RC_GTEST_PROP(PackedLabels, AreThoseOfReadLabelsForAnyRows, ()) {
  const auto names = [](const char* prefix, int most) {
    return rc::gen::map(rc::gen::inRange(0, most),
                        [prefix](int number) { return prefix + std::to_string(number); });
  };
  const auto row = rc::gen::construct<LabelRow>(
      rc::gen::oneOf(names("task_", 30), names("", 30),
                     names("another long name of a task, number ", 5)),
      names("w", 9), rc::gen::oneOf(names("class ", 4), rc::gen::just(std::string())));
  const std::vector<LabelRow> rows = *rc::gen::nonEmpty(rc::gen::container<std::vector<LabelRow>>(row));
  const Duplicates rule =
      *rc::gen::element(Duplicates::last, Duplicates::first, Duplicates::keep, Duplicates::error);
  const TempDir folder;
  PackRequest request;
  request.labels = {folder.write("labels.csv", as_csv(rows))};
  request.read.duplicates = rule;
  request.read.block_bytes = *rc::gen::inRange<std::size_t>(1, 300);
  RunContext context = threads(*rc::gen::inRange(1, 4));
  context.max_memory = *rc::gen::element<std::uint64_t>(0, kLittle);
  const std::string wanted_error =
      message_of([&] { read_labels(request.labels, request.read, threads(1)); });
  const std::string error = message_of([&] { pack_labels(request, folder / "l.cfp", context); });
  RC_ASSERT(error == wanted_error);
  if (!error.empty()) {
    RC_ASSERT(folder.files() == std::vector<std::string>{"labels.csv"});
    return;
  }
  const Labels wanted = read_labels(request.labels, request.read, threads(1));
  RC_ASSERT(describe(read_labels(folder / "l.cfp", {}, context = threads(2))) == describe(wanted));
  std::string told;
  const PackedLabels anonymous =
      pack_temporarily({request.labels, request.read, folder / ""}, context, nullptr,
                       {.on_space = [&](const std::string& sentence) { told = sentence; }});
  RC_ASSERT(told.find(" temporary files in ") != std::string::npos);
  RC_ASSERT(describe(anonymous.to_labels(threads(1))) == describe(wanted));
}

TEST(PackedLabels, OfRowsInAnyOrderAreWrittenToFilesWhereMemoryIsShort) {
  const std::vector<LabelRow> rows = in_any_order(big_crowd());
  ScatteredRows::Options options;
  options.memory = kLittle;
  const RunContext context = threads(1);
  ScatteredRows scattered(options, context);
  EXPECT_FALSE(scattered.spilled());
  for (std::uint32_t i = 0; i < 3; ++i) {
    BlockSummary block;
    block.sequence = i;
    scattered.writer(0).begin(block);
    for (std::size_t r = i; r < rows.size(); r += 3) {
      RowBatch batch;
      batch.push(rows[r].task, rows[r].worker, rows[r].label);
      scattered.writer(0).add(batch);
    }
    scattered.append(block);
  }
  EXPECT_TRUE(scattered.spilled());
  std::uint64_t tasks = 0;
  scattered.finish([&](std::string_view, auto, auto) { ++tasks; });
  EXPECT_EQ(tasks, 1'500U);
  EXPECT_GT(ScatteredRows::space_needed(1e9, 4, std::uint64_t{1} << 30), 15'000'000'000U);
  EXPECT_EQ(ScatteredRows::space_needed(1e3, 4, std::uint64_t{1} << 30), 0U);
}

// All that for_each gives, task by task.
std::vector<std::string> tasks_of(const TaskBlocks& blocks, int count) {
  std::vector<std::string> found(blocks.num_tasks());
  blocks.for_each(count, "test", threads(count), [&](const TaskBlock& block, int) {
    for (TaskId t = block.first(); t < block.last(); ++t) {
      const TaskLabels task = block.task(t);
      for (std::size_t j = 0; j < task.size(); ++j)
        found[t] += std::to_string(task.workers[j]) + "=" + std::to_string(task.classes[j]) + " ";
      found[t] += std::to_string(block.truth(t));
    }
  });
  return found;
}

// Packed in blocks of this size.
PackedLabels in_blocks(const Labels& labels, std::size_t bytes, Duplicates rule = Duplicates::last) {
  TemporaryFile file("/tmp");
  PackedWriter writer([&](std::string_view some) { file.append(some); }, bytes);
  for (TaskId t = 0; t < labels.num_tasks(); ++t)
    writer.add(labels.tasks()[t], labels.task(t).workers, labels.task(t).classes);
  writer.finish(labels.workers(), labels.classes(), labels.rows(), rule);
  return {file.release(), "packed"};
}

TEST(PackedLabels, AreBlocksAsThoseInMemoryAre) {
  const TempDir folder;
  const Labels labels = read_labels(folder.write("l.csv", as_csv(big_crowd())), {}, threads(1));
  std::vector<ClassId> truths(labels.num_tasks(), kNoClass);
  truths[7] = 3;
  PackedLabels packed = in_blocks(labels, 500);
  EXPECT_GT(packed.num_blocks(), 50U);
  packed.set_truths(truths);
  for (const int count : {1, 4})
    EXPECT_EQ(tasks_of(packed, count), tasks_of(LabelBlocks(labels, truths), 1));
  EXPECT_TRUE(same_labels(packed.to_labels(threads(3)), labels));

  TaskId next = 0;
  packed.in_order("test", threads(3), PackedLabels::Names::yes,
                  [&](const TaskBlock& block, const TaskNames& names) {
                    EXPECT_EQ(block.first(), next);
                    for (; next < block.last(); ++next) EXPECT_EQ(names[next], labels.tasks()[next]);
                  });
  EXPECT_EQ(next, labels.num_tasks());
  std::vector<std::string> worked(PackedLabels::num_slots(threads(3)));
  std::string in_turn;
  std::string wanted;
  for (TaskId t = 0; t < labels.num_tasks(); ++t) wanted += std::string(labels.tasks()[t]) + "\n";
  packed.in_order(
      "test", threads(3), PackedLabels::Names::yes,
      [&](const TaskBlock& block, const TaskNames& names, std::size_t slot) {
        worked[slot].clear();
        for (TaskId t = block.first(); t < block.last(); ++t)
          worked[slot] += std::string(names[t]) + "\n";
      },
      [&](const TaskBlock&, const TaskNames&, std::size_t slot) { in_turn += worked[slot]; });
  EXPECT_EQ(in_turn, wanted);
  packed.names_of(3, [&](const TaskNames& names) {
    EXPECT_EQ(names[packed.first_task(3)], labels.tasks()[packed.first_task(3)]);
  });
}

TEST(PackedLabels, HoldNumbersOfEveryWidth) {
  for (const std::uint32_t workers : {3U, 300U, 70'000U, 17'000'000U}) {
    for (const std::uint32_t classes : {2U, 300U}) {
      std::vector<std::uint64_t> sizes = {0, 300, 1, 2};
      std::vector<WorkerId> said_by;
      std::vector<ClassId> said;
      Random random(workers + classes);
      for (int j = 0; j < 303; ++j) {
        said_by.push_back(j == 5 ? workers - 1 : static_cast<WorkerId>(random.below(workers)));
        said.push_back(static_cast<ClassId>(j == 6 ? classes - 1 : random.below(classes)));
      }
      std::string section;
      encode_labels(sizes, said_by, said, section);
      std::vector<std::uint64_t> ends(4);
      std::vector<WorkerId> read_workers(303);
      std::vector<ClassId> read_classes(303);
      const LabelRoom room{ends.data(), 10, read_workers.data(), read_classes.data()};
      EXPECT_EQ(decode_labels(section, {4, 303, workers, classes}, room), "");
      EXPECT_EQ(ends, (std::vector<std::uint64_t>{10, 310, 311, 313}));
      EXPECT_EQ(read_workers, said_by);
      EXPECT_EQ(read_classes, said);
      EXPECT_NE(decode_labels(section, {4, 303, workers - 1, classes}, room), "");
      EXPECT_NE(decode_labels(section, {4, 303, workers, classes - 1}, room), "");
      EXPECT_NE(decode_labels(section, {3, 303, workers, classes}, room), "");
      EXPECT_NE(decode_labels(section, {4, 302, workers, classes}, room), "");
    }
  }
}

TEST(PackedLabels, KeepNamesThatShareMuchOrNothing) {
  const std::vector<std::string> names = {
      "", "a", "task_1", "task_2", std::string(700, 'x'), std::string(700, 'x') + "y", "ü", "task_2"};
  NameEncoder encoder;
  for (const std::string& name : names) encoder.add(name);
  const std::uint64_t bytes = encoder.text_bytes();
  std::string section;
  encoder.finish(section);
  std::string text(bytes, '\0');
  std::vector<std::uint64_t> ends(names.size());
  EXPECT_EQ(decode_names(section, names.size(), bytes, text.data(), 0, ends.data()), "");
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(text.substr(begin, ends[i] - begin), names[i]);
    begin = ends[i];
  }
  EXPECT_NE(decode_names(section, names.size() - 1, bytes, text.data(), 0, ends.data()), "");
  EXPECT_NE(decode_names(section, names.size(), bytes - 1, text.data(), 0, ends.data()), "");
}

TEST(PackedLabels, RefuseEveryFlippedBit) {
  const TempDir folder;
  const std::string whole = read_file(small_file(folder));
  EXPECT_EQ(of_bytes(whole).to_labels(threads(1)).num_labels(), 4U);
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    EXPECT_EQ(code_of([&] { of_bytes(damaged).to_labels(threads(1)); }), ErrorCode::data) << bit;
  }
}

TEST(PackedLabels, RefuseEveryLengthThatIsNotTheirs) {
  const TempDir folder;
  const std::string whole = read_file(small_file(folder));
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(code_of([&] { of_bytes(whole.substr(0, size)); }), ErrorCode::data) << size;
  EXPECT_NE(message_of([&] { of_bytes(whole + "x"); }).find("it is cut short"), std::string::npos);
}

TEST(PackedLabels, AreNotTrustedWhereChecksumsAreRight) {
  const TempDir folder;
  const std::string whole = read_file(small_file(folder));
  RunContext context = threads(2);
  context.max_memory = 1 << 20;
  std::string sealed = whole;
  seal_packed(sealed);
  EXPECT_EQ(sealed, whole);
  std::size_t refused = 0;
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    seal_packed(damaged);
    refused += message_of([&] { of_bytes(damaged).to_labels(context); }).empty() ? 0U : 1U;
  }
  EXPECT_GT(refused, 8 * whole.size() / 3);  // others are names, ids and counts that there may be
}

TEST(PackedLabels, SayWhichPartIsDamaged) {
  const TempDir folder;
  std::string bytes = read_file(small_file(folder));
  bytes[kPackedHeaderBytes + 5] ^= 1;
  const std::string path = folder.write("damaged.cfp", bytes);
  const std::string error = message_of([&] { PackedLabels(path).to_labels(threads(1)); });
  EXPECT_EQ(error, path +
                       ": the labels of block 1 of 1, bytes 24 to 39: its checksum is another one: the "
                       "file is damaged; pack its labels again");
}

TEST(PackedLabels, OfAnotherVersionAreRefused) {
  const TempDir folder;
  std::string bytes = read_file(small_file(folder));
  bytes[8] = 2;
  const std::string path = folder.write("later.cfp", bytes);
  EXPECT_TRUE(is_packed(path));
  EXPECT_EQ(message_of([&] { PackedLabels labels(path); }),
            path +
                ": packed labels of version 2, and this crowdfold reads version 1: pack its labels "
                "again (crowdfold pack)");
}

TEST(PackedLabels, AreRecognisedByTheirBytesOnly) {
  const TempDir folder;
  const std::string path = small_file(folder);
  std::filesystem::rename(path, folder / "labels.bin");
  EXPECT_TRUE(is_packed(folder / "labels.bin"));
  EXPECT_FALSE(is_packed(folder / "labels.csv"));
  EXPECT_FALSE(is_packed(folder / "none"));
  EXPECT_FALSE(is_packed("-"));
  EXPECT_EQ(read_labels(folder / "labels.bin", {}, threads(1)).num_labels(), 4U);
}

TEST(PackedLabels, LeaveWorkersOutAsRowsDo) {
  const TempDir folder;
  std::vector<LabelRow> rows = {{"t0", "annotator_1", "only theirs"}, {"t0", "annotator_2", "label 1"}};
  Random random(3);
  for (int t = 1; t < 400; ++t) {
    for (int w = 0; w < 5; ++w) {
      rows.push_back({"t" + std::to_string(t), "annotator_" + std::to_string(5 * random.below(9) + w),
                      random.below(10) == 0 ? "" : "label " + std::to_string(random.below(6))});
    }
  }
  const std::string csv = folder.write("labels.csv", as_csv(rows));
  pack_labels({{csv}, {}, ""}, folder / "labels.cfp", threads(2));
  ReadOptions options;
  options.without_workers = {"annotator_1", "annotator_7", "nobody"};
  const Labels wanted = read_labels(csv, options, threads(1));
  ReadReport report;
  EXPECT_EQ(describe(read_labels(folder / "labels.cfp", options, threads(3), &report)),
            describe(wanted));
  EXPECT_EQ(report.notes.size(), 1U);  // on "nobody"

  PackedLabels packed = in_blocks(read_labels(csv, {}, threads(1)), 200);
  packed.leave_out(options.without_workers, threads(2));
  EXPECT_EQ(tasks_of(packed, 3), tasks_of(LabelBlocks(wanted), 1));
  EXPECT_EQ(describe(packed.to_labels(threads(2))), describe(wanted));
  EXPECT_EQ(packed.num_labels(), wanted.num_labels());

  pack_labels({{folder / "labels.cfp"}, options, ""}, folder / "fewer.cfp", threads(1));
  EXPECT_EQ(describe(read_labels(folder / "fewer.cfp", {}, threads(1))), describe(wanted));
}

TEST(PackedLabels, OfSeveralFilesAreOne) {
  const TempDir folder;
  const std::vector<LabelRow> first = {{"t1", "ann", "cat"}, {"t1", "bob", "dog"}, {"t2", "ann", ""}};
  const std::vector<LabelRow> second = {{"u1", "cy", "dog"}, {"u1", "bob", "fox"}, {"u2", "dee", "cat"}};
  std::vector<LabelRow> both = first;
  both.insert(both.end(), second.begin(), second.end());
  for (const auto& [name, rows] : {std::pair("a", first), std::pair("b", second)})
    pack_labels({.labels = {folder.write(std::string(name) + ".csv", as_csv(rows))}},
                folder / (std::string(name) + ".cfp"), {});
  const std::vector<std::string> paths = {folder / "a.cfp", folder / "b.cfp"};
  const std::string rows = folder.write("both.csv", as_csv(both));
  for (const std::vector<std::string>& without : {std::vector<std::string>(), {"bob"}}) {
    ReadOptions options;
    options.without_workers = without;
    const Labels as_one = read_labels(paths, options, threads(2));
    EXPECT_TRUE(same_labels(as_one, read_labels(rows, options, threads(1)))) << describe(as_one);
  }
  pack_labels({.labels = paths}, folder / "c.cfp", {});
  EXPECT_TRUE(same_labels(read_labels(folder / "c.cfp", {}, {}), read_labels(rows, {}, {})));
  std::vector<std::string> left_out;
  for (const char* name : {"a.csv", "b.csv", "both.csv", "c.cfp"})
    std::filesystem::remove(folder / name);
  EXPECT_EQ(expand_inputs({folder / ""}, &left_out), paths);
}

TEST(PackedLabels, OfSeveralFilesShareNoTask) {
  const TempDir folder;
  pack_labels({.labels = {folder.write("a.csv", as_csv({{"t1", "ann", "cat"}, {"t2", "ann", "cat"}}))}},
              folder / "a.cfp", {});
  pack_labels({.labels = {folder.write("b.csv", as_csv({{"u1", "ann", "cat"}, {"t2", "bob", "cat"}}))}},
              folder / "b.cfp", {});
  PackRequest otherwise = {.labels = {folder / "b.csv"}};
  otherwise.read.duplicates = Duplicates::keep;
  pack_labels(otherwise, folder / "k.cfp", {});
  const auto read = [&](std::vector<std::string> names) {
    for (std::string& name : names) name = folder / name;
    return message_of([&] { read_labels(names, {}, {}); });
  };
  EXPECT_EQ(read({"a.cfp", "b.cfp"}),
            (folder / "b.cfp") + ": task 't2' is also in " + (folder / "a.cfp") +
                ", and its labels must meet: pack the rows of both together (crowdfold import FILE.cfp "
                "gives rows)");
  EXPECT_NE(read({"a.cfp", "a.cfp"}).find("task 't1' is also in"), std::string::npos);
  EXPECT_NE(read({"a.cfp", "k.cfp"}).find("another rule for repeated labels"), std::string::npos);
  EXPECT_NE(read({"a.cfp", "b.csv"}).find("b.csv does not: pack it, too"), std::string::npos);
}

TEST(PackedLabels, LeaveNamesInTheFileUntilTheyAreWritten) {
  const TempDir folder;
  const std::string path = small_file(folder);
  const Labels labels = PackedLabels(path).to_labels({}, PackedLabels::Names::no);
  EXPECT_EQ(labels.num_tasks(), 4U);
  EXPECT_EQ(labels.tasks().size(), 0U);
  for (const bool posterior : {false, true}) {
    RunContext context;
    context.posterior = posterior;
    const auto answers = [&](const std::string& input) {
      AggregateRequest request = {.method = "ds", .labels = {input}, .output = folder / "out.csv"};
      EXPECT_EQ(aggregate(request, context).tasks_without_estimate, 1U);
      return read_file(folder / "out.csv");
    };
    EXPECT_EQ(answers(path), answers(folder / "labels.csv"));
  }
}

TEST(PackedLabels, TakeNoOptionThatIsAboutRows) {
  const TempDir folder;
  const std::string path = small_file(folder);
  const auto refused = [&](auto change) {
    ReadOptions options;
    change(options);
    return code_of([&] { read_labels(path, options, threads(1)); }) == ErrorCode::usage;
  };
  EXPECT_TRUE(refused([](ReadOptions& o) { o.columns = {{"task", "1"}}; }));
  EXPECT_TRUE(refused([](ReadOptions& o) { o.abstain = {"cat"}; }));
  EXPECT_TRUE(refused([](ReadOptions& o) { o.fold_case = true; }));
  EXPECT_TRUE(refused([](ReadOptions& o) { o.duplicates = Duplicates::keep; }));
  EXPECT_TRUE(refused([](ReadOptions& o) { o.format = Format::csv; }));
  EXPECT_FALSE(refused([](ReadOptions& o) { o.skip_bad_rows = true; }));
  EXPECT_EQ(code_of([&] {
              read_labels({path, folder / "labels.csv"}, {}, threads(1));
            }),
            ErrorCode::usage);
}

TEST(PackedLabels, NeedAsMuchMemoryAsTheyTake) {
  const TempDir folder;
  const PackedLabels packed =
      in_blocks(read_labels(folder.write("l.csv", as_csv(big_crowd())), {}, threads(1)), 1000);
  RunContext context = threads(1);
  context.max_memory = 1000;
  EXPECT_EQ(code_of([&] { packed.to_labels(context); }), ErrorCode::usage);
}

TEST(PackedLabels, GoThroughMethodsAsRowsDo) {
  const TempDir folder;
  const std::string csv = as_csv(big_crowd());
  const std::string path = pack(folder, csv);
  for (const char* method : {"mv", "onepass", "twopass", "threepass", "live"}) {
    for (const Road road : {Road::in_memory, Road::low_memory, Road::automatic}) {
      const auto answers = [&](const std::string& labels) {
        AggregateRequest request;
        request.method = method;
        request.labels = {labels};
        request.road = road;
        request.output = folder / "answers.csv";
        aggregate(request, threads(2));
        return read_file(request.output);
      };
      EXPECT_EQ(answers(path), answers(folder / "labels.csv")) << method;
    }
  }
}

TEST(PackedLabels, OfASimulationAreThoseOfItsRows) {
  const TempDir folder;
  SimulationOptions options;
  options.workers = 300;
  options.max_labels = 8;
  const auto simulated = [&](const std::string& name) {
    SimulationFiles files;
    files.labels = folder / name;
    files.truths = folder / (name + ".truths.csv");
    write_simulation(options, {}, false, files, threads(1));
  };
  simulated("crowd.csv");
  simulated("crowd.cfp");
  pack_labels({{folder / "crowd.csv"}, {}, ""}, folder / "packed.cfp", threads(1));
  EXPECT_EQ(read_file(folder / "crowd.cfp"), read_file(folder / "packed.cfp"));
  EXPECT_EQ(read_file(folder / "crowd.cfp.truths.csv"), read_file(folder / "crowd.csv.truths.csv"));
}

TEST(PackedLabels, AreNotCompressed) {
  const TempDir folder;
  const std::string csv = folder.write("l.csv", as_csv({{"t", "w", "c"}}));
  EXPECT_EQ(code_of([&] {
              pack_labels({{csv}, {}, ""}, folder / "l.cfp.gz", threads(1));
            }),
            ErrorCode::usage);
  EXPECT_EQ(folder.files(), std::vector<std::string>{"l.csv"});
}

TEST(PackedLabels, AreNotWrittenWhereRowsAreWrong) {
  const TempDir folder;
  const std::string csv = folder.write("l.csv", "task,worker,label\nt,w,c\nt,w\n");
  EXPECT_EQ(code_of([&] {
              pack_labels({{csv}, {}, ""}, folder / "l.cfp", threads(1));
            }),
            ErrorCode::data);
  EXPECT_EQ(folder.files(), std::vector<std::string>{"l.csv"});
}

}  // namespace
}  // namespace crowdfold
