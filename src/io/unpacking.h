// Undoes compressions: gzip, zstd, bzip2 and xz, recognised by their first bytes. Archives:
// zip_archive.h.
//
// Each is undone by its own library, and not all by libarchive, for two reasons. These libraries are
// pushed: they take the bytes that are there, so a live stream on a pipe need not wait for more;
// libarchive pulls, and cannot be told that bytes are not there yet. And they are small: libarchive
// loads libxml2, ICU and ten others, 40 MB, whenever the program starts.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "io/byte_source.h"

namespace crowdfold {

enum class Packing { none, gzip, zstd, bzip2, xz, zip };

// By the first bytes: 10 of them tell every packing.
Packing packing_of(std::string_view start);
const char* name_of(Packing packing);

// What `packed`, which is anything but a zip archive, holds. `name` is for messages.
std::unique_ptr<ByteSource> unpacked(std::unique_ptr<ByteSource> packed, Packing packing,
                                     const std::string& name);

}  // namespace crowdfold
