#pragma once

/// Element-wise operations and random fills over a range of rows: the reference executor runs all rows at once, the
/// CPU executors share them out. Always inlined, so that a caller compiled for FMA has these loops compiled for it.

#include <cmath>

#include <tessera/executor.hpp>
#include <tessera/random.hpp>

namespace tessera::host {

template <class T>
[[gnu::always_inline]] inline void map_rows_typed(const MapCall& call, Index first, Index last) {
  const auto* x = static_cast<const T*>(call.x);
  const auto* y = static_cast<const T*>(call.y);
  auto* z = static_cast<T*>(call.z);
  const T alpha = static_cast<T>(call.alpha);
  const T beta = static_cast<T>(call.beta);
  for (Index i = first; i < last; ++i) {
    T* out = z + i * call.ldz;
    const T* left = x + i * call.ldx;
    const T* right = y + i * call.ldy;
    switch (call.op) {
      case MapOp::Fill:
        for (Index j = 0; j < call.cols; ++j) out[j] = alpha;
        break;
      case MapOp::Identity:
        for (Index j = 0; j < call.cols; ++j) out[j] = i == j ? alpha : T{0};
        break;
      case MapOp::Axpby:
        for (Index j = 0; j < call.cols; ++j) out[j] = std::fma(beta, right[j], alpha * left[j]);
        break;
      case MapOp::Scale:
        for (Index j = 0; j < call.cols; ++j) out[j] = alpha * left[j];
        break;
      case MapOp::Multiply:
        for (Index j = 0; j < call.cols; ++j) out[j] = left[j] * right[j];
        break;
      case MapOp::Transpose:
        for (Index j = 0; j < call.cols; ++j) out[j] = x[j * call.ldx + i];
        break;
    }
  }
}

[[gnu::always_inline]] inline void map_rows(const MapCall& call, Index first, Index last) {
  call.type == DType::F64 ? map_rows_typed<double>(call, first, last) : map_rows_typed<float>(call, first, last);
}

template <class T>
[[gnu::always_inline]] inline void random_rows_typed(const RandomCall& call, Index first, Index last) {
  const T low = static_cast<T>(call.low);
  const T high = static_cast<T>(call.high);
  for (Index i = first; i < last; ++i) {
    T* out = static_cast<T*>(call.z) + i * call.ldz;
    for (Index j = 0; j < call.cols; ++j)
      out[j] =
          random_element<T>(call.distribution, call.seed, static_cast<std::uint64_t>(i * call.cols + j), low, high);
  }
}

[[gnu::always_inline]] inline void random_rows(const RandomCall& call, Index first, Index last) {
  call.type == DType::F64 ? random_rows_typed<double>(call, first, last) : random_rows_typed<float>(call, first, last);
}

} // namespace tessera::host
