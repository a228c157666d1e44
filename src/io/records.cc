#include "io/records.h"

#include <algorithm>

#include "base/parallel.h"
#include "crowdfold/io.h"

namespace crowdfold {
namespace {

// Tasks, or workers, that one thread formats at a time.
constexpr std::size_t kLinesPerPiece = 1 << 14;

// Formats lines in parallel and writes them in order. append(to, line) adds one line.
template <class Append>
void write_lines(OutputFile& file, std::size_t lines, const RunContext& context, const Append& append) {
  struct Piece {
    std::size_t begin = 0;
    std::string text;
  };
  std::size_t next = 0;
  run_pipeline<Piece>(
      context.threads, 2 * static_cast<std::size_t>(std::max(1, context.threads)),
      [&](Piece& piece) {
        if (next >= lines) return false;
        context.throw_if_cancelled();
        context.report("writing", next, lines);
        piece.begin = next;
        next += kLinesPerPiece;
        return true;
      },
      [&](Piece& piece, int) {
        piece.text.clear();
        const std::size_t end = std::min(lines, piece.begin + kLinesPerPiece);
        for (std::size_t i = piece.begin; i < end; ++i) append(piece.text, i);
      },
      [&](Piece& piece) { file.write(piece.text); });
}

}  // namespace

EstimateFormat::EstimateFormat(TextKind kind, const NameTable& classes, bool posterior)
    : kind_(kind), classes_(classes), posterior_(posterior) {}

void EstimateFormat::append_header(std::string& to) const {
  if (kind_ == TextKind::jsonl) return;
  to += "task,label,confidence";
  for (std::uint32_t c = 0; posterior_ && c < classes_.size(); ++c) {
    to.push_back(',');
    append_csv(to, classes_[c]);
  }
  to.push_back('\n');
}

void EstimateFormat::append(std::string& to, std::string_view task, const Estimate& estimate,
                            std::span<const double> posterior) const {
  const bool known = estimate.label != kNoClass;
  if (kind_ == TextKind::csv) {
    append_csv(to, task);
    to.push_back(',');
    if (known) append_csv(to, classes_[estimate.label]);
    to.push_back(',');
    if (known) append_number(to, estimate.confidence);
    for (const double p : posterior) {
      to.push_back(',');
      append_number(to, p);
    }
  } else {
    to += "{\"task\":";
    append_json(to, task);
    to += ",\"label\":";
    known ? append_json(to, classes_[estimate.label]) : void(to += "null");
    to += ",\"confidence\":";
    known ? append_number(to, estimate.confidence) : void(to += "null");
    if (posterior_) {
      to += ",\"posterior\":{";
      for (std::uint32_t c = 0; c < posterior.size(); ++c) {
        if (c > 0) to.push_back(',');
        append_json(to, classes_[c]);
        to.push_back(':');
        append_number(to, posterior[c]);
      }
      to.push_back('}');
    }
    to.push_back('}');
  }
  to.push_back('\n');
}

void write_estimates(const std::string& path, const Labels& labels, const Result& result,
                     const RunContext& context) {
  OutputFile file(path);
  const EstimateFormat format(kind_of(path), labels.classes(), !result.posterior.empty());
  std::string header;
  format.append_header(header);
  file.write(header);
  const std::size_t classes = result.posterior.empty() ? 0 : labels.num_classes();
  write_lines(file, labels.num_tasks(), context, [&](std::string& to, std::size_t i) {
    const auto t = static_cast<TaskId>(i);
    format.append(to, labels.tasks()[t], {result.estimate[t], result.confidence[t]},
                  {result.posterior.data() + i * classes, classes});
  });
  file.commit();
}

void write_workers(const std::string& path, const NameTable& workers, const WorkerState& state,
                   bool details, const RunContext& context) {
  OutputFile file(path);
  const bool csv = kind_of(path) == TextKind::csv;
  if (csv) {
    file.write(
        details ? "worker,quality,lower,upper,labels,correct,mode,alpha,beta,bound_lower,bound_upper\n"
                : "worker,quality,lower,upper,labels\n");
  }
  write_lines(file, workers.size(), context, [&](std::string& to, std::size_t i) {
    const auto w = static_cast<WorkerId>(i);
    const BetaQuality quality = state.quality(w);
    const Interval interval = quality.credible_interval();
    const WorkerCounts counts = state.counts_of(w);
    const double mode = quality.mode();
    const Interval bound = error_bound(mode, counts.seen);
    const std::pair<const char*, double> numbers[] = {
        {"quality", quality.mean()},  {"lower", interval.lower},   {"upper", interval.upper},
        {"labels", counts.seen},      {"correct", counts.correct}, {"mode", mode},
        {"alpha", quality.alpha},     {"beta", quality.beta},      {"bound_lower", bound.lower},
        {"bound_upper", bound.upper},
    };
    to += csv ? "" : "{\"worker\":";
    csv ? append_csv(to, workers[w]) : append_json(to, workers[w]);
    for (const auto& [name, value] : std::span(numbers).first(details ? std::size(numbers) : 4)) {
      to.push_back(',');
      if (!csv) {
        append_json(to, name);
        to.push_back(':');
      }
      append_number(to, value);
    }
    to += csv ? "\n" : "}\n";
  });
  file.commit();
}

void write_confusion(const std::string& path, const Labels& labels, const Result& result,
                     const RunContext& context) {
  OutputFile file(path);
  const bool csv = kind_of(path) == TextKind::csv;
  if (csv) file.write("worker,truth,label,probability\n");
  const std::uint32_t classes = labels.num_classes();
  write_lines(file, labels.num_workers(), context, [&](std::string& to, std::size_t w) {
    const double* matrix = result.confusion.data() + w * classes * classes;
    for (std::uint32_t truth = 0; truth < classes; ++truth) {
      for (std::uint32_t label = 0; label < classes; ++label) {
        const std::pair<const char*, std::string_view> names[] = {
            {"worker", labels.workers()[static_cast<WorkerId>(w)]},
            {"truth", labels.classes()[truth]},
            {"label", labels.classes()[label]},
        };
        to += csv ? "" : "{";
        for (const auto& [key, name] : names) {
          if (!csv) to.append("\"").append(key).append("\":");
          csv ? append_csv(to, name) : append_json(to, name);
          to.push_back(',');
        }
        to += csv ? "" : "\"probability\":";
        append_number(to, *matrix++);
        to += csv ? "\n" : "}\n";
      }
    }
  });
  file.commit();
}

void write_trace(const std::string& path, const Result& result, const RunContext& context) {
  OutputFile file(path);
  const bool csv = kind_of(path) == TextKind::csv;
  if (csv) file.write("iteration,objective\n");
  write_lines(file, result.trace.size(), context, [&](std::string& to, std::size_t i) {
    to += csv ? "" : "{\"iteration\":";
    append_number(to, static_cast<double>(i + 1));
    to += csv ? "," : ",\"objective\":";
    append_number(to, result.trace[i]);
    to += csv ? "\n" : "}\n";
  });
  file.commit();
}

}  // namespace crowdfold
