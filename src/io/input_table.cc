#include "io/input_table.h"

#include <utility>

#include "io/json_documents.h"

namespace crowdfold {
namespace {

TableFormat recognise(BlockReader& reader, const ReadOptions& options, const std::vector<Role>& roles,
                      bool rest) {
  FirstRecord first(reader.path(), options);
  bool more = true;
  while ((more = reader.read_on()) && !first.is_in(reader.pending())) {
  }
  const auto format_in_sight = [&] {
    return TableFormat(reader.pending(), reader.path(), options, more ? Sight::glimpse : Sight::all);
  };
  if (more && format_in_sight().needs_glimpse(reader.pending(), roles)) {
    while (reader.pending().size() < kGlimpseBytes && (more = reader.read_on())) {
    }
  }
  TableFormat format = format_in_sight();
  if (reader.source().is_array()) format.come_from_array();
  format.find_columns(reader.pending(), roles, rest);
  reader.begin_records(format.separator(), format.bytes_before());
  return format;
}

std::unique_ptr<ByteSource> as_table_text(std::unique_ptr<ByteSource> text, const std::string& path,
                                          const ReadOptions& options) {
  const SourceOptions as_table = source_options(options);
  if (text == nullptr) return open_source(path, as_table);
  return as_table.json_lines ? as_json_lines(std::move(text), display_name(path), true)
                             : std::move(text);
}

}  // namespace

ReadOptions within(const RunContext& context, ReadOptions options) {
  if (options.cancelled == nullptr) options.cancelled = context.cancelled;
  if (options.max_memory == 0) options.max_memory = context.max_memory;
  return options;
}

TableInput::TableInput(std::unique_ptr<ByteSource> text, const std::string& path,
                       const ReadOptions& options, const std::vector<Role>& roles, bool rest)
    : reader_(as_table_text(std::move(text), path, options), path, options.block_bytes),
      format_(recognise(reader_, options, roles, rest)),
      tally_(format_, reader_.source()),
      max_memory_(options.max_memory) {}

}  // namespace crowdfold
