/// A step of the model adds some products a·b to a chain c. All significands of operands have at most 11 bits, so that
/// a·b is exact in f32. The model aligns to the largest sum of two factors' exponents, L; with the powers of two of the
/// factors kept beside them, 2^L is the largest product of such powers. A term is then the integer part of
/// a·b·2^(25 − L), less than 2^27: eight of them fit an int32. The sum of all is exact in double, whose last 29 bits
/// are cut to get f32. This holds for L from −100 to 125, where no number on the way that counts is subnormal or
/// overflows. Other columns, and steps with NaN or Inf among their operands, are computed by the model itself.

#include "matrix_unit_chains.hpp"

#include <array>
#include <bit>

#include "reference/fma_clones.hpp"

namespace tessera::host::matrix_units {
namespace {

namespace hopper = detail::hopper;

constexpr std::uint32_t exponent_bits = 0x7f800000;
constexpr float least_power = 0x1p-100f, largest_power = 0x1p125f; ///< 2^L of columns that vectors compute

/// Vectors of so many bytes, as a processor has them, and of half as many elements that become doubles.
template <int bytes>
struct Vectors {
  typedef float Floats __attribute__((vector_size(bytes), may_alias));
  typedef std::uint32_t Words __attribute__((vector_size(bytes), may_alias));
  typedef std::int32_t Integers __attribute__((vector_size(bytes), may_alias));
  typedef float HalfFloats __attribute__((vector_size(bytes / 2), may_alias));
  typedef std::int32_t HalfIntegers __attribute__((vector_size(bytes / 2), may_alias));
  typedef double Doubles __attribute__((vector_size(bytes)));
  typedef std::uint64_t LongWords __attribute__((vector_size(bytes)));
};

/// Adds a step's products to the chains of the columns whose sign `is_left` has, by the model.
[[gnu::noinline]] void add_by_model(const float* a, const float* b, const float* before, Index columns,
                                    const hopper::OperandFormat& format, const std::int32_t* is_left, float* chains) {
  const auto count = static_cast<std::size_t>(format.step);
  std::array<float, 16> column;
  for (Index q = 0; q < columns; ++q) {
    if (is_left[q] >= 0) continue;
    for (std::size_t p = 0; p < count; ++p) column[p] = b[static_cast<Index>(p) * width + q];
    chains[q] = hopper::multiply_add({a, count}, {column.data(), count}, before[q], format);
  }
}

/// Extends the chains of `rows` rows and of a vector of columns, from column `first` of the strip on, by the products
/// of a pair of steps. Each row waits for its own results, so that several rows keep the processor busy.
template <int step, int bytes, int rows>
[[gnu::always_inline]] inline void extend_vector(const RowOfStrip* row, const Packed& b, Index first, StepPair pair,
                                                 const hopper::OperandFormat& format) {
  static_assert(step <= 16, "eight terms fit each of two sums");
  using Floats = typename Vectors<bytes>::Floats;
  using Words = typename Vectors<bytes>::Words;
  using Integers = typename Vectors<bytes>::Integers;
  using HalfFloats = typename Vectors<bytes>::HalfFloats;
  using HalfIntegers = typename Vectors<bytes>::HalfIntegers;
  using Doubles = typename Vectors<bytes>::Doubles;
  using LongWords = typename Vectors<bytes>::LongWords;
  constexpr auto least = std::bit_cast<std::uint32_t>(least_power),
                 largest = std::bit_cast<std::uint32_t>(largest_power);
  constexpr int columns = bytes / 4;
  const Index a_at = pair.a * Index{step}, b_at = pair.b * Index{step} * width + first;
  const float *const b_numbers = b.numbers + b_at, *const b_powers = b.powers + b_at;
  Floats even[rows]{}, odd[rows]{};
  for (int p = 0; p < step; p += 2)
    for (int r = 0; r < rows; ++r) {
      const float* const a_powers = row[r].a.powers + a_at + p;
      const Floats x = *reinterpret_cast<const Floats*>(b_powers + p * width) * a_powers[0];
      const Floats y = *reinterpret_cast<const Floats*>(b_powers + (p + 1) * width) * a_powers[1];
      even[r] = x > even[r] ? x : even[r];
      odd[r] = y > odd[r] ? y : odd[r];
    }
  Floats c[rows], power[rows], scale[rows];
  Words left[rows], low[rows], high[rows]{}; // sums of signed numbers; unsigned, because columns out of range overflow
  for (int r = 0; r < rows; ++r) {
    const unsigned kind = row[r].a.kinds[pair.a] | b.kinds[pair.b];
    c[r] = *reinterpret_cast<const Floats*>(row[r].chains + first);
    const Words c_bits = reinterpret_cast<Words>(c[r]) & 0x7fffffffu;
    const Floats of_c = reinterpret_cast<Floats>(c_bits & exponent_bits);
    const Floats of_products = even[r] > odd[r] ? even[r] : odd[r];
    power[r] = of_products > of_c ? of_products : of_c;
    const Words bits = reinterpret_cast<Words>(power[r]);
    scale[r] = reinterpret_cast<Floats>((std::uint32_t{127 + 127 + 25} << 23) - bits);
    low[r] = reinterpret_cast<Words>(__builtin_convertvector(c[r] * scale[r], Integers));
    // Negative where the power is out of range, unless all products and the chain are zero: a power of 0 says so of the
    // products of tame operands. Where operands are special, a product of 0 and Inf may be missing in the power.
    const Words range = (bits - least) | (largest - bits), nonzero = ~((bits | c_bits) - 1u);
    left[r] = (range & (nonzero | (kind == Tame ? 0u : ~0u))) | ((kind & Special) != 0 ? ~0u : 0u);
  }
  for (int p = 0; p < step / 2; ++p)
    for (int r = 0; r < rows; ++r) {
      const float* const a_numbers = row[r].a.numbers + a_at + p;
      const Floats x = *reinterpret_cast<const Floats*>(b_numbers + p * width) * a_numbers[0];
      const Floats y = *reinterpret_cast<const Floats*>(b_numbers + (p + step / 2) * width) * a_numbers[step / 2];
      low[r] += reinterpret_cast<Words>(__builtin_convertvector(x * scale[r], Integers));
      high[r] += reinterpret_cast<Words>(__builtin_convertvector(y * scale[r], Integers));
    }
  for (int r = 0; r < rows; ++r) {
    alignas(64) std::int32_t low_terms[columns], high_terms[columns], is_left[columns];
    alignas(64) float before[columns], powers[columns];
    *reinterpret_cast<Floats*>(before) = c[r];
    *reinterpret_cast<Floats*>(powers) = power[r];
    *reinterpret_cast<Words*>(low_terms) = low[r];
    *reinterpret_cast<Words*>(high_terms) = high[r];
    *reinterpret_cast<Words*>(is_left) = left[r];
    float* const chains = row[r].chains + first;
    for (int q = 0; q < columns; q += columns / 2) {
      const Doubles sum = __builtin_convertvector(*reinterpret_cast<const HalfIntegers*>(low_terms + q), Doubles) +
                          __builtin_convertvector(*reinterpret_cast<const HalfIntegers*>(high_terms + q), Doubles);
      const Doubles unit = __builtin_convertvector(*reinterpret_cast<const HalfFloats*>(powers + q), Doubles) * 0x1p-25;
      const auto cut = reinterpret_cast<Doubles>(reinterpret_cast<LongWords>(sum * unit) & ~std::uint64_t{0x1fffffff});
      *reinterpret_cast<HalfFloats*>(chains + q) = __builtin_convertvector(cut, HalfFloats);
    }
    std::int32_t any_left = 0;
    for (int q = 0; q < columns; ++q) any_left |= is_left[q];
    if (any_left < 0) [[unlikely]]
      add_by_model(row[r].a.numbers + a_at, b_numbers, before, columns, format, is_left, chains);
  }
}

/// Extends the chains of some rows in a strip, whose number is known when this is compiled.
using Extend = void(const RowOfStrip* row, const Packed& b, std::span<const StepPair> pairs,
                    const hopper::OperandFormat& format);

template <int step, int bytes, int rows>
[[gnu::always_inline]] inline void extend_rows(const RowOfStrip* row, const Packed& b, std::span<const StepPair> pairs,
                                               const hopper::OperandFormat& format) {
  for (const StepPair pair : pairs)
    for (Index first = 0; first < width; first += bytes / 4)
      extend_vector<step, bytes, rows>(row, b, first, pair, format);
}

/// The functions for each instruction set, which differ in the vectors' size.
template <int step, int rows>
void extend_portable(const RowOfStrip* row, const Packed& b, std::span<const StepPair> pairs,
                     const hopper::OperandFormat& format) {
  extend_rows<step, 16, rows>(row, b, pairs, format);
}
#if defined(TESSERA_AVX512)
template <int step, int rows>
[[gnu::target("avx2")]] void extend_avx2(const RowOfStrip* row, const Packed& b, std::span<const StepPair> pairs,
                                         const hopper::OperandFormat& format) {
  extend_rows<step, 32, rows>(row, b, pairs, format);
}
template <int step, int rows>
TESSERA_AVX512 void extend_avx512(const RowOfStrip* row, const Packed& b, std::span<const StepPair> pairs,
                                  const hopper::OperandFormat& format) {
  extend_rows<step, 64, rows>(row, b, pairs, format);
}
#endif

template <int step, int rows>
Extend* best_extend() {
#if defined(TESSERA_AVX512)
  if (__builtin_cpu_supports("avx512f")) return extend_avx512<step, rows>;
  if (__builtin_cpu_supports("avx2")) return extend_avx2<step, rows>;
#endif
  return extend_portable<step, rows>;
}

constexpr Index rows_at_once = 4;

/// Extends the chains of rows by steps of so many products.
template <int step>
void extend(std::span<const RowOfStrip> rows, const Packed& b, std::span<const StepPair> pairs,
            const hopper::OperandFormat& format) {
  static Extend* const several = best_extend<step, rows_at_once>();
  static Extend* const one = best_extend<step, 1>();
  const auto count = static_cast<Index>(rows.size());
  Index r = 0;
  for (; r + rows_at_once <= count; r += rows_at_once) several(rows.data() + r, b, pairs, format);
  for (; r < count; ++r) one(rows.data() + r, b, pairs, format);
}

} // namespace

void extend_chains(std::span<const RowOfStrip> rows, const Packed& b, std::span<const StepPair> pairs,
                   const hopper::OperandFormat& format) {
  (format.step == 16 ? extend<16> : extend<8>)(rows, b, pairs, format);
}

} // namespace tessera::host::matrix_units
