#include "io/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "crowdfold/error.h"
#include "crowdfold/words.h"

namespace crowdfold {
namespace {

// "Worker ID", "worker_id", "workerId" -> "worker".
std::string normalize(const std::string& name) {
  std::string text;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      text.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    }
  }
  if (text.size() > 2 && text.ends_with("id")) text.resize(text.size() - 2);
  return text;
}

std::optional<std::size_t> column_number(const std::string& text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number == 0) return std::nullopt;
  return number - 1;
}

bool is_mappable(const std::string& role) {
  return role == "task" || role == "worker" || role == "label";
}

std::vector<std::string> names_of_mappable(const std::vector<Role>& roles) {
  std::vector<std::string> names;
  for (const Role& role : roles) {
    if (!role.aliases.empty()) names.push_back(role.name);
  }
  return names;
}

// "task, worker and label".
std::string listed(std::vector<std::string> names) {
  const std::string last = names.back();
  names.pop_back();
  return fmt::format("{} and {}", fmt::join(names, ", "), last);
}

std::size_t mapped_column(const Role& role, const std::string& column,
                          const std::vector<std::string>& header, const Location& place) {
  const auto found = std::find(header.begin(), header.end(), column);
  if (found != header.end()) return static_cast<std::size_t>(found - header.begin());
  if (const auto number = column_number(column); number && *number < header.size()) return *number;
  if (role.late) return kNoColumn;
  throw Error(ErrorCode::usage, place,
              fmt::format("no column '{}' for {}{}; the columns are: {}", column, role.name,
                          did_you_mean(column, header), fmt::join(header, ", ")));
}

std::size_t recognized_column(const Role& role, const std::vector<std::string>& header) {
  std::vector<std::string> plain;
  for (const std::string& name : header) plain.push_back(normalize(name));
  for (const std::string& alias : role.aliases) {
    const auto found = std::find(plain.begin(), plain.end(), alias);
    if (found != plain.end()) return static_cast<std::size_t>(found - plain.begin());
  }
  return kNoColumn;
}

}  // namespace

const std::string* mapping_of(const std::string& role, const ReadOptions& options) {
  for (const auto& [name, column] : options.columns) {
    if (name == role) return &column;
  }
  return nullptr;
}

void check_mapping(const std::vector<Role>& roles, const ReadOptions& options) {
  for (const auto& [name, column] : options.columns) {
    if (const std::string& first = *mapping_of(name, options); &first != &column) {
      throw Error(ErrorCode::usage, fmt::format("--map {0}={1},{0}={2}: only one column can be the {0}",
                                                name, first, column));
    }
    const bool known = std::any_of(roles.begin(), roles.end(), [&, &mapped = name](const Role& role) {
      return role.name == mapped && !role.aliases.empty();
    });
    if (!known) {
      const std::vector<std::string> names = names_of_mappable(roles);
      throw Error(ErrorCode::usage, fmt::format("--map {}={}{}: the columns to map are {}", name, column,
                                                did_you_mean(name, names), listed(names)));
    }
  }
}

Role task_role() {
  return {"task",
          {"task", "item", "question", "unit", "object", "example", "instance", "sample", "document",
           "doc", "image", "hit", "sentence", "id"}};
}
Role worker_role() {
  return {"worker",
          {"worker", "annotator", "performer", "user", "labeler", "labeller", "rater", "coder", "judge",
           "contributor", "assessor", "observer", "reviewer", "participant", "expert"}};
}
Role label_role() {
  return {"label",
          {"label", "answer", "class", "annotation", "response", "rating", "judgment", "judgement",
           "category", "choice", "vote", "output", "result", "value"}};
}
Role truth_role() {
  Role role = label_role();
  role.aliases.insert(role.aliases.begin() + 1, {"truth", "truelabel", "groundtruth", "gold",
                                                 "goldlabel", "golden", "gt", "correct", "expected"});
  return role;
}

std::optional<std::vector<std::size_t>> match_columns(const std::vector<std::string>& header,
                                                      const std::vector<Role>& roles,
                                                      const ReadOptions& options,
                                                      const Location& place) {
  check_mapping(roles, options);
  std::vector<std::size_t> columns;
  std::vector<std::string> missing;
  bool any = false;
  for (const Role& role : roles) {
    const std::string* mapped = mapping_of(role.name, options);
    columns.push_back(mapped != nullptr ? mapped_column(role, *mapped, header, place)
                                        : recognized_column(role, header));
    any = any || columns.back() != kNoColumn;
    if (columns.back() == kNoColumn && role.required) missing.push_back(role.name);
  }
  if (!any && !roles.empty()) return std::nullopt;
  if (!missing.empty()) {
    throw Error(ErrorCode::usage, place,
                fmt::format("no column for {}; the columns are: {}{}", fmt::join(missing, " and "),
                            fmt::join(header, ", "),
                            is_mappable(missing.front())
                                ? fmt::format(" (name it: --map {}=COLUMN)", missing.front())
                                : ""));
  }
  return columns;
}

void require_no_namesakes(const std::vector<std::string>& header, const std::vector<Role>& roles,
                          const std::vector<std::size_t>& columns, const ReadOptions& options,
                          bool classes_behind, const Location& place) {
  if (columns.empty()) return;
  // kNoColumn, the largest number, if a role has no column.
  const std::size_t last = *std::max_element(columns.begin(), columns.end());
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (columns[i] == kNoColumn) continue;
    const std::string& name = header[columns[i]];
    const std::string* const mapped = mapping_of(roles[i].name, options);
    if (mapped != nullptr && *mapped != name) continue;
    for (std::size_t c = columns[i] + 1; c < header.size(); ++c) {
      if (header[c] != name || (classes_behind && c > last)) continue;
      throw Error(
          ErrorCode::usage, place,
          fmt::format("columns {} and {} are both named '{}': rename one of them{}", columns[i] + 1,
                      c + 1, name,
                      is_mappable(roles[i].name)
                          ? fmt::format(", or choose by number: --map {}={}", roles[i].name, c + 1)
                          : ""));
    }
  }
}

std::vector<std::size_t> columns_by_position(std::size_t num_fields, const std::vector<Role>& roles,
                                             const ReadOptions& options, const Location& place) {
  check_mapping(roles, options);
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    std::size_t column = roles[i].by_position ? i : kNoColumn;
    if (const std::string* mapped = mapping_of(roles[i].name, options)) {
      const auto number = column_number(*mapped);
      if (!number) {
        throw Error(ErrorCode::usage,
                    fmt::format("--map {}={}: without a header, columns are numbers from 1",
                                roles[i].name, *mapped));
      }
      column = *number;
    }
    if (column >= num_fields && roles[i].required) {
      throw Error(ErrorCode::usage, place,
                  fmt::format("no column {} for {}: the first row has {}", column + 1, roles[i].name,
                              num_fields));
    }
    columns.push_back(column < num_fields ? column : kNoColumn);
  }
  return columns;
}

}  // namespace crowdfold
