/// double_packed: four rows of A times four columns of B, sixteen sums in registers.
///
/// Both are copied side by side first. Four loads of A and four of B serve sixteen products: an element of C costs 2·k
/// operations and k/2 loads. Source: the course report; register blocking as every BLAS does it, without the cache's.

#include <new>
#include <vector>

#include "cpu/gemm/ladder.hpp"
#include "cpu/gemm/textbook.hpp"

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
  PackedStrips<T> strips_a(cpu, call, width);
  PackedStrips<T> strips_b(cpu, call, width);
  for_row_groups(cpu, call, width, [&](Index first, Index last, int slot) {
    T* rows_of_a = strips_a.of(slot);
    T* columns_of_b = strips_b.of(slot);
    for (Index i = first; i < last; i += width) {
      const Index rows = std::min(width, last - i);
      pack_columns<width>(a_transposed, i, rows, x.k, rows_of_a);
      for (Index j = 0; j < x.n; j += width) {
        const Index cols = std::min(width, x.n - j);
        pack_columns<width>(b, j, cols, x.k, columns_of_b);
        T sum[width][width] = {};
        for (Index p = 0; p < x.k; ++p)
          for (Index r = 0; r < width; ++r)
            for (Index q = 0; q < width; ++q) sum[r][q] += rows_of_a[p * width + r] * columns_of_b[p * width + q];
        for (Index r = 0; r < rows; ++r)
          for (Index q = 0; q < cols; ++q) finish(x, sum[r][q], x.c[(i + r) * x.ldc + j + q]);
      }
    }
  });
  return {};
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

template <class T>
constexpr GemmKernel row{.name = "double_packed",
                         .summary = "four rows by four columns, both packed, sixteen sums in registers",
                         .source = "course report",
                         .type = dtype_of<T>,
                         .tile = {4, 4, 0},
                         .run = run<T>};

} // namespace

const GemmKernel double_packed_f32 = row<float>;
const GemmKernel double_packed_f64 = row<double>;

} // namespace tessera::cpu
