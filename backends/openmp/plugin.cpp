#include <tessera/backend/plugin.hpp>

#include "cpu/executor.hpp"
#include "cpu/gemm/ladder.hpp"
#include "cpu/reduce/ladder.hpp"
#include "team.hpp"

namespace tessera::openmp {
namespace {

Status create(const ExecutorOptions& options, Executor*& executor) {
  return cpu::create_executor(Backend::OpenMP, make_team, options, executor);
}

constexpr PluginInfo info{
    .struct_size = sizeof(PluginInfo),
    .abi_version = plugin_abi_version,
    .build_tag = TESSERA_BUILD_TAG,
    .name = "openmp",
    .description = "OpenMP threads over the shared CPU ladder",
    .probe = [] { return Status{}; },
    .create = create,
    .destroy = [](Executor* executor) { delete executor; },
    .gemm_kernels = [] { return cpu::gemm_ladder(Backend::OpenMP); },
    .reduce_kernels = [] { return cpu::reduce_ladder(); },
};

} // namespace
} // namespace tessera::openmp

extern "C" __attribute__((visibility("default"))) const tessera::PluginInfo* tessera_plugin() noexcept {
  return &tessera::openmp::info;
}
