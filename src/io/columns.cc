#include "io/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "crowdfold/error.h"
#include "crowdfold/words.h"
#include "io/column_looks.h"

namespace crowdfold {
namespace {

// Whether a plain name is the alias, perhaps with "id" or the like behind it. The id of an annotation is
// never its label.
bool goes_by(const std::string& name, const std::string& alias) {
  if (!name.starts_with(alias)) return false;
  const std::string_view rest = std::string_view(name).substr(alias.size());
  if (rest.empty()) return true;
  constexpr std::array kActs = {"annotation", "response", "rating", "judgment", "judgement",
                                "vote",       "output",   "result", "value"};
  if (rest == "id") return std::find(kActs.begin(), kActs.end(), alias) == kActs.end();
  return alias != "id" && (rest == "name" || rest == "email" || rest == "key" || rest == "uuid");
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

bool is_simple(const std::string& name) {
  return !name.empty() && !column_number(name) && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' ||
           c == ':';
  });
}

// The column that a mapping means; kNoColumn if there is none.
std::size_t column_meant(const std::string& column, const std::vector<std::string>& header) {
  const auto found = std::find(header.begin(), header.end(), column);
  if (found != header.end()) return static_cast<std::size_t>(found - header.begin());
  const auto number = column_number(column);
  return number && *number < header.size() ? *number : kNoColumn;
}

// Another role that the user mapped the column to; null if there is none.
const std::string* other_role_of(std::size_t column, const std::string& role,
                                 const std::vector<std::string>& header, const ReadOptions& options) {
  for (const auto& [other, mapped] : options.columns) {
    if (other != role && is_mappable(other) && column_meant(mapped, header) == column) return &other;
  }
  return nullptr;
}

}  // namespace

std::size_t mapped_column(const Role& role, const std::vector<std::string>& header,
                          const ReadOptions& options, const Location& place) {
  const std::string* const column = mapping_of(role.name, options);
  if (column == nullptr) return kNoColumn;
  if (const std::size_t meant = column_meant(*column, header); meant != kNoColumn) {
    const std::string* const other =
        is_mappable(role.name) ? other_role_of(meant, role.name, header, options) : nullptr;
    if (other == nullptr) return meant;
    throw Error(ErrorCode::usage, place,
                fmt::format("column '{}' is mapped to {} and {}: a column has one role", header[meant],
                            role.name, *other));
  }
  if (role.late) return kNoColumn;
  throw Error(ErrorCode::usage, place,
              fmt::format("no column '{}' for {}{}; the columns are: {}", *column, role.name,
                          did_you_mean(*column, header), columns_to_show(header)));
}

std::vector<std::string> own_names(const std::vector<std::string>& header) {
  constexpr std::string_view kMember = "value.";
  const bool by_id = header.size() > 1 && header[0] == "key" &&
                     std::all_of(header.begin() + 1, header.end(),
                                 [&](const std::string& name) { return name.starts_with(kMember); });
  if (!by_id) return header;
  std::vector<std::string> names = {"id"};
  for (std::size_t c = 1; c < header.size(); ++c) names.push_back(header[c].substr(kMember.size()));
  return names;
}

std::vector<NamedColumn> columns_named(const Role& role, const std::vector<std::string>& header) {
  std::vector<NamedColumn> found;
  const std::vector<std::string> names = own_names(header);
  for (std::size_t rank = 0; rank < role.aliases.size(); ++rank) {
    for (std::size_t column = 0; column < header.size(); ++column) {
      const bool taken = std::any_of(found.begin(), found.end(),
                                     [&](const NamedColumn& named) { return named.column == column; });
      if (!taken && goes_by(plain_name(names[column]), role.aliases[rank]))
        found.push_back({column, rank});
    }
  }
  return found;
}

std::vector<NamedColumn> columns_left_for(const Role& role, const std::vector<std::string>& header,
                                          const ReadOptions& options, const Location& place) {
  const std::vector<NamedColumn> named = columns_named(role, header);
  std::vector<NamedColumn> left;
  const std::string* other = nullptr;
  for (const NamedColumn& one : named) {
    const std::string* const taken = other_role_of(one.column, role.name, header, options);
    if (taken == nullptr)
      left.push_back(one);
    else if (other == nullptr)
      other = taken;
  }
  if (left.empty() && other != nullptr && role.required) {
    throw Error(ErrorCode::usage, place,
                fmt::format("column '{0}' is mapped to {1} and {2}: it is the {1} by its name, so name "
                            "another column for that, --map {1}=COLUMN,{2}={3}",
                            header[named[0].column], role.name, *other, *mapping_of(*other, options)));
  }
  return left;
}

bool is_name_of(const Role& role, std::string_view cell) {
  if (!may_name_role(cell)) return false;
  const std::string name = plain_name(cell);
  return std::any_of(role.aliases.begin(), role.aliases.end(),
                     [&](const std::string& alias) { return goes_by(name, alias); });
}

NamesOfRole::NamesOfRole(Role role) : role_(std::move(role)) {
  for (const std::string& alias : role_.aliases) {
    for (const char* behind : {"", "id", "name", "email", "key", "uuid"})
      hashes_.set(hash_of(alias + behind));
  }
}

