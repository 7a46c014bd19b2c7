/// Cholesky's factorisation: panels within a segment look left, and a whole segment is subtracted from what is right of
/// it by one product.

#include <tessera/linear_algebra/cholesky.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <tessera/backend/kernel.hpp>
#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/uncancelled.hpp>

#include "model.hpp"

namespace tessera {

NotPositiveDefinite::NotPositiveDefinite(Index minor)
    : InvalidArgument("Cholesky: the matrix is not positive definite: its leading minor of order " +
                      std::to_string(minor) + " is not; Lu solves such systems"),
      minor_(minor) {}
NotPositiveDefinite::~NotPositiveDefinite() = default;

namespace linear_algebra {
namespace {

/// Columns that are subtracted at once, so that little is computed above the diagonal. No bit depends on it.
constexpr Index strip = 256;

template <class T>
Index blocked_cholesky(Index n, Block<T> a, const SolveOptions& options) {
  const Products<T> products(options);
  std::vector<T> memory(static_cast<std::size_t>(n * std::min(n, panel_width)));
  const Block<T> s{memory.data(), std::min(n, panel_width)};
  for (Index first = 0; first < n; first += canonical_segment) {
    const Index end = std::min(n, first + canonical_segment);
    for (Index j = first; j < end; j += panel_width) {
      const Index width = std::min(panel_width, end - j), below = n - j - width;
      products.sums(n - j, width, j - first, {a.from(j, first)}, {a.from(j, first), Op::Transpose}, s);
      const Index done = factor_positive(width, a.at(j, j), a.ld, s.data, s.ld);
      if (done < width) return j + done;
      const TriangleBlock<T> triangle{.size = width, .t = a.at(j, j), .ld = a.ld};
      products.in_parts(below, 64, [&](Index begin, Index stop) {
        solve_rows(triangle, stop - begin, a.at(j + width + begin, j), a.ld, s.at(width + begin, 0), s.ld);
      });
    }
    for (Index j = end; j < n; j += strip)
      products.subtract(n - j, std::min(strip, n - j), end - first, {a.from(j, first)},
                        {a.from(j, first), Op::Transpose}, a.from(j, j));
  }
  return n;
}

template <class T>
Index factor_symmetric_matrix(Index n, void* a, Index lda, const SolveOptions& options) {
  const Block<T> block{static_cast<T*>(a), lda};
  return options.backend == Backend::Reference ? model_cholesky(n, block) : blocked_cholesky(n, block, options);
}

} // namespace
} // namespace linear_algebra

namespace detail {

Index factor_cholesky(DType type, Index n, void* a, Index lda, const SolveOptions& options) try {
  const Uncancelled whole;
  const ContractArithmetic contract;
  return type == DType::F32 ? linear_algebra::factor_symmetric_matrix<float>(n, a, lda, options)
                            : linear_algebra::factor_symmetric_matrix<double>(n, a, lda, options);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace detail
} // namespace tessera
