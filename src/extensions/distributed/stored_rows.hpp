#pragma once

#include <tessera/detail/distributed.hpp>
#include <tessera/executor.hpp>

namespace tessera::distributed {

/// Returns the rank's elements of the matrix as lines in memory: its rows, or its columns where it is column-major.
inline StoredRows stored_rows(const tessera::detail::DistributedStorage& x) noexcept {
  const bool by_rows = x.order == LocalOrder::RowMajor;
  return {x.data, by_rows ? x.local_rows : x.local_cols, by_rows ? x.local_cols : x.local_rows, x.ld, x.type.bytes()};
}

} // namespace tessera::distributed
