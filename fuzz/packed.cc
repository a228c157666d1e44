// Packed labels: damaged as they come, and with checksums that fit; read by blocks in order and in none,
// and as a whole.
#include "crowdfold/packed.h"

#include <fmt/format.h>

#include <vector>

#include "fuzz.h"
#include "packed_seal.h"

namespace crowdfold::fuzz {
namespace {

constexpr std::uint64_t kMostMemory = std::uint64_t{64} << 20;

RunContext packed_context(int threads) {
  RunContext context;
  context.threads = threads;
  context.max_memory = kMostMemory;
  return context;
}

std::string task_text(const TaskLabels& task) {
  std::string text;
  for (std::size_t j = 0; j < task.size(); ++j)
    text += fmt::format("{}={} ", task.workers[j], task.classes[j]);
  return text;
}

std::string tables_text(const NameTable& workers, const NameTable& classes, const RowCounts& rows) {
  return text_of(workers) + text_of(classes) +
         fmt::format("{} {} {} {}\n", rows.read, rows.abstentions, rows.duplicates, rows.skipped);
}

std::string whole_text(const std::string& path, const ReadOptions& options, int threads) {
  return outcome(path, [&] {
    const Labels labels = read_labels(path, options, packed_context(threads));
    std::string text = tables_text(labels.workers(), labels.classes(), labels.rows());
    for (TaskId t = 0; t < labels.num_tasks(); ++t)
      text += fmt::format("{}: {}\n", labels.tasks()[t], task_text(labels.task(t)));
    return text;
  });
}

std::string ordered_text(const std::string& path, const ReadOptions& options, int threads) {
  return outcome(path, [&] {
    PackedLabels labels(path);
    labels.leave_out(options.without_workers, packed_context(threads));
    std::string text = tables_text(labels.workers(), labels.classes(), labels.rows());
    labels.in_order("fuzz", packed_context(threads), PackedLabels::Names::yes,
                    [&](const TaskBlock& block, const TaskNames& names) {
                      for (TaskId t = block.first(); t < block.last(); ++t)
                        text += fmt::format("{}: {}\n", names[t], task_text(block.task(t)));
                    });
    return text;
  });
}

// The same without names of tasks, by block.
std::string blocks_text(const std::string& path, int threads) {
  return outcome(path, [&] {
    const PackedLabels labels(path);
    std::vector<std::string> texts(labels.num_tasks());
    labels.for_each(threads, "fuzz", packed_context(threads), [&](const TaskBlock& block, int) {
      for (TaskId t = block.first(); t < block.last(); ++t) texts[t] = task_text(block.task(t));
    });
    std::string text;
    for (const std::string& one : texts) text += one + '\n';
    return text;
  });
}

}  // namespace

void packed(std::string_view input) {
  Choices choices(input);
  const int threads = 1 + static_cast<int>(choices.below(3));
  const bool sealed = choices.below(2) == 1;
  ReadOptions options;
  if (choices.below(2) == 1) options.without_workers = {"ann", "w1"};
  std::string bytes(input);
  if (sealed) testing::seal_packed(bytes);
  const MemoryFile file(bytes);
  if (!is_packed(file.path())) return;
  const std::string whole = whole_text(file.path(), options, 1);
  expect_same("packed labels, by one thread and several", whole,
              whole_text(file.path(), options, threads));
  const std::string ordered = ordered_text(file.path(), options, threads);
  // Where there is no row, or memory is short, only reading as a whole refuses them; and of several
  // damaged blocks it may meet the names of one before the labels of another.
  if (!is_error(whole)) expect_same("packed labels, whole and in order", whole, ordered);
  const std::string blocks = blocks_text(file.path(), 1);
  expect_same("blocks, by one thread and several", blocks, blocks_text(file.path(), threads));
  if (is_error(blocks) && !is_error(whole))
    expect_same("packed labels, by blocks and whole", blocks, whole);
}

}  // namespace crowdfold::fuzz
