/// Rows that change places: the exchanges of LU's pivots, 64 at a time.
///
/// A group of exchanges moves at most 128 rows, and where each of them comes from is found by following the exchanges
/// backwards, for all at once. So the rows are read and written once, whatever the exchanges are. Rows are far apart:
/// where there are blocks enough, threads move 16 bytes, or 8.

#include <cstdint>

#include "cuda/device/status.hpp"
#include "cuda/queue/stream.hpp"
#include "panel.hpp"
#include "sources.cuh"

namespace tessera::cuda {
namespace {

constexpr int group = 64;
constexpr int columns = 32;
constexpr int threads_y = 16;
constexpr int moved = 2 * group;
constexpr int each = moved / threads_y; ///< rows that a thread moves

struct Exchange {
  Index lda, cols, kept_begin, kept_end;
  const Index* numbers;
  Index first;
  int count;
};

/// Lengths in p count units, which hold some numbers.
template <class Unit>
__global__ void __launch_bounds__(columns* threads_y) exchange(Unit* a, Exchange p) {
  __shared__ Index other[group], to[moved], from[moved];
  const int me = static_cast<int>(threadIdx.y * columns + threadIdx.x);
  Index col = static_cast<Index>(blockIdx.x) * columns + threadIdx.x;
  if (col >= p.kept_begin) col += p.kept_end - p.kept_begin;
  for (int begin = 0; begin < p.count; begin += group) {
    const int here = p.count - begin < group ? p.count - begin : group;
    if (me < here) other[me] = p.numbers[begin + me] - p.first;
    __syncthreads();
    if (me < 2 * here) {
      to[me] = me < here ? begin + me : other[me - here];
      from[me] = source(to[me], begin, here, other);
    }
    __syncthreads();
    Unit read[each];
#pragma unroll
    for (int u = 0; u < each; ++u)
      if (const int row = u * threads_y + static_cast<int>(threadIdx.y); row < 2 * here && col < p.cols)
        read[u] = a[from[row] * p.lda + col];
    __syncthreads();
#pragma unroll
    for (int u = 0; u < each; ++u)
      if (const int row = u * threads_y + static_cast<int>(threadIdx.y);
          row < 2 * here && col < p.cols && from[row] != to[row])
        a[to[row] * p.lda + col] = read[u];
    __syncthreads();
  }
}

template <class Unit>
bool exchange_fits(const PanelCall& call, Index numbers) {
  constexpr Index enough_blocks = 96;
  const Index moving = call.cols - (call.kept_end - call.kept_begin);
  return reinterpret_cast<std::uintptr_t>(call.a) % sizeof(Unit) == 0 && call.lda % numbers == 0 &&
         call.cols % numbers == 0 && call.kept_begin % numbers == 0 && call.kept_end % numbers == 0 &&
         moving >= enough_blocks * columns * numbers;
}

template <class Unit>
Status launch_exchange(Queue& queue, const PanelCall& call, Index numbers) noexcept {
  const Exchange in_units{call.lda / numbers, call.cols / numbers, call.kept_begin / numbers,   call.kept_end / numbers,
                          call.numbers,       call.first,          static_cast<int>(call.count)};
  const Index moving = in_units.cols - (in_units.kept_end - in_units.kept_begin);
  exchange<Unit>
      <<<static_cast<unsigned>((moving + columns - 1) / columns), dim3(columns, threads_y), 0, stream_of(queue)>>>(
          static_cast<Unit*>(call.a), in_units);
  return launched("exchange of rows");
}

template <class T>
Status run(Queue& queue, const PanelCall& call) noexcept {
  if (call.cols == call.kept_end - call.kept_begin || call.count == 0) return {};
  constexpr Index of_16 = sizeof(uint4) / sizeof(T), of_8 = sizeof(uint2) / sizeof(T);
  if (exchange_fits<uint4>(call, of_16)) return launch_exchange<uint4>(queue, call, of_16);
  if (exchange_fits<uint2>(call, of_8)) return launch_exchange<uint2>(queue, call, of_8);
  return launch_exchange<T>(queue, call, 1);
}

} // namespace

Status exchange_rows(Queue& queue, const PanelCall& call) noexcept {
  if (call.is_complex) { // rows of parts
    PanelCall parts = call;
    parts.is_complex = false;
    parts.cols *= 2;
    parts.lda *= 2;
    parts.kept_begin *= 2;
    parts.kept_end *= 2;
    return exchange_rows(queue, parts);
  }
  return call.type == DType::F32 ? run<float>(queue, call) : run<double>(queue, call);
}

} // namespace tessera::cuda
