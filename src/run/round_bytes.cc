#include "crowdfold/round_bytes.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "crowdfold/error.h"
#include "crowdfold/version.h"
#include "methods/batch.h"

namespace crowdfold {
namespace {

// --- packages: what it is, a checksum, the version of crowdfold, a body

enum class Kind { chunk, model, part, summary };

constexpr std::string_view kBegins = "crowdfold ";
const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::chunk: return "chunk";
    case Kind::model: return "model";
    case Kind::part: return "part of a model";
    case Kind::summary: break;
  }
  return "summary";
}
std::string signature(Kind kind) { return fmt::format("{}{} 1\n", kBegins, name_of(kind)); }

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::data, why); }

class PackageWriter {
 public:
  explicit PackageWriter(Kind kind) : text_(signature(kind)), checksum_at_(text_.size()) {
    value(XXH64_hash_t{0});
    array(std::string_view(kVersion));
  }
  template <class T>
  void value(T number) {
    static_assert(std::is_arithmetic_v<T>);
    text_.append(reinterpret_cast<const char*>(&number), sizeof(number));
  }
  template <class Array>
  void array(const Array& numbers) {
    value<std::uint64_t>(numbers.size());
    if (!numbers.empty())
      text_.append(reinterpret_cast<const char*>(numbers.data()),
                   numbers.size() * sizeof(*numbers.data()));
  }
  std::string finish() {
    const std::size_t body = checksum_at_ + sizeof(XXH64_hash_t);
    const XXH64_hash_t hash = XXH3_64bits(text_.data() + body, text_.size() - body);
    std::memcpy(text_.data() + checksum_at_, &hash, sizeof(hash));
    return std::move(text_);
  }

 private:
  std::string text_;
  std::size_t checksum_at_;
};

class PackageReader {
 public:
  PackageReader(Kind kind, std::string_view text) : kind_(kind), text_(text) {
    const std::string begins = signature(kind);
    if (text_.substr(0, begins.size()) != begins) refuse_kind();
    text_.remove_prefix(begins.size());
    const auto hash = value<XXH64_hash_t>();
    if (hash != XXH3_64bits(text_.data(), text_.size()))
      refuse(fmt::format("the {} is damaged: its checksum is another one", name_of(kind)));
    const std::string version = array<std::string>();
    if (version != kVersion)
      refuse(fmt::format("the {} was made by crowdfold {}, this is {}: use one version everywhere",
                         name_of(kind), version, kVersion));
  }
  template <class T>
  T value() {
    T number{};
    take(&number, 1, sizeof(number));
    return number;
  }
  template <class Array>
  Array array() {
    const auto size = value<std::uint64_t>();
    if (size > text_.size() / sizeof(typename Array::value_type)) refuse_end();
    Array numbers(static_cast<std::size_t>(size), typename Array::value_type{});
    if (size > 0) take(numbers.data(), numbers.size(), sizeof(typename Array::value_type));
    return numbers;
  }
  // An array of bytes, without a copy.
  std::string_view view() {
    const auto size = value<std::uint64_t>();
    if (size > text_.size()) refuse_end();
    const std::string_view bytes = text_.substr(0, static_cast<std::size_t>(size));
    text_.remove_prefix(bytes.size());
    return bytes;
  }
  void require_end() const {
    if (!text_.empty()) refuse(fmt::format("the {} is damaged: it is too long", name_of(kind_)));
  }

 private:
  [[noreturn]] void refuse_kind() const {
    for (const Kind other : {Kind::chunk, Kind::model, Kind::part, Kind::summary}) {
      if (text_.starts_with(signature(other)))
        refuse(fmt::format("these bytes are a {}, not a {}", name_of(other), name_of(kind_)));
    }
    refuse(fmt::format("these bytes are no {}: they begin otherwise", name_of(kind_)));
  }
  [[noreturn]] void refuse_end() const {
    refuse(fmt::format("the {} is damaged: it ends too early", name_of(kind_)));
  }
  void take(void* into, std::size_t count, std::size_t size) {
    if (text_.size() / size < count) refuse_end();
    std::memcpy(into, text_.data(), count * size);
    text_.remove_prefix(count * size);
  }

