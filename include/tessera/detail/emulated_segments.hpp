#pragma once

/// Says how the emulated modes (EmulatedFp16x3, EmulatedBf16x6, ScaledFp16) cut k. A chunk is what the matrix units add
/// up before the sum goes on in f32; in the modes of f16 terms each chunk of a row has a scale of its own. A segment is
/// some chunks, whose sums are added in ascending order, and so are the sums of the segments. The cuts depend on k
/// alone, so that a result depends on its row, its column and k, and on nothing that shares the product with it.

#include <algorithm>

#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail {

/// Returns the k up to which an emulated mode is the strict product: it takes less time than splitting the operands.
/// The limit is lower where one product, and not three or six, has to make up for that.
constexpr Index emulated_strict_k(Math math) noexcept { return math == Math::ScaledFp16 ? 64 : 256; }

inline constexpr Index emulated_chunk = 128; ///< k of a chunk

/// Returns the number of chunks of each segment but the last one, which may have fewer. More than four segments would
/// cost large products time, which keep the sums of segments in memory.
constexpr Index emulated_segment_chunks(Index k) noexcept {
  const Index chunks = (k + emulated_chunk - 1) / emulated_chunk;
  return std::max<Index>(8, (chunks + 3) / 4);
}

} // namespace tessera::detail

#include <tessera/detail/macros_on.hpp>
