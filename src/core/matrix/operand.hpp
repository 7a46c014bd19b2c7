#pragma once

/// Questions about a rectangle of a matrix that several operations ask.

#include <algorithm>
#include <string>

#include <tessera/detail/storage.hpp>

namespace tessera::detail {

/// Sizes of the view: of the transpose where x.op is Transpose.
inline Index logical_rows(const Operand& x) { return x.op == Op::None ? x.rows : x.cols; }
inline Index logical_cols(const Operand& x) { return x.op == Op::None ? x.cols : x.rows; }

/// Returns `cols` rounded up to whole cache lines, so that every row starts aligned. It is at least one line, because a
/// leading dimension is never zero.
inline Index padded(Index cols, DType type) {
  const Index line = static_cast<Index>(64 / size_of(type));
  return (std::max<Index>(cols, 1) + line - 1) / line * line;
}

inline std::string shape(Index rows, Index cols) { return std::to_string(rows) + "×" + std::to_string(cols); }
inline std::string shape(const Operand& x) { return shape(logical_rows(x), logical_cols(x)); }

/// Returns the place of the operand's first stored element in a copy of the whole matrix.
inline Placed place_of(const Operand& x, Placed whole) {
  const Index offset = x.row * whole.ld + x.col;
  return {static_cast<char*>(whole.data) + offset * static_cast<Index>(size_of(x.storage->type())), whole.ld};
}
/// Is the operand the whole of its matrix?
inline bool is_whole(const Operand& x) { return x.rows == x.storage->rows() && x.cols == x.storage->cols(); }

inline bool has_elements(const Operand& x) { return x.rows > 0 && x.cols > 0; }
/// Returns the bytes of so many elements of the operand's type.
inline std::size_t bytes_of(Index elements, const Operand& x) {
  return static_cast<std::size_t>(elements) * size_of(x.storage->type());
}

/// Returns the operand's elements in the host's memory; without an address where home() has none.
inline StoredRows rows_at_home(const Operand& x) {
  const std::size_t element = size_of(x.storage->type());
  const auto* const first = static_cast<const char*>(x.storage->home());
  const Index offset = x.row * x.storage->ld() + x.col;
  return {first == nullptr ? nullptr : first + offset * static_cast<Index>(element), x.rows, x.cols, x.storage->ld(),
          element};
}

/// Do two operands share an element? Storages of the caller's memory may be parts of one matrix, or of a Matrix.
inline bool overlap(const Operand& x, const Operand& y) {
  if (x.storage == y.storage)
    return x.row < y.row + y.rows && y.row < x.row + x.rows && x.col < y.col + y.cols && y.col < x.col + x.cols;
  if (!x.storage->borrowed() && !y.storage->borrowed()) return false;
  const StoredRows at_x = rows_at_home(x), at_y = rows_at_home(y);
  return at_x.data != nullptr && at_y.data != nullptr && tessera::overlap(at_x, at_y);
}

} // namespace tessera::detail
