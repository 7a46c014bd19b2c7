/// A stand-in for the cuda plug-in: a device with separate memory, and with kernels that are wrong, refuse or fail.
/// Tests check what gemm_compare says of each. If ODD_DEVICE_RECORDS is set, its queue records and the device tells its
/// state. If ODD_DEVICE_IS_RUDE is set, it has other kernels, whose names are no plain text.

#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include <tessera/backend.hpp>
#include <tessera/backend/device_state.hpp>
#include <tessera/backend/host_executor.hpp>
#include <tessera/backend/kernel_resources.hpp>
#include <tessera/backend/plugin.hpp>
#include <tessera/performance/recording.hpp>

namespace {

using namespace tessera;

Executor& reference() { return executor(Backend::Reference); }

const char* refuse(const GemmKernel&, const GemmCall&, const Capabilities&) noexcept { return "it is in a bad mood"; }

using Work = std::vector<std::function<Status()>>;

class Replayed final : public Recording, public RecordedResources {
 public:
  explicit Replayed(Work work) : work_(std::move(work)) {}
  Status replay(Queue&) noexcept override {
    for (const auto& step : work_)
      if (Status status = step(); !status.ok()) return status;
    return {};
  }

  Status read_resources(KernelResources& resources) noexcept override {
    if (work_.size() != 1) return {StatusCode::Unavailable, "the resources of one product are known"};
    resources = {.registers = 40,
                 .static_shared = 1024,
                 .dynamic_shared = 65536,
                 .local_memory = 16,
                 .threads = 256,
                 .blocks = 3,
                 .occupancy = 0.375};
    return {};
  }

 private:
  Work work_;
};

class RecordingQueue final : public Queue, public Recorder {
 public:
  Status synchronize() noexcept override { return {}; }
  Status begin_recording() noexcept override {
    records = true;
    return {};
  }
  Status end_recording(std::unique_ptr<Recording>& recording) noexcept override {
    recording = std::make_unique<Replayed>(std::exchange(work, {}));
    records = false;
    return {};
  }
  bool records = false;
  Work work;
};

/// Runs `step`, or keeps it if the queue is recording.
Status enqueue(Queue& queue, std::function<Status()> step) {
  auto* recorder = dynamic_cast<RecordingQueue*>(&queue);
  if (recorder == nullptr || !recorder->records) return step();
  recorder->work.push_back(std::move(step));
  return {};
}

Status run_now(const GemmKernel& row, const GemmCall& call) {
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

Status run(const GemmKernel& row, Executor&, Queue& queue, const GemmCall& call) noexcept {
  const auto* recorder = dynamic_cast<RecordingQueue*>(&queue);
  if (row.name == std::string_view("waiting") && recorder != nullptr && recorder->records)
    return {StatusCode::DeviceError, "it waits for the device"};
  return enqueue(queue, [&row, call] { return run_now(row, call); });
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
    row("failing"), refusing(),        row("almost"),     row("almost_other", Summation::Other),
    row("waiting")};

/// Kernels that say what a terminal, Markdown or a CSV file would act on.
const char* refuse_rudely(const GemmKernel&, const GemmCall&, const Capabilities&) noexcept {
  return "a bad mood\x1b[2J\r\n| # `x`";
}
constexpr GemmKernel rude(bool refuses) {
  GemmKernel kernel = row(refuses ? "rude_refusal" : "rude\x1b]0;title\x07\xff|`\n");
  kernel.summary = "rude\x1b[31m";
  kernel.source = "\x1b[8m\x07";
  if (refuses) kernel.reject = refuse_rudely;
  return kernel;
}
constexpr std::array rude_products{rude(false), rude(true)};

std::span<const GemmKernel> ladder() {
  if (std::getenv("ODD_DEVICE_IS_RUDE") != nullptr) return rude_products;
  return products;
}

Status reduce(const ReduceKernel& row, Executor&, Queue&, const ReduceCall& call, ReduceResult& result) noexcept {
  Status status = reference().reduce(reference().default_queue(), call, result);
  if (std::string_view(row.name) == "doubled") {
    result.value *= 2;
    result.whole *= 2;
  }
  if (std::string_view(row.name) == "narrow") result.whole = static_cast<std::int32_t>(result.whole);
  result.device_seconds = 0.25;
  return status;
}

constexpr ReduceKernel reduction(const char* name, DType type = DType::F32) {
  return {.name = name, .summary = "odd", .source = "tests", .op = ReduceOp::SumOfSquares, .type = type, .run = reduce};
}

constexpr std::array reductions{reduction("fine"), reduction("doubled"), reduction("fine", DType::I32),
                                reduction("narrow", DType::I32)}; // narrow keeps 32 bits of the sum

class OddDevice final : public HostExecutor, public DeviceMonitor {
 public:
  OddDevice() {
    capabilities_.backend = Backend::Cuda;
    capabilities_.device = "odd device";
    capabilities_.host_memory = false;
    capabilities_.l2_bytes = 10240;
  }
  const Capabilities& capabilities() const noexcept override { return capabilities_; }
  std::span<const GemmKernel> gemm_kernels() const noexcept override { return ladder(); }
  std::span<const ReduceKernel> reduce_kernels() const noexcept override { return reductions; }
  Queue& default_queue() noexcept override { return records_ ? recording_queue_ : HostExecutor::default_queue(); }
  Status read_state(DeviceState& state) noexcept override {
    if (!records_) return {StatusCode::Unavailable, "it does not say"};
    state.sm_mhz = 1755;
    state.power_w = 320.5;
    return {};
  }
  Status run_map(Queue& queue, const MapCall& call) noexcept override {
    return enqueue(queue, [call] { return reference().map(reference().default_queue(), call); });
  }
  Status run_finish(Queue& queue, const FinishCall& call) noexcept override {
    return enqueue(queue, [call] { return reference().finish(reference().default_queue(), call); });
  }
  Status run_random(Queue& queue, const RandomCall& call) noexcept override { return reference().random(queue, call); }
  Status measure_ceilings(DType, Math, int, Ceilings& ceilings) noexcept override {
    ceilings = {1e12, 1e12};
    ceilings.caches[0] = {2, capabilities_.l2_bytes, 2e12};
    return {};
  }

 private:
  const bool records_ = std::getenv("ODD_DEVICE_RECORDS") != nullptr;
  RecordingQueue recording_queue_;
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
    .gemm_kernels = ladder,
    .reduce_kernels = []() -> std::span<const ReduceKernel> { return reductions; },
    .memory = Memory::Device,
};

} // namespace

extern "C" __attribute__((visibility("default"))) const tessera::PluginInfo* tessera_plugin() noexcept { return &info; }
