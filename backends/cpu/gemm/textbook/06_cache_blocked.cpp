/// cache_blocked: packs A and B into strips that stay in L2 and in the last-level cache, around a scalar micro-kernel
/// of 4×3.
///
/// It has the loops of simd_packed and the portable micro-kernel, so the step from here to simd_packed is the gain of
/// vectors. An element costs 2·k operations and 0.6·k loads, all of neighbouring elements. Source: Goto and van de
/// Geijn (2008).

#include "cpu/gemm/common/blocked.hpp"
#include "cpu/gemm/ladder.hpp"
#include "traffic.hpp"

namespace tessera::cpu {
namespace {

template <class T>
Status run(const GemmKernel&, Executor& executor, Queue&, const GemmCall& call) noexcept {
  return blocked_product<T>(cpu_of(executor), call, portable_micro_kernel<T>());
}

template <class T>
constexpr GemmKernel rung{.name = "cache_blocked",
                          .summary = "packed for L2 and L3, scalar micro-kernel",
                          .source = "Goto and van de Geijn 2008",
                          .type = dtype_of<T>,
                          .tile = {4, 3, canonical_segment},
                          .summation = Summation::Canonical,
                          .run = run<T>,
                          .epilogue = true,
                          .traffic = blocked_traffic};

} // namespace

const GemmKernel cache_blocked_f32 = rung<float>;
const GemmKernel cache_blocked_f64 = rung<double>;

} // namespace tessera::cpu
