#pragma once

/// Copies a transposed B for kernels that read the rows of op(B) in vectors.

#include <algorithm>

#include <tessera/backend/kernel.hpp>

#include "cpu/gemm/common/blocking.hpp"
#include "cpu/team.hpp"

namespace tessera::cpu {

/// Writes op(B) to `copy`, k rows of n elements, and makes it the B of `x`. It copies square blocks, so that both the
/// rows read and the rows written stay in the cache.
template <class T>
void transpose_b(Team& team, int threads, GemmOperands<T>& x, T* copy) {
  constexpr Index block = 16;
  team.run(ceil_div(x.k, block), threads, [&](Index task, int) {
    const Index first = task * block;
    const Index last = std::min(first + block, x.k);
    for (Index j = 0; j < x.n; j += block)
      for (Index p = first; p < last; ++p)
        for (Index c = j; c < std::min(j + block, x.n); ++c) copy[p * x.n + c] = x.b[c * x.ldb + p];
  });
  x.b = copy;
  x.ldb = x.n;
  x.op_b = Op::None;
}

} // namespace tessera::cpu
