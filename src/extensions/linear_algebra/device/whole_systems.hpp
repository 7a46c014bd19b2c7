#pragma once

/// Systems of the drop-in that a device factors and solves without a way back to the host between (whole_systems.cpp in
/// device/).

#include <optional>

#include <tessera/linear_algebra/lu.hpp>
#include <tessera/linear_algebra/triangular.hpp>

namespace tessera::detail {

/// A·X = B in the caller's host memory, with real numbers. A, n×n, and B, n×count, are column-major. X overwrites B,
/// and the factors overwrite A.
struct ColumnSystem {
  DType type = DType::F64;
  Index n = 0;
  Index count = 0;
  void* a = nullptr;
  Index lda = 0;
  void* b = nullptr;
  Index ldb = 0;
};

/// Returns the first pivot that is 0, when B stays as it was, or −1. Says no where no device is to compute all of it,
/// or has no memory for it: then nothing has changed.
TESSERA_API std::optional<Index> solve_on_device(const ColumnSystem& system, RowNumbers pivots,
                                                 const SolveOptions& options);
/// Does it by Cholesky's factors, for the triangle of the column-major A. Says no, too, where A is not positive
/// definite.
TESSERA_API bool solve_positive_on_device(const ColumnSystem& system, Triangle triangle, const SolveOptions& options);

} // namespace tessera::detail
