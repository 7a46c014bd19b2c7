#pragma once

/// Products of operands that lie on several executors in blocks of rows. An executor multiplies its rows of A with one
/// strip of columns of B after the other. A strip has all of k; its rows come from the executors that have them.

#include <span>
#include <string_view>

#include <tessera/detail/storage.hpp>
#include <tessera/executor.hpp>

namespace tessera::detail {

/// One executor's blocks: `rows` rows of A and C, and `rows_of_b` rows of B, which follow the rows of the share before.
struct Share {
  Executor* executor = nullptr;
  Index rows = 0, rows_of_b = 0;
  Placed a, b, c;
};

/// Computes the product of which `call` has everything but addresses and leading dimensions, and returns when it is
/// complete. All work on the blocks must be done. If an executor fails, the others stop after their strip; the Status
/// names it. After any error but DeviceError C is as it was.
Status multiply_strips(std::span<const Share> shares, const GemmCall& call, std::string_view kernel) noexcept;

} // namespace tessera::detail
