// Parses a file with simdjson and does nothing else: what an import can at best cost. A file of JSON
// lines ends in .jsonl. Used by exports.py.
#include <simdjson.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: crowdfold-json-bench FILE\n", stderr);
    return EXIT_FAILURE;
  }
  simdjson::dom::parser parser;
  if (!std::string_view(argv[1]).ends_with(".jsonl"))
    return parser.load(argv[1]).error() == simdjson::SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
  simdjson::dom::document_stream documents;
  if (parser.load_many(argv[1]).get(documents) != simdjson::SUCCESS) return EXIT_FAILURE;
  for (const auto document : documents) {
    if (document.error() != simdjson::SUCCESS) return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
