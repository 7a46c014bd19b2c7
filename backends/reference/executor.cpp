/// The reference executor: serial and plain. The other backends are measured against its results.

#include <tessera/backend/host_executor.hpp>
#include <tessera/detail/floating_point.hpp>

#include "fma_clones.hpp"
#include "plugin.hpp"
#include "reference/elementwise/complex_block.hpp"
#include "reference/elementwise/rows.hpp"
#include "reference/gemm/ladder.hpp"
#include "reference/reduce/ladder.hpp"

namespace tessera::reference {
namespace {

TESSERA_FMA_CLONES void map_rows(const MapCall& call) { host::map_rows(call, 0, call.rows); }
TESSERA_FLAT_FMA_CLONES void random_rows(const RandomCall& call) { host::random_rows(call, 0, call.rows); }

class ReferenceExecutor final : public HostExecutor {
 public:
  ReferenceExecutor() {
    capabilities_.backend = Backend::Reference;
    capabilities_.device = "serial";
    capabilities_.instruction_set = "portable";
  }

  const Capabilities& capabilities() const noexcept override { return capabilities_; }
  std::span<const GemmKernel> gemm_kernels() const noexcept override { return gemm_ladder(); }
  std::span<const ReduceKernel> reduce_kernels() const noexcept override { return reduce_ladder(); }

  Status run_map(Queue&, const MapCall& call) noexcept override {
    const detail::ContractArithmetic contract;
    if (is_complex(call.op)) {
      host::map_complex(call, {0, call.rows, 0, call.cols});
      return {};
    }
    map_rows(call);
    return {};
  }
  Status run_random(Queue&, const RandomCall& call) noexcept override {
    const detail::ContractArithmetic contract;
    random_rows(call);
    return {};
  }
  /// The reference is a yardstick for errors. Its speed is not compared with a ceiling, so it measures none.
  Status measure_ceilings(DType, Math, int, Ceilings& ceilings) noexcept override {
    ceilings = {};
    return {};
  }

 private:
  Capabilities capabilities_;
};

Status create(const ExecutorOptions&, Executor*& executor) {
  executor = new ReferenceExecutor;
  return {};
}

constexpr PluginInfo info{
    .struct_size = sizeof(PluginInfo),
    .abi_version = plugin_abi_version,
    .build_tag = TESSERA_BUILD_TAG,
    .name = "reference",
    .description = "serial, accumulates in higher precision",
    .probe = [] { return Status{}; },
    .create = create,
    .destroy = [](Executor* executor) { delete executor; },
    .gemm_kernels = [] { return gemm_ladder(); },
    .reduce_kernels = [] { return reduce_ladder(); },
};

} // namespace

const PluginInfo* plugin() { return &info; }

} // namespace tessera::reference
