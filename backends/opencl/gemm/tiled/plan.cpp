#include "plan.hpp"

#include <algorithm>
#include <array>

namespace tessera::opencl {
namespace {

/// Tiles for processors with 32 vector registers, which hold the sums, the vectors of B and an element of A.
constexpr std::array<RegisterTile, 6> of_32_registers{{{14, 2}, {8, 3}, {4, 6}, {4, 2}, {1, 8}, {1, 2}}};
/// Tiles for 16 vector registers.
constexpr std::array<RegisterTile, 5> of_16_registers{{{6, 2}, {4, 2}, {2, 4}, {1, 6}, {1, 2}}};

/// Vectors of 64 bytes come with 32 registers (AVX-512), shorter ones mostly with 16.
std::span<const RegisterTile> tiles_of(int vector_bytes) noexcept {
  if (vector_bytes >= 64) return of_32_registers;
  return of_16_registers;
}

Index tiles(Index extent, int tile) noexcept { return (extent + tile - 1) / tile; }

/// Cycles of a step of k in a tile: two multiply-adds of vectors or two loads a cycle, or the latency of one, which the
/// next one of its chain waits for.
double cycles(const RegisterTile& tile) noexcept {
  constexpr double latency = 4;
  return std::max({latency, tile.rows * tile.vectors / 2.0, (tile.rows + tile.vectors) / 2.0});
}

struct Sizes {
  Index rows, columns, k, count;
};

double cycles(const Sizes& x, const RegisterTile& tile, int width, Index segments, int units) noexcept {
  const Index items = tiles(x.rows, tile.rows) * tiles(x.columns, tile.vectors * width) * x.count * segments;
  const Index rounds = (items + units - 1) / units;
  return static_cast<double>(rounds) * cycles(tile) * static_cast<double>(x.k) / static_cast<double>(segments);
}

} // namespace

TilePlan plan_tiles(const Device& device, const GemmCall& call, Index count) noexcept {
  const bool f64 = scalar_of(call.type) == DType::F64;
  const int bytes = f64 ? 8 : 4;
  TilePlan plan;
  plan.width = std::clamp(f64 ? device.vector_f64 : device.vector_f32, 4, 16);
  const int units = std::max(device.compute_units, 1);
  plan.segments = (call.k + canonical_segment - 1) / canonical_segment;

  double least = 0;
  for (const bool turned : {false, true})
    for (const RegisterTile& tile : tiles_of(plan.width * bytes)) {
      const Sizes x{turned ? call.n : call.m, turned ? call.m : call.n, call.k, count};
      const Index items = tiles(x.rows, tile.rows) * tiles(x.columns, tile.vectors * plan.width) * count;
      const bool splits = count == 1 && plan.segments > 1 && items < 2 * Index{units};
      // Rows of C's transpose are stored an element at a time.
      const double cost = cycles(x, tile, plan.width, splits ? plan.segments : 1, units) * (turned ? 1.02 : 1);
      if (least != 0 && cost >= least) continue;
      least = cost;
      plan.turned = turned;
      plan.tile = tile;
      plan.way = splits ? SegmentWay::Split : SegmentWay::Whole;
    }

  const Index rows = plan.turned ? call.n : call.m, columns = plan.turned ? call.m : call.n;
  const Op left = plan.turned ? (call.op_b == Op::None ? Op::Transpose : Op::None) : call.op_a;
  const Op right = plan.turned ? (call.op_a == Op::None ? Op::Transpose : Op::None) : call.op_b;
  static_cast<void>(left);
  const bool rows_lie = right == Op::None && columns >= plan.columns() && !is_16_bit(call.type);
  // Packing an operand costs a pass over it, which several tiles that read it have to win back.
  constexpr Index few_tiles = 4;
  const Index row_tiles = tiles(rows, plan.tile.rows), column_tiles = tiles(columns, plan.columns());
  const bool packs_right = count == 1 && row_tiles > few_tiles;
  plan.right = packs_right ? RightForm::Packed : rows_lie ? RightForm::Rows : RightForm::Staged;
  plan.left = count == 1 && column_tiles > few_tiles ? LeftForm::Packed : LeftForm::Strided;
  if (plan.way == SegmentWay::Whole && plan.segments > 1 && packs_right) plan.way = SegmentWay::InTurn;
  return plan;
}

} // namespace tessera::opencl
