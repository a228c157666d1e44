#include "import.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "crowdfold/error.h"
#include "data_set.h"
#include "io/output.h"
#include "published.h"
#include "terminal.h"

namespace crowdfold::paper {
namespace {

namespace fs = std::filesystem;

// How a repository lays out a data set.
enum class Layout {
  tables,   // a header; task, worker, label, and a second file task, truth
  toolkit,  // no header; worker, task, label, truth, and perhaps more
  matrix,  // no header, blanks between; task, worker, label, and a second file task, truth; classes from
           // 1
  smiles,  // the same, with classes 0 and 1
};

struct Source {
  std::string set;
  Layout layout;
  fs::path labels;
  fs::path truths;
};

// Names that folders and files have there, where they are not the paper's.
std::optional<std::string> set_of(const std::string& there) {
  static const std::map<std::string, std::string> other_names = {
      {"sentiment", "senti"},
      {"fact_eval", "fact"},
      {"ZenCrowd_all", "ZC_all"},
      {"ZenCrowd_in", "ZC_in"},
      {"ZenCrowd_us", "ZC_us"},
      {"d_jn-product", "prod"},
      {"d_sentiment", "tweet"},
      {"s4_Dog data", "dog"},
      {"s4_Face Sentiment Identification", "face"},
      {"s5_AdultContent", "adult"},
      {"bluebird", "bird"}};
  if (const auto found = other_names.find(there); found != other_names.end()) return found->second;
  for (const PublishedSet& set : published_sets()) {
    if (set.name == there) return there;
  }
  return std::nullopt;
}

std::optional<Source> recognized(const fs::path& file) {
  const fs::path folder = file.parent_path();
  const std::string name = file.filename();
  const auto source = [&](const std::string& there, Layout layout,
                          const fs::path& truths) -> std::optional<Source> {
    const auto set = set_of(there);
    if (!set || !fs::is_regular_file(truths)) return std::nullopt;
    return Source{*set, layout, file, truths};
  };
  constexpr std::string_view kCrowd = "_crowd.txt";
  if (name == "label.csv" || name == "answer.csv")
    return source(folder.filename(), Layout::tables, folder / "truth.csv");
  if (folder.filename() == "Data" && file.extension() == ".csv")
    return source(file.stem(), Layout::toolkit, file);
  if (name.ends_with(kCrowd)) {
    const std::string stem = name.substr(0, name.size() - kCrowd.size());
    return source(stem, Layout::matrix, folder / (stem + "_truth.txt"));
  }
  if (name == "mturklabels.txt") return source("smile", Layout::smiles, folder / "groundtruth.txt");
  return std::nullopt;
}

// Sorted, so that it does not depend on the file system which of two copies is taken: tables first,
// which the paper was measured on.
std::vector<Source> sources_below(const fs::path& folder) {
  if (!fs::is_directory(folder))
    throw Error(ErrorCode::usage, fmt::format("{}: there is no such folder", folder.string()));
  std::vector<Source> sources;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    if (auto source = recognized(entry.path())) sources.push_back(std::move(*source));
  }
  std::sort(sources.begin(), sources.end(), [](const Source& a, const Source& b) {
    return std::tie(a.layout, a.labels) < std::tie(b.layout, b.labels);
  });
  return sources;
}

// The fields of every line, split at commas, or at blanks where a line has none. No file of these
// repositories quotes anything.
std::vector<std::vector<std::string>> lines_of(const fs::path& file, bool header,
                                               std::size_t least_fields) {
  std::ifstream input(file, std::ios::binary);
  if (!input) throw Error(ErrorCode::io, {file.string(), 0, 0}, "cannot read");
  std::vector<std::vector<std::string>> lines;
  std::string line;
  for (std::uint64_t number = 1; std::getline(input, line); ++number) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.find_first_not_of(" \t") == std::string::npos || (header && number == 1)) continue;
    const bool commas = line.find(',') != std::string::npos;
    std::vector<std::string> fields;
    for (std::size_t begin = 0; begin <= line.size();) {
      const std::size_t end = std::min(line.find_first_of(commas ? "," : " \t", begin), line.size());
      if (commas || end > begin) fields.push_back(line.substr(begin, end - begin));
      begin = end + 1;
    }
    if (fields.size() < least_fields) {
      throw Error(ErrorCode::data, {file.string(), number, 0},
                  fmt::format("expected {} fields, and there are {}", least_fields, fields.size()));
    }
    lines.push_back(std::move(fields));
  }
  return lines;
}

