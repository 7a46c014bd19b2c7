/// A plug-in with a ladder of one rung, which docs/kernels.md shows: the conformance test runs it under the name of
/// TBB.

#include <array>

#include <tessera/backend/plugin.hpp>

#include "rung.hpp"
#include "support/borrowing_executor.hpp"

namespace {

using namespace tessera;

std::span<const GemmKernel> ladder() {
  static const std::array kernels{cpu::row_wise_f32, cpu::row_wise_f64};
  return kernels;
}

class OneRungExecutor final : public test::BorrowingExecutor {
 public:
  OneRungExecutor() : BorrowingExecutor(Backend::Tbb) {}
  std::span<const GemmKernel> gemm_kernels() const noexcept override { return ladder(); }
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
