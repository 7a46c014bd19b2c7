#pragma once

/// An executor in host memory for plug-ins that tests build. It passes all work to the reference that a plug-in does
/// not override.

#include <tessera/backend.hpp>
#include <tessera/backend/host_executor.hpp>

namespace tessera::test {

class BorrowingExecutor : public HostExecutor {
 public:
  explicit BorrowingExecutor(Backend backend) { capabilities_.backend = backend; }
  const Capabilities& capabilities() const noexcept override { return capabilities_; }
  std::span<const GemmKernel> gemm_kernels() const noexcept override { return reference().gemm_kernels(); }
  std::span<const ReduceKernel> reduce_kernels() const noexcept override { return reference().reduce_kernels(); }
  Status run_map(Queue& queue, const MapCall& call) noexcept override { return reference().map(queue, call); }
  Status run_random(Queue& queue, const RandomCall& call) noexcept override { return reference().random(queue, call); }
  Status measure_ceilings(DType, Math, int, Ceilings&) noexcept override { return {}; }

 protected:
  Capabilities capabilities_;

 private:
  static Executor& reference() { return executor(Backend::Reference); }
};

} // namespace tessera::test
