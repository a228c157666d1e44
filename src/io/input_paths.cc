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
  static const std::set<std::string> kinds = {".csv",   ".tsv",    ".tab", ".psv", ".txt", ".json",
                                              ".jsonl", ".ndjson", ".xml", ".zip", ".cfp"};
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

// Whether a name is that of a text, which beside data is a note.
bool is_note(const std::string& name) { return kind_by_name(name) == ".txt"; }

// Calls use(archive) if the file is a zip archive that is not damaged.
template <class Use>
void with_archive(const std::string& path, const Use& use) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  try {
    char start[4] = {};
    const ssize_t count = ::pread(descriptor, start, sizeof start, 0);
    if (count == sizeof start && packing_of({start, sizeof start}) == Packing::zip)
      use(ZipArchive(descriptor, path));
  } catch (const Error&) {  // damaged
  }
  ::close(descriptor);
}

// The data files of a zip archive of several files, if they are of one kind; else nothing, and opening
// it says why. The others are left out.
std::vector<std::string> members_of(const std::string& path, std::vector<std::string>& left_out) {
  std::vector<std::string> members;
  std::vector<std::string> others;
  with_archive(path, [&](const ZipArchive& archive) {
    if (archive.members().size() < 2 || !archive.what_else().empty()) return;
    const bool only_notes = std::none_of(
        archive.members().begin(), archive.members().end(),
        [](const ZipMember& member) { return is_data(member.name) && !is_note(member.name); });
    std::set<std::string> kinds;
    for (const ZipMember& member : archive.members()) {
      const bool data = is_data(member.name) && (only_notes || !is_note(member.name));
      (data ? members : others).push_back(fmt::format("{}:{}", path, member.name));
      if (data) kinds.insert(kind_by_name(member.name));
    }
    if (kinds.size() > 1) members.clear();
  });
  if (!members.empty()) left_out.insert(left_out.end(), others.begin(), others.end());
  std::sort(members.begin(), members.end());
  return members;
}

void expand(const fs::path& path, std::vector<std::string>& inputs, std::vector<std::string>& left_out) {
  const std::vector<std::string> members =
      is_regular(path) ? members_of(path.string(), left_out) : std::vector<std::string>();
  if (members.empty()) inputs.push_back(path.string());
  inputs.insert(inputs.end(), members.begin(), members.end());
}

// Adds the data files among entries; beside others, texts (.txt) are notes and not data.
void expand_data_files(const std::vector<fs::path>& entries, std::vector<std::string>& inputs,
                       std::vector<std::string>& left_out) {
  const auto is_data_file = [](const fs::path& entry) {
    return is_regular(entry) && is_data(entry.string());
  };
  const bool only_notes = std::all_of(entries.begin(), entries.end(), [&](const fs::path& entry) {
    return !is_data_file(entry) || is_note(entry.string());
  });
  for (const fs::path& entry : entries) {
    if (is_data_file(entry) && (only_notes || !is_note(entry.string())))
      expand(entry, inputs, left_out);
    else
      left_out.push_back(entry.string());
  }
}

// The data files of a folder; those of its folders where it has none itself, and so on.
void expand_folder(const fs::path& folder, std::vector<std::string>& inputs,
                   std::vector<std::string>& left_out) {
  const std::vector<fs::path> entries = entries_of(folder);
  const std::size_t had = inputs.size();
  std::vector<std::string> others;
  expand_data_files(entries, inputs, others);
  if (inputs.size() == had) {
    std::erase_if(others, [](const std::string& entry) { return fs::is_directory(entry); });
    for (const fs::path& inner : entries) {
      if (fs::is_directory(inner) && !fs::is_symlink(inner)) expand_folder(inner, inputs, others);
    }
  }
  left_out.insert(left_out.end(), others.begin(), others.end());
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

std::string file_name_of(const std::string& path) {
  const InputPlace place = place_of_input(path);
  std::string name = place.member.empty() ? place.file : place.member;
  if (place.member.empty() && is_regular(place.file)) {
    with_archive(place.file, [&](const ZipArchive& archive) {
      if (archive.members().size() == 1) name = archive.members().front().name;
    });
  }
  return fs::path(name).filename().string();
}

std::vector<std::string> expand_inputs(const std::vector<std::string>& paths,
                                       std::vector<std::string>* left_out) {
  std::vector<std::string> inputs;
  for (const std::string& path : paths) {
    std::error_code ignored;
    std::vector<std::string> others;
    if (fs::is_directory(path, ignored)) {
      const std::size_t had = inputs.size();
      expand_folder(path, inputs, others);
      if (inputs.size() == had)
        throw Error(ErrorCode::data, Location{path, 0, 0},
                    "a folder without a data file (.csv, .tsv, .txt, .json, .jsonl, .xml, .zip, also "
                    "compressed; .cfp)");
    } else if (path == "-") {
      inputs.push_back(path);
    } else {
      expand(path, inputs, others);
    }
    if (left_out != nullptr) left_out->insert(left_out->end(), others.begin(), others.end());
  }
  return inputs;
}

}  // namespace crowdfold
