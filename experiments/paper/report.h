// Writes the results in a study's folder, for people.
#pragma once

#include <filesystem>

#include "study.h"

namespace crowdfold::paper {

// report.html, a page that needs nothing else.
void write_report(Study& study);

// Replaces the text between <!-- NAME --> and <!-- end --> of a Markdown page by the tables of the
// experiment of that name. Charts go to img/reproduction_*.svg beside it. Error(data) if the page has no
// such place for an experiment with results.
void fill_page(Study& study, const std::filesystem::path& page);

}  // namespace crowdfold::paper
