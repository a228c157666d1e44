#include "io/signatures.h"

#include <algorithm>
#include <cctype>

namespace crowdfold {

const char* const kExcelWorkbook =
    "this is an Excel workbook: save it as CSV UTF-8 (File > Save As) and give that";
const char* const kOpenDocument =
    "this is an OpenDocument file: save the sheet as Text CSV (File > Save As) and give that";
const char* const kNumpyArrays =
    "these are NumPy arrays: write a table of labels in Python "
    "(pandas.DataFrame(…).to_csv('labels.csv')) and "
    "give that";

namespace {

using namespace std::string_view_literals;

struct Signature {
  std::string_view magic;
  const char* sentence;
  std::size_t offset = 0;
};

constexpr const char* kParquet =
    "this is a Parquet file: convert it (python3 -c \"import pandas; "
    "pandas.read_parquet('FILE').to_csv('labels.csv', index=False)\") and give labels.csv";
constexpr const char* kFeather =
    "this is an Arrow or Feather file: convert it (python3 -c \"import pandas; "
    "pandas.read_feather('FILE').to_csv('labels.csv', index=False)\") and give labels.csv";
constexpr const char* kImage = "this is a picture: give a table of labels, such as a CSV file";
constexpr const char* kWebPage =
    "this is a web page, not data: a download that needs a login often leaves one; get the file itself "
    "and "
    "give that";
constexpr const char* kPickle =
    "this is a Python pickle: convert it (python3 -c \"import pandas; "
    "pandas.read_pickle('FILE').to_csv('labels.csv', index=False)\") if you trust it, and give "
    "labels.csv";

// Signatures of letters alone could begin a text: those here hold other bytes, or more letters than
// chance gives.
const Signature kSignatures[] = {
    {"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"sv, kExcelWorkbook},
    {"PAR1\x15"sv, kParquet},
    {"PAR1\x1C"sv, kParquet},
    {"ARROW1\0\0"sv, kFeather},
    {"FEA1\0"sv, kFeather},
    {"\xFF\xFF\xFF\xFF"sv, kFeather},  // a stream of Arrow
    {"SQLite format 3\0"sv,
     "this is an SQLite database: if it is the state of a stream, crowdfold state show FILE says what "
     "is in "
     "it; else export a table as CSV (sqlite3 -header -csv FILE 'select …' > labels.csv) and give that"},
    {"\x89"
     "CFP\r\n"sv,
     "these are packed labels, which are read in pieces and more than once: give the file itself, by "
     "its "
     "name, where labels are wanted; not through a pipe, compressed, or in an archive"},
    {"%PDF-"sv, "this is a PDF document: give a table of labels, such as a CSV file"},
    {"\x89PNG\r\n\x1A\n"sv, kImage},
    {"\xFF\xD8\xFF"sv, kImage},
    {"GIF87a"sv, kImage},
    {"GIF89a"sv, kImage},
    {"\x80\x02"sv, kPickle},
    {"\x80\x03"sv, kPickle},
    {"\x80\x04\x95"sv, kPickle},
    {"\x80\x05\x95"sv, kPickle},
    {"\x93NUMPY"sv, kNumpyArrays},
    {"\x89HDF\r\n\x1A\n"sv,
     "this is an HDF5 file: convert it (python3 -c \"import pandas; "
     "pandas.read_hdf('FILE').to_csv('labels.csv', index=False)\") and give labels.csv"},
    {"Obj\x01"sv, "this is an Avro file: convert it to CSV or JSON lines and give that"},
    {"<stata_dta>"sv,
     "this is a Stata file: convert it (python3 -c \"import pandas; "
     "pandas.read_stata('FILE').to_csv('labels.csv', index=False)\") and give labels.csv"},
    {"$FL2@(#)"sv, "this is an SPSS file: save it as CSV (File > Save As) and give that"},
    {"RDX2\n"sv, "this is a file of R: write the table by write.csv(…, 'labels.csv') and give that"},
    {"RDX3\n"sv, "this is a file of R: write the table by write.csv(…, 'labels.csv') and give that"},
    {"7z\xBC\xAF\x27\x1C"sv, "this is a 7z archive: unpack it, and give the file of labels in it"},
    {"Rar!\x1A\x07"sv, "this is a RAR archive: unpack it, and give the file of labels in it"},
    {"\x04\x22\x4D\x18"sv, "this is an LZ4 file: unpack it (lz4 -d FILE) and give what comes out"},
    {"\x1F\x9D"sv, "this is a file of compress: unpack it (uncompress FILE) and give what comes out"},
    {"LZIP\x01"sv, "this is an lzip file: unpack it (lzip -d FILE) and give what comes out"},
    {"\x7F"
     "ELF"sv,
     "this is a program, not a table of labels"},
    {"MZ\x90\0"sv, "this is a program, not a table of labels"},
    {"ustar"sv, "this is a tar archive: unpack it (tar -xf FILE), and give the file of labels in it",
     257},
};

// Of packings, where four bytes do not tell.
constexpr std::string_view kLongPackings[] = {
    "\xFD"
    "7zXZ\0"sv,
    "BZh11AY&SY"sv};

bool begins_without_case(std::string_view text, std::string_view word) {
  return text.size() >= word.size() &&
         std::equal(word.begin(), word.end(), text.begin(), [](char a, char b) {
           return a == static_cast<char>(std::tolower(static_cast<unsigned char>(b)));
         });
}

bool is_web_page(std::string_view start) {
  if (start.starts_with("\xEF\xBB\xBF")) start.remove_prefix(3);
  start.remove_prefix(std::min(start.find_first_not_of(" \t\r\n"), start.size()));
  return begins_without_case(start, "<!doctype html") || begins_without_case(start, "<html");
}

}  // namespace

std::string what_else(std::string_view start) {
  for (const Signature& one : kSignatures) {
    if (start.size() >= one.offset && start.substr(one.offset).starts_with(one.magic))
      return one.sentence;
  }
  return is_web_page(start) ? kWebPage : "";
}

std::size_t signature_bytes(std::string_view start) {
  std::size_t bytes = 0;
  const auto look_at = [&](std::string_view magic) {
    if (magic.starts_with(start)) bytes = std::max(bytes, magic.size());
  };
  for (const Signature& one : kSignatures) {
    if (one.offset == 0) look_at(one.magic);
  }
  for (const std::string_view magic : kLongPackings) look_at(magic);
  if (start.starts_with("BZh") && start.size() < kLongPackings[1].size())  // any digit may follow
    bytes = std::max(bytes, kLongPackings[1].size());
  return bytes;
}

}  // namespace crowdfold
