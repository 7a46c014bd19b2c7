/// stream_k: async_copy's tiles in persistent blocks, which share the work out evenly and keep the bits of one chain.
///
/// Four producer warps copy. An operand that is stored along k is copied element by element, so that it comes out
/// transposed. They hand most of their registers to the consumer warps, which do nothing but read shared memory and
/// multiply. The largest tile has 256×128 results and eight consumer warps, of 16×8 results a thread: 6 reads feed 128
/// FMAs. Tiles of 128×128 have four consumer warps, and two blocks share a multiprocessor, so that one multiplies while
/// the other one stores. A smaller C takes tiles of 64×128, 64×64, 32×64 or 32×32.
///
/// Tiles that do not fill a wave of blocks may be cut at any step of k: the next block continues the chains where the
/// block before it stopped. Where C has few tiles, k is also cut into the contract's segments. Memory traffic is
/// async_copy's, and four bytes for each result that is handed on, and eight bytes for each result and each segment of
/// k but the first.
///
/// Sources: Osama et al., "Stream-K: Work-Centric Parallel Decomposition for Dense Matrix-Matrix Multiplication on the
/// GPU" (PPoPP 2023), where partial sums are added instead of continued; NVIDIA CUTLASS for warps with roles.

#include "cuda/gemm/common/copies/operand_copies.cuh"
#include "cuda/gemm/common/stream_k_cost.hpp"
#include "cuda/gemm/ladder.hpp"
#include "fma_multiplier.cuh"
#include "launch.cuh"

namespace tessera::cuda {
namespace {

using namespace stream_k::f32;

/// Whether copying an operand, so that its lines lie along m or n, costs less than copying single elements into shared
/// memory again and again (docs/lab/random_shapes.md). `across`: the rows or columns of C that the operand does not
/// have.
bool copying_pays(Index across, Index k) { return across >= 3072 && k >= 2048; }

/// An operand, outer×k as the product sees it, which is copied into k lines of neighbours unless it has them.
struct CopiedOperand {
  const void*& data;
  Index& ld;
  Op& op;
  Op wanted;
  Index outer, k;

  bool copied() const { return op != wanted || !vectors_allowed(static_cast<const float*>(data), ld); }
  Index pitch() const { return ceil_div<Index>(outer, 32) * 32; }
  Index bytes() const { return k * pitch() * Index{sizeof(float)}; }
  /// Returns the copy that has to be made at `to`, and becomes it.
  OperandCopy become_copy(void* to) {
    constexpr Index halves = sizeof(float) / 2; // what a copy counts in, unless it transposes
    const OperandCopy copy = op != wanted ? OperandCopy{data, outer, k, ld, to, pitch(), true}
                                          : OperandCopy{data, k, outer * halves, ld * halves, to, pitch() * halves};
    data = to;
    ld = pitch();
    op = wanted;
    return copy;
  }
};

Status run(const GemmKernel& kernel, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  GemmCall lines = call;
  CopiedOperand a{lines.a, lines.lda, lines.op_a, Op::Transpose, call.m, call.k};
  CopiedOperand b{lines.b, lines.ldb, lines.op_b, Op::None, call.n, call.k};
  const bool copies_a = copying_pays(call.n, call.k) && a.copied(),
             copies_b = copying_pays(call.m, call.k) && b.copied();
  ScratchLayout layout;
  const std::size_t a_at = layout.add(copies_a ? a.bytes() : 0), b_at = layout.add(copies_b ? b.bytes() : 0);
  Scratch copies;
  // Where there is no memory for copies, the operands as they are give the same bits.
  if (layout.size() > 0 && copies.allocate(executor, queue, layout.size()).ok()) {
    char* const memory = copies.as<char>();
    const std::array made{copies_a ? a.become_copy(memory + a_at) : OperandCopy{},
                          copies_b ? b.become_copy(memory + b_at) : OperandCopy{}};
    if (Status status = copy_operands(stream_of(queue), made, kernel.name); !status.ok()) return status;
  }
  return stream_k::run<Large, Square, Medium, Small, Flat, Least>(kernel.name, executor, queue, lines);
}

} // namespace

Index stream_k_cost_f32(const GemmCall& call, Index multiprocessors) noexcept {
  return stream_k::choose_tile(stream_k::tiles_of<Large, Square, Medium, Small, Flat, Least>, call, multiprocessors)
      .cost;
}

const GemmKernel stream_k_f32{.name = "stream_k",
                              .summary = "persistent blocks with warps that copy; work shared out evenly along k",
                              .source = "Stream-K; CUTLASS",
                              .type = DType::F32,
                              .tile = {Large::block_m, Large::block_n, Large::block_k},
                              .summation = Summation::Canonical,
                              .reject = stream_k::reject,
                              .run = run,
                              .epilogue = true,
                              .narrows = true};

} // namespace tessera::cuda
