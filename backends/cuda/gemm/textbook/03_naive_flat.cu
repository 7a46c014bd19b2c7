/// naive_flat: a one-dimensional grid of 256-thread blocks; a thread finds its row and column by a division.
///
/// Reads are coalesced as in naive_coalesced, but a block is 256 columns of one row: it reads B's columns and shares
/// no row of B with another row of C, where an 8×32 block reads each element of B eight times from L1. 2·m·n·k
/// operations, 2·k elements read a result. CUDA course.

#include "cuda/device/status.hpp"
#include "cuda/gemm/ladder.hpp"
#include "flat.cuh"
#include "traffic.hpp"

namespace tessera::cuda {
namespace {

template <class T>
Status run(const GemmKernel&, Executor&, Queue& queue, const GemmCall& call) noexcept {
  flat::launch<T, CanonicalSum<T>>(queue, call);
  return launched("naive_flat");
}

template <class T>
constexpr GemmKernel row{.name = "naive_flat",
                         .summary = "one-dimensional grid, row and column by division",
                         .source = "CUDA course",
                         .type = dtype_of<T>,
                         .tile = {1, flat::threads, 1},
                         .summation = Summation::Canonical,
                         .run = run<T>,
                         .traffic = coalesced_traffic};

} // namespace

const GemmKernel naive_flat_f32 = row<float>;
const GemmKernel naive_flat_f64 = row<double>;

} // namespace tessera::cuda
