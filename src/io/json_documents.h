// JSON that is not one object a line, as JSON lines, streamed: whatever reads JSON lines reads it, too.
//
//   [{…}, {…}]                                an array          a line for each element
//   {"id1": {…}, "id2": {…}}                  an object by id   {"key":"id1","value":{…}}
//   {…}⏎{…} over several lines                values            a line for each
//   {"task": [1, 2], "label": ["a", "b"]}     columns           {"task":1,"label":"a"}
//   {"task": {"0": 1, "1": 2}, …}             columns, as pandas' to_json writes them
//   {"columns": [], "index": [], "data": []}  pandas' orient="split"
//
// Columns are read whole, as the first row needs the start of the last one. Values are not checked here,
// but where lines are parsed: line N of the result is element N, and errors say so.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "io/byte_source.h"

namespace crowdfold {

enum class JsonShape { lines, values, array, object, columns, pandas_columns, split };

// What a text begins as; `lines` for all that is no JSON, too. Without `look_ahead` it is an array or
// lines, and the first two characters decide. nullopt if `start` is too short for that; `ended`: it is
// all there is.
std::optional<JsonShape> json_shape(std::string_view start, bool ended, bool look_ahead);

// `look_ahead` as above: only where the source waits. `name` is that of the input, for messages.
std::unique_ptr<ByteSource> as_json_lines(std::unique_ptr<ByteSource> text, const std::string& name,
                                          bool look_ahead);
// The same where one knows what the elements are: those of an array, or else values over any number of
// lines; and the members of an object, as for an object by id.
std::unique_ptr<ByteSource> as_json_records(std::unique_ptr<ByteSource> text, const std::string& name);
std::unique_ptr<ByteSource> as_json_members(std::unique_ptr<ByteSource> text, const std::string& name);

}  // namespace crowdfold
