#include "stream/prefetching_file.h"

#include <fcntl.h>

#include <algorithm>
#include <new>

namespace crowdfold {

PrefetchingFile::PrefetchingFile(const Database& database, int descriptor) : descriptor_(descriptor) {
  database.run("PRAGMA mmap_size = 0");  // a page that is mapped is not read
  sqlite3_file_control(database.handle(), "main", SQLITE_FCNTL_FILE_POINTER, &file_);
  own_ = file_->pMethods;
  static_cast<sqlite3_io_methods&>(*this) = *own_;
  xRead = read;
  file_->pMethods = this;
}
PrefetchingFile::~PrefetchingFile() { file_->pMethods = own_; }

int PrefetchingFile::read(sqlite3_file* file, void* bytes, int size, sqlite3_int64 offset) {
  auto& self = *static_cast<PrefetchingFile*>(const_cast<sqlite3_io_methods*>(file->pMethods));
  try {
    // The first page is needed to begin.
    if (offset > 0 && self.asked_.insert(offset).second && self.ask(offset, size)) return SQLITE_BUSY;
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  }
  return self.own_->xRead(file, bytes, size, offset);
}

// False if the system cannot be told: then pages are waited for.
bool PrefetchingFile::ask(sqlite3_int64 page, sqlite3_int64 size) const {
#ifdef POSIX_FADV_WILLNEED
  const sqlite3_int64 first = std::max<sqlite3_int64>(0, page - reach_ * size);
  const sqlite3_int64 end = page + (1 + reach_) * size;
  return ::posix_fadvise(descriptor_, first, end - first, POSIX_FADV_WILLNEED) == 0;
#else
  return false;
#endif
}

}  // namespace crowdfold
