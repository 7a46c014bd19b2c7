#include "lines.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "reference/fma_clones.hpp"

namespace tessera::cpu::int8_units {
namespace {

constexpr Index chunk = run_tiles * tile_k; ///< elements of a line that are converted at once
constexpr Index quad = 4;

/// A whole number in digits of 16 bits with a sign, the least one first.
constexpr int number_digits = 4;
constexpr double digit = 0x1p16;
struct Digits {
  float at[number_digits][chunk];
};

/// Memory for a part of a group.
struct Work {
  double elements[tile_lines][chunk];
  Digits digits;
  std::uint8_t bytes[chunk];
};

/// Copies elements [first, first + count) of some lines.
void copy_elements(const Lines& x, Index first, Index count, Work& work) {
  const double* const from = x.data + first * x.k_step;
  if (x.k_step == 1) {
    for (Index i = 0; i < x.count; ++i) std::copy_n(from + i * x.line_step, count, work.elements[i]);
    return;
  }
  constexpr Index together = 8; // k whose cache lines are read for all lines while they are near
  for (Index begin = 0; begin < count; begin += together)
    for (Index i = 0; i < x.count; ++i)
      for (Index p = begin; p < std::min(begin + together, count); ++p)
        work.elements[i][p] = from[i * x.line_step + p * x.k_step];
}

/// Returns the largest magnitude as bits, which are in the order of magnitudes, or `largest` if that is larger.
TESSERA_INTEGER_CLONES std::int64_t largest_bits(const double* x, Index count, std::int64_t largest) {
  for (Index p = 0; p < count; ++p)
    largest = std::max(largest, std::bit_cast<std::int64_t>(x[p]) & std::int64_t{0x7fffffffffffffff});
  return largest;
}

/// Stores the elements' sizes and adds them to the line's facts.
TESSERA_INTEGER_CLONES void make_sizes(const double* x, Index count, double unit, int8::Line& line,
                                       std::uint8_t* __restrict sizes) {
  std::int32_t nonzeros = 0, sum = 0;
  for (Index p = 0; p < count; ++p) {
    const auto size = static_cast<std::int32_t>(std::abs(x[p]) * unit);
    nonzeros += x[p] != 0 ? 1 : 0;
    sum += size;
    sizes[p] = static_cast<std::uint8_t>(size);
  }
  line.nonzeros += nonzeros;
  line.size_sum += sum;
}

/// Makes the digits of whole numbers, which are below 2⁵³.
TESSERA_INTEGER_CLONES void make_digits(const double* __restrict x, Index count, double unit,
                                        Digits& __restrict digits) {
  for (Index p = 0; p < count; ++p) {
    double rest = std::rint(x[p] * unit);
    double upper = std::rint(rest / digit);
    digits.at[0][p] = static_cast<float>(rest - upper * digit);
    rest = upper;
    upper = std::rint(rest / digit);
    digits.at[1][p] = static_cast<float>(rest - upper * digit);
    rest = upper;
    upper = std::rint(rest / digit);
    digits.at[2][p] = static_cast<float>(rest - upper * digit);
    digits.at[3][p] = static_cast<float>(upper);
  }
}

/// Returns 2^exponent modulo a modulus, with a sign, so that it is 128 at most.
int power_modulo(int exponent, int modulus) {
  const int power = static_cast<int>((std::int64_t{1} << exponent) % modulus);
  return power > modulus / 2 ? power - modulus : power;
}

/// Stores whole numbers modulo `modulus`: from 0 on, or with a sign. The sum of weighted digits is below 2²⁴, and so
/// exact. Its quotient may be off by one where it lies in the middle between two multiples, so that a residue may be
/// half the modulus and a little more.
TESSERA_INTEGER_CLONES void make_residues(const Digits& __restrict digits, Index count, int modulus, bool has_sign,
                                          std::uint8_t* __restrict residues) {
  const auto m = static_cast<float>(modulus), inverse = 1 / m;
  const auto second = static_cast<float>(power_modulo(16, modulus)),
             third = static_cast<float>(power_modulo(32, modulus)),
             fourth = static_cast<float>(power_modulo(48, modulus));
  const std::int32_t least = has_sign ? -128 : 0, most = has_sign ? 127 : 255;
  for (Index p = 0; p < count; ++p) {
    const float sum =
        (digits.at[0][p] + digits.at[1][p] * second) + (digits.at[2][p] * third + digits.at[3][p] * fourth);
    const auto residue = static_cast<std::int32_t>(sum - std::rint(sum * inverse) * m);
    const std::int32_t up = residue < least ? modulus : 0, down = residue > most ? modulus : 0;
    residues[p] = static_cast<std::uint8_t>(residue + up - down);
  }
}

/// Stores bytes of a line from a tile on; places up to the tile's end become zeros.
void store_bytes(std::uint8_t* bytes, Index count, Form form, Index line, std::uint8_t* tile) {
  const Index padded = (count + tile_k - 1) / tile_k * tile_k;
  std::fill(bytes + count, bytes + padded, std::uint8_t{0});
  for (Index p = 0; p < padded; p += tile_k, tile += tile_bytes)
    if (form != Form::BInQuads)
      std::memcpy(tile + line * tile_k, bytes + p, tile_k);
    else
      for (Index q = 0; q < tile_k / quad; ++q)
        std::memcpy(tile + (q * tile_lines + line) * quad, bytes + p + q * quad, quad);
}

/// Makes the planes of elements [first, first + count) of a line that fits.
void pack_elements(Work& work, Index first, Index count, Index group, Index line, int bits, Form form,
                   const PackedLines& to) {
  int8::Line& facts = to.facts[group * tile_lines + line];
  const double* const x = work.elements[line];
  const auto store = [&](int plane) {
    const Run run = to.run(plane, first / chunk, group, 1);
    store_bytes(work.bytes, count, form, line, const_cast<std::uint8_t*>(run.first));
  };
  make_sizes(x, count, int8::power_of_two(int8::size_bits - facts.exponent), facts, work.bytes);
  store(residue_planes);
  make_digits(x, count, int8::power_of_two(bits - facts.exponent), work.digits);
  for (int plane = 0; plane < residue_planes; ++plane) {
    make_residues(work.digits, count, int8::moduli[static_cast<std::size_t>(plane)], form != Form::A, work.bytes);
    store(plane);
  }
}

} // namespace

PackedLines::PackedLines(Carver& carver, Index lines, Index k)
    : groups((lines + tile_lines - 1) / tile_lines), tiles((k + tile_k - 1) / tile_k) {
  data = carver.take<std::uint8_t>(static_cast<std::size_t>(planes * groups * tiles * tile_bytes));
  facts = carver.take<int8::Line>(static_cast<std::size_t>(groups * tile_lines));
}

std::size_t pack_scratch_bytes() { return sizeof(Work); }

void pack_group(const Lines& lines, Index group, Form form, const PackedLines& to, void* scratch) {
  Work& work = *static_cast<Work*>(scratch);
  const Index first_line = group * tile_lines;
  const Lines x = lines.from(first_line, std::min(tile_lines, lines.count - first_line));
  std::array<std::int64_t, tile_lines> largest{};
  for (Index first = 0; first < x.k; first += chunk) {
    const Index count = std::min(chunk, x.k - first);
    copy_elements(x, first, count, work);
    for (Index i = 0; i < x.count; ++i)
      largest[static_cast<std::size_t>(i)] =
          largest_bits(work.elements[i], count, largest[static_cast<std::size_t>(i)]);
  }
  bool has_gaps = x.count < tile_lines;
  for (Index i = 0; i < tile_lines; ++i) {
    int8::Line& line = to.facts[first_line + i] = {};
    const double value = std::bit_cast<double>(largest[static_cast<std::size_t>(i)]);
    line.exponent = int8::least_exponent;
    if (std::isfinite(value)) line.exponent = int8::exponent_of_line(value);
    if (!std::isfinite(value) || line.exponent < int8::least_exponent) line = {.exponent = 0, .nonzeros = -1};
    has_gaps = has_gaps || !line.fits();
  }
  if (has_gaps)
    for (int plane = 0; plane < planes; ++plane)
      for (Index number = 0; number < to.runs(); ++number) {
        const Run run = to.run(plane, number, group, 1);
        std::memset(const_cast<std::uint8_t*>(run.first), 0, static_cast<std::size_t>(run.group_bytes()));
      }
  const int bits = int8::whole_number_bits(x.k);
  for (Index first = 0; first < x.k; first += chunk) {
    const Index count = std::min(chunk, x.k - first);
    copy_elements(x, first, count, work);
    for (Index i = 0; i < x.count; ++i)
      if (to.facts[first_line + i].fits()) pack_elements(work, first, count, group, i, bits, form, to);
  }
}

} // namespace tessera::cpu::int8_units
