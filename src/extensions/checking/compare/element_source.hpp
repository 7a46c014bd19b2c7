#pragma once

/// Reads matrices of any type that a check reads, block by block, as matrices of the type that is computed in.

#include <type_traits>

#include <tessera/checking/check.hpp>
#include <tessera/half.hpp>

namespace tessera::compare {

/// A matrix whose element (i, j) as it is read lies at i·row + j·col elements after `data`. One of the steps is 1.
struct ElementSource {
  CheckedType type = CheckedType::F32;
  const void* data = nullptr;
  Index rows = 0, cols = 0;
  Index row = 0, col = 1;

  /// Describes `stored` as it is read.
  static ElementSource of(const CheckedMatrix& stored) {
    const bool flipped = stored.op != Op::None;
    return {stored.type,
            stored.data,
            stored.logical_rows(),
            stored.logical_cols(),
            flipped ? 1 : stored.ld,
            flipped ? stored.ld : 1};
  }
};

/// Calls f(read), where read(index) returns element number `index` of the source's memory as T. All widenings are
/// exact, unless T is float and the type f64 or i32, which callers do not ask for.
template <class T, class F>
[[gnu::always_inline]] inline void visit_elements(const ElementSource& x, F&& f) {
  visit_known(static_cast<DType>(x.type), [&]<class S>(std::type_identity<S>) {
    f([data = static_cast<const S*>(x.data)](Index at) { return static_cast<T>(data[at]); });
  });
}

/// Returns element (i, j).
template <class T>
T element_at(const ElementSource& x, Index i, Index j) {
  T value{};
  visit_elements<T>(x, [&](auto read) { value = read(i * x.row + j * x.col); });
  return value;
}

/// Are the rows of the source rows of T in memory?
template <class T>
bool is_native(const ElementSource& x) {
  return x.col == 1 && x.type == static_cast<CheckedType>(dtype_of<T>);
}

/// Rows of a block, in the source's memory or in a buffer.
template <class T>
struct Block {
  const T* data;
  Index ld;
};

/// Returns rows i … i + rows − 1 and columns j … j + cols − 1 as T. `buffer` has room for rows·cols elements and is
/// used where the source's memory cannot be read as it is.
template <class T>
Block<T> read_block(const ElementSource& x, Index i, Index rows, Index j, Index cols, T* buffer) {
  if (is_native<T>(x)) return {static_cast<const T*>(x.data) + i * x.row + j, x.row};
  visit_elements<T>(x, [&](auto read) {
    if (x.col == 1) {
      for (Index r = 0; r < rows; ++r)
        for (Index c = 0; c < cols; ++c) buffer[r * cols + c] = read((i + r) * x.row + j + c);
    } else { // stored columns are read one after the other
      for (Index c = 0; c < cols; ++c)
        for (Index r = 0; r < rows; ++r) buffer[r * cols + c] = read((i + r) * x.row + (j + c) * x.col);
    }
  });
  return {buffer, cols};
}

} // namespace tessera::compare
