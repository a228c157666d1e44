// Reads packed labels.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/parallel.h"
#include "crowdfold/error.h"
#include "crowdfold/packed.h"
#include "crowdfold/words.h"
#include "io/file_place.h"
#include "io/packed/layout.h"
#include "io/packed/sections.h"
#include "io/room.h"

namespace crowdfold {
namespace {

constexpr std::size_t kMostShare = 255;  // bytes that a name may share with the one before
constexpr const char* kPackAgain = "pack its labels again";

// Reads `size` bytes at a place; fewer only at the end of the file.
std::size_t read_at(int descriptor, std::uint64_t place, char* to, std::size_t size,
                    const std::string& name) {
  std::size_t had = 0;
  while (had < size) {
    const ssize_t count = ::pread(descriptor, to + had, size - had, static_cast<off_t>(place + had));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      throw Error(ErrorCode::io, Location{name, 0, 0},
                  fmt::format("cannot read: {}", std::strerror(errno)));
    }
    if (count == 0) break;
    had += static_cast<std::size_t>(count);
  }
  return had;
}

int open_packed(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    const int error = errno;
    throw Error(ErrorCode::io, Location{path, 0, 0},
                fmt::format("cannot open: {}{}", std::strerror(error),
                            error == ENOENT ? did_you_mean_file(path) : ""));
  }
  return descriptor;
}

// What is decoded of a block, kept for the next one.
struct BlockRoom {
  FlatArray<char> bytes;  // of a section, as it is in the file
  FlatArray<std::uint64_t> offsets;
  FlatArray<WorkerId> workers;
  FlatArray<ClassId> classes;
  FlatArray<char> text;
  FlatArray<std::uint64_t> ends;
};

}  // namespace

