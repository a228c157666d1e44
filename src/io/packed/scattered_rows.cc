#include "io/packed/scattered_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <queue>
#include <utility>

#include "base/parallel.h"

namespace crowdfold {
namespace {

constexpr double kRowsInCache = 320'000;  // of a partition: see kRowsPerPartition in label_reader.cc
constexpr double kPartsPerThread = 8;     // so that no thread waits long for another
constexpr unsigned kFewestBits = 4;
constexpr unsigned kMostBits = 12;
constexpr std::uint64_t kGroupingBytes = 48;     // that a row takes while its partition is grouped
constexpr std::uint64_t kBufferBytes = 1 << 16;  // that a partition needs at least while rows come
constexpr std::uint64_t kShareOfRows = 4;        // of the memory, the part that packed rows may take
constexpr std::size_t kSpillBytes = std::size_t{1} << 20;  // written at a time
constexpr std::size_t kLeastRead = std::size_t{1} << 16;   // of a run at a time
constexpr std::size_t kMostRead = std::size_t{1} << 22;
constexpr std::size_t kBehind = 16;              // bytes that a packed row may be read past its end
constexpr std::uint64_t kPackedRowBytes = 9;     // of a packed row, without its name, and of its piece
constexpr std::uint64_t kGroupedLabelBytes = 7;  // of a grouped label, and its part of the task

// Before the rows of a piece in a file.
struct PieceHead {
  std::uint32_t sequence = 0;
  std::uint32_t first_row = 0;
  std::uint64_t bytes = 0;
};

// Before a task in a file: its name, workers and classes follow.
struct TaskHead {
  std::uint64_t first_row = 0;
  std::uint32_t name_bytes = 0;
  std::uint32_t labels = 0;
};

template <class Value>
void append_raw(std::string& to, const Value* values, std::size_t count) {
  to.append(reinterpret_cast<const char*>(values), sizeof(Value) * count);
}

unsigned bits_for(const ScatteredRows::Options& options, int threads) {
  const double unknown = kRowsInCache * 256;
  const double rows = options.rows > 0 ? options.rows : unknown;
  double partitions = std::max(rows / kRowsInCache, kPartsPerThread * threads);
  if (options.memory > 0) {
    const auto memory = static_cast<double>(options.memory);
    partitions = std::max(partitions, rows * kGroupingBytes * 2 * threads / memory);
    const double buffers = memory / kShareOfRows / threads / kBufferBytes;
    partitions = std::min(partitions, buffers);
  }
  const auto wanted = static_cast<std::uint64_t>(std::max(partitions, 1.0));
  return std::clamp(static_cast<unsigned>(std::bit_width(wanted)), kFewestBits, kMostBits);
}

}  // namespace

// A partition's tasks, by their first rows: in memory, or in a file.
class ScatteredRows::Run {
 public:
  explicit Run(const GroupedPartition& partition) : partition_(partition) {}
  Run(const TemporaryFile& file, std::uint64_t place, std::uint64_t bytes, std::uint64_t buffer)
      : file_(&file), place_(place), left_(bytes), buffer_bytes_(buffer) {}

  // False at the end.
  bool next() { return file_ != nullptr ? next_of_file() : next_of_memory(); }

  std::uint64_t first_row = 0;
  std::string_view name;
  std::span<const WorkerId> workers;
  std::span<const ClassId> classes;

 private:
  bool next_of_memory() {
    if (at_ == partition_.num_tasks()) return false;
    const std::uint32_t begin = partition_.label_begin(at_);
    const std::uint32_t count = partition_.label_begin(at_ + 1) - begin;
    first_row = partition_.first_row[at_];
    name = partition_.name(at_);
    workers = {partition_.workers.data() + begin, count};
    classes = {partition_.classes.data() + begin, count};
    ++at_;
    return true;
  }

  bool next_of_file() {
    if (at_ == buffer_.size() && left_ == 0) return false;
    TaskHead head;
    std::memcpy(&head, take(sizeof head), sizeof head);
    first_row = head.first_row;
    const std::size_t worker_bytes = sizeof(WorkerId) * std::size_t{head.labels};
    const std::size_t class_bytes = sizeof(ClassId) * std::size_t{head.labels};
    const char* from = take(head.name_bytes + worker_bytes + class_bytes);
    name = {from, head.name_bytes};
    from += head.name_bytes;
    workers_.resize(head.labels);  // copied, as they do not lie where numbers may
    classes_.resize(head.labels);
    if (head.labels > 0) {
      std::memcpy(workers_.data(), from, worker_bytes);
      std::memcpy(classes_.data(), from + worker_bytes, class_bytes);
    }
    workers = workers_;
    classes = classes_;
    return true;
  }

