#pragma once

/// The operations of linear algebra that --op names, with the words of the BLAS and of LAPACK.

#include <span>
#include <string_view>

#include <tessera/types.hpp>

namespace tessera::compare_app {

enum class SystemKind { Syrk, Trsm, Potrf, Getrf, Geqrf, Posv, Gesv };

/// One operation on square matrices of n rows; right-hand sides have n columns in trsm, and one in posv and gesv.
struct SystemOperation {
  SystemKind kind;
  std::string_view name;
  std::string_view summary;

  /// Returns the additions and multiplications for n rows.
  double flops(Index n) const;
};

std::span<const SystemOperation> system_operations();
/// Returns the operation of this name; null if there is none.
const SystemOperation* find_system_operation(std::string_view name);

} // namespace tessera::compare_app
