#pragma once

/// Element-wise operations, random fills and epilogues. Each function enqueues its work and does not wait for it.

#include <tessera/executor.hpp>

namespace tessera::opencl {

Status map(Queue& queue, const MapCall& call);
Status map_complex(Queue& queue, const MapCall& call);
Status apply_epilogue(Queue& queue, const FinishCall& call);
Status random(Queue& queue, const RandomCall& call);

} // namespace tessera::opencl
