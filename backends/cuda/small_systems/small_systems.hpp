#pragma once

/// Batches of small systems (SystemsCall), each in one launch.

#include <tessera/backend/panel.hpp>
#include <tessera/backend/small_systems.hpp>
#include <tessera/executor.hpp>

namespace tessera::cuda {

/// Enqueues the work and does not wait. Returns Rejected, before anything is written, where the systems are too large.
Status small_systems(Executor& executor, Queue& queue, const PanelCall& call) noexcept;

/// Systems of at most 32 rows and columns.
Status systems_in_lanes(Queue& queue, const PanelCall& call) noexcept;
/// Systems of at most 512 rows.
Status systems_in_blocks(Executor& executor, Queue& queue, const PanelCall& call) noexcept;
/// SystemsTask::Copy.
Status copy_of_systems(Executor& executor, Queue& queue, const PanelCall& call) noexcept;

} // namespace tessera::cuda
