#pragma once

/// The operations that gemm_compare has itself: BabelStream's loops, and the reductions and the scan of
/// <tessera/user_kernel/user_kernel.hpp>.

#include <span>

#include <tessera/user_kernel/operation_table.hpp>

namespace tessera::compare_app {

std::span<const OperationEntry> built_in_operations();

} // namespace tessera::compare_app
