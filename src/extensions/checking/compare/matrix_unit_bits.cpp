#include "matrix_unit_bits.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <span>

#include <tessera/half.hpp>

#include "core/base/thread_team.hpp"
#include "narrow.hpp"
#include "reference/gemm/matrix_unit_sums.hpp"

namespace tessera::compare {
namespace {

/// Memory that is aligned as matrix_unit_sums() wants it.
struct alignas(64) Line {
  std::byte bytes[64];
};

/// Returns C's element (i, j) from before the product, widened.
float old_element(const GemmCall& call, Index i, Index j) {
  return visit(call.result, [&]<class R>(std::type_identity<R>) {
    if constexpr (std::is_same_v<Scalar<R>, float>)
      return static_cast<float>(static_cast<const R*>(call.c)[i * call.ldc + j]);
    return 0.0f;
  });
}

} // namespace

std::vector<float> matrix_unit_bits(const GemmCall& call, const std::vector<Index>& rows, int threads) {
  const std::span<const Index> all(rows);
  std::vector<float> bits(rows.size() * static_cast<std::size_t>(call.n));
  constexpr auto rows_each = static_cast<std::size_t>(host::most_matrix_unit_rows);
  constexpr Index cols_each = host::most_matrix_unit_columns / 4; // several threads have work where the rows are few
  const std::size_t across = static_cast<std::size_t>((call.n + cols_each - 1) / cols_each);
  const std::size_t blocks = (rows.size() + rows_each - 1) / rows_each * across;
  const std::size_t workers = std::min(blocks, static_cast<std::size_t>(std::max(threads, 1)));
  const std::size_t lines = (host::matrix_unit_scratch_bytes() + sizeof(Line) - 1) / sizeof(Line);
  std::vector<Line> scratch(call.alpha == 0 ? 0 : workers * lines);
  std::atomic<std::size_t> next = 0;
  detail::parallel_for(workers, threads, [&](std::size_t worker) {
    for (std::size_t block = next++; block < blocks; block = next++) {
      const std::size_t first = block / across * rows_each, count = std::min(rows_each, rows.size() - first);
      const Index j = static_cast<Index>(block % across) * cols_each, cols = std::min(cols_each, call.n - j);
      float* const sums = bits.data() + first * static_cast<std::size_t>(call.n) + j;
      if (call.alpha != 0) // by the contract, alpha = 0 means that A and B are not read
        host::matrix_unit_sums(call, all.subspan(first, count), j, cols, sums, call.n, scratch.data() + worker * lines);
      const auto alpha = static_cast<float>(call.alpha), beta = static_cast<float>(call.beta);
      for (std::size_t r = 0; r < count; ++r)
        for (Index q = 0; q < cols; ++q) {
          float& element = sums[static_cast<Index>(r) * call.n + q];
          element = alpha * element;
          if (beta != 0) element = std::fma(beta, old_element(call, rows[first + r], j + q), element);
          if (is_16_bit(call.result)) element = rounded(element, call.result);
        }
    }
  });
  return bits;
}

} // namespace tessera::compare
