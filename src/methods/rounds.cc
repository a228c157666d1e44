#include "crowdfold/rounds.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <vector>

#include "crowdfold/error.h"

namespace crowdfold {
namespace {

constexpr std::string_view kSignature = "crowdfold rounds 1\n";

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::data, "these bytes are not a model or a summary of this run: " + why);
}

class ArchiveWriter final : public Archive {
 public:
  bool reads() const override { return false; }
  void bytes(void* data, std::size_t size) override { text.append(static_cast<char*>(data), size); }
  std::string text;

 private:
  std::uint64_t left() const override { return 0; }
};

class ArchiveReader final : public Archive {
 public:
  explicit ArchiveReader(std::string_view text) : text_(text) {}
  bool reads() const override { return true; }
  void bytes(void* data, std::size_t size) override {
    if (size > text_.size()) refuse("they end too early");
    std::memcpy(data, text_.data(), size);
    text_.remove_prefix(size);
  }
  void require_end() const {
    if (!text_.empty()) refuse("there are too many");
  }

 private:
  std::uint64_t left() const override { return text_.size(); }

  std::string_view text_;
};

template <class Exchanged>
std::string written(Exchanged& from) {
  ArchiveWriter archive;
  archive.text = kSignature;
  archive.text.resize(kSignature.size() + sizeof(XXH64_hash_t));
  from.exchange(archive);
  const std::string_view body =
      std::string_view(archive.text).substr(kSignature.size() + sizeof(XXH64_hash_t));
  const XXH64_hash_t hash = XXH3_64bits(body.data(), body.size());
  std::memcpy(archive.text.data() + kSignature.size(), &hash, sizeof(hash));
  return std::move(archive.text);
}

template <class Exchanged>
void read(std::string_view bytes, Exchanged& into) {
  XXH64_hash_t hash = 0;
  if (bytes.substr(0, kSignature.size()) != kSignature) refuse("they begin otherwise");
  bytes.remove_prefix(kSignature.size());
  if (bytes.size() < sizeof(hash)) refuse("they end too early");
  std::memcpy(&hash, bytes.data(), sizeof(hash));
  bytes.remove_prefix(sizeof(hash));
  if (hash != XXH3_64bits(bytes.data(), bytes.size())) refuse("they are damaged");
  ArchiveReader archive(bytes);
  into.exchange(archive);
  archive.require_end();
}

}  // namespace

void Archive::require(bool can_be) const {
  if (reads() && !can_be) refuse("they say what cannot be");
}

void Archive::same(const std::string& expected) {
  constexpr std::uint64_t kLongest = 1 << 10;
  std::string there = expected;
  list(there, 0, kLongest);
  if (there != expected) refuse("they are of " + there + ", not of " + expected);
}

void run_rounds(RoundModel& model, const TaskBlocks& blocks, const RunContext& context) {
  std::uint64_t judged = 0;  // tasks, in the rounds before
  RunContext of_round = context;
  while (!model.is_done()) {
    if (context.progress) {
      const std::uint64_t all = judged + model.rounds_left() * blocks.num_tasks();
      of_round.progress = [&context, judged, all](const Progress& round) {
        context.report_at_most(round.stage, judged + round.done, all);
      };
    }
    const int threads = std::clamp(context.threads, 1, model.summaries_at_once());
    std::vector<std::unique_ptr<RoundSummary>> sums;
    for (int thread = 0; thread < threads; ++thread) sums.push_back(model.nothing());
    blocks.for_each(threads, model.stage(), of_round, [&](const TaskBlock& block, int thread) {
      model.judge(block, *sums[static_cast<std::size_t>(thread)]);
    });
    for (std::size_t i = 1; i < sums.size(); ++i) {
      sums[0]->add(*sums[i]);
      sums[i].reset();
    }
    model.learn(*sums[0], context.threads);
    judged += blocks.num_tasks();
  }
}

Result result_of_rounds(const RoundModel& model, const TaskBlocks& blocks, std::uint32_t classes,
                        const RunContext& context) {
  Result result;
  const auto tasks = static_cast<std::size_t>(blocks.num_tasks());
  const std::size_t width = context.posterior ? classes : 0;
  result.estimate.resize(tasks);
  result.confidence.resize(tasks);
  result.posterior.resize(tasks * width);
  std::vector<std::vector<Estimate>> answers(static_cast<std::size_t>(std::max(1, context.threads)));
  blocks.for_each(context.threads, "answers", context, [&](const TaskBlock& block, int thread) {
    std::vector<Estimate>& estimates = answers[static_cast<std::size_t>(thread)];
    estimates.resize(block.size());
    model.answer(block, estimates,
                 {result.posterior.data() + block.first() * width, block.size() * width});
    for (TaskId i = 0; i < block.size(); ++i) {
      result.estimate[block.first() + i] = estimates[i].label;
      result.confidence[block.first() + i] = estimates[i].confidence;
    }
  });
  model.report(context, result);
  return result;
}

std::string to_bytes(RoundModel& model) { return written(model); }
std::string to_bytes(RoundSummary& summary) { return written(summary); }
void from_bytes(std::string_view bytes, RoundModel& model) { read(bytes, model); }
void from_bytes(std::string_view bytes, RoundSummary& summary) { read(bytes, summary); }

}  // namespace crowdfold
