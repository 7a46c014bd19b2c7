#pragma once

/// What is wrong with the arguments of a check, and how its operands are computed with.

#include <span>

#include "extensions/checking/compare/epilogue_reference.hpp"

namespace tessera::certificate {

/// How products of some types are checked.
struct Kind {
  CheckedType a = CheckedType::F32, b = CheckedType::F32, c = CheckedType::F32;
  DType scalar = DType::F32; ///< f32 or f64: the type that the check computes in
  DType result = DType::F32; ///< the type that elements of C are rounded to; f64 for whole numbers
  Arithmetic arithmetic;     ///< decides the bound
  bool whole = false;        ///< int8·int8 → int32, which is exact
};

/// Returns how products of these types are checked. Throws InvalidArgument for types that do not fit together, and
/// KernelRejected for a mode that the types do not have.
Kind kind_of(CheckedType a, CheckedType b, CheckedType c, Math math);

/// Checks a matrix by itself: its sizes, leading dimension, operation and memory. `what` is its name. Complex numbers
/// are refused, unless they may be there. Throws InvalidArgument.
void check_matrix(const CheckedMatrix& x, const std::string& what, const std::string& where,
                  bool may_be_complex = false);

/// Checks one product's operands against each other, and returns them as they are read. alpha and beta are rounded to
/// the type that is computed in. `where` is "" or "product 3: ". Throws InvalidArgument.
compare::RowProblem problem_of(const CheckedProduct& product, const Kind& kind, const CheckOptions& options,
                               const std::string& where);

/// Checks C against its product. Throws InvalidArgument.
void check_result(const CheckedProduct& product, const CheckedMatrix& c, const Kind& kind, const std::string& where);

} // namespace tessera::certificate
