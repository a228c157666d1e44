#include "io/file_place.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "crowdfold/error.h"
#include "crowdfold/io.h"
#include "crowdfold/words.h"
#include "io/input_paths.h"

namespace crowdfold {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as many as Linux follows

// What a path means, whatever it is called.
struct Place {
  bool exists = false;
  struct stat status {};
  std::string path;  // of a file that does not exist
};

Place place_of(const std::string& path, int standard) {
  Place place;
  place.exists =
      (path == "-" ? ::fstat(standard, &place.status) : ::stat(path.c_str(), &place.status)) == 0;
  if (place.exists) return place;
  const fs::path target = follow_links(path);
  std::error_code ignored;
  const fs::path folder =
      fs::weakly_canonical(target.has_parent_path() ? target.parent_path() : ".", ignored);
  place.path = (folder / target.filename()).string();
  return place;
}

bool is_same(const Place& a, const Place& b) {
  if (a.exists != b.exists) return false;
  if (!a.exists) return a.path == b.path;
  return a.status.st_dev == b.status.st_dev && a.status.st_ino == b.status.st_ino;
}

std::vector<std::string> given(const std::vector<std::string>& paths) {
  std::vector<std::string> those;
  for (const std::string& path : paths) {
    if (!path.empty()) those.push_back(path);
  }
  return those;
}

std::string name_of_output(const std::string& path) { return path == "-" ? "standard output" : path; }

void require_two(const std::string& a, const std::string& b) {
  const Place place = place_of(a, STDOUT_FILENO);
  // A terminal or /dev/null takes as much as comes.
  const bool device = place.exists && S_ISCHR(place.status.st_mode);
  const bool both_standard = a == "-" && b == "-";
  if (!both_standard && (device || !is_same(place, place_of(b, STDOUT_FILENO)))) return;
  const std::string names =
      a == b ? name_of_output(a) : fmt::format("{} and {}", name_of_output(a), name_of_output(b));
  throw Error(ErrorCode::usage,
              fmt::format("{}: two outputs in one place; give each a file of its own", names));
}

}  // namespace

std::string follow_links(const std::string& path) {
  fs::path place = path;
  std::error_code ignored;
  for (int links = 0; fs::is_symlink(place, ignored); ++links) {
    if (links == kMostLinks)
      throw Error(ErrorCode::io, Location{path, 0, 0}, "symbolic links lead round in a circle");
    place = place.parent_path() / fs::read_symlink(place, ignored);  // absolute: stands alone
  }
  return place.string();
}

std::string did_you_mean_file(const std::string& path) {
  constexpr std::size_t kMostFiles = 10'000;  // to look at, where nobody reads a longer list
  const fs::path wanted = path;
  const fs::path folder = wanted.parent_path();
  std::vector<std::string> stems;  // of files with the same ending, which says nothing about nearness
  std::vector<std::string> others;
  std::error_code over;
  for (fs::directory_iterator file(folder.empty() ? "." : folder, over), end;
       !over && file != end && stems.size() + others.size() < kMostFiles; file.increment(over)) {
    const fs::path name = file->path().filename();
    name.extension() == wanted.extension() ? stems.push_back(name.stem().string())
                                           : others.push_back(name.string());
  }
  std::string name = nearest(wanted.stem().string(), stems);
  name = name.empty() ? nearest(wanted.filename().string(), others) : name + wanted.extension().string();
  return name.empty() ? "" : fmt::format(" (did you mean '{}'?)", (folder / name).string());
}

bool is_same_file(const std::string& a, const std::string& b) {
  return is_same(place_of(a, STDIN_FILENO), place_of(b, STDIN_FILENO));
}

void require_separate(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs) {
  const std::vector<std::string> written = given(outputs);
  for (std::size_t i = 0; i < written.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) require_two(written[j], written[i]);
    const Place output = place_of(written[i], STDOUT_FILENO);
    if (!output.exists || !S_ISREG(output.status.st_mode)) continue;
    for (const std::string& input : given(inputs)) {
      if (!is_same(output, place_of(place_of_input(input).file, STDIN_FILENO))) continue;
      throw Error(ErrorCode::usage, fmt::format("{}: an input, too; give the output a file of its own",
                                                name_of_output(written[i])));
    }
  }
}

}  // namespace crowdfold