  // The next bytes, valid until the next call.
  const char* take(std::size_t bytes) {
    if (buffer_.size() - at_ < bytes) {
      buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(at_));
      const std::size_t had = buffer_.size();
      const std::uint64_t more = std::min(left_, std::max<std::uint64_t>(buffer_bytes_, bytes - had));
      buffer_.resize(had + more);
      file_->read_at(place_, buffer_.data() + had, more);
      place_ += more;
      left_ -= more;
      at_ = 0;
    }
    return buffer_.data() + std::exchange(at_, at_ + bytes);
  }

  GroupedPartition partition_;
  std::size_t at_ = 0;  // task, or byte of the buffer

  const TemporaryFile* file_ = nullptr;
  std::uint64_t place_ = 0;
  std::uint64_t left_ = 0;
  std::uint64_t buffer_bytes_ = 0;
  FlatArray<char> buffer_;
  std::vector<WorkerId> workers_;
  std::vector<ClassId> classes_;
};

ScatteredRows::Writer::Writer(RowPacker packer, std::uint64_t share, const std::string& folder)
    : packer_(std::move(packer)), share_(share), folder_(folder), segments_(packer_.num_partitions()) {}

void ScatteredRows::Writer::begin(BlockSummary& block) {
  if (share_ > 0 && packer_.bytes() >= share_) spill();
  packer_.begin(block);
}

void ScatteredRows::Writer::spill() {
  if (file_ == nullptr) file_ = std::make_unique<TemporaryFile>(folder_);
  buffer_.clear();
  std::uint64_t place = file_->size();
  for (std::size_t p = 0; p < packer_.num_partitions(); ++p) {
    const std::uint64_t begin = place;
    for (const RowPacker::Piece& piece : packer_.finish(p)) {
      const PieceHead head{piece.sequence, piece.first_row,
                           static_cast<std::uint64_t>(piece.end - piece.begin)};
      if (head.bytes == 0) continue;
      append_raw(buffer_, &head, 1);
      buffer_.append(piece.begin, head.bytes);
      place += sizeof head + head.bytes;
      if (buffer_.size() >= kSpillBytes) {
        file_->append(buffer_);
        buffer_.clear();
      }
    }
    if (place > begin) segments_[p].push_back({begin, place - begin});
  }
  file_->append(buffer_);
  buffer_ = {};
  packer_.forget_rows();
}

ScatteredRows::ScatteredRows(Options options, const RunContext& context)
    : options_(std::move(options)),
      context_(context),
      bits_(bits_for(options_, std::max(1, context.threads))) {
  const int threads = std::max(1, context.threads);
  const std::uint64_t share = options_.memory / kShareOfRows / static_cast<std::uint64_t>(threads);
  for (int reader = 0; reader < threads; ++reader)
    writers_.emplace_back(RowPacker(reader, options_.abstain, bits_, options_.head),
                          options_.memory > 0 ? std::max<std::uint64_t>(share, 1) : 0, options_.folder);
}

std::uint64_t ScatteredRows::space_needed(double rows, double name_bytes, std::uint64_t memory) {
  const double packed = rows * (static_cast<double>(kPackedRowBytes) + name_bytes);
  if (memory == 0 || packed < static_cast<double>(memory) / kShareOfRows) return 0;
  return static_cast<std::uint64_t>(packed + rows * static_cast<double>(kGroupedLabelBytes));
}

void ScatteredRows::append(const BlockSummary& block) {
  first_row_.push_back(ids_.rows);
  ids_.absorb(block);
}

bool ScatteredRows::spilled() const {
  return std::any_of(writers_.begin(), writers_.end(),
                     [](const Writer& writer) { return writer.file_ != nullptr; });
}