  Kind kind_;
  std::string_view text_;
};

// --- chunks

std::uint64_t require_id(std::int64_t id, std::uint64_t most, const char* what, std::size_t row) {
  if (id >= 0 && static_cast<std::uint64_t>(id) < most) return static_cast<std::uint64_t>(id);
  refuse(fmt::format("row {}: {} id {}; number them from 0 to {} at most", row, what, id, most - 1));
}

// Tasks by their place in the chunk.
class TaskPlaces {
 public:
  std::uint32_t put(std::int64_t task) {
    if (!ids_.empty() && ids_[last_] == task) return last_;
    const auto [at, is_new] = places_.try_emplace(task, static_cast<std::uint32_t>(ids_.size()));
    if (is_new) ids_.push_back(task);
    return last_ = at->second;
  }
  // ids().size() if it is not there.
  std::size_t find(std::int64_t task) const {
    const auto at = places_.find(task);
    return at == places_.end() ? ids_.size() : at->second;
  }
  const std::vector<std::int64_t>& ids() const { return ids_; }

 private:
  std::unordered_map<std::int64_t, std::uint32_t> places_;
  std::vector<std::int64_t> ids_;
  std::uint32_t last_ = 0;
};

struct ChunkLabels {
  std::vector<std::uint64_t> offsets = {0};
  std::vector<WorkerId> workers;
  std::vector<ClassId> classes;
};

// A worker's second label on a task takes the place of the first.
ChunkLabels without_duplicates(const ChunkLabels& all) {
  constexpr std::size_t kFew = 16;
  ChunkLabels kept;
  std::unordered_map<WorkerId, std::size_t> places;
  for (std::size_t t = 0; t + 1 < all.offsets.size(); ++t) {
    const std::size_t begin = kept.workers.size();
    const bool many = all.offsets[t + 1] - all.offsets[t] > kFew;
    places.clear();
    for (std::size_t i = all.offsets[t]; i < all.offsets[t + 1]; ++i) {
      const WorkerId worker = all.workers[i];
      const std::size_t end = kept.workers.size();
      const std::size_t at =
          many ? places.try_emplace(worker, end).first->second
               : static_cast<std::size_t>(
                     std::find(kept.workers.begin() + static_cast<std::ptrdiff_t>(begin),
                               kept.workers.end(), worker) -
                     kept.workers.begin());
      if (at < end) {
        kept.classes[at] = all.classes[i];
        continue;
      }
      kept.workers.push_back(worker);
      kept.classes.push_back(all.classes[i]);
    }
    kept.offsets.push_back(kept.workers.size());
  }
  return kept;
}

// By place in the chunk; empty if none is known.
std::vector<ClassId> truths_of(const ChunkRows& rows, const TaskPlaces& tasks) {
  std::vector<ClassId> truths;
  if (rows.truths.empty()) return truths;
  const bool named = !rows.truth_tasks.empty();
  const std::size_t expected = named ? rows.truth_tasks.size() : tasks.ids().size();
  if (rows.truths.size() != expected)
    refuse(fmt::format("there are {} truths of {} tasks; give one for each, -1 where not known",
                       rows.truths.size(), expected));
  truths.assign(tasks.ids().size(), kNoClass);
  bool knows = false;
  for (std::size_t i = 0; i < rows.truths.size(); ++i) {
    const std::size_t place = named ? tasks.find(rows.truth_tasks[i]) : i;
    if (rows.truths[i] == -1 || place == truths.size()) continue;
    truths[place] = static_cast<ClassId>(require_id(rows.truths[i], kMaxClasses, "a truth's class", i));
    knows = true;
  }
  if (!knows) truths.clear();
  return truths;
}

std::string chunk_bytes(const std::vector<std::int64_t>& ids, const ChunkLabels& labels,
                        const std::vector<ClassId>& truths) {
  PackageWriter package(Kind::chunk);
  package.array(ids);
  package.array(labels.offsets);
  package.array(labels.workers);
  package.array(labels.classes);
  package.array(truths);
  return package.finish();
}

