#include "io/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/parallel.h"
#include "crowdfold/io.h"
#include "io/numbers.h"
#include "labels/name_key.h"

namespace crowdfold {
namespace {

// Tasks, or workers, that one thread formats at a time.
constexpr std::size_t kItemsPerPiece = 1 << 14;

// Writes a file: formats the records of `items` in parallel and writes them in order. append(to, item)
// adds those of one item.
template <class Append>
void write_records(const std::string& path, const Records& records, std::size_t items,
                   const RunContext& context, const Append& append) {
  struct Piece {
    std::size_t begin = 0;
    std::string text;
  };
  RecordOutput file(path, records, OutputFile::When::at_the_end, context.cancelled);
  std::size_t next = 0;
  run_pipeline<Piece>(
      context.threads, 2 * static_cast<std::size_t>(std::max(1, context.threads)),
      [&](Piece& piece) {
        if (next >= items) return false;
        context.throw_if_cancelled();
        context.report("writing", next, items);
        piece.begin = next;
        next += kItemsPerPiece;
        return true;
      },
      [&](Piece& piece, int) {
        piece.text.clear();
        const std::size_t end = std::min(items, piece.begin + kItemsPerPiece);
        for (std::size_t i = piece.begin; i < end; ++i) append(piece.text, i);
      },
      [&](Piece& piece) { file.write(piece.text); });
  file.commit();
}

std::vector<std::string> names_of(const NameTable& table) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < table.size(); ++i) names.emplace_back(table[i]);
  return names;
}

}  // namespace

Records::Records(TextKind kind, const std::vector<std::string>& columns, std::string_view object,
                 const std::vector<std::string>& nested)
    : kind_(kind),
      is_json_(kind == TextKind::jsonl || kind == TextKind::json),
      separator_(kind == TextKind::tsv || kind == TextKind::spreadsheet_tsv ? '\t' : ','),
      after_(!is_json()       ? ""
             : nested.empty() ? "}"
                              : "}}") {
  const bool array = kind == TextKind::json;
  if (!array) after_ += '\n';
  if (array) header_ = "[";
  std::string before = array ? ",\n{" : "{";
  const auto add = [&](const std::string& column) {
    if (is_json()) {
      append_text(before, column);
      before_.push_back(before + ':');
      before = ",";
    } else {
      if (!header_.empty()) header_ += separator_;
      append_text(header_, column);
    }
  };
  for (const std::string& column : columns) add(column);
  if (!nested.empty() && is_json()) before = fmt::format(",\"{}\":{{", object);
  for (const std::string& column : nested) add(column);
  if (!is_json()) header_ += '\n';
}

void Records::append_text(std::string& to, std::string_view value) const {
  switch (kind_) {
    case TextKind::csv: return append_csv(to, value);
    case TextKind::spreadsheet: return append_csv(to, without_formula(value));
    case TextKind::tsv: return append_tsv(to, value);
    case TextKind::spreadsheet_tsv: return append_tsv(to, without_formula(value));
    case TextKind::jsonl:
    case TextKind::json: return append_json(to, value);
  }
}

RecordOutput::RecordOutput(const std::string& path, const Records& records, OutputFile::When when,
                           const std::atomic<bool>* cancelled)
    : records_(records), file_(path, when, cancelled) {}

void RecordOutput::write(std::string_view text) {
  if (text.empty()) return;
  if (begin()) text.remove_prefix(records_.bytes_between());
  file_.write(text);
}

// Not before the first record is there: standard output may be written as it comes. Whether it was now.
bool RecordOutput::begin() {
  if (!std::exchange(is_first_, false)) return false;
  file_.write(records_.header());
  return true;
}

void RecordOutput::commit() {
  begin();
  file_.write(records_.footer());
  file_.commit();
}

RecordFile::RecordFile(const std::string& path, const std::vector<std::string>& columns,
                       const WriteOptions& options)
    : records_(kind_of(path, options), columns),
      file_(path, records_, OutputFile::When::at_the_end, options.cancelled) {}

void RecordFile::commit() {
  flush();
  file_.commit();
}

void RecordFile::flush() {
  file_.write(text_);
  text_.clear();
}

