#include "io/packed/packed_writer.h"

#include <fmt/format.h>

#include <utility>

#include "crowdfold/error.h"

namespace crowdfold {
namespace {

constexpr std::uint64_t kLabelBytes = 4;  // about

// As Labels refuse it.
void require_no_nul(std::string_view name, const char* what) {
  const std::size_t nul = name.find('\0');
  if (nul == name.npos) return;
  throw Error(ErrorCode::data,
              fmt::format("a NUL character in the name of a {}, behind '{}': no name may hold one", what,
                          name.substr(0, nul)));
}

}  // namespace

PackedWriter::PackedWriter(Sink sink, std::size_t block_bytes)
    : sink_(std::move(sink)), block_bytes_(block_bytes) {
  write(packed_header());
}

void PackedWriter::write(std::string_view bytes) {
  sink_(bytes);
  bytes_ += bytes.size();
}

void PackedWriter::add(std::string_view task, std::span<const WorkerId> workers,
                       std::span<const ClassId> classes) {
  require_no_nul(task, "task");
  if (tasks() >= kMaxTasks)
    throw Error(ErrorCode::data,
                fmt::format("more than {} different tasks: they do not fit", kMaxTasks));
  sizes_.push_back(workers.size());
  workers_.insert(workers_.end(), workers.begin(), workers.end());
  classes_.insert(classes_.end(), classes.begin(), classes.end());
  names_.add(task);
  if (kLabelBytes * workers_.size() + names_.bytes() >= block_bytes_) flush();
}

void PackedWriter::flush() {
  if (sizes_.empty()) return;
  PackedEntry entry;
  entry.tasks = sizes_.size();
  entry.labels = workers_.size();
  entry.text_bytes = names_.text_bytes();
  buffer_.clear();
  encode_labels(sizes_, workers_, classes_, buffer_);
  entry.label_bytes = buffer_.size();
  entry.label_checksum = packed_checksum(buffer_);
  names_.finish(buffer_);
  entry.name_bytes = buffer_.size() - entry.label_bytes;
  entry.name_checksum = packed_checksum(std::string_view(buffer_).substr(entry.label_bytes));
  entry.append_to(index_);
  write(buffer_);
  ++footer_.blocks;
  footer_.tasks += entry.tasks;
  footer_.labels += entry.labels;
  sizes_.clear();
  workers_.clear();
  classes_.clear();
}

PackedSection PackedWriter::write_names(const NameTable& names, const char* what) {
  PackedSection section;
  NameEncoder encoder;
  for (std::uint32_t id = 0; id < names.size(); ++id) {
    require_no_nul(names[id], what);
    encoder.add(names[id]);
  }
  section.text_bytes = encoder.text_bytes();
  buffer_.clear();
  encoder.finish(buffer_);
  section.bytes = buffer_.size();
  section.checksum = packed_checksum(buffer_);
  write(buffer_);
  return section;
}

void PackedWriter::finish(const NameTable& workers, const NameTable& classes, const RowCounts& rows,
                          Duplicates duplicates) {
  flush();
  footer_.num_workers = workers.size();
  footer_.num_classes = classes.size();
  footer_.rows = rows;
  footer_.duplicates = duplicates;
  footer_.workers = write_names(workers, "worker");
  footer_.classes = write_names(classes, "class");
  footer_.index.bytes = index_.size();
  footer_.index.checksum = packed_checksum(index_);
  write(index_);
  write(footer_.encoded());
}

}  // namespace crowdfold
