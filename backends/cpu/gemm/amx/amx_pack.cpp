/// Packs operands for AMX's tiles. This file is compiled for AVX-512 with BW, which processors with AMX have.

#include "cpu/gemm/common/avx512_intrinsics.hpp"

#include "amx_tiles.hpp"

namespace tessera::cpu::amx {
namespace {

constexpr int row_size = 32; // bf16 in a row of a tile

/// Joins two vectors of sixteen bf16, each in the low half of a 32-bit word, into one vector of 32.
__m512i join(__m512i low, __m512i high) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi32_epi16(low)), _mm512_cvtepi32_epi16(high), 1);
}

/// Rounds f32 to bf16, to nearest, ties to even; the result is in the high halves of the words. The caller handles NaN.
__m512i rounded(__m512i bits) {
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  return _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF)));
}

/// Keeps the least magnitude that is not 0. It subtracts 1 from each magnitude, so that 0 becomes the largest.
class LeastMagnitude {
 public:
  void look_at(__m512i x) {
    const __m512i magnitude = _mm512_and_si512(x, _mm512_set1_epi16(0x7FFF));
    least_ = _mm512_min_epu16(least_, _mm512_sub_epi16(magnitude, _mm512_set1_epi16(1)));
  }
  unsigned value() const {
    alignas(64) std::uint16_t all[32];
    _mm512_store_si512(all, least_);
    unsigned least = all[0];
    for (const std::uint16_t value : all) least = value < least ? value : least;
    return least;
  }

 private:
  __m512i least_ = _mm512_set1_epi16(-1);
};

/// A source of bf16 elements. Each source class loads up to 32 neighbours, with zeros for the rest, and gives them as
/// `parts` vectors of bf16. outcome() is what the function `Pack` returns.
class Bf16Source {
 public:
  using Element = std::uint16_t;
  static constexpr int parts = 1;
  void load(const Element* from, __mmask32 which, __m512i* to) {
    *to = _mm512_maskz_loadu_epi16(which, from);
    least_.look_at(*to);
  }
  unsigned outcome() const { return least_.value(); }

 private:
  LeastMagnitude least_;
};

/// Rounds sixteen f32 to bf16, in the low halves of the words. NaN stays NaN.
__m512i narrow_16(__m512 x) {
  const __m512i bits = _mm512_castps_si512(x);
  const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
  const __m512i narrowed = _mm512_mask_or_epi32(rounded(bits), nan, bits, _mm512_set1_epi32(0x00400000));
  return _mm512_srli_epi32(narrowed, 16);
}

/// Rounds f32 elements to bf16.
class RoundedSource {
 public:
  using Element = float;
  static constexpr int parts = 1;
  void load(const Element* from, __mmask32 which, __m512i* to) {
    *to = join(narrow_16(_mm512_maskz_loadu_ps(static_cast<__mmask16>(which), from)),
               narrow_16(_mm512_maskz_loadu_ps(static_cast<__mmask16>(which >> 16), from + 16)));
    least_.look_at(*to);
  }
  unsigned outcome() const { return least_.value(); }

 private:
  LeastMagnitude least_;
};

/// Splits f32 elements into three bf16 parts.
class SplitSource {
 public:
  using Element = float;
  static constexpr int parts = parts_of_f32;
  void load(const Element* from, __mmask32 which, __m512i* to) {
    __m512 low = _mm512_maskz_loadu_ps(static_cast<__mmask16>(which), from);
    __m512 high = _mm512_maskz_loadu_ps(static_cast<__mmask16>(which >> 16), from + 16);
    unfit_ = static_cast<__mmask16>(unfit_ | unfit(low) | unfit(high));
    for (int part = 0; part < parts; ++part) {
      const __m512i first = next_part(low); // before `high`
      to[part] = join(first, next_part(high));
    }
  }
  unsigned outcome() const { return unfit_ == 0 ? all_zero : 0; }

 private:
  /// Returns the next part of what is left of sixteen elements, in the low halves of the words, and subtracts it from
  /// `left`.
  static __m512i next_part(__m512& left) {
    const __m512i part =
        _mm512_and_si512(rounded(_mm512_castps_si512(left)), _mm512_set1_epi32(static_cast<int>(0xFFFF0000u)));
    left = _mm512_sub_ps(left, _mm512_castsi512_ps(part));
    return _mm512_srli_epi32(part, 16);
  }

  /// Returns the mask of the elements that three parts do not hold. They hold 0, and magnitudes from 2⁻¹¹⁰, so that no
  /// part is subnormal, to below 2¹²⁷·1.9921875.
  static __mmask16 unfit(__m512 x) {
    const __m512i size = _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(0x7FFFFFFF));
    const __mmask16 large = _mm512_cmpge_epu32_mask(size, _mm512_set1_epi32(0x7F7F0000));
    const __mmask16 small = _mm512_cmplt_epu32_mask(size, _mm512_set1_epi32((127 - 110) << 23));
    return static_cast<__mmask16>(large | (small & _mm512_test_epi32_mask(size, size)));
  }

  __mmask16 unfit_ = 0;
};

