// What several tests need: temporary folders, errors as values, and Labels that can be compared.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "crowdfold/error.h"
#include "crowdfold/labels.h"
#include "crowdfold/result.h"

namespace crowdfold::testing {

// Methods in rounds add up whole units: 2^-32 of a probability, 2^-28 of a log-likelihood. What follows
// from such sums differs a little from what is computed by hand, and an objective may seem to fall a
// little.
inline constexpr double kWholeUnits = 1e-7;
inline constexpr double kRoundedTrace = 1e-6;

// Between doubles that were computed in another order.
inline constexpr double kExact = 1e-12;

// The confidence in a class of two that is given out where the model says p: see threepass/softening.h.
inline double softened(double p) {
  const double right = std::pow(p, .7);
  return .95 * right / (right + std::pow(1 - p, .7)) + .025;
}

// A folder of its own for one test, gone afterwards.
class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "crowdfold-test.XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

  std::string write(const std::string& name, std::string_view text) const {
    std::ofstream file(path_ / name, std::ios::binary);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    return (path_ / name).string();
  }

  // Names of all files in it, sorted.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The Error that an action throws.
inline Error error_of(auto&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return {ErrorCode::internal, "nothing was thrown"};
}

// The share of tasks whose estimate is the truth.
inline double accuracy(const Result& result, const std::vector<ClassId>& truths) {
  double right = 0;
  for (std::size_t t = 0; t < truths.size(); ++t) right += result.estimate[t] == truths[t] ? 1 : 0;
  return right / static_cast<double>(truths.size());
}

struct LabelRow {
  std::string task;
  std::string worker;
  std::string label;

  bool operator==(const LabelRow&) const = default;
};

inline Labels labels_of(const std::vector<LabelRow>& rows, Duplicates duplicates = Duplicates::last) {
  LabelsBuilder builder(duplicates);
  for (const LabelRow& row : rows) builder.add(row.task, row.worker, row.label);
  return builder.build();
}

// u, v and z are right on ten tasks, w and x wrong. On the last one, w, x and y outvote u and v.
inline std::vector<LabelRow> outvoted() {
  std::vector<LabelRow> rows;
  for (int t = 0; t < 10; ++t) {
    const std::string task = std::to_string(t);
    for (const char* worker : {"u", "v", "z"}) rows.push_back({task, worker, t % 2 == 0 ? "a" : "b"});
    for (const char* worker : {"w", "x"}) rows.push_back({task, worker, t % 2 == 0 ? "b" : "a"});
  }
  for (const char* worker : {"u", "v"}) rows.push_back({"last", worker, "a"});
  for (const char* worker : {"w", "x", "y"}) rows.push_back({"last", worker, "b"});
  return rows;
}

inline std::vector<std::string> names_of(const NameTable& table) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < table.size(); ++i) names.emplace_back(table[i]);
  return names;
}

// The same labels with classes that no label names.
inline Labels with_more_classes(Labels labels, const std::vector<std::string>& names) {
  NameTable classes = labels.classes();
  for (const std::string& name : names) classes.intern(name);
  return std::move(labels).with_classes(std::move(classes));
}

// The same arrays, names and row counts; quicker than comparing describe() where there are many labels.
inline bool same_labels(const Labels& a, const Labels& b) {
  if (a.rows() != b.rows() || a.num_tasks() != b.num_tasks() ||
      names_of(a.tasks()) != names_of(b.tasks()) || names_of(a.workers()) != names_of(b.workers()) ||
      names_of(a.classes()) != names_of(b.classes()))
    return false;
  for (TaskId t = 0; t < a.num_tasks(); ++t) {
    const TaskLabels one = a.task(t);
    const TaskLabels other = b.task(t);
    if (!std::equal(one.workers.begin(), one.workers.end(), other.workers.begin(),
                    other.workers.end()) ||
        !std::equal(one.classes.begin(), one.classes.end(), other.classes.begin(), other.classes.end()))
      return false;
  }
  return true;
}

// Everything that Labels say, as text: one line per task, then the names in order, then the counts.
inline std::string describe(const Labels& labels) {
  std::string text;
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const TaskLabels task = labels.task(t);
    text += std::string(labels.tasks()[t]) + ":";
    for (std::size_t j = 0; j < task.size(); ++j) {
      text += " " + std::string(labels.workers()[task.workers[j]]) + "=" +
              std::string(labels.classes()[task.classes[j]]);
    }
    text += "\n";
  }
  for (const NameTable* table : {&labels.workers(), &labels.classes()}) {
    for (const std::string& name : names_of(*table)) text += name + ",";
    text += "\n";
  }
  text += std::to_string(labels.num_labels()) + " labels, " + std::to_string(labels.rows().read) +
          " rows, " + std::to_string(labels.rows().abstentions) + " abstentions, " +
          std::to_string(labels.rows().duplicates) + " duplicates, " +
          std::to_string(labels.rows().skipped) + " skipped\n";
  return text;
}

}  // namespace crowdfold::testing
