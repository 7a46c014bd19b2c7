#include "cpu/executor.hpp"

#include "cpu/gemm/ladder.hpp"
#include "cpu/machine.hpp"
#include "cpu/reduce/ladder.hpp"

namespace tessera::cpu {

CpuExecutor::CpuExecutor(Backend backend, Isa isa, int threads, std::unique_ptr<Team> team)
    : isa_(isa), team_(std::move(team)) {
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

std::span<const GemmKernel> CpuExecutor::gemm_kernels() const noexcept { return gemm_ladder(); }
std::span<const ReduceKernel> CpuExecutor::reduce_kernels() const noexcept { return reduce_ladder(); }

Status create_executor(Backend backend, MakeTeam make_team, const ExecutorOptions& options, Executor*& executor) {
  Isa isa = Isa::Portable;
  if (Status status = choose_isa(isa); !status.ok()) return status;
  executor = new CpuExecutor(backend, isa, options.threads, make_team(options.threads));
  return {};
}

} // namespace tessera::cpu
