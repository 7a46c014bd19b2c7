/// Batches: a group of small products at equal distances is one launch of the tiled kernel, whose dimension 2 counts
/// the products. Other groups run one product after another: large products are faster by packed panels, and a kernel
/// gets an operand as one block of memory, so that a list of pointers into many blocks cannot be given.

#include <new>
#include <vector>

#include "opencl/executor.hpp"
#include "opencl/gemm/common/strict.hpp"
#include "opencl/gemm/common/tiled.hpp"

namespace tessera::opencl {
namespace {

/// True if one launch computes the group faster than launches of each product.
bool is_one_launch(const GemmBatch& group) {
  constexpr double largest = 192.0 * 192 * 192; // m·n·k from which packing the operands is worth its launches
  const GemmCall& call = group.call;
  const double size = static_cast<double>(call.m) * static_cast<double>(call.n) * static_cast<double>(call.k);
  return !group.has_pointers() && group.count > 1 && call.math == Math::Strict && is_plain_product(call) &&
         size <= largest;
}

} // namespace

Status OpenClExecutor::run_gemm_batch(Queue& queue, std::span<const GemmBatch> groups) noexcept try {
  std::vector<GemmBatch> alone;
  for (const GemmBatch& group : groups)
    if (!is_one_launch(group))
      alone.push_back(group);
    else if (Status status = keeps_contract(queue, scalar_of(group.call.type)); !status.ok())
      return status;
  if (!alone.empty())
    if (Status status = gemm_one_by_one(queue, alone); !status.ok()) return status;
  for (const GemmBatch& group : groups) {
    if (!is_one_launch(group)) continue;
    const BatchSteps steps{group.count, group.stride_a, group.stride_b, group.stride_c};
    if (Status status = run_for_device(queue, group.call, steps); !status.ok()) return status;
  }
  return {};
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

} // namespace tessera::opencl