GroupedPartition ScatteredRows::group(std::size_t p, PartitionScratch& scratch, BytePool& pool) {
  std::vector<std::vector<RowPacker::Piece>> read(writers_.size());
  std::vector<const std::vector<RowPacker::Piece>*> pieces;
  std::vector<FlatArray<char>> bytes(writers_.size());
  for (std::size_t reader = 0; reader < writers_.size(); ++reader) {
    Writer& writer = writers_[reader];
    if (writer.file_ == nullptr) {
      pieces.push_back(&writer.packer_.finish(p));
      continue;
    }
    std::uint64_t size = 0;
    for (const Writer::Segment& segment : writer.segments_[p]) size += segment.bytes;
    bytes[reader].resize(size + kBehind);
    char* to = bytes[reader].data();
    for (const Writer::Segment& segment : writer.segments_[p]) {
      writer.file_->read_at(segment.place, to, segment.bytes);
      to += segment.bytes;
    }
    std::memset(to, 0, kBehind);
    for (const char* at = bytes[reader].data(); at != to;) {
      PieceHead head;
      std::memcpy(&head, at, sizeof head);
      at += sizeof head;
      read[reader].push_back({head.sequence, head.first_row, at, at + head.bytes});
      at += head.bytes;
    }
    pieces.push_back(&read[reader]);
  }
  return group_partition(pieces, {ids_, first_row_, options_.head, bits_}, scratch, pool);
}

void ScatteredRows::note_offender(const GroupedPartition& partition) {
  if (partition.offender == Deduplicator::kNobody) return;
  const std::uint64_t row = partition.first_row.back();
  if (offender_ && offender_->row < row) return;
  offender_ = {row, std::string(partition.name(partition.num_tasks() - 1)), partition.offender};
}

void ScatteredRows::finish(const OnTask& on_task) {
  const bool files = spilled();
  if (files) {
    for (Writer& writer : writers_) writer.spill();
  }
  const int threads = std::max(1, context_.threads);
  std::vector<PartitionScratch> scratch;
  for (int i = 0; i < threads; ++i) scratch.emplace_back(options_.duplicates, ids_.workers.size());
  std::optional<TemporaryFile> grouped;
  if (files) grouped.emplace(options_.folder);
  struct Place {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
  };
  std::vector<Place> places(num_partitions());
  std::vector<GroupedPartition> partitions(files ? 0 : num_partitions());
  std::vector<BytePool> pools(files ? 0 : static_cast<std::size_t>(threads));
  std::mutex mutex;
  std::uint64_t done = 0;
  parallel_for(threads, num_partitions(), [&](std::size_t p, int thread) {
    context_.throw_if_cancelled();
    const auto i = static_cast<std::size_t>(thread);
    BytePool of_partition;
    const GroupedPartition partition = group(p, scratch[i], files ? of_partition : pools[i]);
    std::string bytes;
    if (files && partition.offender == Deduplicator::kNobody) {
      for (std::size_t t = 0; t < partition.label_ends.size(); ++t) {
        const std::uint32_t begin = partition.label_begin(t);
        const std::string_view name = partition.name(t);
        const TaskHead head{partition.first_row[t], static_cast<std::uint32_t>(name.size()),
                            partition.label_ends[t] - begin};
        append_raw(bytes, &head, 1);
        bytes += name;
        append_raw(bytes, partition.workers.data() + begin, head.labels);
        append_raw(bytes, partition.classes.data() + begin, head.labels);
      }
    }
    const std::lock_guard lock(mutex);
    note_offender(partition);
    if (files)
      places[p] = {grouped->append(bytes), bytes.size()};
    else
      partitions[p] = partition;
    context_.report("grouping", ++done, num_partitions());
  });
  if (offender_) throw DuplicateLabel(offender_->task, ids_.workers[offender_->worker]);
  for (const PartitionScratch& one : scratch) duplicates_ += one.deduplicator.duplicates;
  scratch.clear();
  writers_.clear();

  const std::uint64_t buffer = std::clamp<std::uint64_t>(
      options_.memory / kShareOfRows / num_partitions(), kLeastRead, kMostRead);
  std::vector<Run> runs;
  for (std::size_t p = 0; p < num_partitions(); ++p) {
    if (files)
      runs.emplace_back(*grouped, places[p].begin, places[p].bytes, buffer);
    else
      runs.emplace_back(partitions[p]);
  }
  merge(runs, on_task);
}

void ScatteredRows::merge(std::vector<Run>& runs, const OnTask& on_task) const {
  using Next = std::pair<std::uint64_t, Run*>;  // by first row, which no two tasks share
  std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
  for (Run& run : runs) {
    if (run.next()) queue.push({run.first_row, &run});
  }
  constexpr std::uint64_t kTasksPerReport = 1 << 12;
  for (std::uint64_t tasks = 0; !queue.empty(); ++tasks) {
    const auto [row, run] = queue.top();
    queue.pop();
    if (tasks % kTasksPerReport == 0) {
      context_.throw_if_cancelled();
      context_.report("merging", row, ids_.rows);
    }
    on_task(run->name, run->workers, run->classes);
    if (run->next()) queue.push({run->first_row, run});
  }
}

}  // namespace crowdfold
