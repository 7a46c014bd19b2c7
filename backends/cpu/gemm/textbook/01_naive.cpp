/// naive: the triple loop of the definition. The rows of C are shared out to the threads.
///
/// The sum is kept in memory, in C itself. An element costs 2·k operations, k loads of A, k loads of B that jump from
/// row to row, and k loads and stores of C. Source: the textbook; the course report's first parallel version.

#include <algorithm>
#include <new>

#include <tessera/backend/out_of_memory.hpp>

#include "cpu/gemm/common/row_loops.hpp"
#include "cpu/gemm/ladder.hpp"
#include "traffic.hpp"

namespace tessera::cpu {
namespace {

template <class T>
Status run(const GemmKernel&, Executor& executor, Queue&, const GemmCall& call) noexcept try {
  const GemmOperands<T> x(call);
  const Strided<T> a = strided_a(x);
  const Strided<T> b = strided_b(x);
  CpuExecutor& cpu = cpu_of(executor);
  const auto n = static_cast<std::size_t>(x.n);
  // C holds the growing sums, so its old elements wait here, one row for each thread.
  auto old = sized_vector<T>(x.beta == T{0} ? 0 : n * static_cast<std::size_t>(cpu.threads_for(call.threads)),
                             "old rows of C");
  const auto multiply_rows = [&](Index first, Index last, int slot) {
    for (Index i = first; i < last; ++i) {
      T* c = x.c + i * x.ldc;
      T* old_c = old.data() + static_cast<std::size_t>(slot) * n;
      if (x.beta != T{0}) std::copy(c, c + x.n, old_c);
      for (Index j = 0; j < x.n; ++j) {
        c[j] = T{0};
        for (Index p = 0; p < x.k; ++p) c[j] += a(i, p) * b(p, j);
        c[j] = x.beta == T{0} ? x.alpha * c[j] : x.alpha * c[j] + x.beta * old_c[j];
      }
    }
  };
  for_row_groups(cpu, call, 1, multiply_rows);
  return {};
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

template <class T>
constexpr GemmKernel rung{.name = "naive",
                          .summary = "rows in parallel, the sum kept in memory",
                          .source = "textbook",
                          .type = dtype_of<T>,
                          .run = run<T>,
                          .traffic = naive_traffic};

} // namespace

const GemmKernel naive_f32 = rung<float>;
const GemmKernel naive_f64 = rung<double>;

} // namespace tessera::cpu
