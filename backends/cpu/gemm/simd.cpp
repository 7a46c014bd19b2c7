/// simd: packing around a micro-kernel in vector registers, for the best instruction set of the machine. The default.
///
/// An AVX-512 tile of 14×32 keeps 448 sums in 28 registers: each k costs 2 vector loads of B, 14 broadcasts of A and 28
/// multiply-adds, 0.1 loads an element. Operands come from L2 in one stream each; C is touched once a segment.
/// Source: Goto and van de Geijn (2008); Van Zee and van de Geijn, "BLIS" (2015).

#include "cpu/gemm/blocked.hpp"
#include "cpu/gemm/ladder.hpp"

namespace tessera::cpu {
namespace {

template <class T>
Status run(const GemmKernel&, Executor& executor, Queue&, const GemmCall& call) noexcept {
  CpuExecutor& cpu = cpu_of(executor);
  return blocked_product<T>(cpu, call, micro_kernel<T>(cpu.isa()));
}

template <class T>
constexpr GemmKernel row{.name = "simd",
                         .summary = "packed strips, micro-kernel in AVX-512, AVX2 or portable registers",
                         .source = "Goto and van de Geijn 2008; BLIS 2015",
                         .type = dtype_of<T>,
                         .summation = Summation::Canonical,
                         .run = run<T>};

} // namespace

const GemmKernel simd_f32 = row<float>;
const GemmKernel simd_f64 = row<double>;

} // namespace tessera::cpu