class ChunkOfTasks {
 public:
  explicit ChunkOfTasks(std::string_view bytes) {
    PackageReader package(Kind::chunk, bytes);
    ids_ = package.array<std::vector<std::int64_t>>();
    labels_.offsets = package.array<std::vector<std::uint64_t>>();
    labels_.workers = package.array<std::vector<WorkerId>>();
    labels_.classes = package.array<std::vector<ClassId>>();
    truths_ = package.array<std::vector<ClassId>>();
    package.require_end();
    const std::vector<std::uint64_t>& offsets = labels_.offsets;
    if (offsets.size() != ids_.size() + 1 || ids_.size() > kMaxTasks || offsets.front() != 0 ||
        !std::is_sorted(offsets.begin(), offsets.end()) || offsets.back() != labels_.workers.size() ||
        labels_.classes.size() != labels_.workers.size() ||
        (!truths_.empty() && truths_.size() != ids_.size()))
      refuse("the chunk is damaged: its arrays do not fit each other");
  }

  const std::vector<std::int64_t>& ids() const { return ids_; }

  std::string renumbered(std::int64_t first) const {
    std::vector<std::int64_t> ids(ids_.size());
    std::iota(ids.begin(), ids.end(), first);
    return chunk_bytes(ids, labels_, truths_);
  }

  void require_fit(const RoundsStart& start) const {
    const auto most_worker = std::max_element(labels_.workers.begin(), labels_.workers.end());
    if (most_worker != labels_.workers.end() && *most_worker >= start.workers)
      refuse(
          fmt::format("the chunk has the worker id {}, the model {} workers: start it with all of them",
                      *most_worker, start.workers));
    const auto require_class = [&](ClassId c) {
      if (c >= start.classes)
        refuse(
            fmt::format("the chunk has the class id {}, the model {} classes: start it with all of them",
                        c, start.classes));
    };
    if (!labels_.classes.empty())
      require_class(*std::max_element(labels_.classes.begin(), labels_.classes.end()));
    for (const ClassId truth : truths_) {
      if (truth != kNoClass) require_class(truth);
    }
    if (truths_.empty()) return;
    const MethodInfo& method = find_method(start.method);
    Knowledge given;
    given.truths = truths_;
    require_known(method.name, method.traits, start.classes, given);
  }

  // Workers by their places in a part.
  void take_places(const CrowdPart& part) {
    for (WorkerId& w : labels_.workers) {
      const std::size_t place = part.place(w);
      if (place == CrowdPart::kNowhere)
        refuse(
            fmt::format("the chunk has the worker id {}, which the parts of the model do not know", w));
      w = static_cast<WorkerId>(place);
    }
  }

  // body(block), of some tasks at a time, as methods need memory for each.
  template <class Body>
  void for_each_block(Body&& body) const {
    constexpr std::size_t kTasksPerBlock = 1 << 12;
    for (std::size_t first = 0; first < ids_.size(); first += kTasksPerBlock) {
      const std::size_t size = std::min(kTasksPerBlock, ids_.size() - first);
      std::span<const ClassId> truths = truths_;
      if (!truths.empty()) truths = truths.subspan(first, size);
      body(TaskBlock(static_cast<TaskId>(first), std::span(labels_.offsets).subspan(first, size + 1),
                     labels_.workers.data(), labels_.classes.data(), truths,
                     std::span(ids_).subspan(first, size)));
    }
  }

 private:
  std::vector<std::int64_t> ids_;
  ChunkLabels labels_;
  std::vector<ClassId> truths_;
};

// --- models and summaries

// Which bytes a model is.
using ModelId = std::pair<std::uint64_t, std::uint64_t>;

ModelId id_of(std::string_view model) {
  const XXH128_hash_t hash = XXH3_128bits(model.data(), model.size());
  return {hash.low64, hash.high64};
}

