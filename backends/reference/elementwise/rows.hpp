#pragma once

/// Element-wise operations and random fills over the rows [first, last). The reference executor calls them for all rows
/// at once, the CPU executors share the rows out. They are always inlined, so that a caller that is compiled for FMA
/// has these loops compiled for it.

#include <cmath>

#include <tessera/executor.hpp>
#include <tessera/half.hpp>
#include <tessera/random.hpp>

namespace tessera::host {

/// Converts each element with one rounding at most, in one step or by way of a type that holds it exactly.
template <class X, class Z>
[[gnu::always_inline]] inline void convert_rows_typed(const MapCall& call, Index first, Index last) {
  const auto* x = static_cast<const X*>(call.x);
  auto* z = static_cast<Z*>(call.z);
  for (Index i = first; i < last; ++i)
    for (Index j = 0; j < call.cols; ++j)
      z[i * call.ldz + j] = static_cast<Z>(static_cast<Scalar<X>>(x[i * call.ldx + j]));
}

template <class X>
[[gnu::always_inline]] inline void convert_rows_from(const MapCall& call, Index first, Index last) {
  visit(call.type,
        [&]<class Z>(std::type_identity<Z>) TESSERA_ALWAYS_INLINE { convert_rows_typed<X, Z>(call, first, last); });
}

[[gnu::always_inline]] inline void convert_rows(const MapCall& call, Index first, Index last) {
  visit(call.x_type,
        [&]<class T>(std::type_identity<T>) TESSERA_ALWAYS_INLINE { convert_rows_from<T>(call, first, last); });
}

template <class T>
[[gnu::always_inline]] inline void map_rows_typed(const MapCall& call, Index first, Index last) {
  const auto* x = static_cast<const T*>(call.x);
  const auto* y = static_cast<const T*>(call.y);
  auto* z = static_cast<T*>(call.z);
  using S = Scalar<T>;
  const S alpha = static_cast<S>(call.alpha);
  const S beta = static_cast<S>(call.beta);
  for (Index i = first; i < last; ++i) {
    T* out = z + i * call.ldz;
    const T* left = x + i * call.ldx;
    const T* right = y + i * call.ldy;
    switch (call.op) {
      case MapOp::Fill:
        for (Index j = 0; j < call.cols; ++j) out[j] = static_cast<T>(alpha);
        break;
      case MapOp::Identity:
        for (Index j = 0; j < call.cols; ++j) out[j] = static_cast<T>(i == j ? alpha : S{0});
        break;
      case MapOp::Axpby:
        for (Index j = 0; j < call.cols; ++j) out[j] = static_cast<T>(std::fma(beta, S{right[j]}, alpha * left[j]));
        break;
      case MapOp::Scale:
        for (Index j = 0; j < call.cols; ++j) out[j] = static_cast<T>(alpha * left[j]);
        break;
      case MapOp::Multiply:
        for (Index j = 0; j < call.cols; ++j) out[j] = static_cast<T>(left[j] * right[j]);
        break;
      case MapOp::Transpose:
        for (Index j = 0; j < call.cols; ++j) out[j] = x[j * call.ldx + i];
        break;
      case MapOp::Convert:       // convert_rows, because it has two types
      case MapOp::ExpandComplex: // complex_block.hpp
      case MapOp::CopyComplex:
      case MapOp::CombineComplex:
        break;
    }
  }
}

[[gnu::always_inline]] inline void map_rows(const MapCall& call, Index first, Index last) {
  if (call.op == MapOp::Convert) return convert_rows(call, first, last);
  visit(call.type, [&]<class T>(std::type_identity<T>) TESSERA_ALWAYS_INLINE { map_rows_typed<T>(call, first, last); });
}

template <class T>
[[gnu::always_inline]] inline void random_rows_typed(const RandomCall& call, Index first, Index last) {
  const auto low = static_cast<Scalar<T>>(call.low);
  const auto high = static_cast<Scalar<T>>(call.high);
  for (Index i = first; i < last; ++i) {
    T* out = static_cast<T*>(call.z) + i * call.ldz;
    for (Index j = 0; j < call.cols; ++j)
      out[j] =
          random_element<T>(call.distribution, call.seed, static_cast<std::uint64_t>(i * call.cols + j), low, high);
  }
}

[[gnu::always_inline]] inline void random_rows(const RandomCall& call, Index first, Index last) {
  visit(call.type,
        [&]<class T>(std::type_identity<T>) TESSERA_ALWAYS_INLINE { random_rows_typed<T>(call, first, last); });
}

} // namespace tessera::host
