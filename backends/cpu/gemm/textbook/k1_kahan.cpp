/// kahan: compensated summation of a strip of columns, side by side in vector registers.
///
/// The rounding error of each addition is subtracted from the next product. A product costs four dependent operations
/// instead of one FMA, and the error is about 2u·Σ|a·b| for any k. B is packed once, so that a strip streams; an
/// element costs k loads of B. Source: W. Kahan, "Further remarks on reducing truncation errors", CACM 8 (1965).

#include <cmath>
#include <new>
#include <vector>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/backend/traffic.hpp>

#include "cpu/gemm/common/row_loops.hpp"
#include "cpu/gemm/ladder.hpp"
#include "reference/fma_clones.hpp"

namespace tessera::cpu {
namespace {

/// Columns in a strip. Their sums and excesses fill eight registers of 256 bits.
template <class T>
constexpr Index width = 128 / static_cast<Index>(sizeof(T));

/// Computes sum[q] = Σ_p a[p·step]·strip[p·width + q] with compensation.
template <class T>
[[gnu::always_inline]] inline void sum_strip_typed(const T* a, Index step, const T* strip, Index k, T* sum) {
  T total[width<T>] = {};
  T excess[width<T>] = {};
  for (Index p = 0; p < k; ++p)
    for (Index q = 0; q < width<T>; ++q) {
      const T term = std::fma(a[p * step], strip[p * width<T> + q], -excess[q]);
      const T next = total[q] + term;
      excess[q] = (next - total[q]) - term; // the addition's rounding error
      total[q] = next;
    }
  for (Index q = 0; q < width<T>; ++q) sum[q] = total[q];
}

TESSERA_FMA_CLONES void sum_strip(const float* a, Index step, const float* strip, Index k, float* sum) {
  sum_strip_typed(a, step, strip, k, sum);
}
TESSERA_FMA_CLONES void sum_strip(const double* a, Index step, const double* strip, Index k, double* sum) {
  sum_strip_typed(a, step, strip, k, sum);
}

/// Adds the terms of non-finite sums again without compensation: the excess of an infinite sum is Inf − Inf, which is
/// NaN.
template <class T>
void repair(const T* a, Index step, const T* strip, Index k, T* sum) {
  for (Index q = 0; q < width<T>; ++q) {
    if (std::isfinite(sum[q])) continue;
    sum[q] = 0;
    for (Index p = 0; p < k; ++p) sum[q] += a[p * step] * strip[p * width<T> + q];
  }
}

template <class T>
Status run(const GemmKernel&, Executor& executor, Queue&, const GemmCall& call) noexcept try {
  const GemmOperands<T> x(call);
  const Strided<T> a = strided_a(x);
  CpuExecutor& cpu = cpu_of(executor);
  const std::vector<T> strips = pack_columns<width<T>>(cpu, call, strided_b(x), x.n, x.k);
  for_row_groups(cpu, call, 1, [&](Index first, Index last, int) {
    for (Index j = 0; j < x.n; j += width<T>)
      for (Index i = first; i < last; ++i) {
        T sum[width<T>];
        const T* strip = strips.data() + j * x.k;
        sum_strip(&a(i, 0), a.col_step, strip, x.k, sum);
        repair(&a(i, 0), a.col_step, strip, x.k, sum);
        for (Index q = 0; q < std::min(width<T>, x.n - j); ++q) store_scaled(x, sum[q], x.c[i * x.ldc + j + q]);
      }
  });
  return {};
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

template <class T>
constexpr GemmKernel rung{.name = "kahan",
                          .summary = "Kahan's compensated summation, strips of columns in vectors",
                          .source = "Kahan 1965",
                          .type = dtype_of<T>,
                          .math = Math::Compensated,
                          .tile = {1, static_cast<int>(width<T>), 0},
                          .run = run<T>,
                          .traffic = packed_b_traffic};

} // namespace

const GemmKernel kahan_f32 = rung<float>;
const GemmKernel kahan_f64 = rung<double>;

} // namespace tessera::cpu