struct Rows {
  std::vector<std::vector<std::string>> labels;  // task, worker, label
  std::vector<std::vector<std::string>> truths;  // task, label; one per task
};

// "Not known" is an empty field or a number below 0; with classes from 1, also 0.
bool is_known(const std::string& truth, Layout layout) {
  return !truth.empty() && !truth.starts_with('-') && !(layout == Layout::matrix && truth == "0");
}

Rows read_source(const Source& source) {
  Rows rows;
  const bool header = source.layout == Layout::tables;
  std::vector<std::vector<std::string>> truths;
  if (source.layout == Layout::toolkit) {
    for (auto& fields : lines_of(source.labels, header, 4)) {
      rows.labels.push_back({fields[1], fields[0], fields[2]});
      truths.push_back({fields[1], fields[3]});
    }
  } else {
    rows.labels = lines_of(source.labels, header, 3);
    truths = lines_of(source.truths, header, 2);
  }
  // smile's figures are met with all of its rows, those of the other sets with each of them once.
  if (source.set != "smile") {
    std::set<std::vector<std::string>> seen;
    std::erase_if(rows.labels, [&](auto& row) {
      row.resize(3);
      return !seen.insert(row).second;
    });
  }
  std::set<std::string> tasks;
  for (const auto& row : rows.labels) tasks.insert(row[0]);
  for (const auto& truth : truths) {
    if (is_known(truth[1], source.layout) && tasks.erase(truth[0]) > 0)
      rows.truths.push_back({truth[0], truth[1]});
  }
  return rows;
}

void write_rows(const fs::path& file, const std::string& header,
                const std::vector<std::vector<std::string>>& rows, std::size_t fields) {
  std::string text = header + "\n";
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < fields; ++i) {
      append_csv(text, row[i]);
      text += i + 1 < fields ? "," : "\n";
    }
  }
  OutputFile output(file.string());
  output.write(text);
  output.commit();
}

// "300 tasks, …", and where that is not the paper's number.
std::string sizes(const std::string& set, const Rows& rows) {
  std::set<std::string> tasks;
  std::set<std::string> workers;
  std::set<std::string> classes;
  for (const auto& row : rows.labels) {
    tasks.insert(row[0]);
    workers.insert(row[1]);
    classes.insert(row[2]);
  }
  const auto& all = published_sets();
  const auto paper =
      std::find_if(all.begin(), all.end(), [&](const PublishedSet& one) { return one.name == set; });
  std::string text;
  bool same = true;
  const auto add = [&](std::uint64_t found, const char* noun, std::uint64_t published) {
    text += (text.empty() ? "" : ", ") + cli::count_of(found, noun);
    if (found == published) return;
    text += fmt::format(" (the paper: {})", cli::grouped(published));
    same = false;
  };
  add(tasks.size(), "task", paper->tasks);
  add(workers.size(), "worker", paper->workers);
  add(classes.size(), "class", paper->classes);
  add(rows.labels.size(), "label", paper->labels);
  add(rows.truths.size(), "truth", paper->truths);
  return text + (same ? ", as in the paper" : "");
}

}  // namespace

void import_sets(const ImportOptions& options) {
  const auto say = [&](const std::string& line) {
    if (!options.quiet) fmt::print(stderr, "{}\n", line);
  };
  const std::vector<Source> sources = sources_below(options.from);
  if (sources.empty()) {
    throw Error(ErrorCode::usage,
                fmt::format("{}: none of the paper's data sets is there in a layout that is "
                            "known (crowdfold-paper import --help)",
                            options.from.string()));
  }
  std::set<std::string> done;
  for (const Source& source : sources) {
    if (!done.insert(source.set).second) continue;
    const fs::path folder = options.to / source.set;
    if (DataSet::is_in(folder)) {
      say(fmt::format("{}: is there already, and stays as it is", folder.string()));
      continue;
    }
    const Rows rows = read_source(source);
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw Error(ErrorCode::io, {folder.string(), 0, 0}, "cannot make this folder");
    write_rows(folder / "labels.csv", "task,worker,label", rows.labels, 3);
    write_rows(folder / "truth.csv", "task,label", rows.truths, 2);
    say(fmt::format("{}: {}", folder.string(), sizes(source.set, rows)));
  }
}

}  // namespace crowdfold::paper
