#include "matrix_unit_packing.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

#include <tessera/detail/matrix_unit_contract.hpp>
#include <tessera/half.hpp>

#include "reference/fma_clones.hpp"

namespace tessera::host::matrix_units {
namespace {

namespace hopper = detail::hopper;

constexpr float infinity = std::numeric_limits<float>::infinity();

/// Writes the powers of two of `count` numbers: 0 for zero, 2^smallest at least for others, Inf for Inf and NaN.
/// Returns their kind.
[[gnu::always_inline]] inline Kind find_powers(const float* numbers, Index count, float smallest, float* powers) {
  float least = 1, largest = 1;
  for (Index e = 0; e < count; ++e) {
    const auto bits = std::bit_cast<std::uint32_t>(numbers[e]);
    const float power = std::max(std::bit_cast<float>(bits & std::bit_cast<std::uint32_t>(infinity)), smallest);
    const bool zero = (bits << 1) == 0;
    powers[e] = zero ? 0.0f : power;
    least = std::min(least, zero ? 1.0f : power);
    largest = std::max(largest, zero ? 1.0f : power);
  }
  return largest == infinity ? Special : least >= 0x1p-62f && largest <= 0x1p62f ? Tame : Finite;
}

/// Finds the powers and kinds of packed steps `first` … `last` − 1 of a row, or of a strip if `columns` is its width.
template <Index columns>
[[gnu::always_inline]] inline void find_kinds(Index first, Index last, const hopper::OperandFormat& format,
                                              const Packed& to) {
  const float smallest = std::bit_cast<float>(static_cast<std::uint32_t>(format.smallest_exponent + 127) << 23);
  const Index each = format.step * columns;
  for (Index s = first; s < last; ++s)
    to.kinds[s] = find_powers(to.numbers + s * each, each, smallest, to.powers + s * each);
}

constexpr Index steps_of(Index k, const hopper::OperandFormat& format) { return (k + format.step - 1) / format.step; }

/// Writes see(x) of `count` elements of a row, which are `step` apart.
template <class T, class See>
[[gnu::always_inline]] inline void read_row(const T* a, Index step, Index count, float* to, See see) {
  for (Index p = 0; p < count; ++p) to[p] = see(a[p * step]);
}

/// Writes see(x) of `count` k of `cols` columns: element (p, q) is at b[p·step + q·next], and goes to p·width + q. The
/// columns up to `width` are zeros.
template <class T, class See>
[[gnu::always_inline]] inline void read_strip(const T* b, Index step, Index next, Index count, Index cols, float* to,
                                              See see) {
  if (cols < width) std::fill(to, to + count * width, 0.0f);
  const auto along_rows = [&](auto columns) { // a constant number, in vectors
    for (Index p = 0; p < count; ++p)
      for (Index q = 0; q < columns; ++q) to[p * width + q] = see(b[p * step + q]);
  };
  if (next == 1 && cols == width)
    along_rows(std::integral_constant<Index, width>{});
  else if (next == 1)
    along_rows(cols);
  else
    for (Index q = 0; q < cols; ++q)
      for (Index p = 0; p < count; ++p) to[p * width + q] = see(b[p * step + q * next]);
}

template <class T>
[[gnu::always_inline]] inline void read_row_of(const GemmCall& call, Index i, Index first, Index count, float* to,
                                               auto see) {
  const GemmOperands<T> x(call);
  read_row(&x.at_a(i, first), x.op_a == Op::None ? 1 : x.lda, count, to, see);
}
template <class T>
[[gnu::always_inline]] inline void read_strip_of(const GemmCall& call, Index first, Index count, Index j, Index cols,
                                                 float* to, auto see) {
  const GemmOperands<T> x(call);
  const bool along_rows = x.op_b == Op::None;
  read_strip(&x.at_b(first, j), along_rows ? x.ldb : 1, along_rows ? 1 : x.ldb, count, cols, to, see);
}

/// Calls read(type, see), where see(x) is what the mode sees of an element x of that type.
[[gnu::always_inline]] inline void with_elements(const GemmCall& call, auto read) {
  if (call.type == DType::F16)
    read(std::type_identity<f16>{}, [](f16 x) { return hopper::seen_by_matrix_units(x, Math::Fp16); });
  else if (call.type == DType::BF16)
    read(std::type_identity<bf16>{}, [](bf16 x) { return hopper::seen_by_matrix_units(x, Math::Bf16); });
  else if (call.math == Math::Tf32)
    read(std::type_identity<float>{}, [](float x) { return hopper::seen_by_matrix_units(x, Math::Tf32); });
  else if (call.math == Math::Fp16)
    read(std::type_identity<float>{}, [](float x) { return hopper::seen_by_matrix_units(x, Math::Fp16); });
  else
    read(std::type_identity<float>{}, [](float x) { return hopper::seen_by_matrix_units(x, Math::Bf16); });
}

/// Returns an element of f32 itself.
constexpr auto as_it_is = [](float x) { return x; };

/// Splits a row, or a strip if `columns` is its width, into terms. `numbers` are `count` k of it, and are overwritten.
template <Index columns>
[[gnu::always_inline]] inline void split_numbers(float* numbers, Index count, const hopper::Emulation& how,
                                                 const Packed& to, const SplitLine& line) {
  std::uint32_t largest[columns]{};
  for (Index p = 0; p < count; ++p)
    for (Index q = 0; q < columns; ++q) {
      float& x = numbers[p * columns + q];
      const bool fits = hopper::can_be_split(x, how.scaled);
      line.unfit[q] = static_cast<std::uint8_t>(line.unfit[q] | (fits ? 0 : 1));
      x = fits ? x : 0.0f;
      largest[q] = std::max(largest[q], hopper::magnitude_bits(x));
    }
  const Index steps = steps_of(count, how.format), padded = steps * how.format.step;
  std::fill(numbers + count * columns, numbers + padded * columns, 0.0f);
  const auto split = [&]<class Term, int terms>(std::type_identity<Term>, std::integral_constant<int, terms>)
                         TESSERA_ALWAYS_INLINE {
                           for (Index p = 0; p < padded; ++p)
                             for (Index q = 0; q < columns; ++q) {
                               const auto parts = hopper::split<Term, terms>(numbers[p * columns + q]);
                               for (Index t = 0; t < terms; ++t)
                                 to.numbers[(t * how.chain_k + p) * columns + q] = parts[static_cast<std::size_t>(t)];
                             }
                         };
  if (how.scaled) {
    float scales[columns];
    for (Index q = 0; q < columns; ++q) {
      const hopper::ChunkScale scale(largest[q]);
      scales[q] = scale.scale;
      line.factors[q] = scale.factor;
    }
    for (Index p = 0; p < count; ++p)
      for (Index q = 0; q < columns; ++q) numbers[p * columns + q] *= scales[q];
    if (how.terms == 1)
      split(std::type_identity<f16>{}, std::integral_constant<int, hopper::scaled_fp16.terms>{});
    else
      split(std::type_identity<f16>{}, std::integral_constant<int, hopper::fp16x3.terms>{});
  } else {
    split(std::type_identity<bf16>{}, std::integral_constant<int, hopper::bf16x6.terms>{});
  }
  const Index all_steps = how.chain_k / how.format.step;
  for (Index t = 0; t < how.terms; ++t) find_kinds<columns>(t * all_steps, t * all_steps + steps, how.format, to);
}

} // namespace

TESSERA_WIDE_CLONES void pack_row(const GemmCall& call, Index i, Index first, Index count, const Packed& to) {
  const hopper::OperandFormat& format = hopper::format_of(call.math);
  const Index steps = steps_of(count, format);
  with_elements(call, [&]<class T>(std::type_identity<T>, auto see)
                          TESSERA_ALWAYS_INLINE { read_row_of<T>(call, i, first, count, to.numbers, see); });
  std::fill(to.numbers + count, to.numbers + steps * format.step, 0.0f);
  find_kinds<1>(0, steps, format, to);
}
TESSERA_WIDE_CLONES void pack_strip(const GemmCall& call, Index first, Index count, Index j, Index cols,
                                    const Packed& to) {
  const hopper::OperandFormat& format = hopper::format_of(call.math);
  const Index steps = steps_of(count, format);
  with_elements(call, [&]<class T>(std::type_identity<T>, auto see)
                          TESSERA_ALWAYS_INLINE { read_strip_of<T>(call, first, count, j, cols, to.numbers, see); });
  std::fill(to.numbers + count * width, to.numbers + steps * format.step * width, 0.0f);
  find_kinds<width>(0, steps, format, to);
}

TESSERA_WIDE_CLONES void split_row(const GemmCall& call, Index i, Index first, Index count, const Packed& to,
                                   const SplitLine& line) {
  alignas(64) float numbers[detail::emulated_chunk];
  read_row_of<float>(call, i, first, count, numbers, as_it_is);
  split_numbers<1>(numbers, count, hopper::emulation_of(call.math), to, line);
}
TESSERA_WIDE_CLONES void split_strip(const GemmCall& call, Index first, Index count, Index j, Index cols,
                                     const Packed& to, const SplitLine& line) {
  alignas(64) float numbers[detail::emulated_chunk * width];
  read_strip_of<float>(call, first, count, j, cols, numbers, as_it_is);
  split_numbers<width>(numbers, count, hopper::emulation_of(call.math), to, line);
}

TESSERA_WIDE_CLONES void copy_strip(const GemmCall& call, Index first, Index count, Index j, Index cols, float* to) {
  read_strip_of<float>(call, first, count, j, cols, to, as_it_is);
}

} // namespace tessera::host::matrix_units
