#pragma once

/// The order in which the kernel of a call adds: the one that a caller has named, or the one that is chosen.

#include <algorithm>
#include <string_view>

#include <tessera/executor.hpp>
#include <tessera/performance/tuning.hpp>

namespace tessera::detail {

/// Is `kernel` a kernel for the call's type and mode that adds in an order of its own, and not in the contract's? A
/// later part of k cannot continue its sums.
inline bool adds_in_own_order(const Executor& executor, const GemmCall& call, std::string_view kernel) {
  const auto rows = executor.gemm_kernels();
  return std::any_of(rows.begin(), rows.end(), [&](const GemmKernel& row) {
    return row.name == kernel && row.type == call.type && row.math == call.math &&
           row.summation != Summation::Canonical;
  });
}

/// Has the call the bits of the contract of matrix units (docs/contract.md), by the kernel called `kernel`, or by any
/// that the executor may choose if that is empty? Parts of k have other bits then.
inline bool keeps_unit_contract(const Executor& executor, const GemmCall& call, std::string_view kernel) {
  const auto rows = executor.gemm_kernels();
  if (kernel.empty())
    return call.math != Math::Strict && promises_bits(rows, executor.capabilities(), call.type, call.math);
  return std::any_of(rows.begin(), rows.end(), [&](const GemmKernel& row) {
    return row.name == kernel && row.type == call.type && row.math == call.math &&
           row.summation == Summation::HopperUnits;
  });
}

} // namespace tessera::detail
