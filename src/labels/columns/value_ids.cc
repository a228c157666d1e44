#include <utility>

#include "crowdfold/columns.h"
#include "labels/columns/short_texts.h"

namespace crowdfold {

ValueIds::ValueIds(NameTable known) : names(std::move(known)), recent_(std::make_unique<ShortTexts>()) {}
ValueIds::~ValueIds() = default;
ValueIds::ValueIds(ValueIds&&) noexcept = default;
ValueIds& ValueIds::operator=(ValueIds&&) noexcept = default;

std::uint32_t ValueIds::intern_recent(std::string_view text, std::uint64_t row) {
  std::uint32_t id = recent_->find(text);
  if (id == kUnknown) recent_->put(text, id = intern(text, row));
  return id;
}

void ValueIds::reserve(std::uint64_t values) {
  constexpr std::size_t kBytes = 12;  // of a name, mostly
  if (values > names.size()) names.reserve(values, kBytes * values);
  first_rows.reserve(values);
}

}  // namespace crowdfold
