#include "local_tile.hpp"

namespace tessera::opencl {
namespace {

/// Tiles of one form, for one element type.
template <std::size_t count>
using Tiles = LocalTile[count];

// Many results a work-item need few reads of local memory, and leave few registers for addresses, which panels do not
// take.
constexpr Tiles<3> packed_f32{{8, 8, 8, 8, 16}, {4, 4, 16, 16, 16}, {4, 4, 8, 8, 8}};
constexpr Tiles<3> packed_f64{{8, 8, 8, 8, 8}, {4, 4, 16, 16, 8}, {4, 4, 8, 8, 4}};
constexpr Tiles<2> strided_f32{{4, 4, 16, 16, 16}, {4, 4, 8, 8, 8}};
constexpr Tiles<2> strided_f64{{4, 4, 16, 16, 8}, {4, 4, 8, 8, 4}};
constexpr Tiles<2> low_f32{{4, 4, 4, 16, 16}, {4, 4, 8, 8, 8}}; // 16 rows of C
constexpr Tiles<2> low_f64{{4, 4, 4, 16, 8}, {4, 4, 8, 8, 4}};
constexpr Tiles<2> narrow_f32{{4, 4, 16, 4, 16}, {4, 4, 8, 8, 8}}; // 16 columns of C
constexpr Tiles<2> narrow_f64{{4, 4, 16, 4, 8}, {4, 4, 8, 8, 4}};

} // namespace

std::span<const LocalTile> local_tiles_of(const GemmCall& call, bool packed) noexcept {
  constexpr Index few = 16;
  const bool wide = scalar_of(call.type) == DType::F64;
  if (packed) return wide ? packed_f64 : packed_f32;
  if (call.m <= few) return wide ? low_f64 : low_f32;
  if (call.n <= few) return wide ? narrow_f64 : narrow_f32;
  return wide ? strided_f64 : strided_f32;
}

} // namespace tessera::opencl
