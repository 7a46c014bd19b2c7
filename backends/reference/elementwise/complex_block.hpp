#pragma once

/// The element-wise operations on complex numbers, over a block of z. They are always inlined, so that a caller that is
/// compiled for FMA has these loops compiled for it.

#include "complex_number.hpp"

namespace tessera::host {

/// The rows [row, last_row) and columns [col, last_col), counted in complex numbers of op(x).
struct ComplexBlock {
  Index row, last_row;
  Index col, last_col;
};

/// Says whether an operation reads the columns of x as it is stored; otherwise it reads x row by row.
inline bool reads_columns(const MapCall& call) { return is_complex(call.op) && call.op_x != Op::None; }

template <class T>
[[gnu::always_inline]] inline void expand_row(const ComplexNumber<T>* x, ComplexNumber<T>* z, ComplexNumber<T>* below,
                                              const ComplexBlock& block) {
  for (Index j = block.col; j < block.last_col; ++j) z[j] = x[j];
  for (Index j = block.col; j < block.last_col; ++j) below[j] = turned_by_i(x[j]);
}

template <class T>
[[gnu::always_inline]] inline void reorder_block(const MapCall& call, const ComplexBlock& block) {
  const auto* x = static_cast<const ComplexNumber<T>*>(call.x);
  auto* z = static_cast<ComplexNumber<T>*>(call.z);
  const bool expands = call.op == MapOp::ExpandComplex;
  const T sign = call.op_x == Op::ConjugateTranspose ? T{-1} : T{1};
  for (Index i = block.row; i < block.last_row; ++i) {
    ComplexNumber<T>* out = z + (expands ? 2 * i : i) * call.ldz;
    if (call.op_x != Op::None) {
      for (Index j = block.col; j < block.last_col; ++j) {
        const ComplexNumber<T> number = x[j * call.ldx + i];
        out[j] = {number.re, sign * number.im};
        if (expands) out[call.ldz + j] = turned_by_i(out[j]);
      }
    } else if (expands) {
      expand_row(x + i * call.ldx, out, out + call.ldz, block);
    } else {
      for (Index j = block.col; j < block.last_col; ++j) out[j] = x[i * call.ldx + j];
    }
  }
}

template <class T>
[[gnu::always_inline]] inline void combine_block(const MapCall& call, const ComplexBlock& block) {
  const ComplexNumber<T> alpha = alpha_of<T>(call);
  const ComplexNumber<T> beta = beta_of<T>(call);
  const bool adds = beta.re != T{0} || beta.im != T{0};
  for (Index i = block.row; i < block.last_row; ++i) {
    const auto* x = static_cast<const ComplexNumber<T>*>(call.x) + i * call.ldx;
    const auto* y = static_cast<const ComplexNumber<T>*>(call.y) + i * call.ldy;
    auto* z = static_cast<ComplexNumber<T>*>(call.z) + i * call.ldz;
    if (adds)
      for (Index j = block.col; j < block.last_col; ++j) z[j] = added(beta, y[j], scaled(alpha, x[j]));
    else
      for (Index j = block.col; j < block.last_col; ++j) z[j] = scaled(alpha, x[j]);
  }
}

template <class T>
[[gnu::always_inline]] inline void map_complex_typed(const MapCall& call, const ComplexBlock& block) {
  if (call.op == MapOp::CombineComplex) return combine_block<T>(call, block);
  reorder_block<T>(call, block);
}

[[gnu::always_inline]] inline void map_complex(const MapCall& call, const ComplexBlock& block) {
  visit_scalar(call.type,
               [&]<class T>(std::type_identity<T>) TESSERA_ALWAYS_INLINE { map_complex_typed<T>(call, block); });
}

} // namespace tessera::host
