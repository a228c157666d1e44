// What an experiment is given: the data sets that are there, a folder for results, and how to run.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "data_set.h"
#include "results.h"
#include "terminal.h"

namespace crowdfold::paper {

struct StudyOptions {
  std::filesystem::path data;
  std::filesystem::path out;
  int runs = 10;
  std::uint64_t seed = 1;            // of the first run; the next has the next
  std::vector<std::string> methods;  // empty: those of the experiment; "all": all
  int threads = 1;                   // that a method may use
  bool fresh = false;                // measure again what is there
  bool quiet = false;
};

// What is measured at once, see Results.
struct Unit {
  Results::Row key;
  std::function<std::vector<Results::Row>()> measure;
};

// One at a time may work in a folder of results: Error(usage) for the second.
class Study {
 public:
  Study(StudyOptions options, const std::atomic<bool>& cancelled);
  ~Study();
  Study(const Study&) = delete;
  Study& operator=(const Study&) = delete;

  // The paper's data sets that are there, in its order. Error(usage) if none is.
  std::vector<std::string> sets() const;
  // Read when it is first asked for. Error(data) if the results that are there are of another data set
  // of that name.
  const DataSet& data(const std::string& set);
  // The sizes of the data sets that results are of: sets.csv.
  Results sizes() const;

  // Those that were asked for, or else `usual`.
  std::vector<std::string> methods(const std::vector<std::string>& usual) const;
  std::vector<std::uint64_t> seeds() const;
  RunContext context(std::uint64_t seed) const;

  std::filesystem::path file(const std::string& name) const { return options_.out / name; }

  // Measures the units that are not among the results, shows how far it is, and settles the results.
  void measure_missing(const std::string& experiment, Results& results, const std::vector<Unit>& units);

  void say(const std::string& line) const;

 private:
  using Clock = std::chrono::steady_clock;
  void lock();
  void require_same(const DataSet& data);
  void show() const;

  // What is being measured.
  struct Current {
    std::string experiment;
    std::size_t done = 0;
    std::size_t total = 0;
    std::string unit;
  };

  StudyOptions options_;
  const std::atomic<bool>& cancelled_;
  std::map<std::string, DataSet> data_;
  Current current_;
  mutable cli::ProgressBar bar_;
  mutable Clock::time_point shown_;
  int lock_ = -1;  // the folder of results, locked
};

// smile has rows that say the same thing again. Some of the published figures must have counted them
// once: this is the data set without them.
inline const std::string kSmileOnce = "smile_once";

}  // namespace crowdfold::paper
