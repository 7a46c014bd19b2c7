#pragma once

/// Copies of panels of 16-bit elements whose lines begin anywhere in memory (the layouts of copies.cuh). Threads read
/// the aligned chunks that hold a line to registers, shift the line out of them, and write it to where PanelCopies
/// would, so that consumer warps see no difference.

#include "copies.cuh"
#include "cuda/gemm/common/any_alignment/lines.cuh"

namespace tessera::cuda::panel_ring {

#if __CUDA_ARCH__ >= 800

/// Copies panels of a block's rows of an operand, `panels` at once, by `threads` threads.
template <class Layout, int panels, int threads>
class RealigningCopies {
  static constexpr Along along = Layout::along;
  static constexpr int size = Layout::size, depth = Layout::depth, lines = Layout::lines;
  static constexpr int of_line = Layout::data / vector_bytes; ///< vectors
  static constexpr int step = threads / of_line;              ///< lines that the threads copy at once
  static constexpr int each = Layout::boxes * lines / step;   ///< vectors of a thread in a panel
  static_assert(each * step == Layout::boxes * lines && lines % step == 0);
  static_assert(step % (vector_bytes / 2) == 0); // so that all lines of a thread begin in the same place of a chunk

 public:
  /// Begins with the row `first` and with `k`. `thread` counts the threads that copy a panel.
  __device__ RealigningCopies(const StoredLines& x, Index first, Index k, int thread)
      : x_(x),
        line_(thread / of_line),
        byte_(thread % of_line * vector_bytes),
        place_(Layout::place(line_, byte_)),
        k_left_(static_cast<int>((along == Along::K ? x.length : x.lines) - k)),
        rows_left_(static_cast<int>((along == Along::K ? x.lines : x.length) - first)),
        offset_((along == Along::K ? first : k) * x.pitch + (along == Along::K ? k : first) * size),
        low_(x.data + offset_ + line_ * x.pitch + byte_),
        phase_(any_alignment::phase_of(low_)) {
    low_ -= phase_;
  }

  /// Starts to read the panels. A thread reads the chunks that its vectors begin in. Its neighbour in the warp has the
  /// next ones, except for the last vector of a line.
  __device__ void fetch() {
    whole_ = are_whole();
    if (whole_)
      fetch_all<true>();
    else
      fetch_all<false>();
  }
  /// Writes the panels that were read to shared memory, `apart` bytes from one to the next.
  __device__ void store(unsigned to, int apart) const {
    __syncwarp(); // otherwise the shuffles are done by a slow path
    if (whole_)
      store_all<true>(to, apart);
    else
      store_all<false>(to, apart);
  }
  /// Goes on by `count` panels.
  __device__ void advance(int count) {
    low_ += count * to_next();
    offset_ += count * to_next();
    k_left_ -= count * depth;
  }

