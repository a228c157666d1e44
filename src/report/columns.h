// Columns of tables and charts, made in one line each.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "crowdfold/document.h"

namespace crowdfold {

// A column of value(item), for each item.
template <class Items, class Value>
Column text_column(std::string name, std::string title, const Items& items, const Value& value) {
  Column column{std::move(name), std::move(title)};
  for (const auto& item : items) column.texts.emplace_back(value(item));
  return column;
}

template <class Items, class Value>
Column number_column(std::string name, std::string title, Column::Format format, const Items& items,
                     const Value& value) {
  Column column{std::move(name), std::move(title), format};
  for (const auto& item : items) column.numbers.push_back(static_cast<double>(value(item)));
  return column;
}

}  // namespace crowdfold
