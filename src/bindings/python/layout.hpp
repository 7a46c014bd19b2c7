#pragma once

/// The layouts that a product takes: rows or columns whose elements lie side by side, with a leading dimension.

#include <memory>
#include <optional>

#include <tessera/executor.hpp>

#include "array.hpp"

namespace tessera::python {

/// An array as rows in memory: the rows of the array itself, or (Op::Transpose) of its transpose.
struct Layout {
  Op op = Op::None;
  Index ld = 1;
};

/// Returns the layout of a row-major or column-major array, even if it is a block of a larger matrix. Returns none for
/// all other strides (steps between the elements of a row, negative or zero strides, overlapping rows) and for elements
/// that are not aligned.
std::optional<Layout> layout_of(const Array& array);

/// Returns "(strides in bytes)", for messages.
std::string strides_of(const Array& array);

/// An operand in memory: the array itself if it has a layout, or else the only copy that is made of it.
class Operand {
 public:
  enum class Numbers { AsTheyAre, Conjugated };
  /// Conjugated numbers are copied by rows. Throws OutOfMemory, and InvalidArgument for an array on a device that would
  /// have to be copied.
  explicit Operand(const Array& array, Numbers numbers = Numbers::AsTheyAre);

  const void* data() const { return data_; }
  Op op() const { return layout_.op; }
  Index ld() const { return layout_.ld; }
  StoredRows stored() const { return stored_; }

 private:
  Layout layout_;
  const void* data_ = nullptr;
  StoredRows stored_;
  std::unique_ptr<char[]> copy_;
};

/// Copies elements between host arrays of one shape; any strides are allowed.
void copy_elements(const Array& from, char* to, Index to_row_stride, Index to_col_stride);

/// Returns the number of operands that were copied since the process began.
long long copies_made();

} // namespace tessera::python
