#include <cstring>

#include "../device/include/cuda_runtime_api.h"
#include "block.hpp"
#include "finding.hpp"
#include "shared.hpp"

namespace tessera::lens {

void launch_error(cudaError_t error);
std::size_t allowed_dynamic_shared();

namespace {

/// Launches that are kept apart. Those after them are counted with the last one of their name.
constexpr std::size_t most_launches = 32;

bool is_like(const Launch& launch, const std::string& name, int line, std::uint32_t function_pc, dim3 grid,
             dim3 block) {
  const auto equal = [](const dim3& x, const dim3& y) { return x.x == y.x && x.y == y.y && x.z == y.z; };
  return launch.name == name && launch.line == line && launch.function_pc == function_pc && equal(launch.grid, grid) &&
         equal(launch.block, block);
}

std::size_t chosen = 0; ///< the launch that is counted into

void refuse(const void* caller, const std::string& why) {
  Finding made;
  made.kind = "launch_failed";
  made.pc = pc_of(caller);
  made.detail = why;
  findings().add(made);
  launch_error(cudaErrorInvalidConfiguration);
}

std::string text(const dim3& size) {
  return std::to_string(size.x) + "x" + std::to_string(size.y) + "x" + std::to_string(size.z);
}

} // namespace

bool begin_launch(const char* kernel, int line, dim3 grid, dim3 block, std::size_t shared_bytes, const void* function) {
  const void* const caller = __builtin_return_address(0);
  const std::uint64_t count = std::uint64_t{block.x} * block.y * block.z;
  if (current != nullptr) stop("launch_in_kernel", pc_of(caller));
  if (count == 0 || count > most_threads || block.z > 64) {
    refuse(caller, "a block of " + text(block) + " has " + std::to_string(count) +
                       " threads, and a GPU takes 1 to 1024 of them, at most 64 along z");
    return false;
  }
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > 0x7fffffff || grid.y > 65535 || grid.z > 65535) {
    refuse(caller, "a grid of " + text(grid) + " is not 1 to 2147483647 blocks along x and 1 to 65535 along y and z");
    return false;
  }
  if (shared_bytes > allowed_dynamic_shared()) {
    refuse(caller, std::to_string(shared_bytes) + " bytes of dynamic shared memory are more than " +
                       std::to_string(allowed_dynamic_shared()) +
                       "; cudaFuncSetAttribute(…, cudaFuncAttributeMaxDynamicSharedMemorySize, …) allows up to " +
                       std::to_string(most_shared));
    return false;
  }
  auto& all = launches();
  chosen = all.size();
  for (std::size_t at = 0; at < all.size(); ++at)
    if (is_like(all[at], kernel, line, function != nullptr ? pc_of(function) + 1 : 0, grid, block)) chosen = at;
  if (chosen == all.size() && all.size() >= most_launches) chosen = all.size() - 1;
  if (chosen == all.size()) {
    Launch& made = all.emplace_back();
    made.name = kernel;
    made.line = line;
    made.function_pc = function != nullptr ? pc_of(function) + 1 : 0;
    made.grid = grid;
    made.block = block;
    made.times = 0;
  }
  ++all[chosen].times;
  shared_memory().begin_launch(shared_bytes);
  return true;
}

void run_launch(void (*kernel)(const void*), const void* arguments) {
  Launch& launch = launches()[chosen];
  run_blocks(launch, kernel, arguments);
  launch.shared_bytes = shared_memory().static_bytes() + shared_memory().dynamic_bytes();
  if (shared_memory().static_bytes() > most_static_shared)
    refuse(__builtin_return_address(0), std::to_string(shared_memory().static_bytes()) +
                                            " bytes of static shared memory are more than 49152, which nvcc refuses; "
                                            "a GPU has more only as dynamic shared memory");
}

} // namespace tessera::lens
