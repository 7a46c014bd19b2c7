#pragma once

/// The sum of squares of whole numbers, exact in any order of additions, for the loops of the host and of devices.
///
/// A square is at most 2⁶², so two numbers below 2⁶³ add up without a carry out of 64 bits. Bit 63 says that the sum
/// has reached 2⁶³, which int64 does not hold. It is never taken back: no term is negative, so a part of a sum that is
/// too large makes the whole too large. Every order of additions thus gives one sum, or one refusal.

#include <algorithm>
#include <cstdint>
#include <new>
#include <string>

#include <tessera/backend/kernel.hpp>
#include <tessera/detail/export.hpp>
#include <tessera/status.hpp>

namespace tessera::host {

/// A sum below 2⁶³, or the mark that there is none. It has no initialiser, because kernels have arrays of it in shared
/// memory; WholeSum{} is 0.
struct WholeSum {
  std::uint64_t bits;

  static constexpr std::uint64_t too_large = std::uint64_t{1} << 63;

  TESSERA_HOST_DEVICE static WholeSum square(std::int32_t x) {
    const std::int64_t wide = x;
    return {static_cast<std::uint64_t>(wide * wide)};
  }
  TESSERA_HOST_DEVICE WholeSum& operator+=(WholeSum other) {
    bits = (bits + other.bits) | ((bits | other.bits) & too_large);
    return *this;
  }
  TESSERA_HOST_DEVICE friend WholeSum operator+(WholeSum x, WholeSum y) { return x += y; }
};

inline constexpr Index whole_lanes = 32;

/// Returns the sum of the squares of `count` neighbours. The lanes are there for vector instructions.
inline WholeSum sum_of_neighbours(const std::int32_t* x, Index count) {
  WholeSum lane[whole_lanes] = {};
  Index e = 0;
  for (; e + whole_lanes <= count; e += whole_lanes)
    for (Index l = 0; l < whole_lanes; ++l) lane[l] += WholeSum::square(x[e + l]);
  WholeSum sum{};
  for (; e < count; ++e) sum += WholeSum::square(x[e]);
  for (const WholeSum& part : lane) sum += part;
  return sum;
}

/// Adds the squares of the elements first … last − 1 of a matrix, row by row. `neighbours` adds the squares of elements
/// of one row.
template <class Neighbours>
WholeSum sum_of_elements(const ReduceCall& call, Index first, Index last, const Neighbours& neighbours) {
  const auto* x = static_cast<const std::int32_t*>(call.x);
  WholeSum sum{};
  if (call.ldx == call.cols) return first < last ? neighbours(x + first, last - first) : sum;
  for (Index e = first; e < last;) {
    const Index col = e % call.cols;
    const Index count = std::min(call.cols - col, last - e);
    sum += neighbours(x + e / call.cols * call.ldx + col, count);
    e += count;
  }
  return sum;
}

/// Sets the result of a reduction, or returns why there is none.
inline Status set_whole(const ReduceCall& call, WholeSum sum, ReduceResult& result) noexcept try {
  if ((sum.bits & WholeSum::too_large) != 0)
    return Status::failure(StatusCode::InvalidArgument,
                           "sum_of_squares: the squares of these " + std::to_string(call.rows * call.cols) +
                               " whole numbers add up to 2^63 or more, and int64 ends at 2^63 - 1; add shorter parts, "
                               "or take f64 numbers");
  result.whole = static_cast<std::int64_t>(sum.bits);
  result.value = static_cast<double>(result.whole);
  return {};
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

/// The kernel `canonical` of whole numbers that runs `run`.
constexpr ReduceKernel whole_row(const char* summary, decltype(ReduceKernel::run) run) {
  return {.name = "canonical",
          .summary = summary,
          .source = "CUDA course",
          .type = DType::I32,
          .summation = Summation::Canonical,
          .run = run};
}

} // namespace tessera::host
