// Which column is which: by the user's mapping, or by the names that exports usually have. What the
// names leave open, label_columns.h decides by the values.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crowdfold/error.h"
#include "crowdfold/io.h"

namespace crowdfold {

struct Role {
  std::string name;  // "task"
  std::vector<std::string>
      aliases;  // other names, best first; compared without case, punctuation and "id" or "name" behind
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
// Whether these are the roles of truths, whose columns --map does not concern.
bool are_of_truths(const std::vector<Role>& roles);

// The column that the user mapped to a role; null if none.
const std::string* mapping_of(const std::string& role, const ReadOptions& options);

// Error(usage) if a role that is none of these is mapped, one is mapped twice, or two are one column.
void check_mapping(const std::vector<Role>& roles, const ReadOptions& options);

inline constexpr std::size_t kNoColumn = static_cast<std::size_t>(-1);
// A column for each class, and some more. Columns are looked at one by one, and many times.
inline constexpr std::size_t kMostColumns = 70'000;
// Error(data) if there are more.
void require_few_columns(std::size_t columns, const Location& place);

// What people call the columns: their names, but for the members of a JSON object by id, which become
// rows with a "key", the id, and a "value.…" for each of the others.
std::vector<std::string> own_names(const std::vector<std::string>& header);

// Columns that a role may have by their names, best first, where `rank` is the place of the name among
// the role's.
struct NamedColumn {
  std::size_t column = 0;
  std::size_t rank = 0;
};
std::vector<NamedColumn> columns_named(const Role& role, const std::vector<std::string>& header);

// The same without columns that the user mapped to other roles. Error(usage) if none is left of some:
// the role needs a column of its own.
std::vector<NamedColumn> columns_left_for(const Role& role, const std::vector<std::string>& header,
                                          const ReadOptions& options, const Location& place);

// Whether a cell of a row is a name of the role, in any case, as that of a header: "Worker ID".
bool is_name_of(const Role& role, std::string_view cell);
// Cheap, and false for nearly all rows: whether it may be.
inline bool may_name_role(std::string_view cell) {
  constexpr std::size_t kLongest = 24;
  constexpr std::size_t kShortest = 2;
  if (cell.size() < kShortest || cell.size() > kLongest) return false;
  const char last = static_cast<char>(cell.back() | 0x20);
  return last >= 'a' && last <= 'z';
}

// The same for every row: a filter of hashes comes first, as most cells are names of nothing.
class NamesOfRole {
 public:
  explicit NamesOfRole(Role role);
  bool has(std::string_view cell) const {
    return may_name_role(cell) && hashes_[hash_of(cell)] && is_name_of(role_, cell);
  }

 private:
  static constexpr std::size_t kHashes = 1024;
  // Of letters and digits, without case.
  static std::size_t hash_of(std::string_view cell) {
    std::uint32_t hash = 2'166'136'261;  // FNV-1a
    for (const char c : cell) {
      const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
      const bool part = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9') ||
                        static_cast<unsigned char>(lower) >= 0x80;
      if (part) hash = (hash ^ static_cast<unsigned char>(lower)) * 16'777'619;
    }
    return (hash ^ hash >> 16) % kHashes;
  }

  Role role_;
  std::bitset<kHashes> hashes_;
};
bool equal_without_case(std::string_view a, std::string_view b);

// The column that the user mapped to the role; kNoColumn if none. Error(usage) if there is no such
// column, or if it is mapped to another role too.
std::size_t mapped_column(const Role& role, const std::vector<std::string>& header,
                          const ReadOptions& options, const Location& place);

// Whether names alone decide: every required role is mapped, or has one column with its very own name.
bool are_names_clear(const std::vector<std::string>& header, const std::vector<Role>& roles,
                     const ReadOptions& options);

// A column as --map takes it, quoted for a shell where that is needed: its name, or its number.
std::string column_to_type(const std::vector<std::string>& header, std::size_t column);
// "--map task=image_url,worker=email,label=verdict", to be copied.
std::string mapping_to_type(const std::vector<std::string>& header,
                            const std::vector<std::pair<std::string, std::size_t>>& columns);
// "a, b, c", cut where there are many.
std::string columns_to_show(const std::vector<std::string>& header);

// Column of each role, kNoColumn for an optional one that is not there. nullopt if the names look like
// data: no role is recognised. Error(usage) if some roles are recognised and a required one is not, or
// for a mapping that does not fit. Roles without aliases are neither recognised nor mapped.
std::optional<std::vector<std::size_t>> match_columns(const std::vector<std::string>& header,
                                                      const std::vector<Role>& roles,
                                                      const ReadOptions& options, const Location& place);

// Error(usage) if a column that a role has by its name, not by a mapping, has a namesake: a column whose
// name differs by case and punctuation at most. With a mapping by name, names are compared as they are.
// Where the columns behind those of all roles are classes (`classes_behind`), one of them may be called
// like a role.
void require_no_namesakes(const std::vector<std::string>& header, const std::vector<Role>& roles,
                          const std::vector<std::size_t>& columns, const ReadOptions& options,
                          bool classes_behind, const Location& place);

// Columns without a header: those of roles that have a place, in order, unless mapped by number.
std::vector<std::size_t> columns_by_position(std::size_t num_fields, const std::vector<Role>& roles,
                                             const ReadOptions& options, const Location& place);

}  // namespace crowdfold
