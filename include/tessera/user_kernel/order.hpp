#pragma once

/// The order in which reductions and scans combine values: chunks of 1024 values in 32 lanes, folded, level by level.
/// It is one order for every backend and any number of threads, so that the bits are equal. docs/contract.md ("Sums and
/// scans") states it. An operation of the caller's own must be associative and commutative, except for rounding.
///
/// The smallest and the largest value do not depend on the order: of equal values the one of the smallest place is
/// taken, −0 and +0 are equal, and NaN comes before every number. Whole numbers wrap at 2⁶³ as unsigned ones do at 2⁶⁴.
/// Nothing is contracted into a fused multiply-add.
///
/// Source: pairwise summation; the scan within a chunk is Hillis and Steele's, "Data parallel algorithms" (1986).

#include <cstdint>
#include <type_traits>
#include <vector>

#include <tessera/user_kernel/functor.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail {

inline constexpr Index chunk_values = 1024;
inline constexpr int chunk_lanes = 32;
inline constexpr int run_length = 32; ///< neighbours of a run of a scan

TESSERA_FN constexpr Index chunks_of(Index values) { return (values + chunk_values - 1) / chunk_values; }

template <class T>
TESSERA_FN T sum_of(T x, T y) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(x) + static_cast<std::uint64_t>(y));
  else
    return x + y;
}

/// A rule says what a reduction does with the values of its functor: the type that is combined (Value), the value that
/// changes nothing, how an index's value begins, and how two values become one.
template <class T>
struct SumRule {
  using Value = T;
  TESSERA_FN Value identity() const { return T{0}; }
  TESSERA_FN Value first(T value, Index) const { return value; }
  TESSERA_FN Value join(Value x, Value y) const { return sum_of(x, y); }
};

/// A value and its number in the row-major order of the index space; a negative number: no value.
template <class T>
struct PlacedValue {
  T value;
  Index place;
};

template <class T>
TESSERA_FN bool is_nan(T x) {
  return x != x;
}

template <class T, bool largest>
struct ExtremumRule {
  using Value = PlacedValue<T>;
  TESSERA_FN Value identity() const { return {T{0}, -1}; }
  TESSERA_FN Value first(T value, Index place) const { return {value, place}; }
  /// Is x before y where both are numbers?
  TESSERA_FN static bool precedes(T x, T y) { return largest ? x > y : x < y; }
  TESSERA_FN Value join(Value x, Value y) const {
    if (y.place < 0) return x;
    if (x.place < 0) return y;
    const bool x_nan = is_nan(x.value), y_nan = is_nan(y.value);
    const bool equal = (x_nan && y_nan) || x.value == y.value;
    const bool takes_x = equal ? x.place < y.place : x_nan || (!y_nan && precedes(x.value, y.value));
    return takes_x ? x : y;
  }
};

template <class Combine>
struct CombineRule {
  using Value = std::remove_cvref_t<decltype(std::declval<const Combine&>().identity())>;
  static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) % 4 == 0 && sizeof(Value) <= 64,
                "the values of a reduction are trivially copyable, of a multiple of 4 bytes and at most 64");
  Combine combine;
  TESSERA_FN Value identity() const { return combine.identity(); }
  TESSERA_FN Value first(Value value, Index) const { return value; }
  TESSERA_FN Value join(Value x, Value y) const { return combine(x, y); }
};

/// Combines the `count` ≤ 1024 values of a chunk.
template <class Rule>
TESSERA_FN typename Rule::Value fold_values(const Rule& rule, const typename Rule::Value* values, Index count) {
  typename Rule::Value lane[chunk_lanes];
  for (int l = 0; l < chunk_lanes; ++l) lane[l] = rule.identity();
  if (count == chunk_values) {
    for (Index e = 0; e < chunk_values; e += chunk_lanes)
      for (int l = 0; l < chunk_lanes; ++l) lane[l] = rule.join(lane[l], values[e + l]);
  } else {
    for (Index e = 0; e < count; ++e) lane[e % chunk_lanes] = rule.join(lane[e % chunk_lanes], values[e]);
  }
  for (int width = chunk_lanes / 2; width > 0; width /= 2)
    for (int l = 0; l < width; ++l) lane[l] = rule.join(lane[l], lane[l + width]);
  return lane[0];
}

/// Combines the results of all chunks, in place, and returns the result.
template <class Rule>
typename Rule::Value fold_levels(const Rule& rule, typename Rule::Value* values, Index count) {
  if (count == 0) return rule.identity();
  while (count > 1) {
    const Index chunks = chunks_of(count);
    for (Index chunk = 0; chunk < chunks; ++chunk) {
      const Index first = chunk * chunk_values, left = count - first;
      values[chunk] = fold_values(rule, values + first, left < chunk_values ? left : chunk_values);
    }
    count = chunks;
  }
  return values[0];
}

/// Replaces the `count` ≤ 1024 values of a chunk by their sums up to each one.
template <class T>
TESSERA_FN void scan_values(T* values, Index count) {
  T total[chunk_values / run_length] = {};
  const Index runs = (count + run_length - 1) / run_length;
  for (Index r = 0; r < runs; ++r) {
    T* const run = values + r * run_length;
    const Index length = count - r * run_length < run_length ? count - r * run_length : run_length;
    for (Index k = 1; k < length; ++k) run[k] = sum_of(run[k - 1], run[k]);
    total[r] = run[length - 1];
  }
  for (Index d = 1; d < chunk_values / run_length; d *= 2)
    for (Index r = chunk_values / run_length - 1; r >= d; --r) total[r] = sum_of(total[r - d], total[r]);
  for (Index e = run_length; e < count; ++e) values[e] = sum_of(total[e / run_length - 1], values[e]);
}

/// Adds what came before its chunk to each value of a scan.
template <class T>
TESSERA_FN void add_before(T before, T* values, Index count) {
  for (Index e = 0; e < count; ++e) values[e] = sum_of(before, values[e]);
}

/// Replaces the totals of all chunks by their sums up to each one, in the order of a scan.
template <class T>
void scan_totals(T* totals, Index count) {
  const Index chunks = chunks_of(count);
  for (Index chunk = 0; chunk < chunks; ++chunk) {
    const Index first = chunk * chunk_values;
    scan_values(totals + first, count - first < chunk_values ? count - first : chunk_values);
  }
  if (chunks <= 1) return;
  std::vector<T> upper(static_cast<std::size_t>(chunks));
  for (Index chunk = 0; chunk < chunks; ++chunk) {
    const Index end = (chunk + 1) * chunk_values;
    upper[static_cast<std::size_t>(chunk)] = totals[(end < count ? end : count) - 1];
  }
  scan_totals(upper.data(), chunks);
  for (Index chunk = 1; chunk < chunks; ++chunk) {
    const Index first = chunk * chunk_values;
    add_before(upper[static_cast<std::size_t>(chunk - 1)], totals + first,
               count - first < chunk_values ? count - first : chunk_values);
  }
}

} // namespace tessera::detail

#include <tessera/detail/macros_on.hpp>
