/// tiled_4x4: cuts C into tiles of 4×4. A tile is a sum of products of 4×4 sub-matrices, which are copied into local
/// arrays.
///
/// 32 loads serve 64 products, so an element of C costs 2·k operations and k/2 loads. The tiles' edges are padded with
/// zeros, so that the loops over a tile have fixed bounds and unroll. Source: the course report's fastest version.

#include <tessera/backend/traffic.hpp>

#include "cpu/gemm/common/row_loops.hpp"
#include "cpu/gemm/ladder.hpp"

namespace tessera::cpu {
namespace {

constexpr Index edge = 4;

template <class T>
struct Tile4x4 {
  T at[edge][edge];
};

/// Returns the sub-matrix of the rows×cols operand `x` at (i, j), with zeros beyond its edges.
template <class T>
Tile4x4<T> load(const Strided<T>& x, Index i, Index j, Index rows, Index cols) {
  Tile4x4<T> tile;
  if (i + edge <= rows && j + edge <= cols && x.col_step == 1) { // the common case; the compiler uses vectors
    for (Index r = 0; r < edge; ++r)
      for (Index q = 0; q < edge; ++q) tile.at[r][q] = (&x(i + r, j))[q];
  } else {
    for (Index r = 0; r < edge; ++r)
      for (Index q = 0; q < edge; ++q) tile.at[r][q] = i + r < rows && j + q < cols ? x(i + r, j + q) : T{0};
  }
  return tile;
}

/// sum := sum + a·b
template <class T>
void add_product(const Tile4x4<T>& a, const Tile4x4<T>& b, Tile4x4<T>& sum) {
  for (Index r = 0; r < edge; ++r) {
    T row[edge]; // a vector of four sums
    for (Index q = 0; q < edge; ++q) row[q] = sum.at[r][q];
    for (Index p = 0; p < edge; ++p)
      for (Index q = 0; q < edge; ++q) row[q] += a.at[r][p] * b.at[p][q];
    for (Index q = 0; q < edge; ++q) sum.at[r][q] = row[q];
  }
}

template <class T>
Status run(const GemmKernel&, Executor& executor, Queue&, const GemmCall& call) noexcept {
  const GemmOperands<T> x(call);
  const Strided<T> a = strided_a(x);
  const Strided<T> b = strided_b(x);
  for_row_groups(cpu_of(executor), call, edge, [&](Index first, Index last, int) {
    for (Index i = first; i < last; i += edge)
      for (Index j = 0; j < x.n; j += edge) {
        Tile4x4<T> sum{};
        for (Index p = 0; p < x.k; p += edge) add_product(load(a, i, p, x.m, x.k), load(b, p, j, x.k, x.n), sum);
        for (Index r = 0; r < std::min(edge, last - i); ++r)
          for (Index q = 0; q < std::min(edge, x.n - j); ++q)
            store_scaled(x, sum.at[r][q], x.c[(i + r) * x.ldc + j + q]);
      }
  });
  return {};
}

template <class T>
constexpr GemmKernel rung{.name = "tiled_4x4",
                          .summary = "4×4×4 sub-matrices copied into local arrays",
                          .source = "course report",
                          .type = dtype_of<T>,
                          .tile = {4, 4, 4},
                          .run = run<T>,
                          .traffic = tile_traffic};

} // namespace

const GemmKernel tiled_4x4_f32 = rung<float>;
const GemmKernel tiled_4x4_f64 = rung<double>;

} // namespace tessera::cpu
