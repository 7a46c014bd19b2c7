/// single_packed: multiplies one row of A by four columns of B at a time.
///
/// Four columns of B are copied side by side, and four sums stay in registers. An element of A is loaded once for four
/// products, so an element of C costs 2·k operations and 1.25·k loads. Source: the course report, which found that
/// packing columns alone gains little: four chains of additions side by side hide some latency, no more.

#include <new>
#include <vector>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/backend/traffic.hpp>

#include "cpu/gemm/common/row_loops.hpp"
#include "cpu/gemm/ladder.hpp"

namespace tessera::cpu {
namespace {

constexpr Index width = 4;

template <class T>
Status run(const GemmKernel&, Executor& executor, Queue&, const GemmCall& call) noexcept try {
  const GemmOperands<T> x(call);
  const Strided<T> a = strided_a(x);
  const Strided<T> b = strided_b(x);
  CpuExecutor& cpu = cpu_of(executor);
  const std::vector<T> strips = pack_columns<width>(cpu, call, b, x.n, x.k);
  for_row_groups(cpu, call, 1, [&](Index first, Index last, int) {
    for (Index j = 0; j < x.n; j += width) {
      const T* columns = strips.data() + j * x.k;
      for (Index i = first; i < last; ++i) {
        T sum[width] = {};
        for (Index p = 0; p < x.k; ++p)
          for (Index q = 0; q < width; ++q) sum[q] += a(i, p) * columns[p * width + q];
        for (Index q = 0; q < std::min(width, x.n - j); ++q) store_scaled(x, sum[q], x.c[i * x.ldc + j + q]);
      }
    }
  });
  return {};
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

template <class T>
constexpr GemmKernel rung{.name = "single_packed",
                          .summary = "a row of A times four packed columns of B",
                          .source = "course report",
                          .type = dtype_of<T>,
                          .tile = {1, 4, 0},
                          .run = run<T>,
                          .traffic = packed_b_traffic};

} // namespace

const GemmKernel single_packed_f32 = rung<float>;
const GemmKernel single_packed_f64 = rung<double>;

} // namespace tessera::cpu
