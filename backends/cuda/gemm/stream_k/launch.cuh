#pragma once

/// Launches a stream_k product: with the tiles and segments that the model chose (tile_model.hpp), and with the memory
/// that the kernel needs.

#include <algorithm>
#include <array>
#include <limits>

#include <tessera/executor.hpp>

#include "cuda/device/shared_memory.hpp"
#include "cuda/queue/signals.hpp"
#include "cuda/queue/stream.hpp"
#include "kernel.cuh"

namespace tessera::cuda::stream_k {

inline const char* reject(const GemmKernel&, const GemmCall&, const Capabilities& machine) noexcept {
  return machine.compute_major == 9
             ? nullptr
             : "its producer warps need compute capability 9.0 (Hopper); use async_copy, or no kernel's name";
}

/// Shares out a product of `tiles` tiles whose k is cut into `segments`. At most `slots` blocks run at once.
template <class M>
Schedule schedule_of(Index tiles, Index k, Index segments, Index slots) {
  const Index length = segments == 1 ? k : canonical_segment;
  const Index last = k - (segments - 1) * length;
  constexpr Index least = M::chained ? std::numeric_limits<Index>::max() : least_cut / M::block_k;
  return Schedule(tiles, segments, ceil_div<Index>(length, M::block_k), ceil_div<Index>(last, M::block_k), slots,
                  least);
}

template <class M>
using Multiply = void (*)(Params<typename M::Element>);

/// Returns the kernel that stores by rows. These kernels are compiled in files of their own, stream_k_*_rows.cu.
template <class M>
Multiply<M> multiply_by_rows(Along a, Along b) noexcept;

/// Launches the kernel for the way in which the call's operands are stored.
template <class M>
Status launch_multiply(cudaStream_t stream, const GemmCall& call, const Params<typename M::Element>& params,
                       Storing storing, Index multiprocessors, const char* name) noexcept {
  const Index blocks = params.schedule.blocks();
  return with_layouts(call, [&](auto a, auto b) -> Status {
    Multiply<M> kernel = storing == Storing::Epilogue ? multiply<M, Storing::Epilogue, a.value, b.value>
                                                      : multiply<M, Storing::Vectors, a.value, b.value>;
    if constexpr (!M::chained)
      if (storing == Storing::Rows) kernel = multiply_by_rows<M>(a.value, b.value);
    constexpr std::size_t bytes = M::stages * sizeof(typename M::template Stage<a.value, b.value>);
    /// Bytes of a block that is to have a multiprocessor to itself.
    constexpr std::size_t alone = std::max(bytes, more_than_half);
    if (Status allowed = allow_most_shared(kernel, name); !allowed.ok()) return allowed;
    const Launch how{.blocks = blocks,
                     .threads = M::threads + producers,
                     .shared = blocks <= multiprocessors ? alone : bytes,
                     .programmatic = true};
    return launch_kernel(stream, how, name, kernel, params);
  });
}

/// Says how the kernel stores results, which go to C, or, if `apart`, to the sums of segments, whose rows are n long.
template <class T>
Storing storing_of(const VectorOperands<T>& x, bool apart) {
  if (apart) return x.n % Vector<T>::width == 0 ? Storing::Vectors : Storing::Rows;
  if (x.epilogue.wanted) return Storing::Epilogue;
  return x.c_vectors ? Storing::Vectors : Storing::Rows;
}

/// Runs a product with M's tiles, k cut into `segments`, and at most `blocks_each` blocks on a multiprocessor.
template <class M>
Status run(const char* name, Executor& executor, Queue& queue, const GemmCall& call, Index segments,
           Index blocks_each) noexcept {
  using T = typename M::Element;
  const cudaStream_t stream = stream_of(queue);
  const VectorOperands<T> x(call);
  const Index tiles_m = ceil_div<Index>(x.m, M::block_m);
  const Index tiles_n = ceil_div<Index>(x.n, M::block_n);
  const Index tiles = tiles_m * tiles_n;
  const Index multiprocessors = executor.capabilities().multiprocessors;
  const Schedule schedule = schedule_of<M>(tiles, x.k, segments, blocks_each * multiprocessors);

  ScratchLayout layout;
  constexpr Index block_sums_bytes = M::Sums::count * M::threads * Index{sizeof(T)};
  const Index blocks = schedule.blocks();
  const bool apart = segments > 1 && !M::chained; // the sums of segments are in memory, and a second kernel adds them
  constexpr Index warps = M::threads / 32;
  // The counter of drawn items follows the flags of a chain.
  const Index flags = M::chained ? tiles * warps : schedule.cuts() ? blocks * warps : 0;
  const std::size_t sums = layout.add(apart ? segments * x.m * x.n * sizeof(T) : 0);
  const std::size_t hand_offs = layout.add(schedule.cuts() ? blocks * 2 * block_sums_bytes : 0);
  const bool has_totals = segments == 1 && x.k > canonical_segment;
  const Index with_totals = M::chained ? tiles : has_totals ? blocks : 0;
  const std::size_t totals = layout.add(with_totals * block_sums_bytes);
  Scratch scratch;
  if (layout.size() > 0)
    if (Status status = scratch.allocate(executor, queue, layout.size()); !status.ok()) return status;
  char* const memory = scratch.as<char>(); // nullptr, if nothing is needed
  int* flag = nullptr;
  if (flags > 0)
    if (Status status = signals_of(queue, flags + M::chained, flag); !status.ok()) return status;
  const Params<T> params{x,
                         schedule,
                         RasterOrder(tiles_m, tiles_n, raster_height),
                         segments,
                         reinterpret_cast<T*>(memory + sums),
                         reinterpret_cast<T*>(memory + hand_offs),
                         flag,
                         reinterpret_cast<T*>(memory + totals),
                         flag + flags};
  const Status status = launch_multiply<M>(stream, call, params, storing_of(x, apart), multiprocessors, name);
  if (!status.ok() || !apart) return status;
  return launch_add_segments<T>(stream, {.sums = params.sums, .segments = segments, .epilogue = x.epilogue}, name);
}

/// Runs the product with the tile that the model chose among `Sizes`.
template <class... Sizes>
Status run_choice(const TileChoice& best, const char* name, Executor& executor, Queue& queue,
                  const GemmCall& call) noexcept {
  using Run = Status (*)(const char*, Executor&, Queue&, const GemmCall&, Index, Index);
  constexpr Run runs[]{run<Sizes>...};
  return runs[best.tile](name, executor, queue, call, best.segments, best.blocks);
}

template <class... Sizes>
constexpr std::array tiles_of{Sizes::tile...};

template <class... Sizes>
Status run(const char* name, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  const TileChoice best = choose_tile(tiles_of<Sizes...>, call, executor.capabilities().multiprocessors);
  return run_choice<Sizes...>(best, name, executor, queue, call);
}

/// Runs the product in M's chain if that pays, otherwise with the tile that the model chose among `Sizes`.
template <class M, class... Sizes>
Status run_chained_or(const char* name, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  const Index multiprocessors = executor.capabilities().multiprocessors;
  const TileChoice best = choose_tile(tiles_of<Sizes...>, call, multiprocessors);
  if (chain_pays(M::tile, call, best, multiprocessors))
    return run<M>(name, executor, queue, call, segments_of(call), M::blocks);
  return run_choice<Sizes...>(best, name, executor, queue, call);
}

} // namespace tessera::cuda::stream_k
