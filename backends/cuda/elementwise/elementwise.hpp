#pragma once

/// Element-wise operations, transposition and random fills. Each function enqueues its work and does not wait for it.

#include <tessera/executor.hpp>

namespace tessera::cuda {

Status map(Queue& queue, const MapCall& call) noexcept;
Status transpose(Queue& queue, const MapCall& call) noexcept;
Status convert(Queue& queue, const MapCall& call) noexcept;
Status map_complex(Queue& queue, const MapCall& call) noexcept;
Status apply_epilogue(Queue& queue, const FinishCall& call) noexcept;
Status random(Queue& queue, const RandomCall& call) noexcept;

} // namespace tessera::cuda
