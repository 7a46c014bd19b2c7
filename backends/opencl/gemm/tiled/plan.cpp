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
  Index rows, columns, k, count;
  bool right_has_rows; ///< the rows of the right operand are contiguous

  View(const GemmCall& call, Index products, bool turned)
      : rows(turned ? call.n : call.m),
        columns(turned ? call.m : call.n),
        k(call.k),
        count(products),
        right_has_rows(turned ? call.op_a == Op::Transpose : call.op_b == Op::None) {}
};

/// Cycles of a product on `units` compute units.
double cycles(const TilePlan& plan, const View& view, Index units) noexcept {
  constexpr double launch = 20000; // of a kernel more
  constexpr double strided = 1.2;  // rows of A or of B that are read where they are: more addresses, more pages
  constexpr double results = 1.02; // C's columns are stored an element at a time
  const Index row_tiles = tiles(view.rows, plan.tile.rows), column_tiles = tiles(view.columns, plan.columns());
  const Index shares = plan.way == SegmentWay::Split ? plan.segments : 1;
  const Index items = row_tiles * column_tiles * view.count * shares;
  const auto k = static_cast<double>(view.k), all = static_cast<double>(units);
  double sum = static_cast<double>(tiles(items, static_cast<int>(units))) * cycles_of_step(plan.tile) * k /
               static_cast<double>(shares);
  if (plan.left == LeftForm::Strided) sum *= strided;
  if (plan.right == RightForm::Rows) sum *= strided;
  if (plan.turned) sum *= results;
  // An element that is copied takes about a cycle: once to a panel, or by each work-item that reads it.
  const double left = static_cast<double>(view.rows) * k / all, right = static_cast<double>(view.columns) * k / all;
  if (plan.left == LeftForm::Packed) sum += launch + left;
  if (plan.right == RightForm::Packed) sum += launch + right;
  if (plan.right == RightForm::Staged) sum += static_cast<double>(row_tiles * view.count) * right;
  if (plan.way == SegmentWay::Split) sum += launch;
  return sum;
}

struct Forms {
  LeftForm left;
  RightForm right;
};
constexpr std::array<Forms, 4> all_forms{{{LeftForm::Packed, RightForm::Packed},
                                          {LeftForm::Packed, RightForm::Rows},
                                          {LeftForm::Strided, RightForm::Rows},
                                          {LeftForm::Strided, RightForm::Staged}}};

} // namespace

TilePlan plan_tiles(const Device& device, const GemmCall& call, Index count, bool with_memory) noexcept {
  const bool f64 = scalar_of(call.type) == DType::F64, converts = is_16_bit(call.type);
  const int width = std::clamp(f64 ? device.f64_vector : device.f32_vector, 4, 16);
  const auto all = tiles_of(width * (f64 ? 8 : 4));
  const Index units = std::max(device.compute_units, 1);
  const Index segments = tiles(call.k, static_cast<int>(canonical_segment));

  TilePlan best;
  double least = 0;
  for (const bool turned : {false, true})
    for (const RegisterTile& tile : all)
      for (const Forms& forms : all_forms) {
        const View view(call, count, turned);
        TilePlan plan{.turned = turned,
                      .width = width,
                      .tile = tile,
                      .left = forms.left,
                      .right = forms.right,
                      .segments = segments};
        const bool packs = forms.left == LeftForm::Packed;
        if (packs && (&tile != &all.front() || count > 1 || !with_memory)) continue;
        if (forms.right == RightForm::Rows && (!view.right_has_rows || view.columns < plan.columns() || converts))
          continue;
        // Operands of 16 bits are converted as they are packed, or row by row: in large tiles that takes long to
        // compile.
        if (converts && !packs && &tile != (count > 1 ? &all[2] : &all.back())) continue;
        const Index items = tiles(view.rows, tile.rows) * tiles(view.columns, plan.columns());
        if (segments > 1 && count == 1 && with_memory)
          plan.way = items < 2 * units                  ? SegmentWay::Split
                     : forms.right == RightForm::Packed ? SegmentWay::InTurn
                                                        : SegmentWay::Whole;
        const double cost = cycles(plan, view, units);
        if (least != 0 && cost >= least) continue;
        least = cost;
        best = plan;
      }
  return best;
}

} // namespace tessera::opencl
