// A layer between a program and the C library (LD_PRELOAD) that lets one call fail, or writes down what
// goes to the disk. The environment says what:
//
// - CROWDFOLD_FAULT=KIND:N:ERRNO: the N-th call of that kind in main() fails with this error. Of writes
//   that fail with ENOSPC the N-th is cut short, and all later ones fail.
// - CROWDFOLD_COUNTS=FILE: how many calls of each kind there were goes to this file at the end.
// - CROWDFOLD_JOURNAL=FILE, CROWDFOLD_WATCHED=PATH: writes, syncs, truncations and removals of the
//   database of that whole path and of its logs go to the file, and what was printed, in their order.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

enum Kind { kOpen, kWrite, kSync, kTruncate, kRename, kOut, kErr, kMemory, kKinds };
constexpr const char* kNames[kKinds] = {"open",   "write",  "sync",   "truncate",
                                        "rename", "stdout", "stderr", "memory"};

std::atomic<bool> in_main = false;
std::atomic<std::uint64_t> calls[kKinds];
Kind failing = kKinds;
std::uint64_t fails_at = 0;
int fault = 0;

template <class Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}
#define REAL(name) static const auto next = real<decltype(&name)>(#name)

// 0: not this one; otherwise how often the kind was called since, from 1.
std::uint64_t since_fault(Kind kind) {
  if (!in_main) return 0;
  const std::uint64_t number = ++calls[kind];
  return kind == failing && number >= fails_at ? number - fails_at + 1 : 0;
}

bool fails(Kind kind) {
  if (since_fault(kind) != 1) return false;
  errno = fault;
  return true;
}

// How many of the bytes may be written; -1: the write fails.
ssize_t allowed(Kind kind, std::size_t size) {
  const std::uint64_t since = since_fault(kind);
  if (since == 0) return static_cast<ssize_t>(size);
  if (fault == ENOSPC && since == 1 && size > 1) return static_cast<ssize_t>(size / 2);
  if (fault != ENOSPC && since > 1) return static_cast<ssize_t>(size);
  errno = fault;
  return -1;
}

// The journal: records with their bytes behind them. tests/stream/power_loss_test.py reads them.
struct Record {
  char what;  // Write, Sync, Truncate, Unlink, Output
  char file;  // the database: d, its write-ahead log: w, its rollback journal: j, their folder: f
  char unused[2];
  std::uint32_t size;
  std::int64_t at;
};
int journal = -1;
const char* watched = nullptr;
constexpr int kMostFiles = 1024;
char file_of[kMostFiles];  // by descriptor; 0: not watched

void note(char what, char file, std::int64_t at = 0, const void* bytes = nullptr, std::size_t size = 0) {
  const Record record{what, file, {}, static_cast<std::uint32_t>(size), at};
  ::syscall(SYS_write, journal, &record, sizeof record);
  if (size > 0) ::syscall(SYS_write, journal, bytes, size);
}

char watched_file(const char* path) {
  if (journal < 0 || watched == nullptr) return 0;
  const std::size_t length = std::strlen(watched);
  if (std::strlen(path) == static_cast<std::size_t>(std::strrchr(watched, '/') - watched) &&
      std::strncmp(path, watched, std::strlen(path)) == 0)
    return 'f';
  if (std::strncmp(path, watched, length) != 0) return 0;
  const char* const ending = path + length;
  if (*ending == '\0') return 'd';
  if (std::strcmp(ending, "-wal") == 0) return 'w';
  return std::strcmp(ending, "-journal") == 0 ? 'j' : '\0';
}

char watched_file(int descriptor) {
  return descriptor >= 0 && descriptor < kMostFiles ? file_of[descriptor] : '\0';
}

int opened(int descriptor, const char* path) {
  if (descriptor >= 0 && descriptor < kMostFiles) file_of[descriptor] = watched_file(path);
  return descriptor;
}

