#include "io/input_table.h"

#include <algorithm>

#include "io/exports/export_format.h"

namespace crowdfold {
namespace {

TableFormat recognise(BlockReader& reader, const ReadOptions& options, const std::vector<Role>& roles,
                      bool rest) {
  FirstRecord first(reader.path(), options);
  bool more = true;
  while ((more = reader.read_on()) && !first.is_in(reader.pending())) {
  }
  const bool labels =
      std::any_of(roles.begin(), roles.end(), [](const Role& role) { return role.name == "worker"; });
  if (labels && !is_rereadable(reader.path()))
    require_no_export(reader.path(), reader.pending(), options);
  const auto format_in_sight = [&] {
    return TableFormat(reader.pending(), reader.path(), options, more ? Sight::glimpse : Sight::all);
  };
  if (more && format_in_sight().needs_glimpse(reader.pending(), roles)) {
    while (reader.pending().size() < kGlimpseBytes && (more = reader.read_on())) {
    }
  }
  TableFormat format = format_in_sight();
  format.find_columns(reader.pending(), roles, rest);
  reader.begin_records(format.separator(), format.bytes_before());
  return format;
}

}  // namespace

TableInput::TableInput(const std::string& path, const ReadOptions& options,
                       const std::vector<Role>& roles, bool rest)
    : reader_(path, options.block_bytes, source_options(options)),
      format_(recognise(reader_, options, roles, rest)),
      tally_(format_, reader_.source()) {}

}  // namespace crowdfold
