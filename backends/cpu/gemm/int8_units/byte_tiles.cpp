#include "byte_tiles.hpp"

namespace tessera::cpu::int8_units {
namespace {

/// Adds the products of one line of each operand along a tile.
std::int32_t dot(const std::uint8_t* a, const std::uint8_t* b) {
  std::int32_t sum = 0;
  for (Index p = 0; p < tile_k; ++p) sum += std::int32_t{a[p]} * static_cast<std::int8_t>(b[p]);
  return sum;
}

void multiply(const Run& a, const Run& b, const Sums& sums, bool first, const Ahead&) {
  for (Index i = 0; i < sums.rows; ++i)
    for (Index j = 0; j < sums.cols; ++j) {
      std::int32_t& sum = sums.data[i * sums.ld + j];
      if (first) sum = 0;
      for (Index t = 0; t < a.tiles; ++t) sum += dot(a.line(i) + t * tile_bytes, b.line(j) + t * tile_bytes);
    }
}

} // namespace

const ByteKernel portable_bytes{"portable", false, multiply};

const ByteKernel& byte_kernel(Isa isa) {
#if defined(TESSERA_HAS_AMX_CODE)
  if (isa == Isa::Avx512 && has_int8_tiles()) return amx_bytes;
  if (isa == Isa::Avx512 && has_vnni()) return vnni_bytes;
  if (isa == Isa::Avx512 || isa == Isa::Avx2) return avx2_bytes;
#endif
  static_cast<void>(isa);
  return portable_bytes;
}

} // namespace tessera::cpu::int8_units