__attribute__((constructor)) void begin() {
  if (const char* const path = std::getenv("CROWDFOLD_JOURNAL")) {
    journal = static_cast<int>(
        ::syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    watched = std::getenv("CROWDFOLD_WATCHED");
  }
  const char* const wanted = std::getenv("CROWDFOLD_FAULT");
  if (wanted == nullptr) return;
  const char* const colon = std::strchr(wanted, ':');
  for (int kind = 0; colon != nullptr && kind < kKinds; ++kind) {
    const std::size_t length = std::strlen(kNames[kind]);
    if (wanted + length == colon && std::strncmp(wanted, kNames[kind], length) == 0)
      failing = static_cast<Kind>(kind);
  }
  char* end = nullptr;
  if (failing != kKinds) fails_at = std::strtoull(colon + 1, &end, 10);
  if (fails_at == 0 || *end != ':') {
    std::fputs("CROWDFOLD_FAULT must be KIND:N:ERRNO\n", stderr);
    ::_exit(70);
  }
  fault = std::atoi(end + 1);
}

void write_counts() {
  const char* const path = std::getenv("CROWDFOLD_COUNTS");
  if (path == nullptr) return;
  char text[512];
  int size = 0;
  for (int kind = 0; kind < kKinds; ++kind)
    size += std::snprintf(text + size, sizeof text - static_cast<std::size_t>(size), "%s %llu\n",
                          kNames[kind], static_cast<unsigned long long>(calls[kind].load()));
  const long file = ::syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::syscall(SYS_write, file, text, size);
  ::syscall(SYS_close, file);
}

using Main = int (*)(int, char**, char**);
Main real_main = nullptr;
int counted_main(int argc, char** argv, char** environment) {
  in_main = true;
  const int code = real_main(argc, argv, environment);
  in_main = false;
  write_counts();
  return code;
}

Kind kind_of(int descriptor) {
  return descriptor == STDOUT_FILENO ? kOut : descriptor == STDERR_FILENO ? kErr : kWrite;
}

bool writes(int flags) { return (flags & O_ACCMODE) != O_RDONLY; }

// The mode of a file that an open() may create.
mode_t mode_of(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

extern "C" {

// Before main() there is nothing that a program could catch.
int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*rtld_fini)(), void* stack_end) {
  using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  real_main = main;
  return real<Start>("__libc_start_main")(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}

int open(const char* path, int flags, ...) {
  REAL(open);
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  if (writes(flags) && fails(kOpen)) return -1;
  return opened(next(path, flags, mode), path);
}
int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open(path, flags, mode);
}
int mkostemps(char* path, int ending, int flags) {
  REAL(mkostemps);
  return fails(kOpen) ? -1 : next(path, ending, flags);
}

int close(int descriptor) {
  REAL(close);
  if (descriptor >= 0 && descriptor < kMostFiles) file_of[descriptor] = 0;
  return next(descriptor);
}

ssize_t write(int descriptor, const void* bytes, std::size_t size) {
  REAL(write);
  const ssize_t some = allowed(kind_of(descriptor), size);
  if (some < 0) return -1;
  if (descriptor == STDOUT_FILENO && journal >= 0)
    note('O', 0, 0, bytes, static_cast<std::size_t>(some));
  if (const char file = watched_file(descriptor))
    note('W', file, ::lseek(descriptor, 0, SEEK_CUR), bytes, static_cast<std::size_t>(some));
  return next(descriptor, bytes, static_cast<std::size_t>(some));
}
ssize_t pwrite64(int descriptor, const void* bytes, std::size_t size, off64_t at) {
  REAL(pwrite64);
  const ssize_t some = allowed(kWrite, size);
  if (some < 0) return -1;
  if (const char file = watched_file(descriptor))
    note('W', file, at, bytes, static_cast<std::size_t>(some));
  return next(descriptor, bytes, static_cast<std::size_t>(some), at);
}
ssize_t pwrite(int descriptor, const void* bytes, std::size_t size, off_t at) {
  return pwrite64(descriptor, bytes, size, at);
}

int fsync(int descriptor) {
  REAL(fsync);
  if (fails(kSync)) return -1;
  const int result = next(descriptor);
  if (const char file = watched_file(descriptor); file != 0 && result == 0) note('S', file);
  return result;
}
int fdatasync(int descriptor) { return fsync(descriptor); }

int ftruncate64(int descriptor, off64_t size) {
  REAL(ftruncate64);
  if (fails(kTruncate)) return -1;
  if (const char file = watched_file(descriptor)) note('T', file, size);
  return next(descriptor, size);
}
int ftruncate(int descriptor, off_t size) { return ftruncate64(descriptor, size); }

int rename(const char* from, const char* to) {
  REAL(rename);
  return fails(kRename) ? -1 : next(from, to);
}
int unlink(const char* path) {
  REAL(unlink);
  if (const char file = watched_file(path)) note('U', file);
  return next(path);
}

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) { return fails(kMemory) ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) {
  return fails(kMemory) ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  return fails(kMemory) ? nullptr : __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return fails(kMemory) ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** to, std::size_t alignment, std::size_t size) {
  if (fails(kMemory)) return ENOMEM;
  *to = __libc_memalign(alignment, size);
  return *to == nullptr ? ENOMEM : 0;
}

}  // extern "C"