bool is_packed(const std::string& path) {
  struct stat status {};
  if (path == "-" || ::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  char start[kPackedMagic.size()] = {};
  const ssize_t count = ::pread(descriptor, start, sizeof start, 0);
  ::close(descriptor);
  return count == static_cast<ssize_t>(sizeof start) &&
         std::string_view(start, sizeof start) == kPackedMagic;
}

// One file.
struct PackedPart {
  PackedPart(int opened, std::string called) : descriptor(opened), name(std::move(called)) {}
  ~PackedPart() { ::close(descriptor); }
  PackedPart(const PackedPart&) = delete;
  PackedPart& operator=(const PackedPart&) = delete;

  void open();
  void check_header() const;
  void read_footer();
  void read_index();
  NameTable read_names(const PackedSection& section, std::uint64_t at, std::uint64_t count,
                       NameTable table, const char* what) const;

  // The bytes of a section, whose checksum is right.
  std::string_view section(FlatArray<char>& to, std::uint64_t at, std::uint64_t bytes,
                           std::uint64_t checksum, const std::string& what) const;
  std::string_view label_section(std::size_t block, FlatArray<char>& to) const;
  // Decodes to a place that has room for all of them.
  void decode(std::size_t block, std::string_view bytes, const LabelRoom& room) const;
  void decode_names_of(std::size_t block, FlatArray<char>& bytes, char* text, std::uint64_t first,
                       std::uint64_t* ends) const;

  [[noreturn]] void refuse(const std::string& message) const {
    throw Error(ErrorCode::data, Location{name, 0, 0}, message);
  }
  [[noreturn]] void refuse(const std::string& what, std::uint64_t at, std::uint64_t bytes,
                           const std::string& message) const {
    refuse(fmt::format("{}, bytes {} to {}: {}: the file is damaged; {}", what, at, at + bytes, message,
                       kPackAgain));
  }
  std::string block_name(std::size_t block, const char* part) const {
    return fmt::format("{} of block {} of {}", part, block + 1, entries.size());
  }

  int descriptor;
  std::string name;
  std::uint64_t size = 0;
  PackedFooter footer;
  std::vector<PackedEntry> entries;
  std::vector<std::uint64_t> place;  // by block, and one more
  NameTable workers{"workers", kMaxWorkers};
  NameTable classes{"classes", kMaxClasses};
  // What its ids are among those of several files; empty where they are the same.
  std::vector<WorkerId> worker_of;
  std::vector<ClassId> class_of;
};

namespace {

// The ids that names of another table get, which gains those that it does not have.
template <class Id>
std::vector<Id> ids_among(const NameTable& names, NameTable& all) {
  std::vector<Id> ids;
  ids.reserve(names.size());
  for (std::uint32_t i = 0; i < names.size(); ++i) ids.push_back(static_cast<Id>(all.intern(names[i])));
  return ids;
}

}  // namespace

void PackedPart::open() {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
    refuse("packed labels are read from a file, as they are read in pieces and more than once");
  size = static_cast<std::uint64_t>(status.st_size);
  check_header();
  read_footer();
  read_index();
  std::uint64_t at = place.back();
  workers = read_names(footer.workers, at, footer.num_workers, std::move(workers), "workers");
  at += footer.workers.bytes;
  classes = read_names(footer.classes, at, footer.num_classes, std::move(classes), "classes");
}

void PackedPart::check_header() const {
  const std::string wanted = packed_header();
  std::string header(wanted.size(), '\0');
  header.resize(read_at(descriptor, 0, header.data(), header.size(), name));
  if (!header.starts_with(kPackedMagic)) refuse("this is no file of packed labels");
  if (header.size() < wanted.size())
    refuse(fmt::format("it ends after {} bytes: it is cut short; {}", header.size(), kPackAgain));
  std::uint32_t version = 0;
  std::memcpy(&version, header.data() + kPackedMagic.size(), sizeof version);
  if (version != kPackedVersion) {
    refuse(fmt::format(
        "packed labels of version {}, and this crowdfold reads version {}: {} (crowdfold pack)", version,
        kPackedVersion, kPackAgain));
  }
  if (header != wanted) refuse("the header", 0, wanted.size(), "its checksum is another one");
}

void PackedPart::read_footer() {
  if (size < kPackedHeaderBytes + kPackedFooterBytes)
    refuse(fmt::format("it ends after {} bytes: it is cut short; {}", size, kPackAgain));
  const std::uint64_t at = size - kPackedFooterBytes;
  std::string bytes(kPackedFooterBytes, '\0');
  bytes.resize(read_at(descriptor, at, bytes.data(), bytes.size(), name));
  if (!bytes.ends_with(kPackedEnd))
    refuse(fmt::format("it ends after {} bytes, without a footer: it is cut short, or damaged there; {}",
                       size, kPackAgain));
  const std::optional<PackedFooter> read = PackedFooter::read(bytes);
  if (!read) refuse("the footer", at, kPackedFooterBytes, "its checksum is another one");
  footer = *read;
  if (footer.tasks > kMaxTasks || footer.num_workers > kMaxWorkers || footer.num_classes > kMaxClasses)
    refuse("the footer", at, kPackedFooterBytes, "more tasks, workers or classes than there can be");
}

void PackedPart::read_index() {
  const std::uint64_t behind = size - kPackedFooterBytes;
  const std::uint64_t room = behind - kPackedHeaderBytes;
  // One by one, so that no sum is too large.
  std::uint64_t left = room;
  for (const PackedSection* section : {&footer.index, &footer.classes, &footer.workers}) {
    if (section->bytes > left)
      refuse("the footer", behind, kPackedFooterBytes, "parts that are longer than the file");
    left -= section->bytes;
  }
  const std::uint64_t at = behind - footer.index.bytes;
  if (footer.index.bytes % kPackedEntryBytes != 0 ||
      footer.index.bytes / kPackedEntryBytes != footer.blocks)
    refuse("the index", at, footer.index.bytes,
           fmt::format("it does not have {} entries", footer.blocks));
  FlatArray<char> bytes;
  section(bytes, at, footer.index.bytes, footer.index.checksum, "the index");

  place = {kPackedHeaderBytes};
  std::uint64_t tasks = 0;
  std::uint64_t labels = 0;
  for (std::uint64_t b = 0; b < footer.blocks; ++b) {
    const PackedEntry entry = PackedEntry::read(bytes.data() + b * kPackedEntryBytes);
    const bool lies = entry.label_bytes <= left && entry.name_bytes <= left - entry.label_bytes;
    const bool holds = entry.tasks > 0 && entry.tasks <= entry.label_bytes &&
                       entry.labels <= entry.label_bytes && entry.tasks <= entry.name_bytes;
    // Both factors are below the file's size; names share at most so many bytes.
    const bool names = entry.text_bytes / (kMostShare + 1) <= entry.name_bytes;
    if (!lies || !holds || !names)
      refuse("the index", at, footer.index.bytes,
             fmt::format("block {} does not fit into the file", b + 1));
    left -= entry.label_bytes + entry.name_bytes;
    entries.push_back(entry);
    place.push_back(place.back() + entry.label_bytes + entry.name_bytes);
    tasks += entry.tasks;
    labels += entry.labels;
  }
  if (left > 0 || tasks != footer.tasks || labels != footer.labels)
    refuse("the index", at, footer.index.bytes, "it does not add up to what the footer says");
}

NameTable PackedPart::read_names(const PackedSection& names, std::uint64_t at, std::uint64_t count,
                                 NameTable table, const char* what) const {
  const std::string part = fmt::format("the names of {}", what);
  FlatArray<char> bytes;
  const std::string_view read = section(bytes, at, names.bytes, names.checksum, part);
  if (count > names.bytes || names.text_bytes / (kMostShare + 1) > names.bytes)
    refuse(part, at, names.bytes, "more names than bytes");
  FlatArray<char> text(names.text_bytes);
  FlatArray<std::uint64_t> ends(count);
  const std::string wrong = decode_names(read, count, names.text_bytes, text.data(), 0, ends.data());
  if (!wrong.empty()) refuse(part, at, names.bytes, wrong);
  // By interning, as two of the same name would be one to all who look them up.
  table.reserve(count, text.size());
  std::uint64_t begin = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (table.intern({text.data() + begin, static_cast<std::size_t>(ends[i] - begin)}) != i)
      refuse(part, at, names.bytes, fmt::format("name {} is there twice", i));
    begin = ends[i];
  }
  return table;
}

