/// The model of the matrix units, 16 columns at once.
///
/// A step of the model adds some products a·b to a chain c. All significands of operands have at most 11 bits, so that
/// a·b is exact in f32. The model aligns to the largest sum of two factors' exponents, L; with the powers of two of the
/// factors kept beside them, 2^L is the largest product of such powers. A term is then the integer part of
/// a·b·2^(25 − L), less than 2^27: eight of them fit an int32. The sum of all is exact in double, whose last 29 bits
/// are cut to get f32. This holds for L from −100 to 125, where no number on the way that counts is subnormal or
/// overflows. Other columns, and steps with NaN or Inf among their operands, are computed by the model itself.

#include "unit_sums.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

#include <tessera/detail/unit_contract.hpp>
#include <tessera/half.hpp>

#include "reference/fma_clones.hpp"

namespace tessera::host {
namespace {

namespace hopper = detail::hopper;

constexpr Index width = 16;      ///< columns of a strip, which are computed at once
constexpr Index chunk_k = 256;   ///< k of the operands that are packed at a time: a strip's stay in L1
constexpr Index most_steps = 32; ///< steps of a chunk, of 8 or 16 products

constexpr std::uint32_t exponent_bits = 0x7f800000;
constexpr float infinity = std::bit_cast<float>(exponent_bits);
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

/// What is known of the operands of a step.
enum Kind : std::uint8_t {
  Tame = 0,    ///< no power of two is less than 2^−62 or more than 2^62, so that products of powers are normal
  Finite = 1,  ///< there is no NaN and no Inf
  Special = 2, ///< NaN or Inf may be there
};

/// Packed operands: numbers as the units see them, their powers of two, and the kinds of steps.
struct Packed {
  float* numbers;
  float* powers;
  std::uint8_t* kinds;
};

/// The arrays of a call, in its scratch memory.
struct Arrays {
  alignas(64) float a_numbers[most_unit_rows * chunk_k], a_powers[most_unit_rows * chunk_k];
  alignas(64) float b_numbers[chunk_k * width], b_powers[chunk_k * width];
  alignas(64) float chains[most_unit_rows * most_unit_columns];
  alignas(64) std::uint8_t a_kinds[most_unit_rows * most_steps], b_kinds[most_steps];
};

/// Writes the powers of two of `count` numbers: 0 for zero, 2^smallest at least for others, Inf for Inf and NaN.
/// Returns their kind.
[[gnu::always_inline]] inline Kind find_powers(const float* numbers, Index count, float smallest, float* powers) {
  float least = 1, largest = 1;
  for (Index e = 0; e < count; ++e) {
    const auto bits = std::bit_cast<std::uint32_t>(numbers[e]);
    const float power = std::max(std::bit_cast<float>(bits & exponent_bits), smallest);
    const bool zero = (bits << 1) == 0;
    powers[e] = zero ? 0.0f : power;
    least = std::min(least, zero ? 1.0f : power);
    largest = std::max(largest, zero ? 1.0f : power);
  }
  return largest == infinity ? Special : least >= 0x1p-62f && largest <= 0x1p62f ? Tame : Finite;
}

/// Packs `count` k of a row of op(A), whose elements are `step` apart, and zeros behind them up to whole steps.
template <class T>
[[gnu::always_inline]] inline void pack_row(const T* a, Index step, Index count, Math math, const Packed& to) {
  const hopper::OperandFormat& format = hopper::format_of(math);
  const float smallest = std::bit_cast<float>(static_cast<std::uint32_t>(format.smallest_exponent + 127) << 23);
  const Index each = format.step, padded = (count + each - 1) / each * each;
  for (Index p = 0; p < count; ++p) to.numbers[p] = hopper::seen_by_units(a[p * step], math);
  std::fill(to.numbers + count, to.numbers + padded, 0.0f);
  for (Index p = 0; p < padded; p += each)
    to.kinds[p / each] = find_powers(to.numbers + p, each, smallest, to.powers + p);
}

/// Packs `count` k of `cols` columns of op(B): element (p, q) is at b[p·step + q·next], and goes to p·width + q. The
/// columns up to `width` and the k up to whole steps are zeros.
template <class T>
[[gnu::always_inline]] inline void pack_strip(const T* b, Index step, Index next, Index count, Index cols, Math math,
                                              const Packed& to) {
  const hopper::OperandFormat& format = hopper::format_of(math);
  const float smallest = std::bit_cast<float>(static_cast<std::uint32_t>(format.smallest_exponent + 127) << 23);
  const Index each = format.step, padded = (count + each - 1) / each * each;
  if (cols < width || padded > count) std::fill(to.numbers, to.numbers + padded * width, 0.0f);
  const auto along_rows = [&](auto columns) { // a constant number, in vectors
    for (Index p = 0; p < count; ++p)
      for (Index q = 0; q < columns; ++q) to.numbers[p * width + q] = hopper::seen_by_units(b[p * step + q], math);
  };
  if (next == 1 && cols == width)
    along_rows(std::integral_constant<Index, width>{});
  else if (next == 1)
    along_rows(cols);
  else
    for (Index q = 0; q < cols; ++q)
      for (Index p = 0; p < count; ++p) to.numbers[p * width + q] = hopper::seen_by_units(b[p * step + q * next], math);
  for (Index p = 0; p < padded; p += each)
    to.kinds[p / each] = find_powers(to.numbers + p * width, each * width, smallest, to.powers + p * width);
}

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

/// A row of op(A) and a strip: the row's packed operands, and its chains in the strip.
struct RowOfStrip {
  Packed a;
  float* chains;
};

/// Extends the chains of `rows` rows and of a vector of columns, from column `first` of the strip on, by the products
/// of step number s of the chunk. Each row waits for its own results, so that several rows keep the processor busy.
template <int step, int bytes, int rows>
[[gnu::always_inline]] inline void extend_vector(const RowOfStrip* row, const Packed& b, Index first, Index s,
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
  const float *const b_numbers = b.numbers + s * step * width + first, *const b_powers =
                                                                           b.powers + s * step * width + first;
  Floats even[rows]{}, odd[rows]{};
  for (int p = 0; p < step; p += 2)
    for (int r = 0; r < rows; ++r) {
      const float* const a_powers = row[r].a.powers + s * step + p;
      const Floats x = *reinterpret_cast<const Floats*>(b_powers + p * width) * a_powers[0];
      const Floats y = *reinterpret_cast<const Floats*>(b_powers + (p + 1) * width) * a_powers[1];
      even[r] = x > even[r] ? x : even[r];
      odd[r] = y > odd[r] ? y : odd[r];
    }
  Floats c[rows], power[rows], scale[rows];
  Words left[rows], low[rows], high[rows]{}; // sums of signed numbers; unsigned, because columns out of range overflow
  for (int r = 0; r < rows; ++r) {
    const unsigned kind = row[r].a.kinds[s] | b.kinds[s];
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
      const float* const a_numbers = row[r].a.numbers + s * step + p;
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
      add_by_model(row[r].a.numbers + s * step, b_numbers, before, columns, format, is_left, chains);
  }
}

/// Extends the chains of `rows` rows of a strip by so many steps.
using Extend = void(const RowOfStrip* row, const Packed& b, Index steps, const hopper::OperandFormat& format);

template <int step, int bytes, int rows>
[[gnu::always_inline]] inline void extend_rows(const RowOfStrip* row, const Packed& b, Index steps,
                                               const hopper::OperandFormat& format) {
  for (Index s = 0; s < steps; ++s)
    for (Index first = 0; first < width; first += bytes / 4) extend_vector<step, bytes, rows>(row, b, first, s, format);
}

/// The functions for each instruction set, which differ in the vectors' size.
template <int step, int rows>
void extend_portable(const RowOfStrip* row, const Packed& b, Index steps, const hopper::OperandFormat& format) {
  extend_rows<step, 16, rows>(row, b, steps, format);
}
#if defined(TESSERA_AVX512)
template <int step, int rows>
[[gnu::target("avx2")]] void extend_avx2(const RowOfStrip* row, const Packed& b, Index steps,
                                         const hopper::OperandFormat& format) {
  extend_rows<step, 32, rows>(row, b, steps, format);
}
template <int step, int rows>
TESSERA_AVX512 void extend_avx512(const RowOfStrip* row, const Packed& b, Index steps,
                                  const hopper::OperandFormat& format) {
  extend_rows<step, 64, rows>(row, b, steps, format);
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

/// Extends the chains of a strip in `count` rows by so many steps.
template <int step>
void extend_strip(const RowOfStrip* row, Index count, const Packed& b, Index steps,
                  const hopper::OperandFormat& format) {
  static Extend* const several = best_extend<step, rows_at_once>();
  static Extend* const one = best_extend<step, 1>();
  Index r = 0;
  for (; r + rows_at_once <= count; r += rows_at_once) several(row + r, b, steps, format);
  for (; r < count; ++r) one(row + r, b, steps, format);
}

TESSERA_WIDE_CLONES void pack_row_of(const GemmCall& call, Index i, Index first, Index count, const Packed& to) {
  visit(call.type, [&]<class T>(std::type_identity<T>) TESSERA_ALWAYS_INLINE {
    if constexpr (!std::is_same_v<T, double>) {
      const GemmOperands<T> x(call);
      pack_row(&x.at_a(i, first), x.op_a == Op::None ? 1 : x.lda, count, call.math, to);
    }
  });
}
TESSERA_WIDE_CLONES void pack_strip_of(const GemmCall& call, Index first, Index count, Index j, Index cols,
                                       const Packed& to) {
  visit(call.type, [&]<class T>(std::type_identity<T>) TESSERA_ALWAYS_INLINE {
    if constexpr (!std::is_same_v<T, double>) {
      const GemmOperands<T> x(call);
      const Index step = x.op_b == Op::None ? x.ldb : 1, next = x.op_b == Op::None ? 1 : x.ldb;
      pack_strip(&x.at_b(first, j), step, next, count, cols, call.math, to);
    }
  });
}

} // namespace

std::size_t unit_scratch_bytes() noexcept { return sizeof(Arrays); }

void unit_sums(const GemmCall& call, std::span<const Index> rows, Index first_col, Index cols, float* sums, Index ld,
               void* scratch) noexcept {
  Arrays& arrays = *static_cast<Arrays*>(scratch);
  const hopper::OperandFormat& format = hopper::format_of(call.math);
  const Index length = detail::matrix_unit_segment_length(call.k);
  const Index strips = (cols + width - 1) / width;
  const Packed b{arrays.b_numbers, arrays.b_powers, arrays.b_kinds};
  const auto count_of_rows = static_cast<Index>(rows.size());
  for (Index start = 0; start < call.k; start += length) {
    const Index end = std::min(start + length, call.k);
    std::fill_n(arrays.chains, count_of_rows * strips * width, 0.0f);
    for (Index first = start; first < end; first += chunk_k) {
      const Index count = std::min(chunk_k, end - first), steps = (count + format.step - 1) / format.step;
      std::array<RowOfStrip, most_unit_rows> row;
      for (Index r = 0; r < count_of_rows; ++r) {
        Packed& a = row[static_cast<std::size_t>(r)].a;
        a = {arrays.a_numbers + r * chunk_k, arrays.a_powers + r * chunk_k, arrays.a_kinds + r * most_steps};
        pack_row_of(call, rows[static_cast<std::size_t>(r)], first, count, a);
      }
      for (Index s = 0; s < strips; ++s) {
        pack_strip_of(call, first, count, first_col + s * width, std::min(width, cols - s * width), b);
        for (Index r = 0; r < count_of_rows; ++r)
          row[static_cast<std::size_t>(r)].chains = arrays.chains + (r * strips + s) * width;
        (format.step == 16 ? extend_strip<16> : extend_strip<8>)(row.data(), count_of_rows, b, steps, format);
      }
    }
    for (Index r = 0; r < count_of_rows; ++r)
      for (Index q = 0; q < cols; ++q) {
        const float chain = arrays.chains[r * strips * width + q];
        float& sum = sums[r * ld + q];
        sum = start == 0 ? chain : sum + chain;
      }
  }
}

} // namespace tessera::host