/// Transposes a tile of sixteen rows of sixteen pairs, in place.
void transpose(std::uint16_t* tile) {
  __m512i x[16], y[16];
  for (int i = 0; i < 16; ++i) x[i] = _mm512_loadu_si512(tile + i * row_size);
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    y[i] = _mm512_unpacklo_epi32(x[i], x[i + 1]);
    y[i + 1] = _mm512_unpackhi_epi32(x[i], x[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4)
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      x[i + 2 * half] = _mm512_unpacklo_epi64(y[i + half], y[i + half + 2]);
      x[i + 2 * half + 1] = _mm512_unpackhi_epi64(y[i + half], y[i + half + 2]);
    }
    // x[4g + c] has column 4q + c of rows 4g to 4g + 3 in its quarter q.
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    const __m512i even_low = _mm512_shuffle_i32x4(x[c], x[4 + c], 0x88),
                  even_high = _mm512_shuffle_i32x4(x[8 + c], x[12 + c], 0x88);
    const __m512i odd_low = _mm512_shuffle_i32x4(x[c], x[4 + c], 0xDD),
                  odd_high = _mm512_shuffle_i32x4(x[8 + c], x[12 + c], 0xDD);
    _mm512_storeu_si512(tile + c * row_size, _mm512_shuffle_i32x4(even_low, even_high, 0x88));
    _mm512_storeu_si512(tile + (4 + c) * row_size, _mm512_shuffle_i32x4(odd_low, odd_high, 0x88));
    _mm512_storeu_si512(tile + (8 + c) * row_size, _mm512_shuffle_i32x4(even_low, even_high, 0xDD));
    _mm512_storeu_si512(tile + (12 + c) * row_size, _mm512_shuffle_i32x4(odd_low, odd_high, 0xDD));
  }
}

/// Returns the mask of the first `count` elements.
__mmask32 first_of(Index count) { return count >= 32 ? ~__mmask32{0} : count <= 0 ? 0 : (__mmask32{1} << count) - 1; }

/// Some rows of the operand as it is stored, cut into pieces of 32 elements. A row is read to its end before the next
/// one, because processors fetch only few streams ahead at a time.
template <class Source>
struct OperandRows {
  const typename Source::Element* first;
  Index ld;
  Index lines, length; ///< rows, and elements of a row, that the operand has from here on
  Index pieces, step;  ///< pieces of a row, and the distance between them where they are stored, in bf16

  const typename Source::Element* at(Index line, Index piece) const { return first + line * ld + piece * row_size; }
  __mmask32 which(Index piece) const { return first_of(length - piece * row_size); }
};

/// Copies rows of the operand into rows of pairs, as A's tiles have them.
template <class Source>
void copy_lines(Source& source, const OperandRows<Source>& x, std::uint16_t* to) {
  for (Index line = 0; line < side; ++line)
    for (Index piece = 0; piece < x.pieces; ++piece) {
      __m512i value[Source::parts] = {};
      if (line < x.lines) source.load(x.at(line, piece), x.which(piece), value);
      for (int part = 0; part < Source::parts; ++part)
        _mm512_storeu_si512(to + piece * x.step + part * part_size + line * row_size, value[part]);
    }
}

/// Interleaves neighbouring rows of the operand into pairs of neighbouring k, as B's tiles have them.
template <class Source>
void interleave_lines(Source& source, const OperandRows<Source>& x, std::uint16_t* to) {
  const __m512i ascending = _mm512_set_epi16(15, 15, 14, 14, 13, 13, 12, 12, 11, 11, 10, 10, 9, 9, 8, 8, 7, 7, 6, 6, 5,
                                             5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0);
  const __m512i from_second = _mm512_set1_epi32(32 << 16); // odd places take elements of the second vector
  const __m512i low = _mm512_add_epi16(ascending, from_second);
  const __m512i high = _mm512_add_epi16(low, _mm512_set1_epi16(16));
  for (Index line = 0; line < chunk; line += 2, to += row_size)
    for (Index piece = 0; piece < x.pieces; ++piece) {
      __m512i even[Source::parts] = {}, odd[Source::parts] = {};
      if (line < x.lines) source.load(x.at(line, piece), x.which(piece), even);
      if (line + 1 < x.lines) source.load(x.at(line + 1, piece), x.which(piece), odd);
      for (int part = 0; part < Source::parts; ++part) {
        std::uint16_t* const tile = to + piece * x.step + part * part_size;
        _mm512_storeu_si512(tile, _mm512_permutex2var_epi16(even[part], low, odd[part]));
        _mm512_storeu_si512(tile + tile_size, _mm512_permutex2var_epi16(even[part], high, odd[part]));
      }
    }
}

/// The function `Pack` for a source.
template <class Source>
unsigned pack(const Operand& x, Index strip, Index number, Index pieces, bool b, std::uint16_t* to, Index step) {
  const Index outer = strip * side, k = number * chunk;
  const Index outer_left = x.outer - outer, k_left = x.k - k;
  const auto* const data = static_cast<const typename Source::Element*>(x.data);
  Source source;
  const Index together = Source::parts == 1 ? pieces : 1; // three parts write more than L1 holds
  for (Index piece = 0; piece < pieces; piece += together, to += together * step) {
    const Index done = piece * row_size;
    if (x.along_k)
      copy_lines<Source>(source, {data + outer * x.ld + k + done, x.ld, outer_left, k_left - done, together, step}, to);
    else
      interleave_lines<Source>(source,
                               {data + k * x.ld + outer + done, x.ld, k_left, outer_left - done, together, step}, to);
    if (x.along_k != b) continue;
    for (Index of = 0; of < together; ++of)
      for (int tile = 0; tile < 2 * Source::parts; ++tile) transpose(to + of * step + tile * tile_size);
  }
  return source.outcome();
}

} // namespace

void narrow(const float* from, Index count, std::uint16_t* to) {
  for (Index i = 0; i < count; i += 16) {
    const auto which = static_cast<__mmask16>(first_of(count - i));
    const __m256i x = _mm512_cvtepi32_epi16(narrow_16(_mm512_maskz_loadu_ps(which, from + i)));
    _mm256_mask_storeu_epi16(to + i, which, x);
  }
}

const Pack pack_bf16 = pack<Bf16Source>;
const Pack pack_rounded = pack<RoundedSource>;
const Pack pack_split = pack<SplitSource>;

} // namespace tessera::cpu::amx
