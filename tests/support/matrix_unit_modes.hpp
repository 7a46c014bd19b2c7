#pragma once

/// The modes of matrix units that have a contract (docs/contract.md), for tests of each of them.

#include <tuple>

#include <tessera/detail/matrix_unit_contract.hpp>
#include <tessera/half.hpp>
#include <tessera/matrix.hpp>
#include <tessera/random.hpp>

namespace tessera::test {

/// A mode of matrix units and the type of its operands.
template <class T, Math mode>
struct Mode {
  using Element = T;
  static constexpr Math math = mode;
  static constexpr bool emulated = detail::hopper::is_emulated(mode);
  /// The exponents of normal numbers that the matrix units see.
  static constexpr float least = mode == Math::Fp16 ? -14 : -126, end = mode == Math::Fp16 ? 15 : 127;
};
using AsTf32 = Mode<float, Math::Tf32>;
using Fp16x3 = Mode<float, Math::EmulatedFp16x3>;
using Bf16x6 = Mode<float, Math::EmulatedBf16x6>;
using ScaledFp16 = Mode<float, Math::ScaledFp16>;
using WholeModes =
    std::tuple<AsTf32, Mode<f16, Math::Fp16>, Mode<bf16, Math::Bf16>, Mode<float, Math::Fp16>, Mode<float, Math::Bf16>>;
using Modes = std::tuple<AsTf32, Mode<f16, Math::Fp16>, Mode<bf16, Math::Bf16>, Mode<float, Math::Fp16>,
                         Mode<float, Math::Bf16>, Fp16x3, Bf16x6, ScaledFp16>;

/// Returns a matrix whose elements have exponents between these.
template <class T>
Matrix<T> drawn(Index rows, Index cols, std::uint64_t seed, float low, float high) {
  Matrix<T> x(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j)
      x(i, j) = static_cast<T>(
          random_element<float>(Distribution::Wide, seed, static_cast<std::uint64_t>(i * cols + j), low, high));
  return x;
}

} // namespace tessera::test
