/// cache_blocked: BLIS's five loops. Panels of A and B are packed so that they stay in L2 and in the last-level cache,
/// and a micro-kernel of 4×3 reads them in order.
///
/// An element costs 2·k operations and 0.6·k loads, all of neighbouring elements: seven loads serve twelve products.
/// Packing loads and stores each element of B once, and of A once for each panel of B. simd_packed has the same panels
/// and a micro-kernel with vectors, so the step from here to there is the gain of vectors. Sources: Goto and van de
/// Geijn (2008), and Van Zee and van de Geijn, "BLIS", ACM TOMS 41 (2015), for the loops and their names.

#include <cmath>
#include <new>

#include <tessera/backend/out_of_memory.hpp>

#include "cpu/gemm/common/row_loops.hpp"
#include "cpu/gemm/common/update.hpp"
#include "cpu/gemm/ladder.hpp"
#include "cpu/memory/scratch.hpp"
#include "reference/fma_clones.hpp"
#include "traffic.hpp"

namespace tessera::cpu {
namespace {

/// A tile of C: twelve sums, three elements of B and one of A take sixteen registers, which is all that x86-64 has.
constexpr Index mr = 4, nr = 3;

/// Steps of k that are packed at a time, rows of A in a block, and columns of B in a panel. kc is the contract's
/// segment, so that a sum stays in a register from its first product to its last.
struct Blocks {
  Index mc, kc, nc;
};

Index round_up(Index x, Index unit) { return ceil_div(x, unit) * unit; }

template <class T>
Blocks choose_blocks(const Capabilities& machine, const GemmCall& call, int threads) {
  constexpr Index element = sizeof(T), tasks_per_thread = 4;
  const Index kc = std::min(canonical_segment, call.k);
  const Index l3 = machine.l3_bytes > 0 ? static_cast<Index>(machine.l3_bytes) : Index{8} << 20;
  // A panel of B takes half of the last-level cache, and a block of A two fifths of L2.
  Index nc = std::max(nr, std::min(l3 / 2, Index{16} << 20) / (kc * element));
  if (call.beta != 0 && call.k > kc) nc = std::clamp((Index{4} << 20) / call.m, nr, nc); // so many sums wait for C
  Index mc = l2_bytes_of(machine) * 2 / 5 / (kc * element);
  if (threads > 1) mc = std::min(mc, call.m / (threads * tasks_per_thread));
  return {round_up(std::max(mr, std::min(mc, call.m)), mr), kc, round_up(std::min(nc, call.n), nr)};
}

/// Copies `rows` rows of op(A) from (i, p) on, `depth` steps of k, to strips of mr rows. The mr elements of a step lie
/// beside one another, and one step follows the other. Rows beyond the edge are zeros.
template <class T>
void pack_a(const Strided<T>& a, Index i, Index rows, Index p, Index depth, T* strips) {
  for (Index ir = 0; ir < rows; ir += mr)
    for (Index q = 0; q < depth; ++q)
      for (Index r = 0; r < mr; ++r) *strips++ = ir + r < rows ? a(i + ir + r, p + q) : T{0};
}

/// Copies `cols` columns of op(B) from (p, j) on, `depth` steps of k, to strips of nr columns.
template <class T>
void pack_b(const Strided<T>& b, Index p, Index depth, Index j, Index cols, T* strips) {
  for (Index jr = 0; jr < cols; jr += nr)
    for (Index q = 0; q < depth; ++q)
      for (Index c = 0; c < nr; ++c) *strips++ = jr + c < cols ? b(p + q, j + jr + c) : T{0};
}

/// The micro-kernel: a strip of A times a strip of B, an outer product a step.
template <class T>
[[gnu::always_inline]] inline void multiply_strips(Index depth, const T* a, const T* b, T* tile) {
  T sum[mr][nr] = {};
  for (Index p = 0; p < depth; ++p)
    for (Index r = 0; r < mr; ++r)
      for (Index c = 0; c < nr; ++c) sum[r][c] = std::fma(a[p * mr + r], b[p * nr + c], sum[r][c]);
  for (Index r = 0; r < mr; ++r)
    for (Index c = 0; c < nr; ++c) tile[r * nr + c] = sum[r][c];
}

TESSERA_FMA_CLONES void micro_kernel(Index depth, const float* a, const float* b, float* tile) {
  multiply_strips(depth, a, b, tile);
}
TESSERA_FMA_CLONES void micro_kernel(Index depth, const double* a, const double* b, double* tile) {
  multiply_strips(depth, a, b, tile);
}

template <class T>
Status run(const GemmKernel&, Executor& executor, Queue&, const GemmCall& call) noexcept try {
  const GemmOperands<T> x(call);
  const Strided<T> a = strided_a(x), b = strided_b(x);
  CpuExecutor& cpu = cpu_of(executor);
  const double work = static_cast<double>(x.m) * static_cast<double>(x.n) * static_cast<double>(x.k);
  const int threads = threads_for(work, cpu.threads_for(call.threads));
  const auto [mc, kc, nc] = choose_blocks<T>(cpu.capabilities(), call, threads);
  const bool sums_in_c =
      x.beta == T{0} || x.k <= kc; // sums of earlier segments wait in C, unless its old ones are needed

  T *block_a = nullptr, *panel_b = nullptr, *sums = nullptr; // a block of A for each thread
  const auto carve = [&, kc = kc, mc = mc, nc = nc](Carver& carver) {
    block_a = carver.take<T>(static_cast<std::size_t>(threads * mc * kc));
    panel_b = carver.take<T>(static_cast<std::size_t>(kc * nc));
    if (!sums_in_c) sums = carver.take<T>(static_cast<std::size_t>(x.m * nc));
  };
  Carver size;
  carve(size);
  const Scratch scratch = cpu.scratch().acquire(size.used());
  Carver arrays(scratch.data());
  carve(arrays);

  for (Index jc = 0; jc < x.n; jc += nc) { // fifth loop: a panel of columns of B and C
    for (Index pc = 0; pc < x.k;
         pc += kc) { // fourth loop: a segment of k; B's panel is packed for the last-level cache
      const Index cols = std::min(nc, x.n - jc), depth = std::min(kc, x.k - pc);
      cpu.team().run(ceil_div(cols, nr), threads, [&, jc = jc, pc = pc](Index strip, int) {
        pack_b(b, pc, depth, jc + strip * nr, std::min(nr, cols - strip * nr), panel_b + strip * nr * depth);
      });
      // Third loop, shared out to the threads: a block of rows of A, packed for L2. Where there are few blocks, several
      // tasks have one, each with a part of the panel.
      const Index blocks = ceil_div(x.m, mc);
      const Index parts = threads > 1 ? std::min(ceil_div(cols, nr), ceil_div<Index>(2 * threads, blocks)) : 1;
      const Index part = round_up(ceil_div(cols, parts), nr);
      const Update<T> update{pc == 0, pc + depth == x.k, x.alpha, x.beta, &call};
      cpu.team().run(blocks * parts, threads, [&, mc = mc, kc = kc, nc = nc](Index task, int slot) {
        const Index ic = task / parts * mc, rows = std::min(mc, x.m - ic);
        T* const strips_a = block_a + slot * mc * kc;
        pack_a(a, ic, rows, pc, depth, strips_a);
        const Index end = std::min(cols, (task % parts + 1) * part);
        for (Index jr = task % parts * part; jr < end; jr += nr) // second loop: a strip of B, which stays in L1
          for (Index ir = 0; ir < rows; ir += mr) {              // first loop: a strip of A, from L2
            T tile[mr * nr];
            micro_kernel(depth, strips_a + ir * depth, panel_b + jr * depth, tile);
            T* const c = x.c + (ic + ir) * x.ldc + jc + jr;
            T* const s = sums_in_c ? c : sums + (ic + ir) * nc + jr;
            apply(update, std::min(mr, rows - ir), std::min(nr, cols - jr), tile, nr, s, sums_in_c ? x.ldc : nc, c,
                  x.ldc);
          }
      });
    }
  }
  return {};
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
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
