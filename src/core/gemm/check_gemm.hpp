#pragma once

/// The checks of a product's arguments that its callers share: the addresses of a call (check_gemm() in executor.hpp,
/// check_shapes()), and matrices.

#include <string>

#include <tessera/executor.hpp>
#include <tessera/gemm.hpp>

namespace tessera {

/// Checks sizes, leading dimensions, null pointers, overflow, aliasing and the epilogue of a call whose operands have
/// elements of `element` bytes and whose C has elements of `result` bytes. The function does not read the call's types;
/// it takes any op but None for a transpose. `by_columns`: the message is for a caller with column-major matrices,
/// whose product is the transpose of the call's (detail/column_major.hpp).
Status check_shapes(const GemmCall& call, std::size_t element, std::size_t result, bool by_columns = false);

/// Empty if A and B can be multiplied, else the sentence that says why not. Sizes are the ones that the caller sees.
inline std::string inner_mismatch(Index a_rows, Index a_cols, Index b_rows, Index b_cols) {
  if (a_cols == b_rows) return {};
  const auto text = [](Index value) { return std::to_string(value); };
  return "a is " + text(a_rows) + "×" + text(a_cols) + " and b is " + text(b_rows) + "×" + text(b_cols) +
         "; the columns of a must be as many as the rows of b, but " + text(a_cols) + " ≠ " + text(b_rows);
}

namespace detail {

/// Empty if C has the shape of A·B and shares no element with A and B, else the sentence that says what is wrong.
std::string product_mismatch(const Operand& a, const Operand& b, const Operand& c);
/// Throws InvalidArgument if the options of a product on a list of executors name a backend.
void check_no_backend(const GemmOptions& options);
/// Throws InvalidArgument if the options ask for a product that verifies itself. `what` is what cannot: "a batch".
void check_unverified(const GemmOptions& options, const char* what);
/// Throws InvalidArgument unless C's epilogue has operands of its type and shape that share no element with it.
void check_epilogue(const EpilogueOperands& epilogue, const Operand& c);
/// Row for a bias of one number a row of C, Column for one number a column. Throws InvalidArgument for other shapes.
BiasPer kind_of_bias(const Operand& bias, const Operand& c);

} // namespace detail
} // namespace tessera
