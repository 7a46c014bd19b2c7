#pragma once

/// Describes what a copy between host and device moves, and cuts it into chunks that fit a buffer.

#include <algorithm>
#include <cstddef>

namespace tessera::cuda {

/// The rows that a copy moves, each of `width` bytes. A pitch is the distance from row to row in bytes.
struct CopyShape {
  std::size_t device_pitch;
  std::size_t host_pitch;
  std::size_t width;
  std::size_t rows;

  std::size_t bytes() const noexcept { return width * rows; }
  /// Returns one long row if neither side has gaps between its rows, else this shape.
  CopyShape merged() const noexcept {
    if (rows <= 1 || (device_pitch == width && host_pitch == width)) return {bytes(), bytes(), bytes(), 1};
    return *this;
  }
};

/// A rectangle of a copy.
struct Chunk {
  std::size_t row, byte; ///< First row, and first byte in each row.
  std::size_t width, rows;
};

/// Cuts a copy into chunks of at most `most_bytes`: whole rows where they fit, pieces of one row otherwise.
class Chunks {
 public:
  Chunks(const CopyShape& shape, std::size_t most_bytes) noexcept
      : shape_(shape),
        width_(std::min(shape.width, most_bytes)),
        rows_(width_ < shape.width ? 1 : std::max<std::size_t>(1, most_bytes / std::max<std::size_t>(1, shape.width))),
        across_(width_ == 0 ? 0 : (shape.width + width_ - 1) / width_) {}

  std::size_t count() const noexcept { return across_ * ((shape_.rows + rows_ - 1) / rows_); }
  Chunk operator[](std::size_t index) const noexcept {
    const std::size_t row = index / across_ * rows_;
    const std::size_t byte = index % across_ * width_;
    return {row, byte, std::min(width_, shape_.width - byte), std::min(rows_, shape_.rows - row)};
  }

 private:
  CopyShape shape_;
  std::size_t width_;  ///< Bytes in a row of a chunk.
  std::size_t rows_;   ///< Rows of a chunk.
  std::size_t across_; ///< Chunks side by side in a row.
};

} // namespace tessera::cuda
