#pragma once

/// The order in which a row that a caller has named adds.

#include <algorithm>
#include <string_view>

#include <tessera/executor.hpp>

namespace tessera::detail {

/// Is `kernel` a row for the call's type and mode that adds in an order of its own, and not in the contract's? A later
/// part of k cannot continue its sums.
inline bool adds_in_own_order(const Executor& executor, const GemmCall& call, std::string_view kernel) {
  const auto rows = executor.gemm_kernels();
  return std::any_of(rows.begin(), rows.end(), [&](const GemmKernel& row) {
    return row.name == kernel && row.type == call.type && row.math == call.math &&
           row.summation != Summation::Canonical;
  });
}

} // namespace tessera::detail
