// The input of an experiment: the available data sets, a folder for results, and how to run.
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
  bool fresh = false;                // measure again even if there are results
  bool quiet = false;
};

// A set of rows that are measured together, see Results.
struct Unit {
  Results::Row key;
  std::function<std::vector<Results::Row>()> measure;
};

// Only one program at a time may use a folder of results: Error(usage) for the second.
class Study {
 public:
  Study(StudyOptions options, const std::atomic<bool>& cancelled);
  ~Study();
  Study(const Study&) = delete;
  Study& operator=(const Study&) = delete;

  // The paper's data sets that are there, in its order. Error(usage) if none is.
  std::vector<std::string> sets() const;
  // Reads the set at the first call. Error(data) if existing results are of another data set of that
  // name.
  const DataSet& data(const std::string& set);
  // sets.csv: the sizes of the data sets that were measured.
  Results sizes() const;

  // The methods the user asked for, or else `usual`.
  std::vector<std::string> methods(const std::vector<std::string>& usual) const;
  std::vector<std::uint64_t> seeds() const;
  RunContext context(std::uint64_t seed) const;

  std::filesystem::path file(const std::string& name) const { return options_.out / name; }

  // Measures the units that have no results yet, shows progress, and settles the results.
  void measure_missing(const std::string& experiment, Results& results, const std::vector<Unit>& units);

  void say(const std::string& line) const;

 private:
  using Clock = std::chrono::steady_clock;
  void lock();
  void require_same(const DataSet& data);
  void show() const;

  // The unit that is being measured.
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