std::string_view PackedPart::section(FlatArray<char>& to, std::uint64_t at, std::uint64_t bytes,
                                     std::uint64_t checksum, const std::string& what) const {
  to.resize(bytes);
  if (read_at(descriptor, at, to.data(), bytes, name) < bytes)
    refuse(what, at, bytes, "the file became shorter while it was read");
  const std::string_view read(to.data(), bytes);
  if (packed_checksum(read) != checksum) refuse(what, at, bytes, "its checksum is another one");
  return read;
}

std::string_view PackedPart::label_section(std::size_t block, FlatArray<char>& to) const {
  const PackedEntry& entry = entries[block];
  return section(to, place[block], entry.label_bytes, entry.label_checksum,
                 block_name(block, "the labels"));
}

void PackedPart::decode(std::size_t block, std::string_view bytes, const LabelRoom& room) const {
  const PackedEntry& entry = entries[block];
  const std::string wrong =
      decode_labels(bytes, {entry.tasks, entry.labels, footer.num_workers, footer.num_classes}, room);
  if (!wrong.empty()) refuse(block_name(block, "the labels"), place[block], bytes.size(), wrong);
  if (worker_of.empty()) return;
  for (std::uint64_t i = 0; i < entry.labels; ++i) {
    room.workers[i] = worker_of[room.workers[i]];
    room.classes[i] = class_of[room.classes[i]];
  }
}

void PackedPart::decode_names_of(std::size_t block, FlatArray<char>& bytes, char* text,
                                 std::uint64_t first, std::uint64_t* ends) const {
  const PackedEntry& entry = entries[block];
  const std::uint64_t at = place[block] + entry.label_bytes;
  const std::string part = block_name(block, "the names of tasks");
  const std::string_view read = section(bytes, at, entry.name_bytes, entry.name_checksum, part);
  const std::string wrong = decode_names(read, entry.tasks, entry.text_bytes, text, first, ends);
  if (!wrong.empty()) refuse(part, at, entry.name_bytes, wrong);
}

