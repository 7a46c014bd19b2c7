/// naive_flat: the grid is one-dimensional, in blocks of 256 threads, and each thread finds its row and column by a
/// division.
///
/// Reads are coalesced as in 02_naive_coalesced.cu. But a block covers 256 columns of a single row of C, so that an
/// element of B which it reads serves one result, whereas a block of 8×32 threads reads each element of B eight times
/// from L1. One result costs 2·k operations and reads 2·k elements (8·k bytes in f32). The source is the CUDA course.

#include "cuda/device/status.hpp"
#include "cuda/gemm/common/traffic.hpp"
#include "cuda/gemm/ladder.hpp"
#include "flat.cuh"

namespace tessera::cuda {
namespace {

template <class T>
Status run(const GemmKernel&, Executor&, Queue& queue, const GemmCall& call) noexcept {
  flat::launch<T, CanonicalSum<T>>(queue, call);
  return launched("naive_flat");
}

template <class T>
constexpr GemmKernel rung{.name = "naive_flat",
                          .summary = "one-dimensional grid, row and column by division",
                          .source = "CUDA course",
                          .type = dtype_of<T>,
                          .tile = {1, flat::threads, 1},
                          .summation = Summation::Canonical,
                          .run = run<T>,
                          .traffic = coalesced_traffic};

} // namespace

const GemmKernel naive_flat_f32 = rung<float>;
const GemmKernel naive_flat_f64 = rung<double>;

} // namespace tessera::cuda
