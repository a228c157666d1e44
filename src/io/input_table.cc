#include "io/input_table.h"

namespace crowdfold {
namespace {

TableFormat recognise(BlockReader& reader, const ReadOptions& options, const std::vector<Role>& roles,
                      bool rest) {
  FirstRecord first(reader.path(), options);
  while (reader.read_on() && !first.is_in(reader.pending())) {
  }
  const std::string_view start = reader.pending();
  TableFormat format(start, reader.path(), options);
  format.find_columns(start, roles, rest);
  reader.begin_records(format.separator(), format.bytes_before());
  return format;
}

}  // namespace

TableInput::TableInput(const std::string& path, const ReadOptions& options,
                       const std::vector<Role>& roles, bool rest)
    : reader_(path, options.block_bytes, Waiting::yes, options.cancelled),
      format_(recognise(reader_, options, roles, rest)),
      tally_(format_, reader_.source().compression()) {}

}  // namespace crowdfold
