// Columns one below another, and the column of nothing but nulls.
#include <algorithm>

#include "crowdfold/columns.h"

namespace crowdfold {
namespace {

class NullColumn final : public ValueColumn {
 public:
  explicit NullColumn(std::uint64_t size) : size_(size) {}
  std::uint64_t size() const override { return size_; }
  bool is_cheap() const override { return true; }
  std::unique_ptr<ValueColumn> fresh_copy() const override {
    return std::make_unique<NullColumn>(size_);
  }
  std::uint32_t id_at(std::uint64_t, std::uint64_t, ValueIds&) override { return ValueIds::kMissing; }

 private:
  std::uint64_t size_;
};
class ChunkedColumn final : public ValueColumn {
 public:
  explicit ChunkedColumn(std::vector<std::unique_ptr<ValueColumn>> chunks) : chunks_(std::move(chunks)) {
    for (const auto& chunk : chunks_)
      ends_.push_back((ends_.empty() ? 0 : ends_.back()) + chunk->size());
  }

  std::uint64_t size() const override { return ends_.empty() ? 0 : ends_.back(); }
  bool is_thread_bound() const override {
    return std::any_of(chunks_.begin(), chunks_.end(),
                       [](const auto& c) { return c->is_thread_bound(); });
  }
  bool is_cheap() const override {
    return std::all_of(chunks_.begin(), chunks_.end(), [](const auto& c) { return c->is_cheap(); });
  }
  std::unique_ptr<ValueColumn> fresh_copy() const override {
    std::vector<std::unique_ptr<ValueColumn>> others;
    for (const auto& chunk : chunks_) others.push_back(chunk->fresh_copy());
    return std::make_unique<ChunkedColumn>(std::move(others));
  }

  std::uint32_t id_at(std::uint64_t index, std::uint64_t row, ValueIds& ids) override {
    const std::size_t chunk = chunk_of(index);
    return chunks_[chunk]->id_at(index - begin_of(chunk), row, ids);
  }

  void read(std::uint64_t begin, std::span<std::uint32_t> out, ValueIds& ids) override {
    for (std::size_t chunk = chunk_of(begin); !out.empty(); ++chunk) {
      const std::uint64_t here = begin - begin_of(chunk);
      const std::size_t count = std::min<std::size_t>(out.size(), chunks_[chunk]->size() - here);
      const std::size_t noted = ids.first_rows.size();
      chunks_[chunk]->read(here, out.first(count), ids);
      for (std::size_t i = noted; i < ids.first_rows.size(); ++i) ids.first_rows[i] += begin_of(chunk);
      begin += count;
      out = out.subspan(count);
    }
  }

 private:
  std::size_t chunk_of(std::uint64_t index) const {
    return static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), index) - ends_.begin());
  }
  std::uint64_t begin_of(std::size_t chunk) const { return chunk == 0 ? 0 : ends_[chunk - 1]; }

  std::vector<std::unique_ptr<ValueColumn>> chunks_;
  std::vector<std::uint64_t> ends_;
};
}  // namespace

std::unique_ptr<ValueColumn> null_column(std::uint64_t size) {
  return std::make_unique<NullColumn>(size);
}

std::unique_ptr<ValueColumn> chunked_column(std::vector<std::unique_ptr<ValueColumn>> chunks) {
  return std::make_unique<ChunkedColumn>(std::move(chunks));
}

}  // namespace crowdfold
