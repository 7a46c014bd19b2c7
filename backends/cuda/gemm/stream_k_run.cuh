#pragma once

/// How stream_k is run: which tiles, whether k is cut at the segments, and the memory that its kernel needs.

#include <algorithm>
#include <array>

#include <tessera/executor.hpp>

#include "stream.hpp"
#include "stream_k.cuh"

namespace tessera::cuda::stream_k {

inline const char* reject(const GemmKernel&, const GemmCall&, const Capabilities& machine) noexcept {
  return machine.compute_major == 9
             ? nullptr
             : "its producer warps need compute capability 9.0 (Hopper); use async_copy, or no kernel's name";
}

inline __global__ void clear(int* flags, unsigned count) {
  launch_dependents();
  if (const unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count) flags[i] = 0;
}

/// By a kernel that lets the next one start at once, which waits before it looks at them.
inline Status clear_flags(cudaStream_t stream, int* flags, Index count) noexcept {
  clear<<<static_cast<unsigned>(ceil_div<Index>(count, 1024)), 1024, 0, stream>>>(flags, static_cast<unsigned>(count));
  return launched("clearing flags");
}

template <class M>
Status run(const char* name, Executor& executor, Queue& queue, const GemmCall& call, Index segments) noexcept {
  using T = typename M::Element;
  const cudaStream_t stream = stream_of(queue);
  const VectorOperands<T> x(call);
  const Index tiles_m = ceil_div<Index>(x.m, M::block_m);
  const Index tiles_n = ceil_div<Index>(x.n, M::block_n);
  const Index multiprocessors = executor.capabilities().multiprocessors;
  const Index slots = M::blocks * multiprocessors;
  const Index length = segments == 1 ? x.k : canonical_segment;
  const Index last = x.k - (segments - 1) * length;
  constexpr Index k = M::block_k;
  const Schedule schedule(tiles_m * tiles_n, segments, ceil_div(length, k), ceil_div(last, k), slots, 256 / k);

  ScratchLayout layout;
  constexpr Index parcel = M::Sums::count * M::threads * Index{sizeof(T)};
  const Index blocks = schedule.blocks();
  const Index flag_count = schedule.cuts() ? blocks * M::threads / 32 : 0;
  const std::size_t sums = layout.add(segments > 1 ? segments * x.m * x.n * sizeof(T) : 0);
  const std::size_t handed = layout.add(schedule.cuts() ? blocks * 2 * parcel : 0);
  const std::size_t totals = layout.add(length > canonical_segment ? blocks * parcel : 0);
  const std::size_t flags = layout.add(flag_count * sizeof(int));
  Scratch scratch;
  if (layout.size() > 0)
    if (Status status = scratch.allocate(executor, queue, layout.size()); !status.ok()) return status;
  char* const memory = scratch.as<char>(); // nullptr, if nothing is needed
  const Work<T> work{x,
                     schedule,
                     tiles_m,
                     tiles_n,
                     segments,
                     reinterpret_cast<T*>(memory + sums),
                     reinterpret_cast<T*>(memory + handed),
                     reinterpret_cast<int*>(memory + flags),
                     reinterpret_cast<T*>(memory + totals)};
  if (flag_count > 0)
    if (Status status = clear_flags(stream, work.flags, flag_count); !status.ok()) return status;
  const Status status = with_layouts(call, [&](auto a, auto b) -> Status {
    const auto kernel =
        x.finish.wanted && segments == 1 ? multiply<M, true, a.value, b.value> : multiply<M, false, a.value, b.value>;
    constexpr std::size_t bytes = M::stages * sizeof(typename M::template Stage<a.value, b.value>);
    if (Status allowed = allow_shared(kernel, bytes, name); !allowed.ok()) return allowed;
    return launch_behind(stream, static_cast<unsigned>(blocks), M::threads + producers, bytes, flag_count > 0, name,
                         kernel, work);
  });
  if (!status.ok() || segments == 1) return status;
  return launch_add_segments<T>(stream, {.sums = work.sums, .segments = segments, .finish = x.finish}, name);
}

/// Clock cycles that a product takes, about, to compare tiles and cuts.
template <class M>
Index cost(const GemmCall& call, Index segments, Index multiprocessors) {
  const Index tiles = ceil_div<Index>(call.m, M::block_m) * ceil_div<Index>(call.n, M::block_n);
  const Index length = segments == 1 ? call.k : canonical_segment;
  const Index slots = M::blocks * multiprocessors;
  // A tile's chains take their time, whoever computes them.
  const Index steps = std::max(length, ceil_div(tiles * call.k, slots));
  const Index adding = segments == 1 ? 0 : 6000 + (segments + 1) * call.m * call.n * sizeof(typename M::Element) / 2000;
  return steps * (tiles * segments > multiprocessors ? M::cycles : M::cycles_alone) + adding;
}

/// The best of several sizes of tiles, and k cut at the segments or not.
template <class... Sizes>
Status run(const char* name, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  struct Choice {
    Index cost, segments;
    Status (*run)(const char*, Executor&, Queue&, const GemmCall&, Index);
  };
  const Index multiprocessors = executor.capabilities().multiprocessors;
  const Index all = ceil_div(call.k, canonical_segment);
  const std::array choices{Choice{cost<Sizes>(call, 1, multiprocessors), 1, run<Sizes>}...,
                           Choice{cost<Sizes>(call, all, multiprocessors), all, run<Sizes>}...};
  const auto cheaper = [](const Choice& one, const Choice& other) { return one.cost < other.cost; };
  const Choice& best = *std::min_element(choices.begin(), choices.end(), cheaper);
  return best.run(name, executor, queue, call, best.segments);
}

} // namespace tessera::cuda::stream_k
