/// A complete backend under a name that Tessera does not know. It computes in host memory, with two kernels that hand
/// the product to the reference. Nothing else in the repository mentions it but the tests in this folder.

#include <tessera/backend/plugin.hpp>

#include "support/borrowing_executor.hpp"

namespace {

using namespace tessera;

Status run(const GemmKernel&, Executor&, Queue&, const GemmCall& call) noexcept {
  Executor& reference = executor(Backend::Reference);
  return reference.gemm(reference.default_queue(), call, "canonical");
}

constexpr GemmKernel row_of(DType type) {
  return {.name = "delegated",
          .summary = "hands the product to the reference",
          .source = "this test",
          .type = type,
          .summation = Summation::Canonical,
          .run = run};
}
constexpr GemmKernel kernels[] = {row_of(DType::F32), row_of(DType::F64)};

class StandInExecutor final : public test::BorrowingExecutor {
 public:
  explicit StandInExecutor(const ExecutorOptions& options) : BorrowingExecutor(options.backend) {
    capabilities_.device = "stand-in";
    capabilities_.threads = options.threads;
#if defined(DENIES_ITS_MEMORY)
    capabilities_.host_memory = false;
#endif
  }
  std::span<const GemmKernel> gemm_kernels() const noexcept override { return kernels; }
};

const PluginInfo info {
  .struct_size = sizeof(PluginInfo), .abi_version = plugin_abi_version, .build_tag = TESSERA_BUILD_TAG,
  .name = PLUGIN_NAME, .description = "a backend of another author, for tests", .probe = [] { return Status{}; },
  .create =
      [](const ExecutorOptions& options, Executor*& executor) {
        executor = new StandInExecutor(options);
        return Status{};
      },
  .destroy = [](Executor* executor) { delete executor; },
  .gemm_kernels = []() -> std::span<const GemmKernel> { return kernels; },
  .reduce_kernels = [] { return reduce_kernels(Backend::Reference); }, .memory = Memory::Host,
#if defined(PREFERENCE)
  .preference = PREFERENCE,
#endif
};

} // namespace

extern "C" __attribute__((visibility("default"))) const tessera::PluginInfo* tessera_plugin() noexcept { return &info; }
