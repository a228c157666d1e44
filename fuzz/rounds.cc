// Bytes of rounds that come from other machines: a chunk, a model and a summary with bytes that are
// changed, and checksums that fit again. Whatever is not refused is worked with, as an engine would.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "crowdfold/error.h"
#include "crowdfold/registry.h"
#include "crowdfold/round_bytes.h"
#include "fuzz.h"
#include "round_seal.h"

namespace crowdfold::fuzz {
namespace {

constexpr std::int64_t kWorkers = 5;
constexpr std::int64_t kTasks = 8;
constexpr std::uint64_t kMostModelMemory = std::uint64_t{64} << 20;

// A small crowd, some of whose tasks have truths.
std::string small_chunk(std::int64_t classes, bool truths) {
  std::vector<std::int64_t> tasks;
  std::vector<std::int64_t> workers;
  std::vector<std::int64_t> labels;
  std::vector<std::int64_t> known;
  for (std::int64_t t = 0; t < kTasks; ++t) {
    for (std::int64_t w = t % 2; w < kWorkers; w += 1 + t % 3) {
      tasks.push_back(t);
      workers.push_back(w);
      labels.push_back((w == 3 ? t + w : t) % classes);
    }
    if (truths) known.push_back(t % 3 == 0 ? t % classes : -1);
  }
  return pack_chunk({tasks, workers, labels, known, {}});
}

// A line "place value" sets the byte at that place, counted from the end; with a "w" behind it a word of
// eight bytes; with an "x" it takes so many bytes away.
void change(std::string& bytes, std::string_view edits) {
  while (!edits.empty()) {
    const std::size_t end = std::min(edits.find('\n'), edits.size());
    const std::string line(edits.substr(0, end));
    edits.remove_prefix(std::min(end + 1, edits.size()));
    unsigned long place = 0;
    unsigned long value = 0;
    char what = ' ';
    if (std::sscanf(line.c_str(), "%lu %lu%c", &place, &value, &what) < 2 || bytes.empty()) continue;
    place = bytes.size() - 1 - place % bytes.size();
    if (what == 'x') {
      bytes.erase(place, value % 64);
    } else if (what == 'w') {  // a word
      const std::uint64_t word = value;
      if (place + sizeof word <= bytes.size()) std::memcpy(bytes.data() + place, &word, sizeof word);
    } else {
      bytes[place] = static_cast<char>(value);
    }
  }
  testing::seal_rounds(bytes);
}

}  // namespace

void rounds(std::string_view input) {
  Choices choices(input);
  std::vector<const MethodInfo*> in_rounds;
  for (const MethodInfo& info : methods()) {
    if (info.make_rounds) in_rounds.push_back(&info);
  }
  const MethodInfo& method = *in_rounds[choices.below(in_rounds.size())];
  const std::size_t changed = choices.below(3);  // chunk, model or summary
  const std::size_t after = choices.below(6);    // rounds
  const std::int64_t classes = choices.below(2) == 0 ? 3 : 70;
  const bool truths = method.traits.takes_truths && choices.below(2) == 1;

  RoundsStart start;
  start.method = method.name;
  if (method.has_option("vote_rounds")) start.settings = {{"vote_rounds", "3"}};
  if (method.has_option("iterations")) start.settings.emplace_back("iterations", "4");
  start.workers = kWorkers;
  start.classes = static_cast<std::uint32_t>(classes);
  std::string chunk = small_chunk(classes, truths);
  std::string model = start_rounds(start, 0);
  for (std::size_t round = 0; round < after && !SentModel(model).is_done(); ++round) {
    const std::string_view chunks[] = {chunk};
    model = next_round(model, SentModel(model).judge(chunks));
  }
  try {
    if (changed == 0) change(chunk, input);
    if (changed == 1) change(model, input);
    const std::string_view chunks[] = {chunk};
    for (int round = 0; round < 8; ++round) {
      const SentModel sent(model, kMostModelMemory);
      if (sent.is_done()) {
        sent.answer(chunk, true);
        sent.report();
        return;
      }
      std::string summary = sent.judge(chunks);
      if (changed == 2 && round == 0) change(summary, input);
      const std::string_view both[] = {summary, summary};
      model = next_round(model, sent.merge(both));
    }
  } catch (const Error&) {  // refused
  }
}

}  // namespace crowdfold::fuzz
