// The sections of a report's document, a function each. The caller leaves out empty ones.
#pragma once

#include <span>
#include <string>

#include "crowdfold/report.h"

namespace crowdfold {

struct ReportView {
  const Report& report;
  const Labels& labels;
  std::span<const ClassId> truths;
  std::string source;

  std::string class_name(ClassId c) const {
    return c == kNoClass ? "" : std::string(labels.classes()[c]);
  }
  std::string worker_name(WorkerId w) const { return std::string(labels.workers()[w]); }
  ClassId truth(TaskId t) const { return t < truths.size() ? truths[t] : kNoClass; }
  // Of one class everybody agrees, and every answer is certain, whatever workers know.
  bool has_choice() const { return labels.num_classes() > 1; }
};

Section data_section(const ReportView& shown);
Section tasks_section(const ReportView& shown);
Section workers_section(const ReportView& shown);
Section classes_section(const ReportView& shown);
Section order_section(const ReportView& shown);
Section truth_section(const ReportView& shown);
Section methods_section(const ReportView& shown);
Section rules_section(const ReportView& shown);

// Those whose marks accuse them, with names to copy; without rows if there are none.
Table workers_to_leave_out(const ReportView& shown);
// Tasks with the label of each worker.
Table task_table(const ReportView& shown, const std::string& id, const std::vector<ReportedTask>& tasks);

}  // namespace crowdfold