struct PackedLabels::File {
  // Labels that are left out.
  struct LeftOut {
    std::vector<bool> workers;
    std::vector<ClassId> class_of;           // by class in the file; kNoClass where nobody else names it
    std::vector<std::uint64_t> first_label;  // by block, of those that are left
    std::uint64_t labels = 0;                // that are left out
    NameTable classes{"classes", kMaxClasses};
  };
  struct Place {
    const PackedPart& part;
    std::size_t block;
    const PackedEntry& entry() const { return part.entries[block]; }
  };

  void add(int descriptor, const std::string& name);
  // Makes one of the parts.
  void join();
  Place at(std::size_t block) const {
    const auto part = std::upper_bound(first_block.begin(), first_block.end(), block) - 1;
    return {*parts[static_cast<std::size_t>(part - first_block.begin())], block - *part};
  }
  TaskBlock labels_of(std::size_t block, BlockRoom& room) const;
  TaskBlock tasks_of(std::size_t block, BlockRoom& room) const;  // without labels
  TaskNames names_of(std::size_t block, BlockRoom& room) const;
  // Takes out what is left out.
  void sift(BlockRoom& room) const;
  std::uint64_t labels_before(std::size_t block) const {
    return left_out ? left_out->first_label[block] : first_label[block];
  }

  std::vector<std::unique_ptr<PackedPart>> parts;
  std::vector<std::size_t> first_block = {0};    // by part, and one more
  std::vector<std::uint64_t> first_task = {0};   // by block of all parts, and one more
  std::vector<std::uint64_t> first_label = {0};  // the same
  std::vector<std::uint64_t> first_text = {0};   // the same
  std::uint64_t size = 0;
  NameTable workers{"workers", kMaxWorkers};
  NameTable classes{"classes", kMaxClasses};
  RowCounts all_rows;  // before any is left out
  RowCounts rows;
  std::optional<LeftOut> left_out;
  std::span<const ClassId> truths;
};

void PackedLabels::File::add(int descriptor, const std::string& name) {
  auto part = std::make_unique<PackedPart>(descriptor, name);
  part->open();
  for (const PackedEntry& entry : part->entries) {
    first_task.push_back(first_task.back() + entry.tasks);
    first_label.push_back(first_label.back() + entry.labels);
    first_text.push_back(first_text.back() + entry.text_bytes);
  }
  first_block.push_back(first_block.back() + part->entries.size());
  size += part->size;
  const RowCounts& of_part = part->footer.rows;
  all_rows.read += of_part.read;
  all_rows.abstentions += of_part.abstentions;
  all_rows.duplicates += of_part.duplicates;
  all_rows.skipped += of_part.skipped;
  parts.push_back(std::move(part));
}

void PackedLabels::File::join() {
  rows = all_rows;
  if (first_task.back() > kMaxTasks)
    parts[0]->refuse(
        fmt::format("with the other files, more than {} tasks: they do not fit", kMaxTasks));
  workers = std::move(parts[0]->workers);
  classes = std::move(parts[0]->classes);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    PackedPart& part = *parts[i];
    if (part.footer.duplicates != parts[0]->footer.duplicates)
      part.refuse(
          fmt::format("it was packed by another rule for repeated labels (--duplicates) than {}; "
                      "pack their rows together",
                      parts[0]->name));
    part.worker_of = ids_among<WorkerId>(part.workers, workers);
    part.class_of = ids_among<ClassId>(part.classes, classes);
    part.workers = NameTable("workers", kMaxWorkers);
    part.classes = NameTable("classes", kMaxClasses);
  }
}

