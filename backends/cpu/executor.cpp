#include "executor.hpp"

#include <algorithm>
#include <new>
#include <vector>

#include <tessera/backend/log.hpp>
#include <tessera/backend/out_of_memory.hpp>

#include "cpu/device/machine.hpp"
#include "cpu/gemm/batch/batch.hpp"
#include "cpu/gemm/ladder.hpp"
#include "cpu/gemm/simd/stored_product.hpp"
#include "cpu/gemm/simd/triangle_tiles.hpp"
#include "cpu/reduce/ladder.hpp"

namespace tessera::cpu {

CpuExecutor::CpuExecutor(Backend backend, Isa isa, int threads, std::unique_ptr<Team> team)
    : isa_(isa), team_(std::move(team)), gemm_kernels_(gemm_ladder(backend)) {
  const Machine machine = inspect_machine();
  capabilities_.backend = backend;
  capabilities_.device = machine.processor;
  capabilities_.memory_bytes = machine.memory_bytes;
  capabilities_.threads = threads;
  capabilities_.instruction_set = to_string(isa);
  capabilities_.l1_bytes = machine.l1_bytes;
  capabilities_.l2_bytes = machine.l2_bytes;
  capabilities_.l3_bytes = machine.l3_bytes;
}

std::span<const GemmKernel> CpuExecutor::gemm_kernels() const noexcept { return gemm_kernels_; }
std::span<const ReduceKernel> CpuExecutor::reduce_kernels() const noexcept { return reduce_ladder(); }

Status CpuExecutor::run_gemm_batch(Queue& queue, std::span<const GemmBatch> groups) noexcept try {
  const auto small = [&](const GemmBatch& group) { return is_shared_out(group, threads_for(group.call.threads)); };
  const auto small_ones = std::count_if(groups.begin(), groups.end(), small);
  if (log_dispatch())
    log_line("gemm batch: " + std::to_string(small_ones) + " of " + std::to_string(groups.size()) +
             " groups in one parallel loop by " + std::string(to_string(capabilities_.backend)) + "/batch, " +
             to_string(isa_));
  if (small_ones == std::ssize(groups)) return batched_products(*this, queue, groups);
  if (small_ones == 0) return gemm_one_by_one(queue, groups);
  std::vector<GemmBatch> ordered(groups.begin(), groups.end());
  const auto first_large = std::stable_partition(ordered.begin(), ordered.end(), small);
  // The large products come first, because their kernels may reject, and nothing may be written then.
  if (Status status = gemm_one_by_one(queue, {first_large, ordered.end()}); !status.ok()) return status;
  return detail::partly_written(batched_products(*this, queue, {ordered.begin(), first_large}));
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

/// The kernel is gemm()'s for the real product. simd_packed computes it where that is the kernel, or simd, which takes
/// it for large products.
const GemmKernel* CpuExecutor::stored_product_kernel(const StoredProductCall& call, std::string_view name) const {
  if (!takes_stored_product(call, isa_)) return nullptr;
  const Index parts = call.is_complex ? 2 : 1;
  const GemmCall real{{.type = call.type,
                       .m = call.m,
                       .n = parts * call.n,
                       .k = parts * call.k,
                       .lda = parts * call.k,
                       .ldb = parts * call.n,
                       .ldc = parts * call.n,
                       .threads = call.threads}};
  const GemmKernel* chosen = nullptr;
  if (!choose_kernel(real, name, chosen).ok() || chosen == nullptr) return nullptr;
  const std::string_view found = chosen->name;
  return found == "simd" || found == "simd_packed" ? chosen : nullptr;
}

Status CpuExecutor::run_stored_product(const StoredProductCall& call) noexcept { return stored_product(*this, call); }

Status CpuExecutor::run_triangle_tiles(const TriangleTilesCall& call) noexcept {
  return triangle_in_tiles(*this, call);
}

Status create_executor(Backend backend, MakeTeam make_team, const ExecutorOptions& options, Executor*& executor) {
  Isa isa = Isa::Portable;
  if (Status status = choose_isa(isa); !status.ok()) return status;
  executor = new CpuExecutor(backend, isa, options.threads, make_team(options.threads));
  return {};
}

} // namespace tessera::cpu
