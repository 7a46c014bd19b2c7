#pragma once

/// What a kernel of the ladder runs by a warp's matrix instructions.

#include <algorithm>

#include <tessera/detail/matrix_unit_segments.hpp>
#include <tessera/executor.hpp>

#include "cuda/device/status.hpp"
#include "cuda/gemm/common/any_alignment/product.cuh"
#include "cuda/gemm/common/copies/copied_operands.hpp"
#include "cuda/gemm/common/wgmma_tma/plan.hpp"
#include "cuda/gemm/ladder.hpp"
#include "cuda/queue/stream.hpp"

namespace tessera::cuda::any_alignment {

inline const char* reject(const GemmKernel&, const GemmCall& call, const Capabilities& machine) noexcept {
  if (machine.compute_major < 8)
    return "these instructions need compute capability 8.0 or higher; use another kernel of this math mode";
  if (std::max({call.m, call.n, call.k}) >= Index{1} << 30) return "m, n or k is 2³⁰ or more; use math mode strict";
  if (operands_are_aligned(call, 2))
    return "other kernels read these operands in place, and faster; use another kernel of this math mode";
  if (std::min({call.m, call.n, call.k}) == 0) return nullptr;
  const Index multiprocessors = std::max(2, machine.multiprocessors);
  const double here = cycles_of(call.m, call.n, call.k, multiprocessors) * 1.1; // near the limit, copies are taken
  if (here >= tma::cycles_of(call, 2, multiprocessors))
    return "copying the operands pays for such a product; use another kernel of this math mode";
  return nullptr;
}

/// Launches the product of operands of T.
template <class T>
Status run(const GemmKernel& kernel, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  const bool a_flipped = call.op_a == Op::Transpose, b_flipped = call.op_b == Op::Transpose;
  const Product x{
      .m = call.m,
      .n = call.n,
      .k = call.k,
      .segment = detail::matrix_unit_segment_length(call.k),
      .a = a_flipped ? Lines::of(call.a, call.lda, call.k, call.m) : Lines::of(call.a, call.lda, call.m, call.k),
      .b = b_flipped ? Lines::of(call.b, call.ldb, call.n, call.k) : Lines::of(call.b, call.ldb, call.k, call.n),
      .to = ScaledResult<float, void>::of(call),
      .narrow = call.result != DType::F32,
      .epilogue = EpilogueStore<float>(call)};
  const Launch how{.blocks = plan_of(call.m, call.n, call.k).tiles,
                   .threads = threads,
                   .programmatic = executor.capabilities().compute_major >= 9};
  return with_layouts(call, [&](auto a, auto b) {
    return launch_kernel(stream_of(queue), how, kernel.name, product<T, a.value, b.value>, x);
  });
}

/// Returns the ladder's kernel `name` for operands of `type`, which T is.
template <class T>
constexpr GemmKernel rung(const char* name, const char* summary, DType type, Math math) {
  return {.name = name,
          .summary = summary,
          .source = "CUTLASS",
          .type = type,
          .math = math,
          .tile = {tile_side, tile_side, tile_depth},
          .summation = Summation::HopperUnits,
          .accumulator = Accumulator::Truncating,
          .reject = reject,
          .run = run<T>,
          .epilogue = true};
}

} // namespace tessera::cuda::any_alignment
