// What a file is that holds no text: by its first bytes, with a sentence that says what to do instead.
#pragma once

#include <string>
#include <string_view>

namespace crowdfold {

// The sentence for the file of a program that keeps no plain text; "" for all others.
std::string what_else(std::string_view start);

// How many bytes decide whether a file that begins with `start` has one of the signatures at its start,
// those of packings (unpacking.h) among them; 0 if `start` decides.
std::size_t signature_bytes(std::string_view start);

// Sentences for files that are zip archives themselves.
extern const char* const kExcelWorkbook;
extern const char* const kOpenDocument;
extern const char* const kNumpyArrays;

}  // namespace crowdfold