TaskBlock PackedLabels::File::labels_of(std::size_t block, BlockRoom& room) const {
  const Place place = at(block);
  const PackedEntry& entry = place.entry();
  const std::string_view bytes = place.part.label_section(place.block, room.bytes);
  room.offsets.resize(entry.tasks + 1);
  room.workers.resize(entry.labels);
  room.classes.resize(entry.labels);
  room.offsets[0] = 0;
  place.part.decode(place.block, bytes,
                    {room.offsets.data() + 1, 0, room.workers.data(), room.classes.data()});
  if (left_out) sift(room);
  const auto first = static_cast<TaskId>(first_task[block]);
  return {first, room.offsets, room.workers.data(), room.classes.data(),
          truths.empty() ? truths : truths.subspan(first, entry.tasks)};
}

TaskBlock PackedLabels::File::tasks_of(std::size_t block, BlockRoom& room) const {
  room.offsets.assign(at(block).entry().tasks + 1, 0);
  return {static_cast<TaskId>(first_task[block]), room.offsets, nullptr, nullptr};
}

void PackedLabels::File::sift(BlockRoom& room) const {
  std::uint64_t to = 0;
  std::uint64_t begin = 0;
  for (std::size_t i = 1; i < room.offsets.size(); ++i) {
    const std::uint64_t end = room.offsets[i];
    for (std::uint64_t j = begin; j < end; ++j) {
      if (left_out->workers[room.workers[j]]) continue;
      room.workers[to] = room.workers[j];
      room.classes[to++] = left_out->class_of[room.classes[j]];
    }
    begin = end;
    room.offsets[i] = to;
  }
}

TaskNames PackedLabels::File::names_of(std::size_t block, BlockRoom& room) const {
  const Place place = at(block);
  room.text.resize(place.entry().text_bytes);
  room.ends.resize(place.entry().tasks);
  place.part.decode_names_of(place.block, room.bytes, room.text.data(), 0, room.ends.data());
  return {static_cast<TaskId>(first_task[block]), room.text, room.ends};
}

PackedLabels::PackedLabels(const std::string& path) : PackedLabels(open_packed(path), path) {}

PackedLabels::PackedLabels(int descriptor, std::string name) : file_(std::make_unique<File>()) {
  file_->add(descriptor, name);
  file_->join();
}

PackedLabels::PackedLabels(const std::vector<std::string>& paths, const RunContext& context)
    : file_(std::make_unique<File>()) {
  for (const std::string& path : paths) file_->add(open_packed(path), path);
  file_->join();
  if (paths.size() > 1) require_tasks_once(context);
}

// By hashes of their names, of which names are looked at only where two are the same.
void PackedLabels::require_tasks_once(const RunContext& context) const {
  require_room(name(), "its tasks", sizeof(std::uint64_t) * num_tasks(), context.max_memory);
  std::vector<std::uint64_t> hashes;
  hashes.reserve(num_tasks());
  const auto for_each_name = [&](const auto& body) {
    in_order("looking for tasks that are in two files", context, Names::only,
             [&](const TaskBlock& block, const TaskNames& names) {
               for (TaskId t = block.first(); t < block.last(); ++t) body(t, names[t]);
             });
  };
  for_each_name([&](TaskId, std::string_view task) { hashes.push_back(NameTable::hash(task)); });
  std::sort(hashes.begin(), hashes.end());
  std::unordered_set<std::uint64_t> twice;
  constexpr std::size_t kEnough = 1'000;
  for (std::size_t i = 1; i < hashes.size() && twice.size() < kEnough; ++i) {
    if (hashes[i] == hashes[i - 1]) twice.insert(hashes[i]);
  }
  if (twice.empty()) return;
  std::unordered_map<std::string, TaskId> met;
  const auto part_of = [&](TaskId t) -> const PackedPart& {
    const auto block = std::upper_bound(file_->first_task.begin(), file_->first_task.end(), t) - 1;
    return file_->at(static_cast<std::size_t>(block - file_->first_task.begin())).part;
  };
  for_each_name([&](TaskId t, std::string_view task) {
    if (!twice.contains(NameTable::hash(task))) return;
    const auto [before, is_new] = met.try_emplace(std::string(task), t);
    if (is_new) return;
    part_of(t).refuse(
        fmt::format("task '{}' is also in {}, and its labels must meet: pack the rows of "
                    "both together (crowdfold import FILE.cfp gives rows)",
                    printable(task), part_of(before->second).name));
  });
}