EstimateFormat::EstimateFormat(TextKind kind, const NameTable& classes, bool posterior)
    : records_(kind, {"task", "label", "confidence"}, "posterior",
               posterior ? names_of(classes) : std::vector<std::string>()),
      classes_(classes) {
  if (!records_.is_delimited() || posterior) return;
  for (const std::string& name : names_of(classes)) {
    std::string& cell = cells_.emplace_back(1, records_.separator());
    kind == TextKind::csv ? append_csv(cell, name) : append_tsv(cell, name);
    cell += records_.separator();
  }
}

bool EstimateFormat::append_plain(std::string& to, std::string_view task,
                                  const Estimate& estimate) const {
  if (estimate.label >= cells_.size() || may_need_quotes(task, records_.separator())) return false;
  const std::string& cell = cells_[estimate.label];
  const std::size_t before = to.size();
  to.resize(before + task.size() + cell.size() + kNumberRoom + 1);
  char* end = copy_name(to.data() + before, task);
  end = write_number(copy_name(end, cell), estimate.confidence);
  *end++ = '\n';
  to.resize(static_cast<std::size_t>(end - to.data()));
  return true;
}

void EstimateFormat::append(std::string& to, std::string_view task, const Estimate& estimate,
                            std::span<const double> posterior) const {
  if (append_plain(to, task, estimate)) return;
  Records::Line line = records_.line(to);
  line.text(task);
  if (estimate.label != kNoClass) {
    line.text(classes_[estimate.label]).number(estimate.confidence);
  } else {
    line.null().null();
  }
  for (const double p : posterior) line.number(p);
  line.end();
}

void write_estimates(const std::string& path, const Labels& labels, const Result& result,
                     const RunContext& context, const WriteOptions& options) {
  const EstimateFormat format(kind_of(path, options), labels.classes(), !result.posterior.empty());
  const std::size_t classes = result.posterior.empty() ? 0 : labels.num_classes();
  write_records(path, format.records(), labels.num_tasks(), context,
                [&](std::string& to, std::size_t i) {
                  const auto t = static_cast<TaskId>(i);
                  format.append(to, labels.tasks()[t], {result.estimate[t], result.confidence[t]},
                                {result.posterior.data() + i * classes, classes});
                });
}

void write_workers(const std::string& path, const NameTable& workers, const WorkerState& state,
                   bool details, const RunContext& context, const WriteOptions& options) {
  std::vector<std::string> columns = {"worker", "quality", "lower", "upper", "labels"};
  if (details)
    columns.insert(columns.end(), {"correct", "mode", "alpha", "beta", "bound_lower", "bound_upper"});
  const Records records(kind_of(path, options), columns);
  write_records(path, records, workers.size(), context, [&](std::string& to, std::size_t i) {
    const auto w = static_cast<WorkerId>(i);
    const BetaQuality quality = state.quality(w);
    const Interval interval = quality.credible_interval();
    const WorkerCounts counts = state.counts_of(w);
    Records::Line line = records.line(to);
    line.text(workers[w]).number(quality.mean()).number(interval.lower).number(interval.upper);
    line.number(counts.seen);
    if (details) {
      const double mode = quality.mode();
      const Interval bound = error_bound(mode, counts.seen);
      line.number(counts.correct).number(mode).number(quality.alpha).number(quality.beta);
      line.number(bound.lower).number(bound.upper);
    }
    line.end();
  });
}

void write_confusion(const std::string& path, const NameTable& workers, const NameTable& classes,
                     const Result& result, const RunContext& context, const WriteOptions& options) {
  const Records records(kind_of(path, options), {"worker", "truth", "label", "probability"});
  const std::size_t cells = static_cast<std::size_t>(classes.size()) * classes.size();
  write_records(path, records, workers.size(), context, [&](std::string& to, std::size_t w) {
    const std::string_view worker = workers[static_cast<WorkerId>(w)];
    const double* probability = result.confusion.data() + w * cells;
    for (std::uint32_t truth = 0; truth < classes.size(); ++truth) {
      for (std::uint32_t label = 0; label < classes.size(); ++label) {
        Records::Line line = records.line(to);
        line.text(worker).text(classes[truth]).text(classes[label]);
        line.number(*probability++).end();
      }
    }
  });
}

void write_trace(const std::string& path, const Result& result, const RunContext& context) {
  const Records records(kind_of(path), {"iteration", "objective"});
  write_records(path, records, result.trace.size(), context, [&](std::string& to, std::size_t i) {
    records.line(to).number(static_cast<double>(i + 1)).number(result.trace[i]).end();
  });
}

}  // namespace crowdfold
