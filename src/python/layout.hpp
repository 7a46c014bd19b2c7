#pragma once

/// Strides as a product takes them: rows of elements side by side with a leading dimension, or columns so.

#include <memory>
#include <optional>

#include <tessera/executor.hpp>

#include "array.hpp"

namespace tessera::python {

/// The array as it is stored: itself, or (Op::Transpose) its transpose, by rows.
struct Layout {
  Op op = Op::None;
  Index ld = 1;
};

/// Row-major, column-major, or rows or columns of a larger matrix. None for every other stride (steps between the
/// elements of a row, negative or zero strides, overlapping rows) and for elements that are not aligned.
std::optional<Layout> layout_of(const Array& array);

/// "(strides in bytes)", for messages.
std::string strides_of(const Array& array);

/// An operand in memory: where it is if its layout allows that, else a copy, the only one that is ever made.
class Operand {
 public:
  enum class Numbers { AsTheyAre, Conjugated };
  /// Conjugated numbers are a copy, by rows. Throws OutOfMemory, and InvalidArgument for an array on a device that
  /// would have to be copied.
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

/// Copies elements between host arrays of the same shape, whatever their strides.
void copy_elements(const Array& from, char* to, Index to_row_stride, Index to_col_stride);

/// How many operands were copied since the process began.
long long copies_made();

} // namespace tessera::python