 private:
  /// Says whether all k of the panels are there, and every chunk of theirs is the operand's.
  __device__ bool are_whole() const {
    const Index last_line = along == Along::K ? min(Layout::rows, rows_left_) - 1 : depth * panels - 1;
    const Index of_last = along == Along::K ? panels * depth * size : Layout::rows * size;
    return k_left_ >= panels * depth && (offset_ >= vector_bytes || any_alignment::phase_of(x_.data) == 0) &&
           offset_ + last_line * x_.pitch + of_last < static_cast<Index>(x_.inside);
  }
  template <bool whole>
  __device__ void fetch_all() {
#pragma unroll
    for (int v = 0; v < panels * each; ++v) {
      const char* const low = low_ + further(v);
      const int there = left<whole>(v);
      read_if(there * 2 + static_cast<int>(phase_) > 0 && (whole || is_inside(low)), low, read_[v].low);
      read_if(is_last() && there > 0 && (whole || is_inside(low + vector_bytes)), low + vector_bytes, read_[v].high);
    }
  }
  template <bool whole>
  __device__ void store_all(unsigned to, int apart) const {
#pragma unroll
    for (int v = 0; v < panels * each; ++v) {
      const int line = v % each * step;
      uint4 next = of_neighbour(read_[v].low); // all lanes take part
      if (is_last()) next = read_[v].high;
      uint4 vector = any_alignment::shifted(read_[v].low, next, phase_);
      if (!whole) {
        const char* const low = low_ + further(v);
        const int there = left<whole>(v);
        if (there < vector_bytes / 2) vector = any_alignment::shortened(vector, there);
        if (there > 0 && !(is_inside(low) && is_inside(low + vector_bytes))) vector = by_elements(low + phase_, there);
      }
      asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(
                       to + v / each * apart + (place_ ^ Layout::swizzle(line % lines)) + line * Layout::line),
                   "r"(vector.x), "r"(vector.y), "r"(vector.z), "r"(vector.w)
                   : "memory");
    }
  }
  /// Reads a chunk if the thread `wants` it. It is an instruction with a condition, so that the warp stays together.
  __device__ static void read_if(bool wants, const char* chunk, uint4& to) {
    asm volatile("{ .reg .pred wants; setp.ne.u32 wants, %5, 0; @wants ld.global.v4.u32 {%0, %1, %2, %3}, [%4]; }"
                 : "+r"(to.x), "+r"(to.y), "+r"(to.z), "+r"(to.w)
                 : "l"(chunk), "r"(static_cast<unsigned>(wants)));
  }
  /// Returns the bytes from the thread's first vector to vector v.
  __device__ Index further(int v) const {
    const int line = v % each * step;
    return v / each * to_next() + line % lines * x_.pitch + line / lines * Layout::data;
  }
  /// Returns the bytes from panel to panel.
  __device__ Index to_next() const { return along == Along::K ? depth * size : depth * x_.pitch; }
  /// Returns whether the whole chunk at `at` is the operand's. If not, there may be no memory.
  __device__ bool is_inside(const char* at) const { return static_cast<std::uint64_t>(at - x_.data) < x_.inside; }
  /// Returns whether the thread has the last vector of a line.
  __device__ bool is_last() const { return byte_ == Layout::data - vector_bytes; }
  __device__ static uint4 of_neighbour(const uint4& x) {
    const auto of = [](unsigned word) { return __shfl_down_sync(~0U, word, 1); };
    return {of(x.x), of(x.y), of(x.z), of(x.w)};
  }
  /// Returns the halves that the operand has from the beginning of vector v on. If the panels are `whole`, the number
  /// may be too large where lines end, since what is multiplied with more is no result.
  template <bool whole>
  __device__ int left(int v) const {
    const int line = line_ + v % each * step % lines, k_left = k_left_ - v / each * depth;
    const int rows_left = rows_left_ - v % each * step / lines * Layout::wide;
    if (along == Along::K) return line >= rows_left_ ? -vector_bytes : whole ? 1 : (k_left * size - byte_) / 2;
    return !whole && line >= k_left ? -vector_bytes : (rows_left * size - byte_) / 2;
  }
  /// Returns the `left` halves at `at`, with zeros after them.
  __device__ static uint4 by_elements(const char* at, int left) {
    std::uint16_t h[vector_bytes / 2];
#pragma unroll
    for (int e = 0; e < vector_bytes / 2; ++e)
      h[e] = e < left ? *reinterpret_cast<const std::uint16_t*>(at + 2 * e) : 0;
    const auto word = [&](int w) { return h[2 * w] | static_cast<unsigned>(h[2 * w + 1]) << 16; };
    return {word(0), word(1), word(2), word(3)};
  }

  const StoredLines& x_;          ///< a parameter of the kernel
  const int line_, byte_, place_; ///< the thread's first vector: line, byte in it, offset in shared memory
  int k_left_, rows_left_;
  Index offset_;         ///< bytes from the operand's beginning to the block's first element
  const char* low_;      ///< the chunk that the thread's first vector begins in
  const unsigned phase_; ///< bytes from a chunk's beginning to a vector's
  bool whole_ = false;
  struct {
    uint4 low, high;
  } read_[panels * each]; ///< the chunks that hold the thread's vectors
};

#endif

} // namespace tessera::cuda::panel_ring