std::unique_ptr<RoundModel> make_model(const RoundsStart& start, std::uint64_t max_memory,
                                       const CrowdPart& part = {}) {
  const MethodInfo& method = find_method(start.method);
  require_rounds(method, start.settings);
  require_known(method.name, method.traits, start.classes, {});
  const auto workers = static_cast<std::uint32_t>(part.is_all() ? start.workers : part.workers.size());
  return method.make_rounds(start.settings, {workers, start.classes, 0, start.seed, max_memory, nullptr,
                                             static_cast<std::uint32_t>(part.crowd)});
}

// What a model is made for, and how many rounds are over.
void write_start(const RoundsStart& start, std::uint32_t round, PackageWriter& package) {
  package.array(start.method);
  package.value<std::uint64_t>(start.settings.size());
  for (const auto& [name, value] : start.settings) {
    package.array(name);
    package.array(value);
  }
  package.value(start.workers);
  package.value(start.classes);
  package.value(start.seed);
  package.value(round);
}
std::uint32_t read_start(PackageReader& package, RoundsStart& start) {
  start.method = package.array<std::string>();
  for (auto left = package.value<std::uint64_t>(); left > 0; --left) {
    std::string name = package.array<std::string>();
    start.settings.emplace_back(std::move(name), package.array<std::string>());
  }
  start.workers = package.value<std::uint32_t>();
  start.classes = package.value<std::uint32_t>();
  start.seed = package.value<std::uint64_t>();
  return package.value<std::uint32_t>();
}

std::string model_bytes(const RoundsStart& start, std::uint32_t round, RoundModel& model) {
  PackageWriter package(Kind::model);
  write_start(start, round, package);
  package.array(to_bytes(model));
  return package.finish();
}

// A model's bytes, or those of a part.
struct SentPart {
  explicit SentPart(std::string_view bytes) {
    const bool is_part = bytes.starts_with(signature(Kind::part));
    PackageReader package(is_part ? Kind::part : Kind::model, bytes);
    round = read_start(package, start);
    if (is_part) {
      id.first = package.value<std::uint64_t>();
      id.second = package.value<std::uint64_t>();
      workers = package.array<std::vector<WorkerId>>();
      if (!std::is_sorted(workers.begin(), workers.end()))
        refuse("the part of a model is damaged: its workers are in no order");
    } else {
      id = id_of(bytes);
      knows_all = true;
    }
    body = package.view();
    package.require_end();
  }
  bool knows(WorkerId w) const {
    return knows_all ? w < start.workers : std::binary_search(workers.begin(), workers.end(), w);
  }

  RoundsStart start;
  std::uint32_t round = 0;
  ModelId id;  // of the whole model
  bool knows_all = false;
  std::vector<WorkerId> workers;  // that it knows, if not all
  std::string_view body;
};

std::string summary_bytes(const ModelId& judged_by, RoundSummary& summary, const CrowdPart& part = {}) {
  PackageWriter package(Kind::summary);
  package.value(judged_by.first);
  package.value(judged_by.second);
  package.array(to_bytes(summary, part));
  return package.finish();
}

}  // namespace

std::string pack_chunk(const ChunkRows& rows) {
  const std::size_t count = rows.tasks.size();
  if (rows.workers.size() != count || rows.classes.size() != count)
    refuse(fmt::format("there are {} task ids, {} worker ids and {} class ids; give one of each a row",
                       count, rows.workers.size(), rows.classes.size()));
  if (count > kMaxTasks) refuse("a chunk has 4294967294 labels at most: make more chunks");
  TaskPlaces tasks;
  std::vector<std::uint32_t> place_of(count);
  for (std::size_t i = 0; i < count; ++i) place_of[i] = tasks.put(rows.tasks[i]);
  // Counting sort by task, without abstentions.
  const auto abstains = [&](std::size_t i) { return rows.classes[i] == -1; };
  ChunkLabels all;
  all.offsets.assign(tasks.ids().size() + 1, 0);
  for (std::size_t i = 0; i < count; ++i)
    all.offsets[place_of[i] + std::size_t{1}] += abstains(i) ? 0 : 1;
  for (std::size_t t = 1; t < all.offsets.size(); ++t) all.offsets[t] += all.offsets[t - 1];
  std::vector<std::uint64_t> next(all.offsets.begin(), all.offsets.end() - 1);
  all.workers.resize(all.offsets.back());
  all.classes.resize(all.offsets.back());
  for (std::size_t i = 0; i < count; ++i) {
    const auto worker = static_cast<WorkerId>(require_id(rows.workers[i], kMaxWorkers, "worker", i));
    if (abstains(i)) continue;
    const std::uint64_t at = next[place_of[i]]++;
    all.workers[at] = worker;
    all.classes[at] = static_cast<ClassId>(require_id(rows.classes[i], kMaxClasses, "class", i));
  }
  return chunk_bytes(tasks.ids(), without_duplicates(all), truths_of(rows, tasks));
}

