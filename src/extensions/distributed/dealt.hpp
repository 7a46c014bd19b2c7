#pragma once

/// Operands as column-major libraries have them: ScaLAPACK and cuBLASMp. A row-major C is their Cᵀ = op(B)ᵀ·op(A)ᵀ on
/// the transposed grid.

#include "engines.hpp"

namespace tessera::distributed {

/// The axes of a matrix: rows are the dimension that is contiguous in memory.
struct Dealt {
  Axis rows, cols;
  char* data;
  Index ld;
};

inline Dealt dealt(const Source& x) {
  const Elements& e = x.elements;
  return x.outer_innermost ? Dealt{x.spread.outer, x.spread.inner, e.data, e.inner_step}
                           : Dealt{x.spread.inner, x.spread.outer, e.data, e.outer_step};
}

/// Is k contiguous in memory, so that the rows are k?
inline bool k_is_row(const Source& x) { return !x.outer_innermost; }

/// Returns C's sums, which have no gaps.
inline Dealt dealt_sums(const DistributedProduct& product, char* sums) {
  return product.order == LocalOrder::ColumnMajor ? Dealt{product.rows, product.cols, sums, product.local_rows}
                                                  : Dealt{product.cols, product.rows, sums, product.local_cols};
}

/// Says whether something is true on any rank. All ranks call it. Throws where the ranks cannot agree.
inline bool anywhere(const DistributedProduct& product, bool here) {
  std::int64_t number = here ? 1 : 0;
  throw_if_failed(product.grid.world->largest(&number, 1));
  return number != 0;
}

} // namespace tessera::distributed
