#pragma once

/// The executor that the OpenMP and TBB backends share. They differ only in the Team.

#include <memory>

#include <tessera/backend/host_executor.hpp>
#include <tessera/backend/plugin.hpp>

#include "cpu/device/isa.hpp"
#include "cpu/memory/scratch.hpp"
#include "team.hpp"

namespace tessera::cpu {

class CpuExecutor final : public HostExecutor {
 public:
  CpuExecutor(Backend backend, Isa isa, int threads, std::unique_ptr<Team> team);

  const Capabilities& capabilities() const noexcept override { return capabilities_; }
  std::span<const GemmKernel> gemm_kernels() const noexcept override;
  std::span<const ReduceKernel> reduce_kernels() const noexcept override;
  Status run_map(Queue& queue, const MapCall& call) noexcept override;
  Status run_finish(Queue& queue, const FinishCall& call) noexcept override;
  Status run_random(Queue& queue, const RandomCall& call) noexcept override;
  Status run_range(Queue& queue, const RangeCall& call) noexcept override; ///< range.cpp
  void run_steps(const StepsCall& call) noexcept override;                 ///< range.cpp
  Status measure_ceilings(DType type, Math math, int threads, Ceilings& ceilings) noexcept override;
  const GemmKernel* stored_product_kernel(const StoredProductCall& call, std::string_view name) const override;
  Status run_stored_product(const StoredProductCall& call) noexcept override;
  Status run_triangle_tiles(const TriangleTilesCall& call) noexcept override;
  int threads_here() const noexcept override { return team_->threads_here(); }

  // The kernels use these.
  Team& team() noexcept { return *team_; }
  ScratchPool& scratch() noexcept { return scratch_; }
  Isa isa() const noexcept { return isa_; }
  /// Returns the number of threads for a call that asks for `asked`; 0 asks for as many as the executor was made with.
  int threads_for(int asked) const noexcept { return asked > 0 ? asked : capabilities_.threads; }

 protected:
  /// Computes large products one after another with all threads, and small ones in one parallel loop.
  Status run_gemm_batch(Queue& queue, std::span<const GemmBatch> groups) noexcept override;

 private:
  Capabilities capabilities_;
  Isa isa_;
  std::unique_ptr<Team> team_;
  std::span<const GemmKernel> gemm_kernels_; ///< the ladder, whose first use may find memory short
  ScratchPool scratch_;
};

/// Returns the executor that a kernel runs on. The kernels of this ladder run on no other kind of executor.
inline CpuExecutor& cpu_of(Executor& executor) { return static_cast<CpuExecutor&>(executor); }

using MakeTeam = std::unique_ptr<Team> (*)(int threads);

/// Creates the executor for PluginInfo::create of both plug-ins. Returns InvalidArgument if TESSERA_CPU_ISA is wrong.
Status create_executor(Backend backend, MakeTeam make_team, const ExecutorOptions& options, Executor*& executor);

} // namespace tessera::cpu
