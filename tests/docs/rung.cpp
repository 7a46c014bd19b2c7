/// A plug-in with a ladder of one rung, that of docs/kernels.md: the conformance test runs it under the name of TBB.

#include <array>

#include <tessera/backend.hpp>
#include <tessera/host_executor.hpp>
#include <tessera/plugin.hpp>

namespace tessera::cpu {
extern const GemmKernel row_wise_f32, row_wise_f64;
}

namespace {

using namespace tessera;

std::span<const GemmKernel> ladder() {
  static const std::array rows{cpu::row_wise_f32, cpu::row_wise_f64};
  return rows;
}

class OneRungExecutor final : public HostExecutor {
 public:
  OneRungExecutor() { capabilities_.backend = Backend::Tbb; }
  const Capabilities& capabilities() const noexcept override { return capabilities_; }
  std::span<const GemmKernel> gemm_kernels() const noexcept override { return ladder(); }
  std::span<const ReduceKernel> reduce_kernels() const noexcept override { return reference().reduce_kernels(); }
  Status map(Queue& queue, const MapCall& call) noexcept override { return reference().map(queue, call); }
  Status random(Queue& queue, const RandomCall& call) noexcept override { return reference().random(queue, call); }
  Status measure_ceilings(DType, Math, int, Ceilings&) noexcept override { return {}; }

 private:
  static Executor& reference() { return executor(Backend::Reference); }
  Capabilities capabilities_;
};

const PluginInfo info{
    .struct_size = sizeof(PluginInfo),
    .abi_version = plugin_abi_version,
    .build_tag = TESSERA_BUILD_TAG,
    .name = "tbb",
    .description = "one rung",
    .probe = [] { return Status{}; },
    .create =
        [](const ExecutorOptions&, Executor*& executor) {
          executor = new OneRungExecutor;
          return Status{};
        },
    .destroy = [](Executor* executor) { delete executor; },
    .gemm_kernels = ladder,
    .reduce_kernels = [] { return reduce_kernels(Backend::Reference); },
};

} // namespace

extern "C" __attribute__((visibility("default"))) const tessera::PluginInfo* tessera_plugin() noexcept { return &info; }
