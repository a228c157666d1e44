// Which column is which: by the user's mapping, or by the names that exports usually have.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "crowdfold/error.h"
#include "crowdfold/io.h"

namespace crowdfold {

struct Role {
  std::string name;  // "task"
  std::vector<std::string>
      aliases;  // other names, best first; compared without case, punctuation and "id"
  bool required = true;
  bool by_position = true;  // has its place among the columns where there is no header
  // JSON lines: the first objects may lack it, even if it is required. Its key is then the one that the
  // user mapped, or its own name.
  bool late = false;
};

Role task_role();
Role worker_role();
Role label_role();
Role truth_role();  // named label, like the one above, with the names that truths have

// The column that the user mapped to a role; null if none.
const std::string* mapping_of(const std::string& role, const ReadOptions& options);

// Error(usage) if a role that is none of these is mapped, or one is mapped twice.
void check_mapping(const std::vector<Role>& roles, const ReadOptions& options);

inline constexpr std::size_t kNoColumn = static_cast<std::size_t>(-1);

// Column of each role, kNoColumn for an optional one that is not there. nullopt if the names look like
// data: no role is recognised. Error(usage) if some roles are recognised and a required one is not, or
// for a mapping that does not fit. Roles without aliases are neither recognised nor mapped.
std::optional<std::vector<std::size_t>> match_columns(const std::vector<std::string>& header,
                                                      const std::vector<Role>& roles,
                                                      const ReadOptions& options, const Location& place);

// Error(usage) if a column that a role has by its name, not by a mapping to its number, has a namesake.
// Where the columns behind those of all roles are classes (`classes_behind`), one of them may be called
// like a role.
void require_no_namesakes(const std::vector<std::string>& header, const std::vector<Role>& roles,
                          const std::vector<std::size_t>& columns, const ReadOptions& options,
                          bool classes_behind, const Location& place);

// Columns without a header: those of roles that have a place, in order, unless mapped by number.
std::vector<std::size_t> columns_by_position(std::size_t num_fields, const std::vector<Role>& roles,
                                             const ReadOptions& options, const Location& place);

}  // namespace crowdfold
