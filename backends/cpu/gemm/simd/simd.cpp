/// simd: vector registers, with the best instruction set of the machine. This kernel is the default.
///
/// simd_packed packs the operands around a micro-kernel. An AVX-512 tile of 14×32 f32 keeps 448 sums in 28 registers;
/// each step of k costs 2 vector loads of B, 14 broadcasts of A and 28 multiply-adds, 0.1 loads an element. Each
/// operand comes from L2 in one stream; C is touched once a segment. simd_direct reads the operands where they are,
/// which is faster for small products and for products with a short side. simd_panel is for few rows of C and a B that
/// comes from memory. simd takes the kernel that suits the shape. Sources: Goto and van de Geijn (2008); Van Zee and
/// van de Geijn, "BLIS" (2015); libxsmm (Heinecke et al. 2016).

#include <algorithm>
#include <new>
#include <string>

#include <tessera/backend/log.hpp>

#include "cpu/gemm/common/blocked.hpp"
#include "cpu/gemm/ladder.hpp"
#include "direct.hpp"
#include "direct_plan.hpp"
#include "few_rows.hpp"

namespace tessera::cpu {
namespace {

enum class Way { Best, Packed, FewRows, Direct };

/// Up to so many steps of k, C is most of what moves.
constexpr Index short_k = 32;
/// So many steps of k, each with a cache line of A and one or two of B, fill L1.
constexpr Index long_k_of_lines = 192;
/// Says whether the steps of k, `step` bytes apart, lie on more pages than a processor's first table of pages has.
constexpr bool are_on_many_pages(Index step, Index k) { return step >= 4096 && k > 64; }

/// Says whether tiles can read B in place, whose k rows lie `step` bytes apart. The rows of a strip that share the sets
/// of L2 have to fit its ways. Long rows that begin within a cache line cost a line more in each strip, from far away.
bool reads_rows_well(Index step, Index k, Index l2) {
  constexpr Index ways = 16, ways_for_b = 10, line = 64, long_row = 6400;
  const Index power_of_two = step & -step; // the largest that divides the step
  const bool shares_sets = k * std::min(power_of_two, l2 / ways) > l2 / ways * ways_for_b;
  return !shares_sets && (step % line == 0 || step < long_row || k <= short_k);
}

/// Says whether simd_direct suits a product that is not small, on a processor with two wide vector units. It packs at
/// most one operand, which pays as long as what it reads in place comes from L2 or in long streams.
template <class T>
bool suits_direct(const DirectPlan& plan, const DirectView<T>& view, const MicroKernel<T>& kernel, Index l2) {
  constexpr Index few_strips = 4;
  const auto bytes = [](Index rows, Index columns) { return rows * columns * static_cast<Index>(sizeof(T)); };
  const Index segment_k = std::min(view.k, canonical_segment);
  if (bytes(view.m, view.n) > 4 * l2 && view.k > short_k) return false;
  // The rows of such an A lie far apart, and every strip of B goes along all of them.
  if (view.a_step != 1 && view.n > few_strips * kernel.tile_n && bytes(view.m, segment_k) > l2) return false;
  if (plan.vectors == VectorsOfB::Packed) return bytes(view.n, view.k) <= 4 * l2 || view.m <= 4 * kernel.tile_m;
  if (view.m > 4 * kernel.tile_m && !reads_rows_well(bytes(view.b_step, 1), segment_k, l2)) return false;
  return bytes(view.n, segment_k) <= (view.m <= 2 * kernel.tile_m ? l2 : 2 * l2);
}

/// Returns the fastest way for the call's shape. The limits were measured, see docs/lab/cpu_gemm.md.
template <class T>
Way best_way(const GemmCall& call, const MicroKernel<T>& kernel, const Capabilities& machine) {
  constexpr double small_work = 160.0 * 160.0 * 160.0;
  const double work = static_cast<double>(call.m) * static_cast<double>(call.n) * static_cast<double>(call.k);
  if (work <= small_work) return Way::Direct;
  const bool two_vector_units = has_two_wide_vector_units(kernel.isa);
  const GemmOperands<T> x(call);
  const Index l2 = l2_bytes_of(machine);
  const DirectPlan& plan = direct_plan(x, kernel, l2);
  const DirectView<T> view(x, plan.swapped);
  if (plan.vectors == VectorsOfB::Transposed || view.n <= kernel.tile_n) return Way::Direct; // one side of C is short
  if (plan.swapped && view.m <= 8 * kernel.tile_m) return Way::Direct;
  if (view.m == 1) return Way::Direct;
  const bool copies_b = plan.vectors == VectorsOfB::Packed;
  if (two_vector_units) {
    if (suits_direct(plan, view, kernel, l2)) return Way::Direct;
    return call.m > 8 * kernel.tile_m || plan.swapped || copies_b ? Way::Packed : Way::FewRows;
  }
  if (copies_b) return Way::Packed; // packing the other operand too costs nothing
  const Index element = static_cast<Index>(sizeof(T));
  // A tile reads a line of such an A and lines of B for each step, which outgrow L1.
  if (view.a_step != 1 && (call.k > long_k_of_lines || are_on_many_pages(view.a_step * element, call.k)))
    return Way::Packed;
  const Index a_bytes = view.m * call.k * element, c_bytes = call.m * call.n * element;
  const bool one_segment = call.k <= canonical_segment;
  const Index b_bytes = view.n * std::min(call.k, canonical_segment) * element; // of one segment
  const bool reads_a_once = view.n <= 2 * kernel.tile_n; // or twice: each tile of columns reads all of A
  if (b_bytes <= l2 && c_bytes <= 4 * l2 && (reads_a_once || a_bytes <= (one_segment ? 8 : 4) * l2)) {
    const bool uses_packed_b = call.m > 8 * kernel.tile_m; // often enough
    return uses_packed_b && are_on_many_pages(view.b_step * element, call.k) ? Way::Packed : Way::Direct;
  }
  if (call.m > 8 * kernel.tile_m || plan.swapped) return Way::Packed;
  // Where B comes from the last-level cache, enough rows hide that, and their chains need not wait.
  const bool hides_cache = call.m > 3 * kernel.tile_m && call.n * call.k * element <= 8 * l2;
  return hides_cache ? Way::Direct : Way::FewRows;
}

constexpr const char* name_of(Way way) {
  switch (way) {
    case Way::Best:
      return "simd";
    case Way::Packed:
      return "simd_packed";
    case Way::FewRows:
      return "simd_panel";
    case Way::Direct:
      return "simd_direct";
  }
  return "";
}

void log_choice(Way way, Isa isa) noexcept try {
  log_line(std::string("simd takes ") + name_of(way) + ", " + to_string(isa));
} catch (const std::bad_alloc&) { // the log then has a line less
}

template <class T, Way way>
Status run(const GemmKernel&, Executor& executor, Queue&, const GemmCall& call) noexcept {
  CpuExecutor& cpu = cpu_of(executor);
  const MicroKernel<T>& kernel = micro_kernel<T>(cpu.isa());
  const Way taken = way == Way::Best ? best_way<T>(call, kernel, cpu.capabilities()) : way;
  if (way == Way::Best && log_dispatch()) log_choice(taken, cpu.isa());
  return taken == Way::Direct    ? direct_product<T>(cpu, call, kernel)
         : taken == Way::FewRows ? few_rows_product<T>(cpu, call, kernel)
                                 : blocked_product<T>(cpu, call, kernel);
}

template <class T, Way way>
constexpr GemmKernel rung{
    .name = name_of(way),
    .summary = way == Way::Best      ? "simd_packed, simd_panel or simd_direct, whichever suits the shape"
               : way == Way::Packed  ? "packed strips, micro-kernel in AVX-512, AVX2 or portable registers"
               : way == Way::FewRows ? "few rows: A packed, B read once along its rows, chains wait in cache"
                                     : "the micro-kernel on operands where they are, for small and slender products",
    .source = way == Way::Direct ? "libxsmm 2016; OpenBLAS" : "Goto and van de Geijn 2008; BLIS 2015",
    .type = dtype_of<T>,
    .summation = Summation::Canonical,
    .run = run<T, way>,
    .epilogue = true};

} // namespace

const GemmKernel simd_f32 = rung<float, Way::Best>;
const GemmKernel simd_f64 = rung<double, Way::Best>;
const GemmKernel simd_packed_f32 = rung<float, Way::Packed>;
const GemmKernel simd_packed_f64 = rung<double, Way::Packed>;
const GemmKernel simd_panel_f32 = rung<float, Way::FewRows>;
const GemmKernel simd_panel_f64 = rung<double, Way::FewRows>;
const GemmKernel simd_direct_f32 = rung<float, Way::Direct>;
const GemmKernel simd_direct_f64 = rung<double, Way::Direct>;

} // namespace tessera::cpu