std::string renumbered_chunk(std::string_view chunk, std::int64_t first) {
  return ChunkOfTasks(chunk).renumbered(first);
}

std::string start_rounds(const RoundsStart& start, std::uint64_t max_memory) {
  const auto require = [](const char* what, std::uint64_t count, std::uint64_t most) {
    if (count == 0 || count > most)
      throw Error(ErrorCode::usage,
                  fmt::format("{}={}: how many there are, 1 to {}", what, count, most));
  };
  require("workers", start.workers, kMaxWorkers);
  require("classes", start.classes, kMaxClasses);
  RoundsStart named = start;
  named.method = find_method(start.method).name;
  return model_bytes(named, 0, *make_model(named, max_memory));
}

std::string part_of_model(std::string_view model, std::span<const std::int64_t> workers) {
  const SentPart sent(model);
  std::vector<WorkerId> ids;
  for (const std::int64_t w : workers) {
    if (w < 0 || w > std::int64_t{kMaxWorkers} || !sent.knows(static_cast<WorkerId>(w)))
      refuse(fmt::format("worker id {}: the model does not know it", w));
    if (!ids.empty() && ids.back() >= static_cast<WorkerId>(w))
      throw Error(ErrorCode::usage, "the workers of a part must ascend");
    ids.push_back(static_cast<WorkerId>(w));
  }
  const CrowdPart part{ids, sent.start.workers};
  const std::unique_ptr<RoundModel> known = make_model(sent.start, 0, part);
  from_bytes({&sent.body, 1}, *known, part);
  PackageWriter package(Kind::part);
  write_start(sent.start, sent.round, package);
  package.value(sent.id.first);
  package.value(sent.id.second);
  package.array(ids);
  package.array(to_bytes(*known, part));
  return package.finish();
}

struct SentModel::Parts {
  ModelId id;
  RoundsStart start;
  std::uint32_t round = 0;
  std::unique_ptr<RoundModel> model;
  std::vector<WorkerId> known;  // of a part: its workers
  CrowdPart part;

  ChunkOfTasks chunk(std::string_view bytes) const {
    ChunkOfTasks chunk(bytes);
    chunk.require_fit(start);
    if (!part.is_all()) chunk.take_places(part);
    return chunk;
  }
  void require_whole() const {
    if (!part.is_all())
      throw Error(ErrorCode::usage, "these are parts of a model: only the whole one can do this");
  }

  // Into `summary`, which is model->nothing().
  void read(std::string_view bytes, RoundSummary& summary) const {
    PackageReader package(Kind::summary, bytes);
    const auto low = package.value<std::uint64_t>();
    const auto high = package.value<std::uint64_t>();
    if (ModelId{low, high} != id)
      refuse(
          fmt::format("the summary is of another model, not of this one (round {} of {}): judge the "
                      "chunk by the model that it is merged for",
                      round + 1, start.method));
    from_bytes(package.view(), summary);
    package.require_end();
  }
};

SentModel::SentModel(std::string_view bytes) : parts_(std::make_unique<Parts>()) {
  PackageReader package(Kind::model, bytes);
  parts_->round = read_start(package, parts_->start);
  parts_->model = make_model(parts_->start, 0);
  from_bytes(package.view(), *parts_->model);
  package.require_end();
  parts_->id = id_of(bytes);
}

