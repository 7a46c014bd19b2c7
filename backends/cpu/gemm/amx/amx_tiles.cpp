/// The kernels of AMX's tiles. This file is compiled for AMX and AVX-512; the kernels run only where the machine has
/// both.

#include "cpu/gemm/common/avx512_intrinsics.hpp"

#include "amx_tiles.hpp"
#include "cpu/gemm/common/tile_config.hpp"

namespace tessera::cpu::amx {
namespace {

constexpr int tile_bytes = 64; // a row of a tile: 16 sums, or 32 bf16

// Tiles 0 to 3 hold sums, 4 and 5 rows of A, 6 and 7 columns of B. A square at C's edge may have only one tile of rows,
// only one tile of columns, or both. An operand that is not `near` is loaded past L1, so that the operand that is
// `near` stays there.
template <int down, bool near>
inline void load_a(const std::uint16_t* at) {
  if constexpr (near) {
    _tile_loadd(4, at, tile_bytes);
    if constexpr (down > 1) _tile_loadd(5, at + tile_size, tile_bytes);
  } else {
    _tile_stream_loadd(4, at, tile_bytes);
    if constexpr (down > 1) _tile_stream_loadd(5, at + tile_size, tile_bytes);
  }
}
template <int across, bool near>
inline void load_b(const std::uint16_t* at) {
  if constexpr (near) {
    _tile_loadd(6, at, tile_bytes);
    if constexpr (across > 1) _tile_loadd(7, at + tile_size, tile_bytes);
  } else {
    _tile_stream_loadd(6, at, tile_bytes);
    if constexpr (across > 1) _tile_stream_loadd(7, at + tile_size, tile_bytes);
  }
}
template <int down, int across>
inline void add_products() {
  _tile_dpbf16ps(0, 4, 6);
  if constexpr (across > 1) _tile_dpbf16ps(1, 4, 7);
  if constexpr (down > 1) _tile_dpbf16ps(2, 5, 6);
  if constexpr (down > 1 && across > 1) _tile_dpbf16ps(3, 5, 7);
}
inline void clear_sums() {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
}
template <int down, int across>
inline void load_sums(const float* from, Index ld) {
  const Index stride = ld * Index{sizeof(float)};
  _tile_loadd(0, from, stride);
  if constexpr (across > 1) _tile_loadd(1, from + 16, stride);
  if constexpr (down > 1) _tile_loadd(2, from + 16 * ld, stride);
  if constexpr (down > 1 && across > 1) _tile_loadd(3, from + 16 * ld + 16, stride);
}
template <int down, int across>
inline void store_sums(float* to, Index ld) {
  const Index stride = ld * Index{sizeof(float)};
  _tile_stored(0, to, stride);
  if constexpr (across > 1) _tile_stored(1, to + 16, stride);
  if constexpr (down > 1) _tile_stored(2, to + 16 * ld, stride);
  if constexpr (down > 1 && across > 1) _tile_stored(3, to + 16 * ld + 16, stride);
}

inline void ask_for(Ahead& ahead, Index ld) {
  for (int line = 0; line < ahead.lines; ++line, ahead.operand += 64) _mm_prefetch(ahead.operand, _MM_HINT_T1);
  for (int row = 0; row < ahead.rows; ++row, ahead.sums += ld) {
    _mm_prefetch(ahead.sums, _MM_HINT_T0);
    _mm_prefetch(ahead.sums + 16, _MM_HINT_T0);
  }
}

/// multiply_bf16: the chains of the sums go on where they stopped, or begin if `first`.
template <bool a_near, int down, int across>
void multiply(const std::uint16_t* a, const std::uint16_t* b, Index chunks, float* sums, Index ld, bool first,
              Ahead ahead) {
  if (first)
    clear_sums();
  else
    load_sums<down, across>(sums, ld);
  for (; chunks > 0; --chunks, a += part_size, b += part_size) {
    load_b<across, !a_near>(b);
    load_a<down, a_near>(a);
    ask_for(ahead, ld);
    add_products<down, across>();
  }
  store_sums<down, across>(sums, ld);
}

/// multiply_bf16x6: adds the sum of this run of k to the sums of earlier runs in f32. The error is smaller than the
/// error of one long chain.
template <bool a_near, int down, int across>
void multiply_split(const std::uint16_t* a, const std::uint16_t* b, Index chunks, float* sums, Index ld, bool first,
                    Ahead ahead) {
  clear_sums();
  // The six products of a chunk go in an order that loads 14 tiles, not 24, and the largest product comes last.
  for (; chunks > 0; --chunks, a += parts_of_f32 * part_size, b += parts_of_f32 * part_size) {
    load_a<down, a_near>(a + 2 * part_size);
    load_b<across, !a_near>(b);
    add_products<down, across>(); // low · high
    load_a<down, a_near>(a + part_size);
    add_products<down, across>(); // middle · high
    load_b<across, !a_near>(b + part_size);
    add_products<down, across>(); // middle · middle
    load_a<down, a_near>(a);
    add_products<down, across>(); // high · middle
    load_b<across, !a_near>(b + 2 * part_size);
    add_products<down, across>(); // high · low
    ask_for(ahead, ld);
    load_b<across, !a_near>(b);
    add_products<down, across>(); // high · high
  }
  if (first) return store_sums<down, across>(sums, ld);
  alignas(64) float square[side * side];
  store_sums<down, across>(square, side);
  for (int i = 0; i < down * tile_rows; ++i)
    for (int j = 0; j < across * 16; j += 16) {
      float* to = sums + i * ld + j;
      _mm512_storeu_ps(to, _mm512_add_ps(_mm512_loadu_ps(to), _mm512_load_ps(square + i * side + j)));
    }
}

} // namespace

void configure(int rows) { configure_tiles(rows); }
void release() { _tile_release(); }

#define TESSERA_ALL_SQUARES(multiply)                                                                   \
  {                                                                                                     \
    {{multiply<false, 1, 1>, multiply<false, 1, 2>}, {multiply<false, 2, 1>, multiply<false, 2, 2>}}, { \
      {multiply<true, 1, 1>, multiply<true, 1, 2>}, { multiply<true, 2, 1>, multiply<true, 2, 2> }      \
    }                                                                                                   \
  }
const Squares multiply_bf16 = TESSERA_ALL_SQUARES(multiply);
const Squares multiply_bf16x6 = TESSERA_ALL_SQUARES(multiply_split);
#undef TESSERA_ALL_SQUARES

} // namespace tessera::cpu::amx
