/// naive_static, naive_dynamic, naive_guided; naive_simple, naive_auto, naive_affinity of TBB: naive, whose rows are
/// shared out by the runtime's own schedules.
///
/// They differ from naive and from each other only in which thread computes which row, so that a race between them
/// shows what a schedule costs and what it evens out. A task is one row of C. schedule(dynamic) takes a lock-free
/// counter for each row; a static schedule takes nothing, but waits for its slowest thread. Source: the course report,
/// which used schedule(dynamic) with OpenMP and TBB's default partitioner.

#include <algorithm>
#include <array>
#include <new>

#include <tessera/backend/out_of_memory.hpp>

#include "cpu/gemm/common/row_loops.hpp"
#include "cpu/gemm/ladder.hpp"
#include "traffic.hpp"

namespace tessera::cpu {
namespace {

/// The loops of 01_naive.cpp; the runtime shares out rows of C, one a task.
template <class T, Schedule schedule>
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
  for_row_groups(cpu, call, 1, multiply_rows, schedule);
  return {};
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

template <class T, Schedule schedule>
constexpr GemmKernel rung(const char* name, const char* summary) {
  return {.name = name,
          .summary = summary,
          .source = "course report",
          .type = dtype_of<T>,
          .run = run<T, schedule>,
          .traffic = naive_traffic};
}

constexpr auto in_static = "naive with schedule(static): equal shares of rows";
constexpr auto in_dynamic = "naive with schedule(dynamic): a free thread takes a row";
constexpr auto in_guided = "naive with schedule(guided): shares that shrink as rows run out";
constexpr std::array openmp_kernels{
    rung<float, Schedule::Static>("naive_static", in_static),
    rung<double, Schedule::Static>("naive_static", in_static),
    rung<float, Schedule::Dynamic>("naive_dynamic", in_dynamic),
    rung<double, Schedule::Dynamic>("naive_dynamic", in_dynamic),
    rung<float, Schedule::Auto>("naive_guided", in_guided),
    rung<double, Schedule::Auto>("naive_guided", in_guided),
};

constexpr auto by_static = "naive with static_partitioner: equal shares of rows";
constexpr auto by_simple = "naive with simple_partitioner: a task a row";
constexpr auto by_auto = "naive with auto_partitioner: ranges are split while threads are idle";
constexpr auto by_affinity = "naive with affinity_partitioner: rows stay with the thread of the last loop";
constexpr std::array tbb_kernels{
    rung<float, Schedule::Static>("naive_static", by_static),
    rung<double, Schedule::Static>("naive_static", by_static),
    rung<float, Schedule::Dynamic>("naive_simple", by_simple),
    rung<double, Schedule::Dynamic>("naive_simple", by_simple),
    rung<float, Schedule::Auto>("naive_auto", by_auto),
    rung<double, Schedule::Auto>("naive_auto", by_auto),
    rung<float, Schedule::Affinity>("naive_affinity", by_affinity),
    rung<double, Schedule::Affinity>("naive_affinity", by_affinity),
};

} // namespace

std::span<const GemmKernel> schedule_rows(Backend backend) {
  if (backend == Backend::Tbb) return tbb_kernels;
  return openmp_kernels;
}

} // namespace tessera::cpu
