// The results of one experiment: a CSV file to which rows are added as they are measured, so that a run
// that was stopped goes on where it was.
//
// A unit is a set of rows with the same key that are measured together. Its rows are appended in one
// piece; opening the file drops a unit that is not whole because the program was killed. settle() sorts
// the rows by their keys, so that the file does not depend on the order of measuring.
#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace crowdfold::paper {

// The shortest text that parses back to the same number, and the reverse; NaN is the empty text.
std::string text_of(double value);
double number_of(const std::string& text);

class Results {
 public:
  using Row = std::vector<std::string>;  // the key's fields, then the values'

  // Opens the file, or begins it. Error(data) if it has other columns.
  Results(std::filesystem::path file, std::vector<std::string> keys, std::vector<std::string> values,
          std::size_t rows_per_unit = 1);

  bool has(const Row& key) const { return units_.contains(key); }
  // Adds the rows of one unit: their values, without the key.
  void add(const Row& key, const std::vector<Row>& values);
  // Drops units by their key, so that they are measured again.
  void forget(const std::function<bool(const Row& key)>& unwanted);
  // Call it when everything is measured.
  void settle();

  const std::vector<Row>& rows() const& { return rows_; }
  std::vector<Row> rows() && { return std::move(rows_); }
  bool empty() const { return rows_.empty(); }

 private:
  Row key_of(const Row& row) const;
  void rewrite();

  std::filesystem::path file_;
  std::size_t keys_;
  std::size_t rows_per_unit_;
  std::vector<std::string> columns_;
  std::vector<Row> rows_;
  std::set<Row> units_;  // the keys of those that are there
  bool begun_ = false;   // the file has its header
};

// A line of names and numbers, which CSV does not quote.
Results::Row split_row(const std::string& line);

// Writes a whole file of rows, for figures derived from results.
void write_csv(const std::filesystem::path& file, const std::vector<std::string>& columns,
               const std::vector<Results::Row>& rows);

}  // namespace crowdfold::paper
