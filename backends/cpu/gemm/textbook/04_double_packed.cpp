/// double_packed: multiplies four rows of A by four columns of B, with sixteen sums in registers.
///
/// Both operands are copied side by side first. Four loads of A and four of B serve sixteen products, so an element of
/// C costs 2·k operations and k/2 loads. Source: the course report. Every BLAS blocks for registers in this way; what
/// is missing here is blocking for caches.

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
  const Strided<T> a_transposed{a.data, a.col_step, a.row_step}; // its columns are the rows of op(A)
  CpuExecutor& cpu = cpu_of(executor);
  const std::vector<T> strips_a = pack_columns<width>(cpu, call, a_transposed, x.m, x.k);
  const std::vector<T> strips_b = pack_columns<width>(cpu, call, b, x.n, x.k);
  for_row_groups(cpu, call, width, [&](Index first, Index last, int) {
    for (Index j = 0; j < x.n; j += width)
      for (Index i = first; i < last; i += width) {
        const T* rows_of_a = strips_a.data() + i * x.k;
        const T* columns_of_b = strips_b.data() + j * x.k;
        T sum[width][width] = {};
        for (Index p = 0; p < x.k; ++p)
          for (Index r = 0; r < width; ++r)
            for (Index q = 0; q < width; ++q) sum[r][q] += rows_of_a[p * width + r] * columns_of_b[p * width + q];
        for (Index r = 0; r < std::min(width, last - i); ++r)
          for (Index q = 0; q < std::min(width, x.n - j); ++q) store_scaled(x, sum[r][q], x.c[(i + r) * x.ldc + j + q]);
      }
  });
  return {};
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

template <class T>
constexpr GemmKernel rung{.name = "double_packed",
                          .summary = "four rows by four columns, both packed, sixteen sums in registers",
                          .source = "course report",
                          .type = dtype_of<T>,
                          .tile = {4, 4, 0},
                          .run = run<T>,
                          .traffic = packed_traffic};

} // namespace

const GemmKernel double_packed_f32 = rung<float>;
const GemmKernel double_packed_f64 = rung<double>;

} // namespace tessera::cpu
