#pragma once

/// Says how the modes of the matrix units (Tf32, Bf16, Fp16) cut k. A segment is one chain of matrix instructions,
/// which begins with zero, and the sums of the segments are added in f32 in ascending order. The cuts depend on k
/// alone, so that a result depends on its row, its column and k, and on nothing that shares the product with it.

#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail {

/// All segments but the last one have a multiple of this k, which every kernel reads in whole stages.
inline constexpr Index matrix_unit_granule = 128;

/// Returns the number of segments of k. Few, because the first sums of a large tile have to be kept somewhere; more
/// than one from a medium k on, because products of few results would otherwise leave most of a GPU idle.
constexpr Index matrix_unit_segments(Index k) noexcept {
  return k <= 2048 ? 1 : k <= 6144 ? 2 : k <= 32768 ? 4 : (k + 8191) / 8192;
}

/// Returns the k of each segment but the last one, which has the rest.
constexpr Index matrix_unit_segment_length(Index k) noexcept {
  const Index pieces = matrix_unit_segments(k) * matrix_unit_granule;
  return (k + pieces - 1) / pieces * matrix_unit_granule;
}

/// Returns how deep the slices of k are whose products, added in ascending order, have the bits of the whole product:
/// a segment, where a product of that k is one segment itself, and otherwise all of k.
constexpr Index matrix_unit_slice(Index k) noexcept {
  const Index length = matrix_unit_segment_length(k);
  return length < k && matrix_unit_segments(length) == 1 ? length : k;
}

} // namespace tessera::detail

#include <tessera/detail/macros_on.hpp>
