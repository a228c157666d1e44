// One error type for the whole library. Every failure that reaches a caller is an
// Error with a code (who has to act) and, where there is one, a place in a file.
// The command line maps the code to an exit status; other front ends map it likewise.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace crowdfold {

enum class ErrorCode {
  usage,        // an option, method or column does not exist or does not fit
  data,         // the input is malformed or inconsistent
  io,           // the operating system refused
  interrupted,  // cancelled through RunContext
  internal,     // a defect of this library
};

// A place in an input. Line and column count from 1; 0 means "unknown".
struct Location {
  std::string file;
  std::uint64_t line = 0;
  std::uint64_t column = 0;
};

// "file:line:column", without unknown parts.
std::string to_string(const Location& location);

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message);
  Error(ErrorCode code, Location location, const std::string& message);

  ErrorCode code() const noexcept { return code_; }
  const Location& location() const noexcept { return location_; }

 private:
  ErrorCode code_;
  Location location_;
};

}  // namespace crowdfold
