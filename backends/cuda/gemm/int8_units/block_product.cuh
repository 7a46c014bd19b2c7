#pragma once

/// The product of a block of C: all that it needs but memory and a queue.

#include <cuda_runtime_api.h>

#include <tessera/backend/kernel.hpp>

#include "lines.cuh"
#include "results.cuh"

namespace tessera::cuda::int8_units {

/// What a product keeps in scratch memory: both operands' planes, and the planes of its results.
class Workspace {
 public:
  explicit Workspace(const GemmCall& call);

  std::size_t bytes() const { return bytes_; }
  /// Says that the workspace begins at `memory`, which is aligned to 256 bytes. The first `cleared_bytes()` of it must
  /// be zeros before a product.
  void lie_at(char* memory);
  std::size_t cleared_bytes() const { return cleared_bytes_; }
  char* data() const { return reinterpret_cast<char*>(a.facts); }

  Lines a, b;
  Results results;

 private:
  std::size_t a_facts_, b_facts_, states_, cleared_bytes_, a_exponents_, b_exponents_, a_, b_, results_, size_sums_,
      bytes_;
};

/// Enqueues a product. `clusters` of two blocks run at once.
Status multiply(cudaStream_t stream, const GemmCall& call, const Workspace& workspace, Index clusters) noexcept;

/// Returns the product of a block of C, which begins at C(row, column).
GemmCall block_of(const GemmCall& call, Index row, Index rows, Index column, Index columns);

} // namespace tessera::cuda::int8_units
