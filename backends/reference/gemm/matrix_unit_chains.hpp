#pragma once

/// Chains of steps of the matrix units' model (matrix_unit.hpp), in vectors: the products of rows of op(A) and of a
/// strip of 16 columns of op(B) are added to the chains of the rows' elements in the strip.
///
/// A packed line is a row of op(A) or a strip. It is a list of packed steps, each of as many numbers of a row, or rows
/// of the strip, as the matrix units add products at once. A list of pairs says which steps of the two lines are
/// multiplied.

#include <cstdint>
#include <span>

#include <tessera/detail/matrix_unit.hpp>
#include <tessera/types.hpp>

namespace tessera::host::matrix_units {

inline constexpr Index width = 16;        ///< columns of a strip
inline constexpr Index packed_k = 256;    ///< the most numbers of a packed row: a strip's stay in L1
inline constexpr Index packed_steps = 32; ///< the most steps of a packed line, of 8 or 16 numbers
inline constexpr Index most_pairs = 32;   ///< the most pairs of steps of two packed lines

/// What is known of the operands of a step.
enum Kind : std::uint8_t {
  Tame = 0,    ///< no power of two is less than 2^−62 or more than 2^62, so that products of powers are normal
  Finite = 1,  ///< there is no NaN and no Inf
  Special = 2, ///< NaN or Inf may be there
};

/// A packed line: numbers as the matrix units see them, their powers of two, and the kinds of steps. Number p of a row
/// is at p; row p of a strip is at p·width.
struct Packed {
  float* numbers;
  float* powers;
  std::uint8_t* kinds;
};

/// A step of a packed row of op(A), and the step of a packed strip that it is multiplied by.
struct StepPair {
  std::uint8_t a;
  std::uint8_t b;
};

/// A packed row of op(A), and the chains of its `width` elements in a strip.
struct RowOfStrip {
  Packed a;
  float* chains;
};

/// Extends the chains of rows in a strip by the products of the pairs of steps, one pair after the other.
void extend_chains(std::span<const RowOfStrip> rows, const Packed& b, std::span<const StepPair> pairs,
                   const detail::hopper::OperandFormat& format);

} // namespace tessera::host::matrix_units