bool equal_without_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return std::tolower(static_cast<unsigned char>(x)) ==
                  std::tolower(static_cast<unsigned char>(y));
         });
}

bool are_names_clear(const std::vector<std::string>& header, const std::vector<Role>& roles,
                     const ReadOptions& options) {
  return std::all_of(roles.begin(), roles.end(), [&](const Role& role) {
    if (!role.required) return true;
    if (const std::string* const mapped = mapping_of(role.name, options))
      return std::find(header.begin(), header.end(), *mapped) != header.end();
    const std::vector<NamedColumn> named = columns_named(role, header);
    return !named.empty() && named[0].rank == 0 && (named.size() == 1 || named[1].rank > 0);
  });
}

std::string column_to_type(const std::vector<std::string>& header, std::size_t column) {
  const std::string& name = header[column];
  const bool sayable =
      !name.empty() && name.size() <= 60 && std::count(header.begin(), header.end(), name) == 1 &&
      std::none_of(name.begin(), name.end(), [](char c) {
        return c == ',' || c == '=' || c == '\'' || static_cast<unsigned char>(c) < 0x20;
      });
  return sayable ? name : fmt::format("{}", column + 1);
}

std::string mapping_to_type(const std::vector<std::string>& header,
                            const std::vector<std::pair<std::string, std::size_t>>& columns) {
  std::string text;
  for (const auto& [role, column] : columns)
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", role, column_to_type(header, column));
  const bool simple = std::all_of(columns.begin(), columns.end(), [&](const auto& one) {
    const std::string typed = column_to_type(header, one.second);
    return is_simple(typed) || column_number(typed);
  });
  return simple ? "--map " + text : fmt::format("--map '{}'", text);
}

std::string columns_to_show(const std::vector<std::string>& header) {
  constexpr std::size_t kShown = 20;
  constexpr std::size_t kLength = 60;  // bytes of a name
  std::string text;
  for (std::size_t i = 0; i < std::min(header.size(), kShown); ++i) {
    const bool whole = header[i].size() <= kLength;
    text += fmt::format("{}{}{}", i == 0 ? "" : ", ", whole ? header[i] : header[i].substr(0, kLength),
                        whole ? "" : "…");
  }
  if (header.size() > kShown) text += fmt::format(", … ({} columns)", header.size());
  return text;
}

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
    for (const auto& [other, same] : options.columns) {
      if (other == name) break;
      if (same == column && is_mappable(name) && is_mappable(other)) {
        throw Error(ErrorCode::usage,
                    fmt::format("--map {}={},{}={}: a column has one role", other, same, name, column));
      }
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

bool are_of_truths(const std::vector<Role>& roles) {
  return roles.size() == 2 && roles[1].name == "label" && roles[1].aliases.front() == "truth";
}

Role task_role() {
  return {
      "task",
      {"task", "item", "question", "unit", "object", "example", "instance", "sample", "document", "doc",
       "image", "hit", "sentence", "commentid", "postid", "tweetid", "textid", "videoid", "id"}};
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
  // Before "label", which may be what somebody said.
  role.aliases.insert(role.aliases.begin(), truth_names().begin(), truth_names().end());
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
    if (mapping_of(role.name, options) != nullptr) {
      columns.push_back(mapped_column(role, header, options, place));
    } else {
      const std::vector<NamedColumn> named = columns_left_for(role, header, options, place);
      columns.push_back(named.empty() ? kNoColumn : named[0].column);
    }
    any = any || columns.back() != kNoColumn;
    if (columns.back() == kNoColumn && role.required) missing.push_back(role.name);
  }
  if (!any && !roles.empty()) return std::nullopt;
  if (!missing.empty()) {
    throw Error(ErrorCode::usage, place,
                fmt::format("no column for {}; the columns are: {}{}", fmt::join(missing, " and "),
                            columns_to_show(header),
                            !is_mappable(missing.front()) ? ""
                            : are_of_truths(roles)
                                ? " (name them 'task' and 'truth')"
                                : fmt::format(" (name it: --map {}=COLUMN)", missing.front())));
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
    for (std::size_t c = 0; c < header.size(); ++c) {
      const bool namesake =
          mapped != nullptr ? header[c] == name : plain_name(header[c]) == plain_name(name);
      if (c == columns[i] || !namesake || (classes_behind && c > last)) continue;
      throw Error(
          ErrorCode::usage, place,
          fmt::format(
              "columns {} and {} are both named '{}'{}: rename one of them{}", columns[i] + 1, c + 1,
              name,
              header[c] == name ? "" : fmt::format(", but for case and punctuation ('{}')", header[c]),
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
    const auto same = std::find(columns.begin(), columns.end(), column);
    if (column < num_fields && same != columns.end()) {
      throw Error(
          ErrorCode::usage, place,
          fmt::format("column {} would be {} and {}: map both", column + 1,
                      roles[static_cast<std::size_t>(same - columns.begin())].name, roles[i].name));
    }
    columns.push_back(column < num_fields ? column : kNoColumn);
  }
  return columns;
}

void require_few_columns(std::size_t columns, const Location& place) {
  if (columns <= kMostColumns) return;
  throw Error(ErrorCode::data, place,
              fmt::format("{} columns: a table has at most {}; is this one?", with_commas(columns),
                          with_commas(kMostColumns)));
}

}  // namespace crowdfold
