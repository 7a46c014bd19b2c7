/// hopper_units: the modes of matrix units with the bits of Hopper's, computed with vectors on any processor.
///
/// A task has a block of C, whose rows share the packed columns of op(B) (reference/gemm/matrix_unit_sums.hpp). The
/// work is 2·m·n·k operations, each many times as long as a strict product's; so it is for tests and for machines
/// without a GPU, not for speed. In the modes of amx_bf16 and amx_bf16x6 this kernel runs by its name alone.

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/half.hpp>

#include "cpu/gemm/common/row_loops.hpp"
#include "cpu/gemm/ladder.hpp"
#include "reference/fma_clones.hpp"
#include "reference/gemm/finish_row.hpp"
#include "reference/gemm/matrix_unit_sums.hpp"

namespace tessera::cpu {
namespace {

/// Stores the rows×cols block of C from (i, j) on, whose sums are overwritten.
TESSERA_FMA_CLONES void finish_block(const GemmCall& call, Index i, Index j, Index rows, Index cols, float* sums) {
  const auto alpha = static_cast<float>(call.alpha), beta = static_cast<float>(call.beta);
  visit(call.result, [&]<class R>(std::type_identity<R>) TESSERA_ALWAYS_INLINE {
    if constexpr (std::is_same_v<Scalar<R>, float>)
      for (Index r = 0; r < rows; ++r)
        host::finish_row(alpha, beta, call.epilogue, i + r, j, cols, sums + r * cols,
                         static_cast<R*>(call.c) + (i + r) * call.ldc + j);
  });
}

/// Returns the columns of a block: fewer where the threads would not all have work, but not so few that packing the
/// rows of op(A) anew for each block takes long.
Index columns_of_blocks(const GemmCall& call, int threads) {
  constexpr Index least = 64;
  const Index row_blocks = (call.m + host::most_matrix_unit_rows - 1) / host::most_matrix_unit_rows;
  Index columns = host::most_matrix_unit_columns;
  while (columns > least && row_blocks * ((call.n + columns - 1) / columns) < 2 * threads) columns /= 2;
  return columns;
}

Status run(const GemmKernel&, Executor& executor, Queue&, const GemmCall& call) noexcept try {
  CpuExecutor& cpu = cpu_of(executor);
  const int threads = threads_for_product(cpu, call);
  const Index rows_each = host::most_matrix_unit_rows, cols_each = columns_of_blocks(call, threads);
  const Index across = (call.n + cols_each - 1) / cols_each, blocks = (call.m + rows_each - 1) / rows_each * across;
  struct Memory {
    void* scratch;
    float* sums;
  };
  const auto carve = [&](Carver& carver) {
    Memory memory{};
    memory.scratch = carver.take<std::byte>(host::matrix_unit_scratch_bytes());
    memory.sums = carver.take<float>(static_cast<std::size_t>(rows_each * cols_each));
    return memory;
  };
  Carver sizes;
  carve(sizes);
  const Scratch scratch = cpu.scratch().acquire(static_cast<std::size_t>(threads) * sizes.used());
  cpu.team().run(blocks, threads, [&](Index block, int slot) {
    Carver carver(static_cast<std::byte*>(scratch.data()) + static_cast<std::size_t>(slot) * sizes.used());
    const Memory memory = carve(carver);
    const Index i = block / across * rows_each, j = block % across * cols_each;
    const Index rows = std::min(rows_each, call.m - i), cols = std::min(cols_each, call.n - j);
    std::array<Index, host::most_matrix_unit_rows> list;
    std::iota(list.begin(), list.end(), i);
    host::matrix_unit_sums(call, std::span(list).first(static_cast<std::size_t>(rows)), j, cols, memory.sums, cols,
                           memory.scratch);
    finish_block(call, i, j, rows, cols, memory.sums);
  });
  return {};
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

template <class T, Math math, bool by_name>
constexpr GemmKernel rung{.name = "hopper_units",
                          .summary = "the bits of Hopper's matrix units, by vectors of integers",
                          .source = "Xie et al. 2025 (MMA-Sim)",
                          .type = dtype_of<T>,
                          .math = math,
                          .tile = {2, 16, 16},
                          .summation = Summation::HopperUnits,
                          .accumulator = Accumulator::Truncating,
                          .run = run,
                          .yardstick = by_name,
                          .epilogue = true,
                          .narrows = true};

} // namespace

const GemmKernel hopper_units_tf32 = rung<float, Math::Tf32, false>;
const GemmKernel hopper_units_f16 = rung<f16, Math::Fp16, false>;
const GemmKernel hopper_units_f32_as_f16 = rung<float, Math::Fp16, false>;
const GemmKernel hopper_units_fp16x3 = rung<float, Math::EmulatedFp16x3, false>;
const GemmKernel hopper_units_scaled_fp16 = rung<float, Math::ScaledFp16, false>;
// The kernels of AMX were there before.
const GemmKernel hopper_units_bf16 = rung<bf16, Math::Bf16, true>;
const GemmKernel hopper_units_f32_as_bf16 = rung<float, Math::Bf16, true>;
const GemmKernel hopper_units_bf16x6 = rung<float, Math::EmulatedBf16x6, true>;

} // namespace tessera::cpu
