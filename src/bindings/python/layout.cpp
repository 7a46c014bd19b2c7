#include "layout.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>

#include "errors.hpp"

namespace tessera::python {
namespace {

std::atomic<long long> copies = 0;

/// Converts the bytes from line to line to elements, if lines of `length` elements do not overlap.
std::optional<Index> leading_dimension(Index lines, Index line_stride, Index length, Index step, Index element) {
  if (length > 1 && step != element) return std::nullopt;
  const Index least = std::max<Index>(length, 1);
  if (lines <= 1) return least;
  if (line_stride % element != 0 || line_stride / element < least) return std::nullopt;
  return line_stride / element;
}

template <std::size_t Bytes>
void copy_rows(const Array& from, char* to, Index to_row_stride, Index to_col_stride) {
  for (Index i = 0; i < from.rows; ++i)
    for (Index j = 0; j < from.cols; ++j)
      std::memcpy(to + i * to_row_stride + j * to_col_stride, from.data + i * from.row_stride + j * from.col_stride,
                  Bytes);
}

/// Allocates memory for the elements of `array` without gaps.
std::unique_ptr<char[]> reserve(const Array& array) {
  const Index element = array.element();
  const bool overflows = array.cols > 0 && array.rows > std::numeric_limits<Index>::max() / element / array.cols;
  const std::size_t bytes = static_cast<std::size_t>(overflows ? -1 : array.rows * array.cols * element);
  std::unique_ptr<char[]> memory(overflows ? nullptr : new (std::nothrow) char[std::max<std::size_t>(bytes, 1)]);
  if (!memory)
    throw OutOfMemory(std::string(array.name) + " with strides of " + strides_of(array) +
                      " bytes has to be copied, but there is no memory for " + std::to_string(array.rows) + "×" +
                      std::to_string(array.cols) + " elements");
  return memory;
}

template <class T>
void negate_imaginary_parts(char* numbers, Index count) {
  auto* parts = reinterpret_cast<T*>(numbers);
  for (Index i = 0; i < count; ++i) parts[2 * i + 1] = -parts[2 * i + 1];
}

/// Copies the elements of `array` without gaps.
void conjugate(char* copy, const Array& array) {
  const Index count = array.rows * array.cols;
  visit_scalar(array.type.part, [&]<class T>(std::type_identity<T>) { negate_imaginary_parts<T>(copy, count); });
}

} // namespace

std::string strides_of(const Array& array) {
  return "(" + std::to_string(array.row_stride) + ", " + std::to_string(array.col_stride) + ")";
}

std::optional<Layout> layout_of(const Array& array) {
  const Index element = array.element();
  if (array.rows == 0 || array.cols == 0) return Layout{Op::None, std::max<Index>(array.cols, 1)};
  if (reinterpret_cast<std::uintptr_t>(array.data) % size_of(array.type.part) != 0) return std::nullopt;
  if (const auto ld = leading_dimension(array.rows, array.row_stride, array.cols, array.col_stride, element))
    return Layout{Op::None, *ld};
  if (const auto ld = leading_dimension(array.cols, array.col_stride, array.rows, array.row_stride, element))
    return Layout{Op::Transpose, *ld};
  return std::nullopt;
}

Operand::Operand(const Array& array, Numbers numbers) : data_(array.data) {
  const auto layout = layout_of(array);
  const bool conjugated = numbers == Numbers::Conjugated;
  if (layout && !conjugated) {
    layout_ = *layout;
  } else if (array.on_cuda) {
    throw InvalidArgument(std::string(array.name) + " is on CUDA device " + std::to_string(array.device) +
                          (conjugated ? ", where only what is also transposed is conjugated as it is read; pass what "
                                        "its own library conjugated"
                                      : " with strides of " + strides_of(array) +
                                            " bytes, which no kernel reads; make it contiguous there"));
  } else {
    copy_ = reserve(array);
    layout_.ld = std::max<Index>(array.cols, 1);
    copy_elements(array, copy_.get(), layout_.ld * array.element(), array.element());
    if (conjugated) conjugate(copy_.get(), array);
    data_ = copy_.get();
    ++copies;
  }
  const bool flipped = layout_.op == Op::Transpose;
  stored_ = {data_, flipped ? array.cols : array.rows, flipped ? array.rows : array.cols, layout_.ld,
             array.type.bytes()};
}

void copy_elements(const Array& from, char* to, Index to_row_stride, Index to_col_stride) {
  const WithoutGil others_run;
  switch (from.element()) {
    case 2:
      return copy_rows<2>(from, to, to_row_stride, to_col_stride);
    case 4:
      return copy_rows<4>(from, to, to_row_stride, to_col_stride);
    case 8:
      return copy_rows<8>(from, to, to_row_stride, to_col_stride);
    default:
      return copy_rows<16>(from, to, to_row_stride, to_col_stride);
  }
}

long long copies_made() { return copies; }

} // namespace tessera::python
