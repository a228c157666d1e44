// Runs the harnesses on kept inputs, without libFuzzer: crowdfold-kept-inputs FOLDER..., where a folder
// holds one of inputs per harness, or crowdfold-kept-inputs HARNESS FILE.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "fuzz.h"

namespace {

void run(const crowdfold::fuzz::Harness& harness, const std::filesystem::path& path) {
  // Said before: where it crashes, this is the last line.
  fmt::print(stderr, "{} {}\n", harness.name, path.string());
  std::ifstream file(path, std::ios::binary);
  const std::string input{std::istreambuf_iterator<char>(file), {}};
  harness.run(input);
}

std::size_t run_folder(const crowdfold::fuzz::Harness& harness, const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder)) return 0;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) run(harness, file);
  return files.size();
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  std::size_t inputs = 0;
  for (const crowdfold::fuzz::Harness& harness : crowdfold::fuzz::kHarnesses) {
    if (arguments.size() == 2 && arguments[0] == harness.name) {
      run(harness, arguments[1]);
      return 0;
    }
    for (const std::string& folder : arguments)
      inputs += run_folder(harness, std::filesystem::path(folder) / harness.name);
  }
  fmt::print(stderr, "{} inputs\n", inputs);
  return inputs > 0 ? 0 : 1;
}