SentModel::SentModel(std::span<const std::string_view> parts) : parts_(std::make_unique<Parts>()) {
  std::vector<std::string_view> bodies;
  for (const std::string_view bytes : parts) {
    SentPart sent(bytes);
    if (sent.knows_all) refuse("these bytes are a model, not a part of one");
    if (!bodies.empty() && sent.id != parts_->id) refuse("they are parts of different models");
    bodies.push_back(sent.body);
    parts_->id = sent.id;
    parts_->round = sent.round;
    parts_->start = std::move(sent.start);
    parts_->known.insert(parts_->known.end(), sent.workers.begin(), sent.workers.end());
  }
  if (bodies.empty()) throw Error(ErrorCode::usage, "no parts of a model: give one at least");
  std::sort(parts_->known.begin(), parts_->known.end());
  parts_->known.erase(std::unique(parts_->known.begin(), parts_->known.end()), parts_->known.end());
  parts_->part = {parts_->known, parts_->start.workers};
  parts_->model = make_model(parts_->start, 0, parts_->part);
  from_bytes(bodies, *parts_->model, parts_->part);
}

SentModel::~SentModel() = default;

bool SentModel::is_of(std::string_view bytes) const { return id_of(bytes) == parts_->id; }
const RoundsStart& SentModel::made_for() const { return parts_->start; }
std::uint32_t SentModel::round() const { return parts_->round; }
bool SentModel::is_done() const { return parts_->model->is_done(); }
std::string SentModel::stage() const { return is_done() ? "done" : parts_->model->stage(); }

void SentModel::require_done(bool done) const {
  if (is_done() == done) return;
  throw Error(ErrorCode::usage,
              done
                  ? fmt::format("the model is not done after {} rounds: judge all chunks by it, and ask "
                                "for the next one",
                                round())
                  : std::string("the model is done: nothing more is to be learned; finish the chunks"));
}

std::string SentModel::judge(std::span<const std::string_view> chunks) const {
  require_done(false);
  const std::unique_ptr<RoundSummary> summary = parts_->model->nothing();
  for (const std::string_view bytes : chunks) {
    parts_->chunk(bytes).for_each_block(
        [&](const TaskBlock& block) { parts_->model->judge(block, *summary); });
  }
  return summary_bytes(parts_->id, *summary, parts_->part);
}

std::string SentModel::merge(std::span<const std::string_view> summaries) const {
  parts_->require_whole();
  const std::unique_ptr<RoundSummary> all = parts_->model->nothing();
  for (const std::string_view bytes : summaries) {
    const std::unique_ptr<RoundSummary> one = parts_->model->nothing();
    parts_->read(bytes, *one);
    all->add(*one);
  }
  return summary_bytes(parts_->id, *all);
}

ChunkAnswers SentModel::answer(std::string_view bytes, bool posterior) const {
  require_done(true);
  const ChunkOfTasks chunk = parts_->chunk(bytes);
  const std::size_t width = posterior ? parts_->start.classes : 0;
  ChunkAnswers answers;
  answers.tasks = chunk.ids();
  answers.posterior.resize(chunk.ids().size() * width);
  std::vector<Estimate> estimates;
  chunk.for_each_block([&](const TaskBlock& block) {
    estimates.assign(block.size(), {});
    parts_->model->answer(
        block, estimates,
        std::span(answers.posterior).subspan(block.first() * width, block.size() * width));
    for (const Estimate& estimate : estimates) {
      answers.classes.push_back(estimate.label == kNoClass ? -1 : estimate.label);
      answers.confidence.push_back(estimate.confidence);
    }
  });
  return answers;
}

Result SentModel::report() const {
  parts_->require_whole();
  require_done(true);
  Result result;
  parts_->model->report({}, result);
  return result;
}

std::string next_round(std::string_view model, std::string_view summary) {
  const SentModel sent(model);
  sent.require_done(false);
  SentModel::Parts& parts = *sent.parts_;
  const std::unique_ptr<RoundSummary> said = parts.model->nothing();
  parts.read(summary, *said);
  parts.model->learn(*said, /*threads=*/1);
  return model_bytes(parts.start, parts.round + 1, *parts.model);
}

}  // namespace crowdfold
