#include "published.h"

#include <algorithm>
#include <limits>
#include <map>
#include <sstream>
#include <utility>

#include "paper_figures.h"  // made of the CSV files by CMake
#include "results.h"

namespace crowdfold::paper {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// The rows below the header.
std::vector<Results::Row> rows_of(const char* csv) {
  std::vector<Results::Row> rows;
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) rows.push_back(split_row(line));
  return rows;
}

struct Figures {
  Figures() {
    for (const Results::Row& row : rows_of(kFiguresCsv)) {
      by_set_and_method[{row[0], row[1]}] = {number_of(row[2]), number_of(row[3])};
      if (std::find(methods.begin(), methods.end(), row[1]) == methods.end()) methods.push_back(row[1]);
    }
  }
  std::map<std::pair<std::string, std::string>, PublishedFigure> by_set_and_method;
  std::vector<std::string> methods;
};

const Figures& figures() {
  static const Figures figures;
  return figures;
}

template <class Value>
Value find_or(const std::map<std::string, Value>& values, const std::string& name, Value otherwise) {
  const auto found = values.find(name);
  return found == values.end() ? otherwise : found->second;
}

}  // namespace

const std::vector<PublishedSet>& published_sets() {
  static const std::vector<PublishedSet> sets = [] {
    std::vector<PublishedSet> all;
    for (const Results::Row& row : rows_of(kSetsCsv)) {
      all.push_back({row[0], std::stoull(row[1]), std::stoull(row[2]), std::stoull(row[3]),
                     std::stoull(row[4]), std::stoull(row[5])});
    }
    return all;
  }();
  return sets;
}

PublishedFigure published(const std::string& set, const std::string& method) {
  const auto& all = figures().by_set_and_method;
  const auto found = all.find({set, method});
  return found == all.end() ? PublishedFigure{kNone, kNone} : found->second;
}

const std::vector<std::string>& published_methods() { return figures().methods; }

PublishedTest published_test(const std::string& method) {
  static const std::map<std::string, PublishedTest> tests = {
      {"ds", {134, .1471}},   {"lfc", {136, .1305}},     {"iwmv", {165, .012}},
      {"ebcc", {182, .0014}}, {"laa", {80, .8256}},      {"zc", {124, .2490}},
      {"bila", {147, .0615}}, {"twopass", {178, .0024}}, {"onepass", {176, .0032}}};
  return find_or(tests, method, PublishedTest{kNone, kNone});
}

double published_gap(const std::string& method) {
  static const std::map<std::string, double> gaps = {{"twopass", .005}, {"onepass", .1}};
  return find_or(gaps, method, kNone);
}

}  // namespace crowdfold::paper
