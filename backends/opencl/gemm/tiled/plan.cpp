#include "plan.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace tessera::opencl {
namespace {

/// Tiles for processors with 32 vector registers, which hold the sums, the vectors of B and an element of A. The first
/// one is for packed operands; each tile more is programs more to compile.
constexpr std::array<RegisterTile, 4> of_32_registers{{{14, 2}, {8, 3}, {4, 6}, {1, 8}}};
/// Tiles for 16 vector registers.
constexpr std::array<RegisterTile, 4> of_16_registers{{{6, 2}, {4, 2}, {2, 4}, {1, 6}}};

/// Vectors of 64 bytes come with 32 registers (AVX-512), shorter ones mostly with 16.
std::span<const RegisterTile> tiles_of(int vector_bytes) noexcept {
  if (vector_bytes >= 64) return of_32_registers;
  return of_16_registers;
}

Index tiles(Index extent, int tile) noexcept { return (extent + tile - 1) / tile; }

/// Cycles of a step of k in a tile: two multiply-adds of vectors or two loads a cycle, or the latency of one, which the
/// next one of its chain waits for.
double cycles_of_step(const RegisterTile& tile) noexcept {
  constexpr double latency = 4;
  return std::max({latency, tile.rows * tile.vectors / 2.0, (tile.rows + tile.vectors) / 2.0});
}

/// A product as a kernel sees it, turned or not.
struct View {
  Index rows, columns;
  bool right_has_rows; ///< the rows of the right operand are contiguous

  View(const GemmCall& call, bool turned)
      : rows(turned ? call.n : call.m),
        columns(turned ? call.m : call.n),
        right_has_rows(turned ? call.op_a == Op::Transpose : call.op_b == Op::None) {}
};

} // namespace

TilePlan plan_tiles(const Device& device, const GemmCall& call, Index count, bool with_memory) noexcept {
  // Packing an operand costs a pass over it, which several tiles that read it have to win back.
  constexpr Index few_tiles = 4;
  const bool f64 = scalar_of(call.type) == DType::F64;
  const int width = std::clamp(f64 ? device.f64_vector : device.f32_vector, 4, 16);
  const auto all = tiles_of(width * (f64 ? 8 : 4));
  const Index units = std::max(device.compute_units, 1);
  const Index segments = (call.k + canonical_segment - 1) / canonical_segment;
  const auto k = static_cast<double>(call.k);

  const bool converts = is_16_bit(call.type);
  TilePlan best;
  double least = 0;
  for (const bool turned : {false, true})
    for (const RegisterTile& tile : all) {
      // Operands of 16 bits are converted as they are packed, or row by row: in large tiles that takes long to compile.
      if (converts && (count > 1 ? &tile != &all[2] : &tile != &all.front() && &tile != &all.back())) continue;
      const View view(call, turned);
      const int columns = tile.vectors * width;
      const Index row_tiles = tiles(view.rows, tile.rows), column_tiles = tiles(view.columns, columns);
      const Index items = row_tiles * column_tiles * count;
      const bool splits = with_memory && count == 1 && segments > 1 && items < 2 * units;
      const bool can_pack = with_memory && count == 1 && &tile == &all.front();
      const bool reads_rows = view.right_has_rows && view.columns >= columns && !converts;

      TilePlan plan{.turned = turned, .width = width, .tile = tile, .segments = segments};
      const bool packs_right = can_pack && (converts || row_tiles > (reads_rows ? few_tiles : 1));
      plan.right = packs_right ? RightForm::Packed : reads_rows ? RightForm::Rows : RightForm::Staged;
      plan.left = can_pack && (converts || (plan.right != RightForm::Staged && column_tiles > 1)) ? LeftForm::Packed
                                                                                                  : LeftForm::Strided;
      plan.way = splits ? SegmentWay::Split : packs_right && segments > 1 ? SegmentWay::InTurn : SegmentWay::Whole;

      const Index shares = splits ? segments : 1;
      double cost = static_cast<double>((items * shares + units - 1) / units) * cycles_of_step(tile) * k /
                    static_cast<double>(shares);
      // Each work-item copies its part of a staged operand.
      if (plan.right == RightForm::Staged)
        cost +=
            static_cast<double>(row_tiles * count) * static_cast<double>(view.columns) * k / static_cast<double>(units);
      if (turned) cost *= 1.02; // C's columns are stored an element at a time
      if (least != 0 && cost >= least) continue;
      least = cost;
      best = plan;
    }
  return best;
}

} // namespace tessera::opencl
