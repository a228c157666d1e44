#include "labels/grouping/row_packer.h"

#include <algorithm>

namespace crowdfold {
namespace {

constexpr std::size_t kChunk = 1 << 14;  // bytes that a buffer grows by

}  // namespace

RowPacker::RowPacker(int reader, std::vector<std::string> abstain, unsigned partition_bits,
                     NameHead head)
    : reader_(reader),
      bits_(partition_bits),
      head_(std::move(head)),
      ids_(std::move(abstain)),
      buffers_(std::size_t{1} << partition_bits),
      pieces_(buffers_.size()) {}

void RowPacker::begin(BlockSummary& block) {
  block.restart(reader_);
  block_ = &block;
  row_ = 0;
  first_row_ = 0;
  ++piece_number_;
}

void RowPacker::add(const RowBatch& rows) {
  ids_.look_up(rows, *block_);
  if (row_ + rows.size - first_row_ > PackedRow::kMostRows) {
    first_row_ = row_;
    ++piece_number_;
  }
  for (std::size_t i = 0; i < rows.size; ++i) {
    PackedRow row;
    row.row = row_++ - first_row_;
    row.worker = ids_.workers[i];
    row.label = ids_.classes[i];
    row.name = head_.cut(rows.tasks[i]);
    const std::size_t partition = partition_of(row.name, bits_);
    RowBuffer& buffer = buffers_[partition];
    const std::size_t room = PackedRow::room(row.name.text.size());
    if (buffer.piece_number != piece_number_ ||
        static_cast<std::size_t>(buffer.end - buffer.free) < room)
      begin_piece(partition, room);
    buffer.free = row.write(buffer.free);
  }
}

void RowPacker::begin_piece(std::size_t partition, std::size_t room) {
  RowBuffer& buffer = buffers_[partition];
  std::vector<Piece>& pieces = pieces_[partition];
  if (!pieces.empty()) pieces.back().end = buffer.free;
  if (static_cast<std::size_t>(buffer.end - buffer.free) < room) {
    const std::size_t size = std::max(kChunk, room);
    buffer.free = pool_.allocate(size);
    buffer.end = buffer.free + size;
    block_->packed_bytes += size;
  }
  buffer.piece_number = piece_number_;
  pieces.push_back({block_->sequence, first_row_, buffer.free, buffer.free});
}

void RowPacker::forget_rows() {
  std::fill(buffers_.begin(), buffers_.end(), RowBuffer{});
  for (std::vector<Piece>& pieces : pieces_) pieces = {};
  pool_ = {};
}

const std::vector<RowPacker::Piece>& RowPacker::finish(std::size_t partition) {
  std::vector<Piece>& pieces = pieces_[partition];
  if (!pieces.empty()) pieces.back().end = buffers_[partition].free;
  return pieces;
}

}  // namespace crowdfold
