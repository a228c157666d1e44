// Label files for tests: a crowd as CSV, as JSON lines, compressed.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "crowdfold/io.h"
#include "crowdfold/run_context.h"
#include "io/output.h"
#include "packed.h"
#include "support.h"

namespace crowdfold::testing {

inline RunContext threads(int count) {
  RunContext context;
  context.threads = count;
  return context;
}

inline std::string as_csv(const std::vector<LabelRow>& rows, const char* newline = "\n") {
  std::string text = std::string("task,worker,label") + newline;
  for (const LabelRow& row : rows) {
    append_csv(text, row.task);
    text.push_back(',');
    append_csv(text, row.worker);
    text.push_back(',');
    append_csv(text, row.label);
    text += newline;
  }
  return text;
}

inline std::string as_jsonl(const std::vector<LabelRow>& rows) {
  std::string text;
  for (const LabelRow& row : rows) {
    text += "{\"task\":";
    append_json(text, row.task);
    text += ",\"worker\":";
    append_json(text, row.worker);
    text += ",\"label\":";
    append_json(text, row.label);
    text += "}\n";
  }
  return text;
}

// A crowd that fills several small_blocks(), with quoted names, abstentions and repeated labels.
inline std::vector<LabelRow> big_crowd(int tasks = 1'500) {
  Random random(1);
  std::vector<LabelRow> rows;
  for (int t = 0; t < tasks; ++t) {
    const std::string task = t % 100 == 0 ? "the \"task\", number\n" + std::to_string(t)
                                          : "image_" + std::to_string(100'000 + t);
    for (int i = 0; i < 4; ++i) {
      const std::uint64_t label = random.below(40);
      rows.push_back({task, "annotator_" + std::to_string(random.below(300)),
                      label == 0   ? ""
                      : label < 25 ? "zebra"
                      : label < 38 ? "horse"
                                   : "unicorn, really"});
    }
  }
  return rows;
}

inline ReadOptions small_blocks() {
  ReadOptions options;
  options.block_bytes = std::size_t{1} << 15;
  return options;
}

inline std::vector<LabelRow> shuffled(std::vector<LabelRow> rows) {
  Random(9).shuffle(rows);
  return rows;
}

}  // namespace crowdfold::testing
