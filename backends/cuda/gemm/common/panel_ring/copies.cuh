#pragma once

/// Copies of an operand's panels to shared memory by cp.async. A panel has some rows of the operand and some k of each.
/// It holds them as they lie in memory: a line for each row with all k of the panel; or, where rows are neighbours,
/// boxes with a line for each k.
///
/// A `Layout` says how a panel lies in shared memory:
/// - `along`, `rows`, `size` (bytes of an element) and `depth` (elements of k);
/// - `data`: the bytes of a line that are copied; `wide`: its elements; `line`: the bytes from one line to the next;
/// - `boxes`, and the `lines` of a box;
/// - place(line, byte): the offset of a byte; swizzle(line): what place() combines offsets with by exclusive or. It is
///   equal for all lines that one thread copies;
/// - `least_chunk`: the fewest bytes that a copy moves. If lines begin at multiples of more bytes, it moves up to 16;
/// - `negative_padding`: elements past the end of k become −0, not +0;
/// - `shifted`: lines begin anywhere in memory. They are copied by the aligned vectors that hold them, so that a line
///   begins at the same distance from a multiple of 16 bytes as in memory, and is one vector longer.

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/gemm/common/tile_loader.cuh"

namespace tessera::cuda::panel_ring {

/// An operand, line by line as it is stored.
struct StoredLines {
  const char* data;
  Index pitch;       ///< bytes from one line to the next
  int lines, length; ///< lines, and elements of a line
  int aligned;       ///< the most bytes, up to 16, at whose multiples lines begin
  /// The distances from `data` at which 16 bytes are the operand's. Elsewhere there may be no memory.
  std::uint64_t inside;
};

constexpr int vector_bytes = 16; ///< the most that a copy moves

#if __CUDA_ARCH__ >= 800

/// Copies `bytes` bytes to shared memory.
template <int bytes>
__device__ void start_copy(unsigned to, const char* from) {
  if constexpr (bytes == vector_bytes)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(bytes) : "memory");
}
/// Copies `bytes` bytes to shared memory, of which `left` are there at most; the others become zeros.
template <int bytes>
__device__ void start_copy(unsigned to, const char* from, int left) {
  left = max(0, min(left, bytes));
  if constexpr (bytes == vector_bytes)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(left) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(bytes), "r"(left)
                 : "memory");
}

/// Returns the bytes by which the line at `at` is shifted.
__device__ inline int shift_of(const char* at) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(at) % vector_bytes);
}

/// Copies panels of a block's rows of an operand, one after the other along k, by `threads` threads.
template <class Layout, int threads>
class PanelCopies {
  static constexpr Along along = Layout::along;
  static constexpr int rows = Layout::rows, size = Layout::size, depth = Layout::depth;
  static constexpr int all_lines = Layout::boxes * Layout::lines;

 public:
  /// Begins with the row `first` and with `k`. `thread` counts the threads that copy a panel.
  __device__ PanelCopies(const StoredLines& x, Index first, Index k, int thread)
      : pitch_(x.pitch),
        to_next_(along == Along::K ? depth * size : depth * x.pitch),
        k_left_(static_cast<int>((along == Along::K ? x.length : x.lines) - k)),
        rows_left_(static_cast<int>((along == Along::K ? x.lines : x.length) - first)),
        at_(x.data + (along == Along::K ? first : k) * x.pitch + (along == Along::K ? k : first) * size),
        chunk_(Layout::least_chunk == vector_bytes ? vector_bytes : x.aligned),
        line_(thread / (Layout::data / chunk_)),
        byte_(thread % (Layout::data / chunk_) * chunk_),
        place_(Layout::place(line_, byte_)),
        thread_(thread) {}

  /// Starts the copies of the panel.
  __device__ void start(unsigned to) const {
    if (Layout::least_chunk == vector_bytes || chunk_ == vector_bytes) return start_by<vector_bytes>(to);
    if constexpr (Layout::least_chunk <= 8)
      if (chunk_ == 8) return start_by<8>(to);
    if constexpr (Layout::least_chunk <= 4) start_by<4>(to);
  }
  /// Goes on by `panels` panels.
  __device__ void advance(int panels) {
    at_ += panels * to_next_;
    k_left_ -= panels * depth;
  }

