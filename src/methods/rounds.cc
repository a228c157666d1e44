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
  void require_size(std::uint64_t /*size*/) const override {}
};

class ArchiveReader final : public Archive {
 public:
  explicit ArchiveReader(std::span<const std::string_view> texts) : texts_(texts.begin(), texts.end()) {}
  bool reads() const override { return true; }
  void bytes(void* data, std::size_t size) override {
    if (source_ != kAll) {
      std::memcpy(data, next(source_, size), size);
      return;
    }
    std::memcpy(data, next(0, size), size);
    for (std::size_t i = 1; i < texts_.size(); ++i) {
      if (std::memcmp(data, next(i, size), size) != 0) refuse("they are parts of different models");
    }
  }
  void require_end() const {
    for (const std::string_view text : texts_) {
      if (!text.empty()) refuse("there are too many");
    }
  }

 private:
  static constexpr std::size_t kAll = ~std::size_t{0};

  // An array of rows may be much larger than what is written of it, but no model is this large.
  void require_size(std::uint64_t size) const override {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 36;
    if (size > kMost) refuse("an array is too large");
  }
  std::size_t sources() const override { return texts_.size(); }
  void read_from(std::size_t source) override { source_ = source; }
  void read_from_all() override { source_ = kAll; }
  void skip(std::size_t size) override { next(source_, size); }
  const char* next(std::size_t source, std::size_t size) {
    std::string_view& text = texts_[source];
    if (size > text.size()) refuse("they end too early");
    const char* const at = text.data();
    text.remove_prefix(size);
    return at;
  }

  std::vector<std::string_view> texts_;
  std::size_t source_ = kAll;
};

template <class Exchanged>
std::string written(Exchanged& from, const CrowdPart& part) {
  ArchiveWriter archive;
  archive.name_workers(part);
  archive.text = kSignature;
  archive.text.resize(kSignature.size() + sizeof(XXH64_hash_t));
  from.exchange(archive);
  const std::string_view body =
      std::string_view(archive.text).substr(kSignature.size() + sizeof(XXH64_hash_t));
  const XXH64_hash_t hash = XXH3_64bits(body.data(), body.size());
  std::memcpy(archive.text.data() + kSignature.size(), &hash, sizeof(hash));
  return std::move(archive.text);
}

// What lies behind signature and checksum.
std::string_view body_of(std::string_view bytes) {
  XXH64_hash_t hash = 0;
  if (bytes.substr(0, kSignature.size()) != kSignature) refuse("they begin otherwise");
  bytes.remove_prefix(kSignature.size());
  if (bytes.size() < sizeof(hash)) refuse("they end too early");
  std::memcpy(&hash, bytes.data(), sizeof(hash));
  bytes.remove_prefix(sizeof(hash));
  if (hash != XXH3_64bits(bytes.data(), bytes.size())) refuse("they are damaged");
  return bytes;
}

template <class Exchanged>
void read(std::span<const std::string_view> parts, Exchanged& into, const CrowdPart& part) {
  std::vector<std::string_view> bodies;
  for (const std::string_view bytes : parts) bodies.push_back(body_of(bytes));
  ArchiveReader archive(bodies);
  archive.name_workers(part);
  into.exchange(archive);
  archive.require_end();
}

}  // namespace

void Archive::same(const std::string& expected) {
  std::string there = expected;
  array(there);
  if (there != expected) refuse("they are of " + there + ", not of " + expected);
}

void run_rounds(RoundModel& model, const TaskBlocks& blocks, const RunContext& context) {
  while (!model.is_done()) {
    const int threads = std::clamp(context.threads, 1, model.summaries_at_once());
    std::vector<std::unique_ptr<RoundSummary>> sums;
    for (int thread = 0; thread < threads; ++thread) sums.push_back(model.nothing());
    blocks.for_each(threads, model.stage(), context, [&](const TaskBlock& block, int thread) {
      model.judge(block, *sums[static_cast<std::size_t>(thread)]);
    });
    for (std::size_t i = 1; i < sums.size(); ++i) {
      sums[0]->add(*sums[i]);
      sums[i].reset();
    }
    model.learn(*sums[0], context.threads);
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

void refuse_size() { refuse("an array has another size"); }

std::string to_bytes(RoundModel& model, const CrowdPart& part) { return written(model, part); }
std::string to_bytes(RoundSummary& summary, const CrowdPart& part) { return written(summary, part); }
void from_bytes(std::string_view bytes, RoundModel& model) { read({&bytes, 1}, model, {}); }
void from_bytes(std::span<const std::string_view> parts, RoundModel& model, const CrowdPart& part) {
  read(parts, model, part);
}
void from_bytes(std::string_view bytes, RoundSummary& summary) { read({&bytes, 1}, summary, {}); }

}  // namespace crowdfold
