/// A backend that computes with another backend of the host, and then damages what it computed, once or always. It
/// stands for a processor that computes wrongly.

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <vector>

#include <tessera/backend.hpp>
#include <tessera/backend/plugin.hpp>

#include "fault.hpp"
#include "support/borrowing_executor.hpp"

namespace {

using namespace tessera;
using test::Fault;
using test::FaultKind;

#if defined(IS_BROKEN)
Fault planted{.kind = FaultKind::ResultBits, .row = 5, .col = 7, .bit = 1, .always = true};
#else
Fault planted;
#endif
std::atomic<FaultKind> kind = planted.kind; ///< the other members are written before it

/// Returns the backend that computes.
Executor& sound() {
  static Executor& found = []() -> Executor& {
    for (const BackendInfo& info : available_backends())
      if (info.backend == Backend::OpenMP && info.available) return executor(Backend::OpenMP);
    return executor(Backend::Reference);
  }();
  return found;
}

void flip(char* element, std::size_t bytes, int bit) {
  const auto place = static_cast<std::size_t>(bit) % (8 * bytes);
  element[place / 8] = static_cast<char>(element[place / 8] ^ (1 << (place % 8)));
}

/// The stored rows and columns of an operand.
struct Stored {
  Index rows, cols, ld;
};
Stored stored_a(const GemmCall& call) {
  return call.op_a == Op::None ? Stored{call.m, call.k, call.lda} : Stored{call.k, call.m, call.lda};
}
Stored stored_b(const GemmCall& call) {
  return call.op_b == Op::None ? Stored{call.k, call.n, call.ldb} : Stored{call.n, call.k, call.ldb};
}

std::size_t place_in(const Stored& x, const Fault& fault, std::size_t element) {
  return static_cast<std::size_t>((fault.row % x.rows) * x.ld + fault.col % x.cols) * element;
}

void damage_result(const GemmCall& call, const Fault& fault) {
  const std::size_t bytes = size_of(call.result);
  const Index row = fault.row % call.m;
  const auto at = [&](Index col) {
    return static_cast<char*>(call.c) + static_cast<std::size_t>(row * call.ldc + col % call.n) * bytes;
  };
  for (Index i = 0; i < std::min(fault.count, call.n); ++i) {
    char* const element = at(fault.col + i);
    if (fault.kind == FaultKind::ResultBits) flip(element, bytes, fault.bit);
    if (fault.kind == FaultKind::ResultNan) std::memset(element, 0xFF, bytes);
    if (fault.kind == FaultKind::ResultZero) std::memset(element, 0, bytes);
  }
  if (fault.kind == FaultKind::ResultExchange)
    std::swap_ranges(at(fault.col), at(fault.col) + bytes, at(fault.col + fault.count));
}

const char* reject(const GemmKernel& kernel, const GemmCall& call, const Capabilities&) noexcept {
  const auto& real = *static_cast<const GemmKernel*>(kernel.context);
  return real.reject == nullptr ? nullptr : real.reject(real, call, sound().capabilities());
}

Status run(const GemmKernel& kernel, Executor&, Queue&, const GemmCall& call) noexcept {
  const auto& real = *static_cast<const GemmKernel*>(kernel.context);
  const Fault fault = planted;
  const FaultKind now = fault.core < 0 || fault.core == sched_getcpu() ? kind.load() : FaultKind::None;
  if (now != FaultKind::None && now != FaultKind::Map && !fault.always) kind = FaultKind::None;
  GemmCall seen = call;
  std::vector<char> copy;
  if (now == FaultKind::OperandA || now == FaultKind::OperandB) {
    const Stored x = now == FaultKind::OperandA ? stored_a(call) : stored_b(call);
    const std::size_t bytes = size_of(call.type);
    const auto* from = static_cast<const char*>(now == FaultKind::OperandA ? call.a : call.b);
    copy.assign(from, from + static_cast<std::size_t>((x.rows - 1) * x.ld + x.cols) * bytes);
    flip(copy.data() + place_in(x, fault, bytes), bytes, fault.bit);
    (now == FaultKind::OperandA ? seen.a : seen.b) = copy.data();
  }
  if (now == FaultKind::OperandForGood)
    flip(static_cast<char*>(const_cast<void*>(call.a)) + place_in(stored_a(call), fault, size_of(call.type)),
         size_of(call.type), fault.bit);
  Executor& executor = sound();
  Status status = real.run(real, executor, executor.default_queue(), seen);
  if (status.ok() && now >= FaultKind::ResultBits && now <= FaultKind::ResultExchange) damage_result(call, fault);
  return status;
}

std::vector<GemmKernel> wrapped() {
  std::vector<GemmKernel> kernels;
  for (const GemmKernel& real : sound().gemm_kernels()) {
    GemmKernel kernel = real;
    kernel.reject = reject;
    kernel.run = run;
    kernel.context = &real;
    kernel.traffic = nullptr;
    kernels.push_back(kernel);
  }
  return kernels;
}
const std::vector<GemmKernel>& kernels() {
  static const std::vector<GemmKernel> all = wrapped();
  return all;
}

class FaultyExecutor final : public test::BorrowingExecutor {
 public:
  explicit FaultyExecutor(const ExecutorOptions& options) : BorrowingExecutor(options.backend) {
    capabilities_.device = "faulty";
    capabilities_.threads = options.threads;
  }
  std::span<const GemmKernel> gemm_kernels() const noexcept override { return kernels(); }
  Status run_map(Queue& queue, const MapCall& call) noexcept override {
    const Fault fault = planted;
    const bool now = kind == FaultKind::Map && is_complex(call.op);
    if (now && !fault.always) kind = FaultKind::None;
    Status status = BorrowingExecutor::run_map(queue, call);
    if (!now || !status.ok()) return status;
    const std::size_t bytes = size_of(call.type);
    const Stored z{call.op == MapOp::ExpandComplex ? 2 * call.rows : call.rows, 2 * call.cols, 2 * call.ldz};
    flip(static_cast<char*>(call.z) + place_in(z, fault, bytes), bytes, fault.bit);
    return status;
  }
  Status run_range(Queue&, const RangeCall& call) noexcept override {
    return sound().run_range(sound().default_queue(), call);
  }
};

const PluginInfo info{
    .struct_size = sizeof(PluginInfo),
    .abi_version = plugin_abi_version,
    .build_tag = TESSERA_BUILD_TAG,
    .name = PLUGIN_NAME,
    .description = "computes wrongly, for tests",
    .probe = [] { return Status{}; },
    .create =
        [](const ExecutorOptions& options, Executor*& executor) {
          executor = new FaultyExecutor(options);
          return Status{};
        },
    .destroy = [](Executor* executor) { delete executor; },
    .gemm_kernels = []() -> std::span<const GemmKernel> { return kernels(); },
    .reduce_kernels = [] { return reduce_kernels(Backend::Reference); },
    .memory = Memory::Host,
};

} // namespace

extern "C" __attribute__((visibility("default"))) const tessera::PluginInfo* tessera_plugin() noexcept { return &info; }

extern "C" __attribute__((visibility("default"))) void set_fault(const tessera::test::Fault& fault) {
  kind = FaultKind::None;
  planted = fault;
  kind = fault.kind;
}
