/// Bytes by AMX's tiles: an instruction multiplies a tile of 16 rows and one of 16 columns, 64 k each. A square of two
/// tiles of rows and two of columns keeps its four tiles of sums in registers.

#include "cpu/gemm/common/avx512_intrinsics.hpp"

#include "byte_tiles.hpp"
#include "cpu/gemm/common/tile_config.hpp"

namespace tessera::cpu::int8_units {
namespace {

constexpr int line_bytes = 64;

/// Asks for memory, some lines at a time.
class Prefetch {
 public:
  Prefetch(const std::uint8_t* at, Index bytes, Index steps)
      : at_(at), lines_(static_cast<int>(bytes / line_bytes / steps)) {}
  void next() {
    for (int line = 0; line < lines_; ++line, at_ += line_bytes) _mm_prefetch(at_, _MM_HINT_T1);
  }

 private:
  const std::uint8_t* at_;
  int lines_;
};

/// A square of sums, and what is asked for while it is computed.
struct Square {
  std::int32_t* sums;
  const std::int32_t* next; ///< the next square's sums
  Index ld;
  bool first;
};

template <int down, int across>
void multiply_square(const Run& a, const std::uint8_t* row, const std::uint8_t* column, const Square& square,
                     Prefetch& of_a, Prefetch& of_b) {
  const Index stride = square.ld * Index{sizeof(std::int32_t)};
  std::int32_t* const sums = square.sums;
  std::int32_t* const lower = sums + tile_lines * square.ld;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  if (!square.first) {
    _tile_loadd(0, sums, stride);
    if constexpr (across > 1) _tile_loadd(1, sums + tile_lines, stride);
    if constexpr (down > 1) _tile_loadd(2, lower, stride);
    if constexpr (down > 1 && across > 1) _tile_loadd(3, lower + tile_lines, stride);
  }
  const Index group = a.group_bytes();
  constexpr Index rows_a_tile = 2 * tile_lines / run_tiles;
  const std::int32_t* next = square.next;
  for (Index t = 0; t < a.tiles; ++t, row += tile_bytes, column += tile_bytes) {
    of_a.next();
    of_b.next();
    for (Index r = 0; r < rows_a_tile; ++r, next += square.ld) {
      _mm_prefetch(next, _MM_HINT_T0);
      _mm_prefetch(next + tile_lines, _MM_HINT_T0);
    }
    _tile_loadd(6, column, line_bytes);
    _tile_loadd(4, row, line_bytes);
    _tile_dpbusd(0, 4, 6);
    if constexpr (across > 1) {
      _tile_loadd(7, column + group, line_bytes);
      _tile_dpbusd(1, 4, 7);
    }
    if constexpr (down > 1) {
      _tile_loadd(5, row + group, line_bytes);
      _tile_dpbusd(2, 5, 6);
      if constexpr (across > 1) _tile_dpbusd(3, 5, 7);
    }
  }
  _tile_stored(0, sums, stride);
  if constexpr (across > 1) _tile_stored(1, sums + tile_lines, stride);
  if constexpr (down > 1) _tile_stored(2, lower, stride);
  if constexpr (down > 1 && across > 1) _tile_stored(3, lower + tile_lines, stride);
}

void multiply(const Run& a, const Run& b, const Sums& sums, bool first, const Ahead& ahead) {
  constexpr Index side = 2 * tile_lines;
  configure_tiles(static_cast<int>(tile_lines));
  const Index steps = ((sums.rows + side - 1) / side) * ((sums.cols + side - 1) / side) * a.tiles;
  Prefetch of_a(ahead.a, ahead.a_bytes, steps), of_b(ahead.b, ahead.b_bytes, steps);
  for (Index j = 0; j < sums.cols; j += side) {
    const bool wide = sums.cols - j > tile_lines;
    for (Index i = 0; i < sums.rows; i += side) {
      const bool tall = sums.rows - i > tile_lines, ends = i + side >= sums.rows;
      std::int32_t* const here = sums.data + i * sums.ld + j;
      const Square square{here, !ends ? here + side * sums.ld : sums.data + (j + side < sums.cols ? j + side : 0),
                          sums.ld, first};
      const auto multiply_it = wide && tall ? multiply_square<2, 2>
                               : wide       ? multiply_square<1, 2>
                               : tall       ? multiply_square<2, 1>
                                            : multiply_square<1, 1>;
      multiply_it(a, a.line(i), b.line(j), square, of_a, of_b);
    }
  }
  _tile_release();
}

} // namespace

const ByteKernel amx_bytes{"amx", true, multiply};

} // namespace tessera::cpu::int8_units
