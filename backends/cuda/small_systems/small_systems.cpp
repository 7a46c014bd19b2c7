#include "small_systems.hpp"

#include <algorithm>

namespace tessera::cuda {

Status small_systems(Executor& executor, Queue& queue, const PanelCall& call) noexcept {
  constexpr Index most_in_lanes = 32;
  const SystemsCall& systems = *call.systems;
  const bool needs_columns = systems.task == SystemsTask::LuSolve || systems.task == SystemsTask::CholeskySolve;
  if (systems.count == 0 || (needs_columns && systems.columns == 0)) return {};
  if (systems.task == SystemsTask::Copy) return copy_of_systems(executor, queue, call);
  return std::max(call.rows, call.cols) <= most_in_lanes ? systems_in_lanes(queue, call)
                                                         : systems_in_blocks(executor, queue, call);
}

} // namespace tessera::cuda
