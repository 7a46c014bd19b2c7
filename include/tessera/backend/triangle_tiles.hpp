#pragma once

/// Triangular systems, and products with a triangle in place, which a backend of the host computes in tiles of its
/// micro-kernel: a tile's chains begin or end with a block on the diagonal. trsm() and trmm() come here where the
/// backend takes the call, and else compute products of rectangles. The bits are the same: docs/contract.md, "Linear
/// algebra".
///
/// Source: BLIS, whose micro-kernels `gemmtrsm` end a product with a block's solution (Van Zee and van de Geijn, 2015).

#include <tessera/backend/stored_product.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// What becomes of the lines x. The values are part of the plug-in ABI.
enum class TriangleTask : int {
  Solve = 0, ///< x(i) becomes (alpha·x(i) − s(i)) / m(i, i); s(i) has the terms m(i, k)·x(k), as x(k) become known
  Multiply = 1, ///< x(i) becomes alpha·s(i), where s(i) has the terms m(i, k)·x(k) in ascending k
};

/// A triangle M in host memory and lines of numbers that it meets. n and count are not 0, and n is at most the length
/// of a segment (canonical_segment; half of it, if numbers are complex), so that a sum s(i) is one chain. Numbers
/// outside the triangle are no terms.
struct TriangleTilesCall {
  TriangleTask task = TriangleTask::Solve; ///< what is computed
  DType type = DType::F64;                 ///< F32 or F64: numbers, or the parts of complex numbers
  bool is_complex = false;                 ///< numbers are complex
  bool lines_come_first = false;           ///< x(k) is the first factor of a complex term (X·M), else m(i, k) is
  Index n = 0;                             ///< the order of M, and the numbers of a line
  Index count = 0;                         ///< lines
  StoredOperand m = {}; ///< a Triangular part; a lower M is solved from the first number on, an upper one backwards
  std::complex<double> alpha = 1.0; ///< a factor, not 0
  void* x = nullptr;                ///< the lines
  Index line_step = 0;              ///< numbers from a line to the next; this or number_step is 1
  Index number_step = 0;            ///< numbers from a line's number to its next
  int threads = 0;                  ///< threads to use; 0: as many as the executor was made with
};

/// Computes the call if the executor takes it. Returns false, and has written nothing, if it does not take it or has no
/// memory for it.
TESSERA_API bool triangle_in_tiles(Executor& executor, const TriangleTilesCall& call) noexcept;

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
