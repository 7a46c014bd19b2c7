#include "direct_plan.hpp"

namespace tessera::cpu {
namespace {

/// A plan and its estimated time, in the units of time_of_tile.
struct Estimate {
  DirectPlan plan;
  float time;
};

/// Estimates a step of k of a tile that transposes one vector of B. Shuffles and multiply-adds share execution units.
float transposing_step(int rows, bool two_vector_units) {
  constexpr float shuffles = 4; // for each vector
  constexpr float latency = 4;  // of the chain of an element
  const auto elements = static_cast<float>(rows);
  if (two_vector_units) return std::max(elements + shuffles, 2 * shuffles);
  return std::max({1.04f * elements + 1.2f, (elements + shuffles) * 3 / 4, latency});
}

/// Estimates tiles that transpose their B in registers.
template <class T>
Estimate transposing(const DirectView<T>& x, const MicroKernel<T>& kernel, const TileEnds& ends) {
  const int lanes = kernel.transposing_cols;
  const Index parts = ceil_div(x.m, kernel.transposing_rows);
  const int rows = static_cast<int>(ceil_div(x.m, parts));
  const bool two_vector_units = has_two_wide_vector_units(kernel.isa);
  const float begin_and_end = two_vector_units ? ends.time(static_cast<float>(rows), 1) : 30;
  constexpr float half = 0.58f; // the time of half a vector
  const float step = transposing_step(rows, two_vector_units);
  const bool ends_with_half = (x.n - 1) % lanes < kernel.half_lanes;
  const float vectors = static_cast<float>(ceil_div(x.n, lanes)) - (ends_with_half ? 1 - half : 0);
  return {{x.swapped, VectorsOfB::Transposed, {rows, lanes}},
          static_cast<float>(parts) * vectors * (static_cast<float>(x.k) * step + begin_and_end)};
}

template <class T>
Estimate estimate(const DirectView<T>& x, const MicroKernel<T>& kernel, Index l2) {
  const auto is_far = [&](Index rows, Index columns) { return rows * columns * static_cast<Index>(sizeof(T)) > l2; };
  const bool c_is_far = is_far(x.m, x.n);
  const auto m = static_cast<int>(std::min(x.m, many));
  const auto n = static_cast<int>(std::min(x.n, many));
  const auto k = static_cast<float>(x.k);
  const int lanes = kernel.direct_cols(kernel.direct_rows);
  const bool two_vector_units = has_two_wide_vector_units(kernel.isa);
  const TileSize tile = x.is_across() ? choose_tile_of_strip(x, kernel) : choose_tile(x, kernel, c_is_far);
  const TileEnds ends(two_vector_units, c_is_far, x.swapped, lanes);
  Estimate best{{x.swapped, x.is_across() ? VectorsOfB::Packed : VectorsOfB::InPlace, tile},
                time_of_tiles(m, vectors_of(n, kernel), k, tile.m, std::max(1, tile.n / lanes), ends)};
  const auto vectors = static_cast<float>(ceil_div(n, lanes));
  if (x.is_across()) {
    constexpr float begin = 100;
    const float pack =
        two_vector_units && is_far(x.n, x.k) ? 16 : 6; // for a vector, which goes to L3 and comes back if far
    best.time += vectors * pack * k + begin;
    if (kernel.transposing_rows > 0)
      if (const Estimate other = transposing(x, kernel, ends); other.time < best.time) best = other;
  }
  // A square of vectors is transposed on its way into C. Masked stores, which some processors do slowly without
  // AVX-512, end it where the rows do not fill the vectors.
  const bool slow_masks = kernel.isa == Isa::Avx2 && m % lanes != 0;
  const float store = (slow_masks ? 20.0f : 4.5f) * static_cast<float>(lanes);
  if (x.swapped) best.time += store * vectors * static_cast<float>(ceil_div(m, lanes));
  return best;
}

template <class T>
DirectPlan choose_plan(const GemmOperands<T>& x, const MicroKernel<T>& kernel, Index l2) {
  const Estimate along = estimate(DirectView<T>(x), kernel, l2);
  const Estimate across = estimate(DirectView<T>(x, true), kernel, l2);
  // Narrow tiles are faster than estimated where multiply-adds do not load their elements.
  const float margin = kernel.isa == Isa::Avx512 ? 0.95f : 0.85f;
  return across.time < margin * along.time ? across.plan : along.plan;
}

} // namespace

template <class T>
const DirectPlan& direct_plan(const GemmOperands<T>& x, const MicroKernel<T>& kernel, Index l2) {
  struct Remembered {
    Index m, n, k, lda, ldb;
    Op op_a, op_b;
    const MicroKernel<T>* kernel = nullptr;
    DirectPlan plan;
  };
  static thread_local Remembered last;
  if (last.m != x.m || last.n != x.n || last.k != x.k || last.lda != x.lda || last.ldb != x.ldb ||
      last.op_a != x.op_a || last.op_b != x.op_b || last.kernel != &kernel)
    last = {x.m, x.n, x.k, x.lda, x.ldb, x.op_a, x.op_b, &kernel, choose_plan(x, kernel, l2)};
  return last.plan;
}

template const DirectPlan& direct_plan(const GemmOperands<float>&, const MicroKernel<float>&, Index);
template const DirectPlan& direct_plan(const GemmOperands<double>&, const MicroKernel<double>&, Index);

} // namespace tessera::cpu
