// JSON for programs, on standard output.
#pragma once

#include <nlohmann/json.hpp>

#include "terminal.h"

namespace crowdfold::cli {

// Bytes that are not UTF-8 cannot stand in JSON: they become the replacement character.
inline void print_json(const nlohmann::json& json) {
  print_lines(json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace crowdfold::cli
