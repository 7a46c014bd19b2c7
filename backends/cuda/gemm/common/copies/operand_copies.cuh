#pragma once

/// Copies of operands whose lines do not begin at multiples of 16 bytes, or lie along the wrong index, for rungs that
/// read them faster, or only, if they do. One launch makes the copies of both operands of a product.

#include <cuda_runtime_api.h>

#include <array>

#include <tessera/status.hpp>
#include <tessera/types.hpp>

namespace tessera::cuda {

/// A copy of `lines` lines of `length` elements, `ld` elements apart, to `to`, which is aligned to 16 bytes and whose
/// lines are `pitch` elements apart, a multiple of 16 bytes. Lines are copied as 16-bit elements, so that f32 counts
/// twice; a transposed copy is of f32 elements, and has `length` lines. What a copy has beyond the elements of its
/// lines is undefined.
struct OperandCopy {
  const void* data = nullptr;
  Index lines = 0, length = 0, ld = 0;
  void* to = nullptr;
  Index pitch = 0;
  bool transposed = false;

  bool wanted() const { return to != nullptr && lines > 0 && length > 0; }
};

/// Enqueues the copies that are wanted, in one launch, or nothing if none is. `programmatic`: the launch may overlap
/// the kernels around it, which needs compute capability 9.0.
Status copy_operands(cudaStream_t stream, const std::array<OperandCopy, 2>& copies, const char* name,
                     bool programmatic = true) noexcept;

} // namespace tessera::cuda
