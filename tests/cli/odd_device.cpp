/// A stand-in for the cuda plug-in: a device with memory of its own, and kernels that are wrong, refuse or fail. What
/// gemm_compare says of each is tested.

#include <array>
#include <cmath>
#include <string_view>

#include <tessera/backend.hpp>
#include <tessera/host_executor.hpp>
#include <tessera/plugin.hpp>

namespace {

using namespace tessera;

Executor& reference() { return executor(Backend::Reference); }

const char* refuse(const GemmKernel&, const GemmCall&, const Capabilities&) noexcept { return "it is in a bad mood"; }

Status run(const GemmKernel& row, Executor&, Queue&, const GemmCall& call) noexcept {
  const std::string_view name = row.name;
  if (name == "failing") return {StatusCode::DeviceError, "the device is on fire"};
  if (name == "unwritten") return {};
  if (Status status = reference().gemm(reference().default_queue(), call, "canonical"); !status.ok()) return status;
  auto* c = static_cast<float*>(call.c);
  if (name == "off_by_one") c[(call.m - 1) * call.ldc + call.n - 1] += 1.0f;
  if (name == "off_inside") c[call.m / 2 * call.ldc + call.n / 2] += 1.0f;
  if (name.starts_with("almost")) c[0] = std::nextafter(c[0], 1e9f);
  return {};
}

constexpr GemmKernel row(const char* name, Summation summation = Summation::Canonical) {
  return {.name = name, .summary = "odd", .source = "tests", .type = DType::F32, .summation = summation, .run = run};
}

constexpr GemmKernel refusing() {
  GemmKernel kernel = row("refusing");
  kernel.reject = refuse;
  return kernel;
}

constexpr std::array products{
    row("fine"),    row("off_by_one"), row("off_inside"), row("unwritten"),
    row("failing"), refusing(),        row("almost"),     row("almost_other", Summation::Other)};

Status reduce(const ReduceKernel& row, Executor&, Queue&, const ReduceCall& call, ReduceResult& result) noexcept {
  Status status = reference().reduce(reference().default_queue(), call, result);
  if (std::string_view(row.name) == "doubled") result.value *= 2;
  result.device_seconds = 0.25;
  return status;
}

constexpr ReduceKernel reduction(const char* name) {
  return {.name = name,
          .summary = "odd",
          .source = "tests",
          .op = ReduceOp::SumOfSquares,
          .type = DType::F32,
          .run = reduce};
}

constexpr std::array reductions{reduction("fine"), reduction("doubled")};

class OddDevice final : public HostExecutor {
 public:
  OddDevice() {
    capabilities_.backend = Backend::Cuda;
    capabilities_.device = "odd device";
    capabilities_.host_memory = false;
    capabilities_.l2_bytes = 10240;
  }
  const Capabilities& capabilities() const noexcept override { return capabilities_; }
  std::span<const GemmKernel> gemm_kernels() const noexcept override { return products; }
  std::span<const ReduceKernel> reduce_kernels() const noexcept override { return reductions; }
  Status map(Queue& queue, const MapCall& call) noexcept override { return reference().map(queue, call); }
  Status random(Queue& queue, const RandomCall& call) noexcept override { return reference().random(queue, call); }
  Status measure_ceilings(DType, Math, int, Ceilings& ceilings) noexcept override {
    ceilings = {1e12, 1e12};
    ceilings.caches[0] = {2, capabilities_.l2_bytes, 2e12};
    return {};
  }

 private:
  Capabilities capabilities_;
};

const PluginInfo info{
    .struct_size = sizeof(PluginInfo),
    .abi_version = plugin_abi_version,
    .build_tag = TESSERA_BUILD_TAG,
    .name = "cuda",
    .description = "odd kernels, for tests",
    .probe = [] { return Status{}; },
    .create =
        [](const ExecutorOptions&, Executor*& executor) {
          executor = new OddDevice;
          return Status{};
        },
    .destroy = [](Executor* executor) { delete executor; },
    .gemm_kernels = []() -> std::span<const GemmKernel> { return products; },
    .reduce_kernels = []() -> std::span<const ReduceKernel> { return reductions; },
};

} // namespace

extern "C" __attribute__((visibility("default"))) const tessera::PluginInfo* tessera_plugin() noexcept { return &info; }
