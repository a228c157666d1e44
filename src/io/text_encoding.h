// How a text is encoded, by its first bytes, and its decoding to UTF-8 by iconv(3). Text that begins as
// UTF-8 passes untouched.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "io/byte_source.h"

namespace crowdfold {

struct TextEncoding {
  std::string iconv_name;  // "": UTF-8, or unknown; nothing is decoded
  std::string shown;       // to people
};

// By a byte-order mark. With `guess` also without one: UTF-16 whose zero bytes make it certain, and
// Windows-1252 (Latin-1) for text that is not UTF-8. `whole`: the text ends with `start`.
TextEncoding recognise_encoding(std::string_view start, bool guess, bool whole);
// As the user calls it. Error(usage) if iconv does not know it.
TextEncoding encoding_named(const std::string& name);

// False for a start full of control bytes. A few in a text are a matter of its rows.
bool is_text(std::string_view start);
// Whether lines end with carriage returns alone, as on old Macs.
bool has_bare_returns(std::string_view start);

// `name` is that of the input, for messages.
std::unique_ptr<ByteSource> decoded(std::unique_ptr<ByteSource> text, const TextEncoding& encoding,
                                    const std::string& name);
// Carriage returns become newlines.
std::unique_ptr<ByteSource> with_newlines(std::unique_ptr<ByteSource> text);

}  // namespace crowdfold
