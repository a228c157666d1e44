// What a column is called, and what its values look like: words for the roles in names, addresses of
// mail, files, times. Functions of names and of a glimpse; what follows from them is decided elsewhere.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "io/glimpse.h"

namespace crowdfold {

using Words = std::vector<std::string_view>;

// Words that names of columns have, in several languages.
const Words& task_words();
const Words& worker_words();
const Words& label_words();
const Words& other_words();  // of what is no role: times, states, places

// What columns of truths are called, as Role::aliases has names, best first.
const Words& truth_names();
// Whether a name is one of these, or has one of their words: what is known, or decided already.
bool has_truth_name(const std::string& name);
// Whether a column beside labels has a name that means a truth, and nothing else ("correct" may say
// whether the label is).
bool names_truth(const std::string& name);
// Whether a name is that of a file or an address that tasks go by: "filename", "image_url".
bool names_file(const std::string& name);
// Of a table with a column per worker: whether a name is that of a truth, of what was computed from the
// labels (a mode, a number of votes), or of something of the task (its length), and no worker's.
bool is_beside_workers(const std::string& name);

// Whether a word of the list is in the name: as one of its words, or in the middle if it is a long one.
bool has_word(const std::string& name, const Words& list);

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words);
bool is_digit(char c);
bool is_number(std::string_view text);
// "Worker ID", "worker_id", "workerId" -> "workerid".
std::string plain_name(std::string_view name);

// How many values of a column are looked at.
inline constexpr std::size_t kValuesLookedAt = 60;

// The letters that all values begin with, before a number: "w" of w1, w17.
std::string common_prefix(const GlimpseColumn& column);

// More different values are no classes, unless names say so.
inline constexpr std::size_t kMostClasses = 64;

// What most values of a column look like.
struct Looks {
  bool mail = false;
  bool file = false;
  bool time = false;
  bool decimal = false;
  bool long_text = false;
  std::string prefix;
};
Looks looks_of(const GlimpseColumn& column);

bool has_task_prefix(const Looks& looks);
bool has_worker_prefix(const Looks& looks);
bool looks_like_task(const Looks& looks);
bool looks_like_worker(const Looks& looks);

}  // namespace crowdfold
