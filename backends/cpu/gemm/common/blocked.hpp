#pragma once

/// The loops of BLIS around a micro-kernel, for simd_packed. textbook/06_cache_blocked.cpp has them in their plain
/// form.

#include <tessera/backend/stored_product.hpp>

#include "cpu/executor.hpp"
#include "microkernel.hpp"

namespace tessera::cpu {

/// A product as the loops see it: sums of products of elements. A complex number is two elements, re and im: with a
/// micro-kernel of complex numbers, n, k and ldc count elements, and so are twice the matrices' sizes.
template <class T>
struct BlockedCall {
  Index m, n, k;
  Lines<T> a, b;
  T alpha, beta;
  T* c;
  Index ldc;
  int threads;
  const GemmCall* with_epilogue = nullptr; ///< null: there is no epilogue
  T alpha_imaginary = 0, beta_imaginary = 0;
  MatrixPart part = MatrixPart::Whole; ///< what is computed of C
  bool has_real_diagonal = false;      ///< the imaginary parts of C's diagonal become +0
};

/// Computes C := alpha·op(A)·op(B) + beta·C with strict sums. The call was checked. Returns OutOfMemory where
/// there is no memory for the packed operands; C is unchanged then.
template <class T>
Status blocked_product(CpuExecutor& cpu, const GemmCall& call, const MicroKernel<T>& kernel) noexcept;

/// Computes a product of operands as they are stored. Returns OutOfMemory likewise.
template <class T>
Status blocked_product(CpuExecutor& cpu, const BlockedCall<T>& call, const MicroKernel<T>& kernel) noexcept;

} // namespace tessera::cpu
