/// naive_static, naive_dynamic, naive_guided; naive_simple, naive_auto, naive_affinity of TBB: naive, whose rows are
/// shared out by the runtime's own schedules.
///
/// They differ from naive and from each other only in which thread computes which row, so that a race between them
/// shows what a schedule costs and what it evens out. A task is one row of C. schedule(dynamic) takes a lock-free
/// counter for each row; a static schedule takes nothing, but waits for its slowest thread. Source: the course report,
/// which used schedule(dynamic) with OpenMP and TBB's default partitioner.

#include <array>

#include "cpu/gemm/ladder.hpp"
#include "naive.hpp"
#include "traffic.hpp"

namespace tessera::cpu {
namespace {

template <class T, Schedule schedule>
constexpr GemmKernel rung(const char* name, const char* summary) {
  return {.name = name,
          .summary = summary,
          .source = "course report",
          .type = dtype_of<T>,
          .run = run_naive<T, schedule>,
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