PackedLabels::~PackedLabels() = default;
PackedLabels::PackedLabels(PackedLabels&&) noexcept = default;
PackedLabels& PackedLabels::operator=(PackedLabels&&) noexcept = default;

std::uint64_t PackedLabels::num_tasks() const { return file_->first_task.back(); }
std::uint64_t PackedLabels::num_labels() const {
  return file_->first_label.back() - (file_->left_out ? file_->left_out->labels : 0);
}
const NameTable& PackedLabels::workers() const { return file_->workers; }
const NameTable& PackedLabels::classes() const {
  return file_->left_out ? file_->left_out->classes : file_->classes;
}
const RowCounts& PackedLabels::rows() const { return file_->rows; }
Duplicates PackedLabels::duplicates() const { return file_->parts[0]->footer.duplicates; }
std::uint64_t PackedLabels::file_bytes() const { return file_->size; }
std::uint64_t PackedLabels::name_bytes() const { return file_->first_text.back(); }
std::size_t PackedLabels::num_blocks() const { return file_->first_block.back(); }
std::string PackedLabels::name() const {
  const std::string& first = file_->parts[0]->name;
  const std::size_t others = file_->parts.size() - 1;
  return others == 0 ? first : fmt::format("{} and {} more", first, count_noun(others, "file"));
}
TaskId PackedLabels::first_task(std::size_t block) const {
  return static_cast<TaskId>(file_->first_task[block]);
}
void PackedLabels::set_truths(std::span<const ClassId> truths) { file_->truths = truths; }

void PackedLabels::leave_out(const std::vector<std::string>& workers, const RunContext& context) {
  file_->left_out.reset();
  file_->rows = file_->all_rows;
  File::LeftOut out;
  out.workers.resize(file_->workers.size());
  bool any = false;
  for (const std::string& name : workers) {
    const std::optional<WorkerId> known = file_->workers.find(name);
    if (known) out.workers[*known] = any = true;
  }
  if (!any) return;
  out.class_of.assign(file_->classes.size(), kNoClass);
  std::uint64_t left = 0;
  in_order("leaving out", context, Names::no, [&](const TaskBlock& block, const TaskNames&) {
    out.first_label.push_back(left);
    for (TaskId t = block.first(); t < block.last(); ++t) {
      const TaskLabels task = block.task(t);
      for (std::size_t j = 0; j < task.size(); ++j) {
        if (out.workers[task.workers[j]]) continue;
        ++left;
        ClassId& number = out.class_of[task.classes[j]];
        if (number == kNoClass)
          number = static_cast<ClassId>(out.classes.intern(file_->classes[task.classes[j]]));
      }
    }
  });
  out.first_label.push_back(left);
  out.labels = file_->first_label.back() - left;
  file_->rows.abstentions += out.labels;
  file_->left_out = std::move(out);
}

void PackedLabels::for_each(int threads, const char* stage, const RunContext& context,
                            const Body& body) const {
  std::vector<BlockRoom> rooms(static_cast<std::size_t>(std::max(1, threads)));
  std::atomic<std::uint64_t> done = 0;
  parallel_for(threads, num_blocks(), [&](std::size_t block, int thread) {
    context.throw_if_cancelled();
    if (thread == 0) context.report(stage, done, num_tasks());
    const TaskBlock labels = file_->labels_of(block, rooms[static_cast<std::size_t>(thread)]);
    body(labels, thread);
    done += labels.size();
  });
}

std::size_t PackedLabels::num_slots(const RunContext& context) {
  return static_cast<std::size_t>(std::max(1, context.threads)) + 1;
}

