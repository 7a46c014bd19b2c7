#pragma once

/// Triangular systems that a backend of the host solves in tiles of its micro-kernel, which end a product's chains with
/// the block on the diagonal. trsm() comes here where the backend takes the system, and else solves it by products. The
/// bits are the same: docs/contract.md, "Linear algebra".
///
/// Source: BLIS, whose micro-kernels `gemmtrsm` do both (Van Zee and van de Geijn, 2015).

#include <tessera/backend/stored_product.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// M·x = alpha·b for lines of numbers, where M is a triangle in host memory: x(i) = (alpha·b(i) − s(i)) / m(i, i). The
/// chain s(i) has the terms m(i, k)·x(k) in the order in which the unknowns become known. n and count are not 0, and n
/// is at most the length of a segment (canonical_segment), so that a chain has one.
struct TriangularSystemCall {
  DType type = DType::F64; ///< F32 or F64
  Index n = 0;             ///< the order of M, and the numbers of a line
  Index count = 0;         ///< lines
  StoredOperand m = {};    ///< a Triangular part. A lower M is solved from the first number on, an upper one backwards
  double alpha = 1.0;      ///< factor of the right-hand sides, not 0
  void* x = nullptr;       ///< the lines b; x takes their place
  Index line_step = 0;     ///< numbers from a line to the next; this or number_step is 1
  Index number_step = 0;   ///< numbers from a line's number to its next
  int threads = 0;         ///< threads to use; 0: as many as the executor was made with
};

/// Solves the system if the executor takes it. Returns false, and has written nothing, if it does not take it or has no
/// memory for it.
TESSERA_API bool triangular_system(Executor& executor, const TriangularSystemCall& call) noexcept;

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
