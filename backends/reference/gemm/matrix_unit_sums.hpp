#pragma once

/// The sums of products in the modes of matrix units (docs/contract.md) with the bits of matrix_unit_contract.hpp, many
/// columns at once in vectors. Kernels of the ladder and comparisons share this code.

#include <cstddef>
#include <span>

#include <tessera/backend/kernel.hpp>
#include <tessera/detail/export.hpp>

namespace tessera::host {

inline constexpr Index most_matrix_unit_rows = 128;    ///< rows of op(A) of one call of matrix_unit_sums()
inline constexpr Index most_matrix_unit_columns = 256; ///< columns of op(B) of one call of matrix_unit_sums()

/// Returns the bytes of memory that matrix_unit_sums() works in.
TESSERA_API std::size_t matrix_unit_scratch_bytes() noexcept;

/// Computes sum r·ld + q of row rows[r] of op(A) and column first_col + q of op(B), for all rows of the list and
/// q < cols, in the call's mode. alpha, beta and C do not enter. `scratch` has matrix_unit_scratch_bytes() bytes and is
/// aligned to 64. It costs 2·rows·cols·k operations, three times as many in EmulatedFp16x3 and six times in
/// EmulatedBf16x6, and reads the rows of A once and the columns of B once. A row or column that an emulated mode cannot
/// split costs a strict product of it besides.
TESSERA_API void matrix_unit_sums(const GemmCall& call, std::span<const Index> rows, Index first_col, Index cols,
                                  float* sums, Index ld, void* scratch) noexcept;

} // namespace tessera::host