 private:
  /// Starts the copies of the panel, by chunks of so many bytes.
  template <int chunk>
  __device__ void start_by(unsigned to) const {
    constexpr int more = Layout::shifted ? chunk / size : 0; // elements that the additional chunk may hold
    const bool whole = along == Along::K ? k_left_ >= depth + more && rows_left_ >= rows
                                         : k_left_ >= depth && rows_left_ >= rows + more;
    if (whole)
      start_all<chunk, true>(to);
    else
      start_all<chunk, false>(to);
  }
  /// `whole`: all k of the panel and all rows are there, and so is what an additional chunk reads.
  template <int chunk, bool whole>
  __device__ void start_all(unsigned to) const {
    constexpr int of_line = Layout::data / chunk; // chunks, except for the additional one of shifted lines
    constexpr int step = threads / of_line;       // lines that the threads copy at once
    constexpr int each = all_lines / step;
    static_assert(each * step == all_lines && Layout::lines % step == 0);
    const char* from = at_ + line_ * pitch_;
    const Index stride = step * pitch_;
#pragma unroll
    for (int i = 0; i < each; ++i) {
      const int box = i * step / Layout::lines, l = i * step % Layout::lines; // and line_ more
      if (i > 0) from = l == 0 ? at_ + line_ * pitch_ + box * Layout::data : from + stride;
      // Otherwise the compiler would keep a multiple of the stride in registers for each of many small chunks.
      if constexpr (chunk < vector_bytes) asm("" : "+l"(from));
      start_chunk<chunk, whole>(to + (place_ ^ Layout::swizzle(l)) + i * step * Layout::line, from, line_ + l, box,
                                byte_);
    }
    if constexpr (Layout::shifted) {
#pragma unroll
      for (int first = 0; first < all_lines; first += threads) { // the additional chunks, one a thread
        const int l = (first + thread_) % Layout::lines, box = (first + thread_) / Layout::lines;
        if (all_lines - first < threads && thread_ >= all_lines - first) break;
        start_chunk<chunk, whole>(to + (first + thread_) * Layout::line + Layout::data,
                                  at_ + l * pitch_ + box * Layout::data, l, box, Layout::data);
      }
    }
  }
  /// Starts to copy the chunk at `byte` of a line of a box; the line begins at `from`.
  template <int bytes, bool whole>
  __device__ void start_chunk(unsigned to, const char* from, int l, int box, int byte) const {
    const int shift = Layout::shifted ? shift_of(from) : 0;
    const char* const chunk = from - shift + byte;
    if constexpr (whole) {
      start_copy<bytes>(to, chunk);
    } else if constexpr (along == Along::K) {
      if (l >= rows_left_) return; // such rows have no results
      const int left = k_left_ * size + shift - byte;
      if constexpr (Layout::negative_padding)
        if (left < bytes) return pad<bytes>(to, chunk, left);
      start_copy<bytes>(to, chunk, left);
    } else {
      if constexpr (Layout::negative_padding)
        if (l >= k_left_) return pad<bytes>(to, chunk, 0);
      const int there = min(Layout::data, (rows_left_ - box * Layout::wide) * size);
      start_copy<bytes>(to, chunk, l < k_left_ ? there + shift - byte : 0);
    }
  }
  /// Copies the elements of a chunk of which `left` bytes are there, and puts −0 after them.
  template <int bytes>
  __device__ static void pad(unsigned to, const char* chunk, int left) {
#pragma unroll
    for (int byte = 0; byte < bytes; byte += size)
      if (byte < left)
        start_copy<size>(to + byte, chunk + byte);
      else if constexpr (size == 8)
        asm volatile("st.shared.f64 [%0], %1;" ::"r"(to + byte), "d"(-0.0) : "memory");
      else
        asm volatile("st.shared.f32 [%0], %1;" ::"r"(to + byte), "f"(-0.0f) : "memory");
  }

  const Index pitch_, to_next_; ///< bytes from line to line, and from panel to panel
  int k_left_, rows_left_;
  const char* at_;                         ///< the block's first element of the panel
  const int chunk_;                        ///< bytes that a copy moves
  const int line_, byte_, place_, thread_; ///< the thread's first chunk: line, byte in it, offset in shared memory
};

#endif

} // namespace tessera::cuda::panel_ring
