#pragma once

/// Applies a product's epilogue (include/tessera/epilogue.hpp) on the host, to a range of rows or to a tile. The
/// functions are always inlined, so that a caller that is compiled for FMA has these loops compiled for it.

#include <tessera/backend/activation.hpp>
#include <tessera/half.hpp>

namespace tessera::host {

/// Applies the epilogue to `cols` sums of row i of C, from column `first_col` on: takes them from `r`, which it
/// overwrites, and stores the results in `z`. Each step of the epilogue is a loop, so that the compiler can use
/// vectors.
template <class S, class R>
[[gnu::always_inline]] inline void apply_epilogue_to_row(const Epilogue& epilogue, Index i, Index first_col, Index cols,
                                                         S* r, R* z) {
  const auto* bias = static_cast<const R*>(epilogue.bias);
  if (epilogue.bias_per == BiasPer::Row) {
    const auto b = static_cast<S>(bias[i * epilogue.bias_step]);
    for (Index j = 0; j < cols; ++j) r[j] += b;
  } else if (epilogue.bias_per == BiasPer::Column) {
    const R* b = bias + first_col * epilogue.bias_step;
    for (Index j = 0; j < cols; ++j) r[j] += static_cast<S>(b[j * epilogue.bias_step]);
  }
  if (epilogue.activation == Activation::Relu)
    for (Index j = 0; j < cols; ++j) r[j] = relu(r[j]);
  else if (epilogue.activation == Activation::Gelu)
    for (Index j = 0; j < cols; ++j) r[j] = gelu(r[j]);
  if (epilogue.residual != nullptr) {
    const R* residual = static_cast<const R*>(epilogue.residual) + i * epilogue.ld_residual + first_col;
    for (Index j = 0; j < cols; ++j) r[j] += static_cast<S>(residual[j]);
  }
  for (Index j = 0; j < cols; ++j) z[j] = static_cast<R>(r[j]);
}

/// Columns that pass through all steps before the next columns; they stay in L1.
inline constexpr Index columns_at_a_time = 256;

template <class S, class X, class R>
[[gnu::always_inline]] inline void apply_epilogue_typed(const FinishCall& call, Index first, Index last) {
  S r[columns_at_a_time];
  const auto scale = static_cast<S>(call.scale);
  const auto* x = static_cast<const X*>(call.x);
  for (Index i = first; i < last; ++i)
    for (Index col = 0; col < call.cols; col += columns_at_a_time) {
      const Index cols = call.cols - col < columns_at_a_time ? call.cols - col : columns_at_a_time;
      for (Index j = 0; j < cols; ++j) r[j] = x == nullptr ? S{0} : scale * static_cast<S>(x[i * call.ldx + col + j]);
      apply_epilogue_to_row(call.epilogue, i, col, cols, r, static_cast<R*>(call.z) + i * call.ldz + col);
    }
}

template <class S, class X>
[[gnu::always_inline]] inline void apply_epilogue_from(const FinishCall& call, DType z, Index first, Index last) {
  visit(z, [&]<class R>(std::type_identity<R>) TESSERA_ALWAYS_INLINE {
    if constexpr (std::is_same_v<Scalar<R>, S>) apply_epilogue_typed<S, X, R>(call, first, last);
  });
}

/// Applies the call's epilogue to the rows [first, last). x and z have the type that is computed in, or 16 bits.
[[gnu::always_inline]] inline void apply_epilogue_to_rows(const FinishCall& call, Index first, Index last) {
  const auto read_as = [&](DType operand) { return scalar_of(operand) == call.type ? operand : call.type; };
  visit_scalar(call.type, [&]<class S>(std::type_identity<S>) TESSERA_ALWAYS_INLINE {
    visit(read_as(call.x_type), [&]<class X>(std::type_identity<X>) TESSERA_ALWAYS_INLINE {
      if constexpr (std::is_same_v<Scalar<X>, S>) apply_epilogue_from<S, X>(call, read_as(call.z_type), first, last);
    });
  });
}

} // namespace tessera::host
