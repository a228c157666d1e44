#include "crowdfold/error.h"

#include <fmt/format.h>

#include "crowdfold/run_context.h"

namespace crowdfold {
namespace {

std::string with_place(const Location& location, const std::string& message) {
  const std::string place = to_string(location);
  return place.empty() ? message : place + ": " + message;
}

}  // namespace

std::string to_string(const Location& location) {
  std::string text = location.file;
  if (location.line > 0) text += fmt::format("{}{}", text.empty() ? "line " : ":", location.line);
  if (location.line > 0 && location.column > 0) text += fmt::format(":{}", location.column);
  return text;
}

Error::Error(ErrorCode code, const std::string& message) : Error(code, {}, message) {}

Error::Error(ErrorCode code, Location location, const std::string& message)
    : std::runtime_error(with_place(location, message)), code_(code), location_(std::move(location)) {}

void RunContext::throw_if_cancelled() const {
  if (cancelled != nullptr && cancelled->load(std::memory_order_relaxed)) {
    throw Error(ErrorCode::interrupted, "interrupted");
  }
}

}  // namespace crowdfold
