#include "report.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "crowdfold/error.h"
#include "crowdfold/words.h"
#include "experiments.h"
#include "io/output.h"

namespace crowdfold::paper {
namespace {

const std::string kChartPrefix = "reproduction_";

std::vector<Section> sections_of(const Study& study) {
  std::vector<Section> sections = {sets_section(study)};
  for (const Experiment& experiment : experiments()) sections.push_back(experiment.section(study));
  std::erase_if(sections, [](const Section& section) { return section.blocks.empty(); });
  return sections;
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  OutputFile file(path.string());
  file.write(text);
  file.commit();
}

void replace_between(std::string& text, const std::filesystem::path& page, const Section& section) {
  const std::string begin_mark = fmt::format("<!-- {} -->\n", section.name);
  const std::string end_mark = "<!-- end -->";
  const std::size_t begin = text.find(begin_mark);
  const std::size_t end = begin == std::string::npos ? begin : text.find(end_mark, begin);
  if (end == std::string::npos) {
    throw Error(
        ErrorCode::data, {page.string(), 0, 0},
        fmt::format("there is no place for '{0}': write <!-- {0} --> and <!-- end -->, each on a line",
                    section.name));
  }
  const std::size_t from = begin + begin_mark.size();
  text.replace(from, end - from, to_markdown(section, "img/" + kChartPrefix));
}

}  // namespace

void write_report(Study& study) {
  const std::filesystem::path path = study.file("report.html");
  const std::vector<Section> sections = sections_of(study);
  if (sections.empty()) {
    throw Error(ErrorCode::data, {study.file("").string(), 0, 0},
                "there are no results yet; crowdfold-paper all makes them");
  }
  write_file(path, to_html("The paper's experiments, run again", sections));
  study.say(fmt::format("{}: {}", path.string(), count_noun(sections.size(), "section")));
}

void fill_page(Study& study, const std::filesystem::path& page) {
  std::ifstream input(page, std::ios::binary);
  if (!input) throw Error(ErrorCode::io, {page.string(), 0, 0}, "cannot read");
  std::string text{std::istreambuf_iterator<char>(input), {}};
  const std::vector<Section> sections = sections_of(study);
  for (const Section& section : sections) replace_between(text, page, section);
  const std::filesystem::path charts = page.parent_path() / "img";
  std::filesystem::create_directories(charts);
  for (const Section& section : sections) {
    for (const Block& block : section.blocks) {
      const auto* chart = std::get_if<PageChart>(&block);
      if (chart != nullptr && !chart->small)
        write_file(charts / (kChartPrefix + chart->name + ".svg"), chart->svg);
    }
  }
  write_file(page, text);
}

}  // namespace crowdfold::paper
