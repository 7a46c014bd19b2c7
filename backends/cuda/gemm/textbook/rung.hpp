#pragma once

/// How a rung of the textbook becomes an entry of the ladder (../ladder.hpp).

#include "cuda/device/status.hpp"
#include "cuda/gemm/ladder.hpp"
#include "cuda/queue/stream.hpp"

namespace tessera::cuda {

/// GemmKernel::run of a rung that launches its kernel and needs no memory of its own.
template <void (*launch)(const GemmCall& call, cudaStream_t stream)>
Status run_launch(const GemmKernel& kernel, Executor&, Queue& queue, const GemmCall& call) noexcept {
  launch(call, stream_of(queue));
  return launched(kernel.name);
}

} // namespace tessera::cuda
