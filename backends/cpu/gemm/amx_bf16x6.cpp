/// amx_bf16x6: f32-grade products on AMX, the processor's matrix units. Each operand is split into three bf16 parts,
/// which keep all 24 bits; of nine products the six largest are added, and the sum is carried out of the tiles every
/// 256 k.
///
/// 12·m·n·k operations, at sixteen times the rate of AVX-512's. Both operands are packed whole, in 6 bytes an element.
/// NaN, Inf and numbers whose parts would be subnormal, which AMX takes for zero, send the product to the strict row.
/// Henry, Tang and Heinecke, "Leveraging the bfloat16 Artificial Intelligence Datatype For Higher-Precision
/// Computations" (ARITH 2019).

#include <algorithm>
#include <atomic>
#include <new>
#include <string_view>

#include "cpu/gemm/amx_tiles.hpp"
#include "cpu/gemm/blocking.hpp"
#include "cpu/gemm/ladder.hpp"
#include "cpu/gemm/textbook.hpp"
#include "cpu/gemm/update.hpp"
#include "cpu/scratch.hpp"

namespace tessera::cpu {
namespace {

using amx::block_k;
using amx::chunk;
using amx::side;
using amx::strip_block;

/// A block of C that one task computes: as large as leaves each thread a few of them.
Index choose_block(Index m, Index n, int threads) {
  constexpr Index largest = 256, tasks_a_thread = 3;
  Index block = largest;
  while (block > 2 * side && ceil_div(m, block) * ceil_div(n, block) < threads * tasks_a_thread) block /= 2;
  return block;
}

class AmxProduct {
 public:
  AmxProduct(CpuExecutor& cpu, const GemmCall& call)
      : call_(call),
        x_(call),
        team_(cpu.team()),
        threads_(threads_for_product(cpu, call)),
        strips_a_(ceil_div(x_.m, side)),
        strips_b_(ceil_div(x_.n, side)),
        blocks_(ceil_div(x_.k, block_k)),
        block_(choose_block(x_.m, x_.n, threads_)) {
    Carver size;
    carve(size);
    scratch_ = cpu.scratch().acquire(size.used());
    Carver arrays(scratch_.data());
    carve(arrays);
  }

  /// False, and C is as it was, if the parts cannot hold an operand.
  bool run() {
    std::atomic<bool> fits = true;
    team_.run((strips_a_ + strips_b_) * blocks_, threads_, [&](Index task, int) {
      if (fits.load(std::memory_order_relaxed) && !pack(task / blocks_, task % blocks_)) fits = false;
    });
    if (!fits) return false;
    const Index across = ceil_div(x_.n, block_);
    team_.run(ceil_div(x_.m, block_) * across, threads_, [&](Index task, int slot) {
      multiply(task / across * block_, task % across * block_, sums_ + slot * block_ * block_);
    });
    return true;
  }

 private:
  void carve(Carver& carver) {
    a_ = carver.take<std::uint16_t>(static_cast<std::size_t>(strips_a_ * blocks_ * strip_block));
    b_ = carver.take<std::uint16_t>(static_cast<std::size_t>(strips_b_ * blocks_ * strip_block));
    sums_ = carver.take<float>(static_cast<std::size_t>(threads_ * block_ * block_));
  }

  bool pack(Index strip, Index block) {
    const bool of_a = strip < strips_a_;
    if (!of_a) strip -= strips_a_;
    std::uint16_t* to = (of_a ? a_ : b_) + (strip * blocks_ + block) * strip_block;
    const Strided<float> from = of_a ? strided_a(x_) : strided_b(x_);
    alignas(64) float elements[side * chunk];
    bool fits = true;
    for (Index k = block * block_k; k < (block + 1) * block_k; k += chunk, to += side * chunk) {
      gather(from, of_a ? strip * side : k, of_a ? x_.m : x_.k, of_a ? k : strip * side, of_a ? x_.k : x_.n, elements);
      fits &= (of_a ? amx::tiles().pack_a : amx::tiles().pack_b)(elements, to);
    }
    return fits;
  }

  /// 32×32 elements from (row, column) on, zeros beyond the operand's edges.
  static void gather(const Strided<float>& from, Index row, Index rows, Index column, Index columns, float* to) {
    static_assert(side == chunk);
    const Index down = std::clamp<Index>(rows - row, 0, side);
    const Index across = std::clamp<Index>(columns - column, 0, side);
    if (down < side || across < side) std::fill(to, to + side * side, 0.0f);
    if (from.col_step == 1) {
      for (Index i = 0; i < down; ++i) std::copy_n(&from(row + i, column), across, to + i * side);
    } else {
      for (Index j = 0; j < across; ++j)
        for (Index i = 0; i < down; ++i) to[i * side + j] = from(row + i, column + j);
    }
  }

  /// The block of C from (i, j) on. A strip of B stays in the first cache while the block's strips of A pass.
  void multiply(Index i, Index j, float* sums) {
    const amx::Tiles& tiles = amx::tiles();
    const Index m = std::min(block_, x_.m - i);
    const Index n = std::min(block_, x_.n - j);
    tiles.configure();
    for (Index block = 0; block < blocks_; ++block)
      for (Index t = 0; t < n; t += side)
        for (Index s = 0; s < m; s += side)
          tiles.multiply(a_ + ((i + s) / side * blocks_ + block) * strip_block,
                         b_ + ((j + t) / side * blocks_ + block) * strip_block, sums + s * block_ + t, block_,
                         block == 0);
    tiles.release();
    const Update<float> whole{.first = true, .last = true, .alpha = x_.alpha, .beta = x_.beta, .call = &call_};
    apply(whole, m, n, sums, block_, nullptr, 0, x_.c + i * x_.ldc + j, x_.ldc);
  }

  const GemmCall& call_;
  const GemmOperands<float> x_;
  Team& team_;
  const int threads_;
  const Index strips_a_, strips_b_, blocks_, block_;
  Scratch scratch_;
  std::uint16_t* a_ = nullptr; ///< [strip][block of k][part][chunk][tile]
  std::uint16_t* b_ = nullptr;
  float* sums_ = nullptr; ///< a block of C for each thread
};

const char* reject(const GemmKernel&, const GemmCall&, const Capabilities& machine) noexcept {
  if (const char* why = why_no_amx()) return why;
  if (std::string_view(machine.instruction_set) != to_string(Isa::Avx512))
    return "TESSERA_CPU_ISA leaves AMX out; unset it, or use math mode strict";
  return nullptr;
}

Status run(const GemmKernel&, Executor& executor, Queue& queue, const GemmCall& call) noexcept try {
  if (AmxProduct(cpu_of(executor), call).run()) return {};
  return simd_f32.run(simd_f32, executor, queue, call);
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

} // namespace

const GemmKernel amx_bf16x6_f32{.name = "amx_bf16x6",
                                .summary = "f32-grade results from six products of bf16 parts on AMX",
                                .source = "Henry, Tang and Heinecke 2019",
                                .type = DType::F32,
                                .math = Math::EmulatedBf16x6,
                                .tile = {side, side, block_k},
                                .reject = reject,
                                .run = run,
                                .epilogue = true};

} // namespace tessera::cpu
