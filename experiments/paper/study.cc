#include "study.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/random.h"
#include "crowdfold/error.h"
#include "crowdfold/words.h"
#include "published.h"

namespace crowdfold::paper {
namespace {

// The same for the same labels and truths under any names.
std::uint64_t fingerprint(const DataSet& data) {
  std::uint64_t hash = 0;
  const auto add = [&](std::uint64_t value) { hash = mix64(hash ^ value); };
  for (TaskId t = 0; t < data.labels.num_tasks(); ++t) {
    const TaskLabels task = data.labels.task(t);
    add(task.size());
    for (const WorkerId w : task.workers) add(w);
    for (const ClassId c : task.classes) add(c);
    add(data.truths[t]);
  }
  return hash;
}

}  // namespace

Study::Study(StudyOptions options, const std::atomic<bool>& cancelled)
    : options_(std::move(options)), cancelled_(cancelled) {
  for (const std::string& name : options_.methods) {
    if (name != "all") find_method(name);
  }
  std::error_code error;
  std::filesystem::create_directories(options_.out, error);
  if (error || !std::filesystem::is_directory(options_.out))
    throw Error(ErrorCode::io, {options_.out.string(), 0, 0}, "cannot make this folder for results");
  lock();
}

Study::~Study() {
  if (lock_ >= 0) ::close(lock_);
}

// Locks the folder itself, which leaves no lock file behind, even if the program is killed.
void Study::lock() {
  lock_ = ::open(options_.out.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ >= 0 && ::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    throw Error(
        ErrorCode::usage,
        fmt::format("{}: another crowdfold-paper is at work in this folder; wait for it, or give "
                    "another --out",
                    options_.out.string()));
  }
}

std::vector<std::string> Study::sets() const {
  std::vector<std::string> there;
  std::vector<std::string> all;
  for (const PublishedSet& set : published_sets()) {
    all.push_back(set.name);
    if (DataSet::is_in(options_.data / set.name)) there.push_back(set.name);
  }
  if (there.empty()) {
    throw Error(
        ErrorCode::usage,
        fmt::format("{}: none of the paper's data sets is there, each a folder with labels.csv and "
                    "truth.csv ({}); --data names another place, and crowdfold-paper import makes "
                    "them of the public repositories",
                    options_.data.string(), fmt::join(all, ", ")));
  }
  return there;
}

const DataSet& Study::data(const std::string& set) {
  const auto found = data_.find(set);
  if (found != data_.end()) return found->second;
  if (set == kSmileOnce) {
    DataSet once = data("smile");
    once.labels = drop_exact_duplicates(once.labels);
    return data_.emplace(set, std::move(once)).first->second;
  }
  const DataSet& read = data_.emplace(set, DataSet(options_.data / set)).first->second;
  require_same(read);
  return read;
}

Results Study::sizes() const {
  return {file("sets.csv"), {"set"}, {"tasks", "workers", "classes", "labels", "truths", "fingerprint"}};
}

void Study::require_same(const DataSet& data) {
  const Labels& labels = data.labels;
  const auto truths = std::count_if(data.truths.begin(), data.truths.end(),
                                    [](ClassId truth) { return truth != kNoClass; });
  const Results::Row row = {data.name,
                            std::to_string(labels.num_tasks()),
                            std::to_string(labels.num_workers()),
                            std::to_string(labels.num_classes()),
                            std::to_string(labels.num_labels()),
                            std::to_string(truths),
                            fmt::format("{:016x}", fingerprint(data))};
  Results known = sizes();
  if (!known.has({data.name})) {
    known.add({data.name}, {{row.begin() + 1, row.end()}});
    known.settle();
  } else if (std::find(known.rows().begin(), known.rows().end(), row) == known.rows().end()) {
    throw Error(ErrorCode::data, {(options_.data / data.name).string(), 0, 0},
                fmt::format("not the data set that the results in {} are of; give another --out",
                            options_.out.string()));
  }
}

std::vector<std::string> Study::methods(const std::vector<std::string>& usual) const {
  if (options_.methods.empty()) return usual;
  std::vector<std::string> chosen;
  for (const std::string& name : options_.methods) {
    if (name != "all") {
      chosen.push_back(name);
      continue;
    }
    for (const MethodInfo& method : crowdfold::methods()) chosen.push_back(method.name);
  }
  return chosen;
}

std::vector<std::uint64_t> Study::seeds() const {
  std::vector<std::uint64_t> seeds;
  for (int run = 0; run < options_.runs; ++run)
    seeds.push_back(options_.seed + static_cast<std::uint64_t>(run));
  return seeds;
}

RunContext Study::context(std::uint64_t seed) const {
  RunContext context;
  context.seed = seed;
  context.threads = options_.threads;
  context.cancelled = &cancelled_;
  context.progress = [this](const Progress&) { show(); };
  return context;
}

void Study::measure_missing(const std::string& experiment, Results& results,
                            const std::vector<Unit>& units) {
  if (options_.fresh) {
    std::set<Results::Row> keys;
    for (const Unit& unit : units) keys.insert(unit.key);
    results.forget([&](const Results::Row& key) { return keys.contains(key); });
  }
  std::size_t missing = 0;
  for (const Unit& unit : units) missing += results.has(unit.key) ? 0 : 1;
  say(fmt::format("{}: {} to measure, {} there already", experiment, with_commas(missing),
                  with_commas(units.size() - missing)));
  const Clock::time_point began = Clock::now();
  shown_ = began;
  current_ = {experiment, 0, missing, ""};
  for (const Unit& unit : units) {
    if (results.has(unit.key)) continue;
    current_.unit = fmt::format("{}", fmt::join(unit.key, " "));
    show();
    try {
      context(0).throw_if_cancelled();
      results.add(unit.key, unit.measure());
    } catch (const Error& error) {
      if (error.code() != ErrorCode::interrupted) throw;
      throw Error(ErrorCode::interrupted,
                  fmt::format("stopped; the same command goes on where it was, with {} of {} left",
                              with_commas(missing - current_.done), with_commas(missing)));
    }
    ++current_.done;
  }
  results.settle();
  if (missing > 0) {
    say(fmt::format("{}: measured in {:.1f} s", experiment,
                    std::chrono::duration<double>(Clock::now() - began).count()));
  }
}

// A bar on a terminal, otherwise a line now and then.
void Study::show() const {
  constexpr std::chrono::seconds kLineEvery{10};
  if (options_.quiet) return;
  if (cli::stderr_is_terminal())
    return bar_.show({current_.experiment.c_str(), current_.done, current_.total});
  const Clock::time_point now = Clock::now();
  if (now - shown_ < kLineEvery) return;
  shown_ = now;
  say(fmt::format("{}: {} of {}, now {}", current_.experiment, with_commas(current_.done),
                  with_commas(current_.total), current_.unit));
}

void Study::say(const std::string& line) const {
  bar_.end();
  if (!options_.quiet) fmt::print(stderr, "{}\n", line);
}

}  // namespace crowdfold::paper
