#pragma once

/// The executor that OpenMP and TBB share: everything but the Team.

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
  Status map(Queue& queue, const MapCall& call) noexcept override;
  Status finish(Queue& queue, const FinishCall& call) noexcept override;
  Status random(Queue& queue, const RandomCall& call) noexcept override;
  Status measure_ceilings(DType type, Math math, int threads, Ceilings& ceilings) noexcept override;
  int threads_here() const noexcept override { return team_->threads_here(); }

  /// For kernels.
  Team& team() noexcept { return *team_; }
  ScratchPool& scratch() noexcept { return scratch_; }
  Isa isa() const noexcept { return isa_; }
  /// What a call's `threads` means: 0 is as many as the executor was made with.
  int threads_for(int asked) const noexcept { return asked > 0 ? asked : capabilities_.threads; }

 protected:
  /// Large products one after another by all threads; small ones in one parallel loop.
  Status run_gemm_batch(Queue& queue, std::span<const GemmBatch> groups) noexcept override;

 private:
  Capabilities capabilities_;
  Isa isa_;
  std::unique_ptr<Team> team_;
  ScratchPool scratch_;
};

/// A kernel's view of the executor it runs on: the rows of this ladder run on no other.
inline CpuExecutor& cpu_of(Executor& executor) { return static_cast<CpuExecutor&>(executor); }

using MakeTeam = std::unique_ptr<Team> (*)(int threads);

/// PluginInfo::create of both plug-ins. InvalidArgument if TESSERA_CPU_ISA is wrong.
Status create_executor(Backend backend, MakeTeam make_team, const ExecutorOptions& options, Executor*& executor);

} // namespace tessera::cpu
