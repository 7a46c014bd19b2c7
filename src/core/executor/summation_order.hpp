#pragma once

/// The order in which the kernel of a call adds: the one that a caller has named, or the one that is chosen.

#include <algorithm>
#include <string_view>

#include <tessera/executor.hpp>
#include <tessera/performance/tuning.hpp>

namespace tessera::detail {

/// Is `name` a kernel for the call's type and mode that adds in an order of its own, and not in the contract's? A later
/// part of k cannot continue its sums.
inline bool adds_in_own_order(const Executor& executor, const GemmCall& call, std::string_view name) {
  const auto kernels = executor.gemm_kernels();
  return std::any_of(kernels.begin(), kernels.end(), [&](const GemmKernel& kernel) {
    return kernel.name == name && kernel.type == call.type && kernel.math == call.math &&
           kernel.summation != Summation::Canonical;
  });
}

/// Has the call the bits of a mode's own contract (docs/contract.md), by the kernel called `name`, or by any
/// that the executor may choose if that is empty? Parts of k have other bits then.
inline bool keeps_matrix_unit_contract(const Executor& executor, const GemmCall& call, std::string_view name) {
  const auto kernels = executor.gemm_kernels();
  if (name.empty())
    return call.math != Math::Strict && promises_bits(kernels, executor.capabilities(), call.type, call.math);
  return std::any_of(kernels.begin(), kernels.end(), [&](const GemmKernel& kernel) {
    return kernel.name == name && kernel.type == call.type && kernel.math == call.math &&
           has_contract_of_mode(kernel.summation);
  });
}

} // namespace tessera::detail
