#pragma once

#include <complex>

#include <tessera/detail/distributed.hpp>
#include <tessera/executor.hpp>

#include "epilogue.hpp"
#include "memory/resident.hpp"

namespace tessera::distributed {

inline constexpr const char* name_of_gemm = "distributed gemm";

/// The arguments of a call.
struct Call {
  std::complex<double> alpha;
  const tessera::detail::DistributedStorage& a;
  Op op_a;
  const tessera::detail::DistributedStorage& b;
  Op op_b;
  std::complex<double> beta;
  const tessera::detail::DistributedStorage& c;
  const DistributedOptions& options;

  Index m() const { return op_a == Op::None ? a.rows : a.cols; }
  Index n() const { return op_b == Op::None ? b.cols : b.rows; }
  Index k() const { return op_a == Op::None ? a.cols : a.rows; }
  LastStep last_step() const { return {alpha, beta, c, options.threads}; }
  /// Returns the executor where C stays, or else A or B, if the caller names no device and no other backend; else null.
  Executor* resident_executor() const {
    for (const auto* x : {&c, &a, &b}) {
      if (x->resident == nullptr || options.device >= 0) continue;
      Executor& executor = x->resident->executor;
      if (options.backend == Backend::Auto || options.backend == executor.capabilities().backend) return &executor;
    }
    return nullptr;
  }
};

/// Returns what is wrong with a call's arguments on this rank.
Status check(const Call& call);
/// Agrees on what check() said, and that the ranks' arguments are equal where they must be.
Status agree_on(const Call& call, const Status& mine);

} // namespace tessera::distributed
