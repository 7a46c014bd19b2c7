#pragma once

/// The operations of linear algebra that --op names, with the words of the BLAS and of LAPACK.

#include <span>
#include <string_view>

#include <tessera/detail/number_type.hpp>
#include <tessera/types.hpp>

namespace tessera::compare_app {

enum class SystemKind { Syrk, Herk, Trsm, Potrf, Getrf, Geqrf, Posv, Gesv };

/// One operation on square matrices of n rows; right-hand sides have n columns in trsm, and one in posv and gesv.
struct SystemOperation {
  SystemKind kind;
  std::string_view name;
  std::string_view summary;

  /// Returns the additions and multiplications of real numbers for n rows: a complex product with its addition has
  /// four of each.
  double flops(Index n, bool is_complex) const;
  /// Is it for complex numbers alone?
  bool is_of_complex() const { return kind == SystemKind::Herk; }
};

std::span<const SystemOperation> system_operations();
/// The types of numbers that systems have.
std::span<const detail::NumberType> system_types();
/// Returns the name of such a type for --dtype: "f64", "complex128".
std::string_view name_of(detail::NumberType type);
/// Returns the operation of this name; null if there is none.
const SystemOperation* find_system_operation(std::string_view name);

} // namespace tessera::compare_app
