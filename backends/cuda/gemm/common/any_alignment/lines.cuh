#pragma once

/// Reads vectors of eight 16-bit elements from lines that may begin at any element: the two aligned chunks of 16 bytes
/// that hold a vector are read whole, and the vector is shifted out of them when it is needed. Both chunks of a
/// neighbour's vector are in the L1 cache by then, so a line costs memory its bytes and no more. There is no branch
/// around the reads, so that all reads of a thread are in flight together.

#include <cstdint>

#include <tessera/types.hpp>

namespace tessera::cuda::any_alignment {

constexpr int width = 8;  ///< elements of a vector
constexpr int chunk = 16; ///< bytes that are read at once

/// An operand of 16-bit elements, line by line as it is stored.
struct Lines {
  const char* data;
  Index pitch;       ///< bytes from one line to the next
  int count, length; ///< lines, and elements of a line
  int outer;         ///< lines at either end that may have a vector whose chunks reach beyond the operand

  __host__ __device__ static Lines of(const void* data, Index ld, Index count, Index length) {
    return {static_cast<const char*>(data), ld * 2, static_cast<int>(count), static_cast<int>(length),
            1 + static_cast<int>(2 * chunk / (ld * 2))};
  }
  /// Returns whether the operand has lines `first` to `first + number` and none of them is an outer one.
  __device__ bool are_inner(int first, int number) const { return first >= outer && first + number <= count - outer; }
  __device__ const char* end() const { return data + (count - 1) * pitch + length * 2; }
};

__device__ inline unsigned phase_of(const char* at) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(at)) % chunk;
}

/// The first and the last chunk of an operand, with zeros for the bytes that are not the operand's: there may be no
/// memory. All other chunks may be read as they are.
struct alignas(chunk) EdgeChunks {
  std::uint16_t head[width], tail[width];

  /// Reads them, by the first 16 threads.
  __device__ void read(const Lines& x, int thread) {
    if (thread < 0 || thread >= 2 * width) return;
    const char* const end = x.end();
    const char* const tail_at = end - 2 - phase_of(end - 2);
    const char* const at = (thread < width ? x.data - phase_of(x.data) : tail_at) + thread % width * 2;
    const bool inside = at >= x.data && at < end;
    (thread < width ? head : tail)[thread % width] = inside ? *reinterpret_cast<const std::uint16_t*>(at) : 0;
  }
};

/// The chunks that hold a vector, and which of them have to come from the edges.
struct Fetched {
  uint4 low, high;
  bool low_is_head, low_is_tail, high_is_tail;
};

/// Starts to read the chunks that hold the vector at `at`, if it is `wanted`. `inner`: its line is not an outer one.
template <bool inner>
__device__ void fetch(const Lines& x, const char* at, bool wanted, Fetched& out) {
  const unsigned phase = phase_of(at);
  const char* const low = at - phase;
  bool read_low = wanted, read_high = wanted && phase != 0;
  if (!inner) {
    const char* const end = x.end();
    out.low_is_head = low < x.data;
    out.low_is_tail = low + chunk > end;
    out.high_is_tail = low + 2 * chunk > end;
    read_low = read_low && !out.low_is_head && !out.low_is_tail;
    read_high = read_high && !out.high_is_tail;
  }
  if (read_low) out.low = *reinterpret_cast<const uint4*>(low);
  if (read_high) out.high = *reinterpret_cast<const uint4*>(low + chunk);
}

/// Shortens a vector to the `left` elements that its line has, with zeros after them.
__device__ inline uint4 shortened(const uint4& x, int left) {
  const auto word = [&](unsigned w, int first) { return left >= first + 2 ? w : left == first + 1 ? w & 0xffff : 0; };
  return {word(x.x, 0), word(x.y, 2), word(x.z, 4), word(x.w, 6)};
}

/// Returns the 16 bytes that begin at `phase`, an even number, in two chunks.
__device__ inline uint4 shifted(const uint4& low, const uint4& high, unsigned phase) {
  unsigned w[8]{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
  for (int i = 0; i < 6; ++i) w[i] = phase & 8 ? w[i + 2] : w[i];
#pragma unroll
  for (int i = 0; i < 5; ++i) w[i] = phase & 4 ? w[i + 1] : w[i];
  const unsigned bytes = phase & 2 ? 0x5432 : 0x3210; // of two words
#pragma unroll
  for (int i = 0; i < 4; ++i) w[i] = __byte_perm(w[i], w[i + 1], bytes);
  return {w[0], w[1], w[2], w[3]};
}

/// Returns the vector whose chunks were read from `at`, with zeros after the `left` elements that its line has.
template <bool inner>
__device__ uint4 vector_of(Fetched from, const EdgeChunks& edges, const char* at, int left) {
  if (!inner) {
    if (from.low_is_tail) from.low = *reinterpret_cast<const uint4*>(edges.tail);
    if (from.low_is_head) from.low = *reinterpret_cast<const uint4*>(edges.head);
    if (from.high_is_tail) from.high = *reinterpret_cast<const uint4*>(edges.tail);
  }
  const uint4 all = shifted(from.low, from.high, phase_of(at));
  return left >= width ? all : shortened(all, left);
}

} // namespace tessera::cuda::any_alignment
