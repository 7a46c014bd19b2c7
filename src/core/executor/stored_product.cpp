/// Products of operands as they are stored, and triangles in tiles: the entries, and what an executor of the host does
/// that has none.

#include <tessera/backend/stored_product.hpp>
#include <tessera/backend/triangle_tiles.hpp>

#include <new>

#include <tessera/backend/host_executor.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/uncancelled.hpp>

#include "core/tools/describe.hpp"
#include "core/tools/listeners.hpp"

namespace tessera {
namespace {

/// Returns the product of real numbers that a tool sees.
GemmCall told_to_tools(const StoredProductCall& call) {
  const Index parts = call.is_complex ? 2 : 1;
  return {{.type = call.type,
           .m = call.m,
           .n = parts * call.n,
           .k = parts * call.k,
           .a = call.a.data,
           .b = call.b.data,
           .c = call.c,
           .ldc = parts * call.ldc,
           .threads = call.threads}};
}

/// Returns the kernel that computes the product, or null.
const GemmKernel* kernel_for(const HostExecutor* host, const StoredProductCall& call, std::string_view name) {
  return host == nullptr ? nullptr : host->stored_product_kernel(call, name);
}

} // namespace

const GemmKernel* HostExecutor::stored_product_kernel(const StoredProductCall&, std::string_view) const {
  return nullptr;
}

Status HostExecutor::run_stored_product(const StoredProductCall&) noexcept {
  return {StatusCode::Rejected, "this backend writes symmetric and complex operands out before it multiplies them"};
}

Status HostExecutor::run_triangle_tiles(const TriangleTilesCall&) noexcept {
  return {StatusCode::Rejected, "this backend computes with triangles by products of rectangles"};
}

bool triangle_in_tiles(Executor& executor, const TriangleTilesCall& call) noexcept {
  auto* const host = dynamic_cast<HostExecutor*>(&executor);
  const detail::Uncancelled whole;
  const detail::ContractArithmetic contract;
  return host != nullptr && host->run_triangle_tiles(call).ok();
}

bool takes_stored_product(const Executor& executor, const StoredProductCall& call, std::string_view name) noexcept try {
  return kernel_for(dynamic_cast<const HostExecutor*>(&executor), call, name) != nullptr;
} catch (const std::bad_alloc&) {
  return false;
}

bool stored_product(Executor& executor, Queue& queue, const StoredProductCall& call, std::string_view name) noexcept
    try {
  auto* const host = dynamic_cast<HostExecutor*>(&executor);
  const detail::Uncancelled whole;
  const detail::ContractArithmetic contract;
  const GemmKernel* const kernel = kernel_for(host, call, name);
  if (kernel == nullptr) return false;
  if (!tools::anyone_listens()) [[likely]]
    return host->run_stored_product(call).ok();
  return tools::observe([&] { return tools::describe(executor, queue, told_to_tools(call), kernel->name); },
                        [&] { return host->run_stored_product(call); })
      .ok();
} catch (const std::bad_alloc&) {
  return false;
}

} // namespace tessera
