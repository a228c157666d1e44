// Methods in rounds (crowdfold/rounds.h) on bytes alone, for engines that know nothing of labels: chunks
// of tasks, models and summaries are strings that can be kept and sent anywhere. Each says what it is of
// and has a checksum: damaged ones, and those of another run or round, are Error(data).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "crowdfold/registry.h"

namespace crowdfold {

// Labels, a row each, in any order. Ids of tasks may be any numbers; those of workers and classes are
// from 0 on, the same in all chunks. The class -1 is an abstention: the task is there, the label is not.
struct ChunkRows {
  std::span<const std::int64_t> tasks;
  std::span<const std::int64_t> workers;
  std::span<const std::int64_t> classes;
  // Known truths: classes, -1 where not known. Of these tasks; without any, of all tasks of the chunk in
  // the order in which they come first; or empty.
  std::span<const std::int64_t> truths = {};
  std::span<const std::int64_t> truth_tasks = {};
};

// All labels of some tasks, packed. Of a worker's labels on a task, the last one counts.
std::string pack_chunk(const ChunkRows& rows);

// The same chunk, its tasks numbered from `first` on, in their order there: for those who know only
// later how many tasks other chunks have.
std::string renumbered_chunk(std::string_view chunk, std::int64_t first);

struct RoundsStart {
  std::string method;
  Settings settings;
  std::uint32_t workers = 0;
  std::uint32_t classes = 0;
  std::uint64_t seed = 0;  // decides ties, if so set, with the ids of tasks
};

// The model before the first round. Error(usage) for a method that cannot go in rounds, in the words of
// require_rounds(), and if it needs more than `max_memory` bytes (0: no limit).
std::string start_rounds(const RoundsStart& start, std::uint64_t max_memory = 0);

struct ChunkAnswers {
  std::vector<std::int64_t> tasks;    // in the order in which they came first
  std::vector<std::int64_t> classes;  // -1: none
  std::vector<double> confidence;
  std::vector<double> posterior;  // K for each task, if asked for
};

// What a model, or a part of it, knows of some workers: for judging chunks that have labels by no
// others, where the whole model is too large to be sent. `workers`: ids, ascending.
std::string part_of_model(std::string_view model, std::span<const std::int64_t> workers);

// A model that was read from its bytes, which takes longer than to judge a small chunk.
class SentModel {
 public:
  explicit SentModel(std::string_view bytes);
  // What several parts of one model know together. It judges and answers, no more.
  explicit SentModel(std::span<const std::string_view> parts);
  ~SentModel();
  SentModel(const SentModel&) = delete;
  SentModel& operator=(const SentModel&) = delete;

  bool is_of(std::string_view bytes) const;  // the ones that it was read from
  const RoundsStart& made_for() const;
  std::uint32_t round() const;  // so many are over
  bool is_done() const;
  std::string stage() const;

  // A summary of what the chunks say; of nothing, if there are none.
  std::string judge(std::span<const std::string_view> chunks) const;
  // Summaries of this round, in any order.
  std::string merge(std::span<const std::string_view> summaries) const;

  // Of a model that is done.
  ChunkAnswers answer(std::string_view chunk, bool posterior) const;
  Result report() const;  // everything but answers

 private:
  friend std::string next_round(std::string_view model, std::string_view summary);
  struct Parts;
  void require_done(bool done) const;

  std::unique_ptr<Parts> parts_;
};

// The model after a round of which `summary` says all.
std::string next_round(std::string_view model, std::string_view summary);

}  // namespace crowdfold
