/// naive: the triple loop of the definition. The rows of C are shared out to the threads.
///
/// The sum is kept in memory, in C itself. An element costs 2·k operations, k loads of A, k loads of B that jump from
/// row to row, and k loads and stores of C. Source: the textbook; the course report's first parallel version.

#include "cpu/gemm/ladder.hpp"
#include "naive.hpp"
#include "traffic.hpp"

namespace tessera::cpu {
namespace {

template <class T>
constexpr GemmKernel rung{.name = "naive",
                          .summary = "rows in parallel, the sum kept in memory",
                          .source = "textbook",
                          .type = dtype_of<T>,
                          .run = run_naive<T, Schedule::Ranges>,
                          .traffic = naive_traffic};

} // namespace

const GemmKernel naive_f32 = rung<float>;
const GemmKernel naive_f64 = rung<double>;

} // namespace tessera::cpu
