/// Batches on an executor. Products without work only scale C. The others run one after another where a backend has no
/// better way, or where the caller named a kernel.

#include <algorithm>
#include <new>
#include <vector>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/uncancelled.hpp>
#include <tessera/executor.hpp>

#include "core/base/partly_written.hpp"
#include "core/tools/describe.hpp"
#include "core/tools/listeners.hpp"
#include "reference/gemm/without_memory.hpp"

namespace tessera {
namespace {

bool is_empty(const GemmBatch& group) { return group.count == 0 || group.call.m == 0 || group.call.n == 0; }
/// True if there is nothing to multiply: C becomes beta·C.
bool scales(const GemmBatch& group) { return group.call.k == 0 || group.call.alpha == 0.0; }
bool multiplies(const GemmBatch& group) { return !is_empty(group) && !scales(group); }

bool has_ends(const GemmBatch& group) { return group.ends.data != nullptr; }

} // namespace

Status Executor::gemm_batch(Queue& queue, std::span<const GemmBatch> groups, std::string_view name) noexcept try {
  const detail::Uncancelled whole;
  const detail::ContractArithmetic contract;
  if (Status status = check_gemm_batch(groups); !status.ok()) return status;
  const auto run_some = [&](std::span<const GemmBatch> some) {
    return name.empty() ? run_gemm_batch(queue, some) : gemm_one_by_one(queue, some, name);
  };
  const auto run = [&](std::span<const GemmBatch> some) {
    if (!tools::anyone_listens()) [[likely]]
      return run_some(some);
    const std::string told(name.empty() ? "batch" : name);
    return tools::observe([&] { return tools::describe(*this, queue, some, told.c_str()); },
                          [&] { return run_some(some); });
  };
  if (std::any_of(groups.begin(), groups.end(), has_ends)) return gemm_batch_by_ends(queue, groups, name);
  if (std::all_of(groups.begin(), groups.end(), multiplies)) return groups.empty() ? Status{} : run(groups);
  std::vector<GemmBatch> multiplied;
  for (const GemmBatch& group : groups) {
    const GemmKernel* kernel = nullptr; // an empty product, too, complains of an unknown name
    if (multiplies(group)) {
      multiplied.push_back(group);
    } else if (group.count > 0) {
      if (Status status = choose_kernel(group.product(0), name, kernel); kernel == nullptr) return status;
    }
  }
  if (!multiplied.empty())
    if (Status status = run(multiplied); !status.ok()) return status;
  bool written = !multiplied.empty();
  for (const GemmBatch& group : groups)
    for (Index i = 0; i < group.count && !is_empty(group) && scales(group); ++i, written = true)
      if (Status status = scale_result(queue, group.product(i)); !status.ok())
        return written ? detail::partly_written(status) : status;
  return {};
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

Status Executor::run_gemm_batch(Queue& queue, std::span<const GemmBatch> groups) noexcept try {
  return gemm_one_by_one(queue, groups);
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

Status Executor::gemm_one_by_one(Queue& queue, std::span<const GemmBatch> groups, std::string_view name) {
  const auto each = [&](auto action) {
    for (const GemmBatch& group : groups) {
      const GemmKernel* kernel = nullptr;
      for (Index i = 0; i < group.count; ++i) {
        const GemmCall call = group.product(i);
        if (kernel == nullptr || kernel->reject != nullptr) // reject() may read the pointers
          if (Status status = choose_kernel(call, name, kernel); kernel == nullptr) return status;
        if (Status status = action(*kernel, call); !status.ok()) return status;
      }
    }
    return Status{};
  };
  if (Status status = each([](const GemmKernel&, const GemmCall&) { return Status{}; }); !status.ok()) return status;
  bool written = false;
  const auto run = [&](const GemmKernel& kernel, const GemmCall& call) {
    Status status = run_kernel(queue, kernel, call);
    // The products before this one cannot be undone, so it is computed in a way that cannot fail.
    if (status.code == StatusCode::OutOfMemory && written && name.empty() && capabilities().host_memory &&
        host::can_multiply_without_memory(call)) {
      host::multiply_without_memory(call);
      status = {};
    }
    written = written || status.ok();
    return status;
  };
  Status status;
  try {
    status = each(run);
  } catch (const std::bad_alloc& error) {
    status = out_of_memory(error);
  }
  return written ? detail::partly_written(status) : status;
}

} // namespace tessera
