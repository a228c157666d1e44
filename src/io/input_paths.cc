#include "io/input_paths.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "crowdfold/error.h"
#include "crowdfold/io.h"
#include "io/unpacking.h"
#include "io/zip_archive.h"

namespace crowdfold {
namespace {

namespace fs = std::filesystem;

bool is_regular(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

// "labels.CSV.gz" -> ".csv".
std::string kind_by_name(const std::string& name) {
  fs::path path = name;
  const auto ending = [&] {
    std::string text = path.extension().string();
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
  };
  for (const char* packed : {".gz", ".zst", ".bz2", ".xz"}) {
    if (ending() == packed) path = path.stem();
  }
  return ending();
}

bool is_data(const std::string& name) {
  static const std::set<std::string> kinds = {".csv",  ".tsv",   ".tab",    ".psv", ".txt",
                                              ".json", ".jsonl", ".ndjson", ".xml", ".zip"};
  return kinds.contains(kind_by_name(name));
}

// The files and folders in a folder, by name, without hidden ones.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code problem;
  for (fs::directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem)) {
    if (!at->path().filename().string().starts_with('.')) entries.push_back(at->path());
  }
  if (problem)
    throw Error(ErrorCode::io, Location{folder.string(), 0, 0},
                fmt::format("cannot read the folder: {}", problem.message()));
  std::sort(entries.begin(), entries.end());
  return entries;
}

// The members of a zip archive of several files of one kind; else nothing, and opening it says why.
std::vector<std::string> members_of(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {};
  std::vector<std::string> members;
  try {
    char start[4] = {};
    const ssize_t count = ::pread(descriptor, start, sizeof start, 0);
    const bool zip = count == sizeof start && packing_of({start, sizeof start}) == Packing::zip;
    if (zip) {
      const ZipArchive archive(descriptor, path);
      std::set<std::string> kinds;
      for (const ZipMember& member : archive.members()) {
        members.push_back(fmt::format("{}:{}", path, member.name));
        kinds.insert(kind_by_name(member.name));
      }
      const bool together = members.size() > 1 && kinds.size() == 1 && is_data(members.front());
      if (!together || !archive.what_else().empty()) members.clear();
    }
  } catch (const Error&) {  // damaged
    members.clear();
  }
  ::close(descriptor);
  std::sort(members.begin(), members.end());
  return members;
}

void expand(const fs::path& path, std::vector<std::string>& inputs) {
  const std::vector<std::string> members =
      is_regular(path) ? members_of(path.string()) : std::vector<std::string>();
  if (members.empty()) inputs.push_back(path.string());
  inputs.insert(inputs.end(), members.begin(), members.end());
}

// Adds the data files among entries; beside others, texts (.txt) are notes and not data.
void expand_data_files(const std::vector<fs::path>& entries, std::vector<std::string>& inputs,
                       std::vector<std::string>& left_out) {
  const auto is_data_file = [](const fs::path& entry) {
    return is_regular(entry) && is_data(entry.string());
  };
  const auto is_text = [](const fs::path& entry) { return kind_by_name(entry.string()) == ".txt"; };
  const bool only_texts = std::all_of(entries.begin(), entries.end(), [&](const fs::path& entry) {
    return !is_data_file(entry) || is_text(entry);
  });
  for (const fs::path& entry : entries) {
    if (is_data_file(entry) && (only_texts || !is_text(entry)))
      expand(entry, inputs);
    else
      left_out.push_back(entry.string());
  }
}

// The data files of a folder; those of its folders where it has none itself.
void expand_folder(const fs::path& folder, std::vector<std::string>& inputs,
                   std::vector<std::string>& left_out) {
  const std::size_t had = inputs.size();
  const std::vector<fs::path> entries = entries_of(folder);
  expand_data_files(entries, inputs, left_out);
  if (inputs.size() > had) return;
  left_out.clear();
  for (const fs::path& inner : entries) {
    if (fs::is_directory(inner)) expand_data_files(entries_of(inner), inputs, left_out);
  }
  if (inputs.size() == had)
    throw Error(
        ErrorCode::data, Location{folder.string(), 0, 0},
        "a folder without a data file (.csv, .tsv, .txt, .json, .jsonl, .xml, .zip, also compressed)");
}

}  // namespace

InputPlace place_of_input(const std::string& path) {
  std::error_code ignored;
  if (path == "-" || fs::exists(path, ignored)) return {path, ""};
  for (std::size_t colon = path.find(':'); colon != std::string::npos;
       colon = path.find(':', colon + 1)) {
    if (colon + 1 < path.size() && is_regular(path.substr(0, colon)))
      return {path.substr(0, colon), path.substr(colon + 1)};
  }
  return {path, ""};
}

std::vector<std::string> expand_inputs(const std::vector<std::string>& paths,
                                       std::vector<std::string>* left_out) {
  std::vector<std::string> inputs;
  for (const std::string& path : paths) {
    std::error_code ignored;
    std::vector<std::string> others;
    if (fs::is_directory(path, ignored)) {
      expand_folder(path, inputs, others);
    } else if (path == "-") {
      inputs.push_back(path);
    } else {
      expand(path, inputs);
    }
    if (left_out != nullptr) left_out->insert(left_out->end(), others.begin(), others.end());
  }
  return inputs;
}

}  // namespace crowdfold
