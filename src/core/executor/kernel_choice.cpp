/// The choice of a kernel of an executor's ladder.

#include <tessera/executor.hpp>

#include <new>
#include <vector>

#include <tessera/backend/log.hpp>
#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/uncancelled.hpp>

#include "core/executor/tuning/tuned_kernels.hpp"
#include "core/tools/describe.hpp"
#include "core/tools/listeners.hpp"
#include "executor_memory.hpp"

namespace tessera {

Queue::~Queue() = default;
Event::~Event() = default;
Executor::~Executor() = default;

Status Queue::wait(Event& event) noexcept { return event.synchronize(); }

Status Executor::adopt_stream(void* /*stream*/, std::unique_ptr<Queue>& queue) noexcept {
  queue.reset();
  return {StatusCode::Rejected, "this executor has no streams; its work is done when a call returns"};
}

namespace {

std::string describe(const GemmCall& call) {
  const std::string result = call.result == call.type ? "" : " to " + std::string(to_string(call.result));
  return "gemm " + std::string(to_string(call.type)) + result + " " + std::string(to_string(call.math)) +
         " m=" + std::to_string(call.m) + " n=" + std::to_string(call.n) + " k=" + std::to_string(call.k);
}
std::string describe(const ReduceCall& call) {
  return "reduction " + std::string(to_string(call.type)) + " " + std::to_string(call.rows) + "×" +
         std::to_string(call.cols);
}

bool same_kind(const GemmKernel& kernel, const GemmCall& call) {
  return kernel.type == call.type && kernel.math == call.math;
}
bool same_kind(const ReduceKernel& kernel, const ReduceCall& call) {
  return kernel.type == call.type && kernel.op == call.op;
}

bool keeps_contract(const ReduceKernel& kernel, std::span<const ReduceKernel>, const Capabilities&) {
  return kernel.summation == Summation::Canonical;
}

Status rejected(std::string why) { return Status::failure(StatusCode::Rejected, std::move(why)); }

template <class Kernel>
Status unknown_kernel(std::span<const Kernel> kernels, std::string_view name, std::string_view backend) {
  std::vector<std::string> names;
  for (const Kernel& kernel : kernels) names.emplace_back(kernel.name);
  return Status::failure(StatusCode::InvalidArgument, "unknown kernel '" + std::string(name) + "' on backend " +
                                                          std::string(backend) + "; did you mean '" +
                                                          nearest_word(name, names) + "'?");
}

/// Does a pass over C have to follow the kernel's product?
bool wants_finish(const GemmKernel& kernel, const GemmCall& call) {
  const bool narrow = call.type == DType::F32 && is_16_bit(call.result);
  return (narrow && !kernel.narrows) || (!call.epilogue.empty() && !kernel.epilogue);
}

/// Returns the call as the kernel gets it. If a pass over C follows, the kernel computes no epilogue and gives
/// unrounded results.
GemmCall as_seen_by(const GemmKernel& kernel, const GemmCall& call) {
  if (!wants_finish(kernel, call)) return call;
  GemmCall seen = call;
  seen.epilogue = {};
  seen.result = scalar_of(call.type);
  return seen;
}

const char* reason_against(const GemmKernel& kernel, const GemmCall& call, const Capabilities& machine) {
  return kernel.reject ? kernel.reject(kernel, as_seen_by(kernel, call), machine) : nullptr;
}
const char* reason_against(const ReduceKernel& kernel, const ReduceCall& call, const Capabilities& machine) {
  return kernel.reject ? kernel.reject(kernel, call, machine) : nullptr;
}

/// Selects the first kernel that takes the call and keeps the numerical contract, or the kernel called `name`. If there
/// is none the status has the reasons of all kernels.
template <class Kernel, class Call>
Status select(std::span<const Kernel> kernels, const Call& call, const Capabilities& machine, std::string_view name,
              const Kernel*& selected) {
  const std::string_view backend = to_string(machine.backend);
  std::string reasons;
  bool name_known = false;
  for (const Kernel& kernel : kernels) {
    if (!name.empty() && name != kernel.name) continue;
    name_known = true;
    if (!same_kind(kernel, call) || (name.empty() && !keeps_contract(kernel, kernels, machine))) continue;
    const char* reason = reason_against(kernel, call, machine);
    if (log_dispatch())
      log_line(describe(call) + ": " + std::string(backend) + "/" + kernel.name +
               (reason ? std::string(" rejects: ") + reason : " runs"));
    if (reason == nullptr) {
      selected = &kernel;
      return {};
    }
    reasons += std::string("; ") + kernel.name + ": " + reason;
  }
  if (!name.empty() && !name_known) return unknown_kernel(kernels, name, backend);
  if (!name.empty() && reasons.empty()) reasons = "; " + std::string(name) + " has no variant of this type and mode";
  if (reasons.empty())
    reasons = "; its ladder has no kernel of this type and mode that keeps the contract (docs/contract.md)";
  return rejected("no kernel of backend " + std::string(backend) + " takes " + describe(call) + reasons);
}

/// Returns the kernel that the tuning table has for this product; null if there is none or the kernel rejects the
/// product.
const GemmKernel* tuned_kernel(const detail::TunedKernels& tuned, const GemmCall& call, const Capabilities& machine) {
  const GemmKernel* kernel = tuned.find(call);
  if (kernel == nullptr) return nullptr;
  const char* reason = reason_against(*kernel, call, machine);
  if (log_dispatch())
    log_line(describe(call) + ": the tuning table has " + std::string(to_string(machine.backend)) + "/" + kernel->name +
             (reason ? std::string(", which rejects: ") + reason : ", which runs"));
  return reason ? nullptr : kernel;
}

/// Returns the arguments of the pass that follows a product: it reads C and writes C.
FinishCall finish_of(const GemmCall& call) {
  return {.type = scalar_of(call.type),
          .rows = call.m,
          .cols = call.n,
          .x_type = call.result,
          .x = call.c,
          .ldx = call.ldc,
          .z_type = call.result,
          .z = call.c,
          .ldz = call.ldc,
          .epilogue = call.epilogue,
          .threads = call.threads};
}

/// Runs the kernel, and then the pass over C. If the pass needs unrounded results, the kernel writes them to a C of its
/// own type in scratch memory.
Status run_product_and_finish(const GemmKernel& kernel, Executor& executor, Queue& queue, const GemmCall& call) {
  GemmCall product = as_seen_by(kernel, call);
  FinishCall finish = finish_of(call);
  detail::ExecutorMemory wide_c(executor);
  if (product.result != call.result) {
    product.ldc = (call.n + 15) / 16 * 16;
    if (Status status = wide_c.allocate_for(
            queue, static_cast<std::size_t>(call.m) * static_cast<std::size_t>(product.ldc) * sizeof(float));
        !status.ok())
      return status;
    product.c = wide_c.data();
    finish.x = product.c;
    finish.x_type = product.result;
    finish.ldx = product.ldc;
    if (call.beta != 0.0) {
      FinishCall widen = finish_of(call);
      widen.z_type = product.result;
      widen.z = product.c;
      widen.ldz = product.ldc;
      widen.epilogue = {};
      if (Status status = executor.finish(queue, widen); !status.ok()) return status;
    }
  }
  if (Status status = kernel.run(kernel, executor, queue, product); !status.ok()) return status;
  return executor.finish(queue, finish);
}

} // namespace

Status Executor::run_kernel(Queue& queue, const GemmKernel& kernel, const GemmCall& call) {
  if (wants_finish(kernel, call)) return run_product_and_finish(kernel, *this, queue, call);
  return kernel.run(kernel, *this, queue, call);
}

Status Executor::scale_result(Queue& queue, const GemmCall& call) noexcept {
  const detail::ContractArithmetic contract;
  if (!call.epilogue.empty()) {
    FinishCall rest = finish_of(call);
    rest.scale = call.beta;
    if (call.beta == 0.0) rest.x = nullptr;
    return finish(queue, rest);
  }
  MapCall scale;
  scale.op = call.beta == 0.0 ? MapOp::Fill : MapOp::Scale;
  scale.type = call.result;
  scale.rows = call.m;
  scale.cols = call.n;
  scale.alpha = call.beta == 0.0 ? 0.0 : call.beta;
  scale.x = scale.z = call.c;
  scale.ldx = scale.ldz = call.ldc;
  scale.threads = call.threads;
  return map(queue, scale);
}

Status Executor::run_range(Queue&, const RangeCall& call) noexcept {
  const detail::ContractArithmetic contract;
  if (!capabilities().host_memory)
    return {StatusCode::Rejected, "a loop of the host cannot run on a device; its plug-in has the device's code"};
  if (call.count > 0) call.body(call.context, 0, call.count);
  return {};
}

Status Executor::choose_kernel(const GemmCall& call, std::string_view name, const GemmKernel*& chosen) const {
  chosen = tuned_ && name.empty() ? tuned_kernel(*tuned_, call, capabilities()) : nullptr;
  return chosen != nullptr ? Status{} : select(gemm_kernels(), call, capabilities(), name, chosen);
}

Status Executor::gemm(Queue& queue, const GemmCall& call, std::string_view name) noexcept try {
  const detail::Uncancelled whole;
  const detail::ContractArithmetic contract;
  if (Status status = check_gemm(call); !status.ok()) return status;
  const GemmKernel* kernel = nullptr;
  if (Status status = choose_kernel(call, name, kernel); kernel == nullptr) return status;
  if (call.m == 0 || call.n == 0) return {};
  if (call.k == 0 || call.alpha == 0.0) return scale_result(queue, call);
  if (!tools::anyone_listens()) [[likely]]
    return run_kernel(queue, *kernel, call);
  return tools::observe([&] { return tools::describe(*this, queue, call, kernel->name); },
                        [&] { return run_kernel(queue, *kernel, call); });
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

Status Executor::reduce(Queue& queue, const ReduceCall& call, ReduceResult& result, std::string_view name) noexcept
    try {
  const detail::Uncancelled whole;
  const detail::ContractArithmetic contract;
  result = {};
  const ReduceKernel* kernel = nullptr;
  if (Status status = select(reduce_kernels(), call, capabilities(), name, kernel); kernel == nullptr) return status;
  if (call.rows == 0 || call.cols == 0) return {};
  const auto run = [&] { return kernel->run(*kernel, *this, queue, call, result); };
  if (!tools::anyone_listens()) [[likely]]
    return run();
  return tools::observe([&] { return tools::describe(*this, queue, call, kernel->name); }, run);
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

} // namespace tessera
