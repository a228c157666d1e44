// Names that look like one in several spellings: "Cat" and "cat", "0" and "0.0", one character or two
// for an accented letter.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "crowdfold/io.h"

namespace crowdfold {

// Without case, as Unicode folds it.
std::string fold_case(std::string_view name);
// In Unicode's form NFKC, with single blanks inside, without characters that nobody sees, and without
// zeros behind a decimal point.
std::string normalize_spelling(std::string_view name);
// Both: equal for names that people take for one.
std::string loose_spelling(std::string_view name);

// The options of the command line that make one class of names of one loose spelling.
std::string options_that_merge(const std::vector<std::string_view>& names);

// Makes classes of labels: merges spellings as the options ask for, and takes the first of several
// choices. The spelling that comes first stands for all.
class ClassSpellings {
 public:
  explicit ClassSpellings(const ReadOptions& options)
      : fold_(options.fold_case),
        normalize_(options.normalize),
        first_(options.multi_select == MultiSelect::first) {}

  bool changes() const { return fold_ || normalize_ || first_; }
  std::string class_of(std::string_view label);

 private:
  bool fold_;
  bool normalize_;
  bool first_;
  std::unordered_map<std::string, std::string> first_spellings_;  // by what they have in common
};

// The choices in a label that holds several: "a;b", "a|b", ["a","b"]. One for other labels.
std::vector<std::string> choices_in(std::string_view label);

}  // namespace crowdfold
