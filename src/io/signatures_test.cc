#include "io/signatures.h"

#include <gtest/gtest.h>

#include "io/byte_source.h"
#include "packed.h"
#include "support.h"

namespace crowdfold {
namespace {

using namespace std::string_view_literals;

TEST(Signatures, TellWhatAFileIs) {
  const std::pair<std::string_view, const char*> files[] = {
      {"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 rest"sv, "Excel workbook"},
      {"PAR1\x15\x04"sv, "read_parquet"},
      {"ARROW1\0\0"sv, "read_feather"},
      {"SQLite format 3\0"sv, "crowdfold state show"},
      {"%PDF-1.7"sv, "PDF"},
      {"\x89PNG\r\n\x1A\n"sv, "picture"},
      {"\xFF\xD8\xFF\xE0"sv, "picture"},
      {"\n <!DOCTYPE HTML><html>"sv, "web page"},
      {"\xEF\xBB\xBF<html lang=en>"sv, "web page"},
      {"\x80\x04\x95\x01"sv, "pickle"},
      {"\x93NUMPY\x01"sv, "NumPy"},
      {"7z\xBC\xAF\x27\x1C"sv, "7z"},
      {"Rar!\x1A\x07\x01"sv, "RAR"},
  };
  for (const auto& [start, word] : files)
    EXPECT_NE(what_else(start).find(word), std::string::npos) << word << ": " << what_else(start);
  std::string tar(512, '\0');
  tar.replace(257, 5, "ustar");
  EXPECT_NE(what_else(tar).find("tar archive"), std::string::npos);
}

TEST(Signatures, TakeNoTextForSomethingElse) {
  for (const std::string_view text :
       {""sv, "task,worker,label\n"sv, "PAR1,w,l\n"sv, R"({"task":1})"sv, "[]"sv, "<?xml version"sv,
        "BZh9,w,a"sv, "SQLite,w,a\n"sv, "PK,w,a"sv, "\xEF\xBB\xBFtask"sv, "Objekt;Person"sv,
        "Rar!,a,b"sv, "%,w,a"sv})
    EXPECT_EQ(what_else(text), "") << text;
}

TEST(Signatures, AreDecidedByAsFewBytesAsWillDo) {
  EXPECT_EQ(signature_bytes("task"), 0U);
  EXPECT_EQ(signature_bytes("t,w,"), 0U);
  EXPECT_EQ(signature_bytes("SQLi"), 16U);
  EXPECT_EQ(signature_bytes("SQLite,"), 0U);
  EXPECT_EQ(signature_bytes("BZh9"), 10U);
  EXPECT_EQ(signature_bytes("BZh9,worke"), 0U);
}

TEST(Signatures, AreSeenInFilesAndInArchives) {
  const testing::TempDir folder;
  const auto message_of = [&](const std::string& bytes) {
    const std::string path = folder.write("file", bytes);
    const Error error = testing::error_of([&] { open_source(path)->peek(1); });
    EXPECT_EQ(error.code(), ErrorCode::data);
    return std::string(error.what()).substr(path.size() + 2);
  };
  EXPECT_EQ(message_of(testing::zip({{"[Content_Types].xml", "<x/>"}, {"xl/workbook.xml", "<x/>"}})),
            kExcelWorkbook);
  EXPECT_EQ(message_of(testing::zip({{"mimetype", "x"}, {"content.xml", "<x/>"}})), kOpenDocument);
  EXPECT_EQ(message_of(testing::zip({{"a.npy", "\x93NUMPY"}, {"b.npy", "\x93NUMPY"}})), kNumpyArrays);
  EXPECT_NE(message_of(testing::bzip2("%PDF-1.7\n")).find("PDF"), std::string::npos);
  std::string noise;
  for (int i = 0; i < 5000; ++i) noise += static_cast<char>(i * i % 251);
  EXPECT_NE(message_of(noise).find("this is not text"), std::string::npos);
}

}  // namespace
}  // namespace crowdfold
