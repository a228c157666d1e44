// Estimates and workers as text: one place that says what the columns are.
#pragma once

#include <span>
#include <string>

#include "crowdfold/names.h"
#include "crowdfold/result.h"
#include "io/output.h"

namespace crowdfold {

class EstimateFormat {
 public:
  // `posterior`: also a column per class.
  EstimateFormat(TextKind kind, const NameTable& classes, bool posterior);

  void append_header(std::string& to) const;
  void append(std::string& to, std::string_view task, const Estimate& estimate,
              std::span<const double> posterior) const;

 private:
  TextKind kind_;
  const NameTable& classes_;
  bool posterior_;
};

}  // namespace crowdfold
