#pragma once

/// The sums of products in the modes of matrix units (gemm.hpp) with the bits of the model (matrix_unit.hpp), many
/// columns at once in vectors. Rows of the ladder and comparisons share this code.

#include <cstddef>
#include <span>

#include <tessera/backend/kernel.hpp>
#include <tessera/detail/export.hpp>

namespace tessera::host {

inline constexpr Index most_unit_rows = 128;    ///< rows of op(A) of one call of unit_sums()
inline constexpr Index most_unit_columns = 256; ///< columns of op(B) of one call of unit_sums()

/// Returns the bytes of memory that unit_sums() works in.
TESSERA_API std::size_t unit_scratch_bytes() noexcept;

/// Computes sum r·ld + q of row rows[r] of op(A) and column first_col + q of op(B), for all rows of the list and
/// q < cols. The call's type decides the mode: bf16 and f16 are taken as they are, f32 is cut to tf32. alpha, beta and
/// C do not enter. `scratch` has unit_scratch_bytes() bytes and is aligned to 64. It costs 2·rows·cols·k operations,
/// and reads the rows of A once and the columns of B once.
TESSERA_API void unit_sums(const GemmCall& call, std::span<const Index> rows, Index first_col, Index cols, float* sums,
                           Index ld, void* scratch) noexcept;

} // namespace tessera::host