void PackedLabels::in_order(const char* stage, const RunContext& context, Names names,
                            const OrderedBody& body) const {
  in_order(
      stage, context, names, [](const TaskBlock&, const TaskNames&, std::size_t) {},
      [&](const TaskBlock& block, const TaskNames& read, std::size_t) { body(block, read); });
}

void PackedLabels::in_order(const char* stage, const RunContext& context, Names names,
                            const SlotBody& work, const SlotBody& body) const {
  struct Item {
    std::size_t number = 0;
    BlockRoom room;
    TaskBlock block;
    TaskNames names;
  };
  const std::size_t slots = num_slots(context);  // which the pipeline takes in turn
  std::size_t next = 0;
  run_pipeline<Item>(
      std::max(1, context.threads), slots,
      [&](Item& item) {
        context.throw_if_cancelled();
        item.number = next;
        return next < num_blocks() && ++next > 0;
      },
      [&](Item& item, int) {
        item.block = names == Names::only ? file_->tasks_of(item.number, item.room)
                                          : file_->labels_of(item.number, item.room);
        if (names != Names::no) item.names = file_->names_of(item.number, item.room);
        work(item.block, item.names, item.number % slots);
      },
      [&](Item& item) {
        context.report(stage, item.block.first(), num_tasks());
        body(item.block, item.names, item.number % slots);
      });
}

void PackedLabels::names_of(std::size_t block, const std::function<void(const TaskNames&)>& body) const {
  BlockRoom room;
  body(file_->names_of(block, room));
}

Labels PackedLabels::to_labels(const RunContext& context, Names names) const {
  const bool named = names != Names::no;
  const std::uint64_t tasks = num_tasks();
  const std::uint64_t labels = num_labels();
  require_room_for_labels(name(),
                          (sizeof(WorkerId) + sizeof(ClassId)) * labels + sizeof(std::uint64_t) * tasks +
                              file_->workers.bytes() +
                              (named ? sizeof(std::uint64_t) * tasks + name_bytes() : 0),
                          context.max_memory);
  LabelArrays arrays;
  arrays.offsets.resize(tasks + 1);
  arrays.workers.resize(labels);
  arrays.classes.resize(labels);
  FlatArray<char> text(named ? name_bytes() : 0);
  FlatArray<std::uint64_t> ends(named ? tasks : 0);
  std::vector<BlockRoom> rooms(static_cast<std::size_t>(std::max(1, context.threads)));
  std::atomic<std::uint64_t> done = 0;
  parallel_for(context.threads, num_blocks(), [&](std::size_t block, int thread) {
    context.throw_if_cancelled();
    if (thread == 0) context.report("reading", done, file_->size);
    BlockRoom& room = rooms[static_cast<std::size_t>(thread)];
    const File::Place place = file_->at(block);
    const std::uint64_t first_task = file_->first_task[block];
    const std::uint64_t first_label = file_->labels_before(block);
    if (file_->left_out) {
      const TaskBlock some = file_->labels_of(block, room);
      const std::uint64_t count = room.offsets.back();
      std::copy_n(room.workers.data(), count, arrays.workers.data() + first_label);
      std::copy_n(room.classes.data(), count, arrays.classes.data() + first_label);
      for (TaskId i = 0; i < some.size(); ++i)
        arrays.offsets[first_task + i + 1] = first_label + room.offsets[i + 1];
    } else {
      place.part.decode(place.block, place.part.label_section(place.block, room.bytes),
                        {arrays.offsets.data() + first_task + 1, first_label,
                         arrays.workers.data() + first_label, arrays.classes.data() + first_label});
    }
    if (named)
      place.part.decode_names_of(place.block, room.bytes, text.data() + file_->first_text[block],
                                 file_->first_text[block], ends.data() + first_task);
    done += place.entry().label_bytes + place.entry().name_bytes;
  });
  NameTable of_tasks("tasks", kMaxTasks, std::move(text), std::move(ends));
  return {{std::move(of_tasks), workers(), classes()}, std::move(arrays), rows()};
}

}  // namespace crowdfold
