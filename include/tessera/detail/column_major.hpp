#pragma once

/// Messages about column-major products, which are computed as row-major ones: Cᵀ = op(B)ᵀ·op(A)ᵀ, so that A and B, and
/// m and n, change places, and stored columns are taken for rows. A function that makes such a call from a
/// caller's arguments asks here what to tell that caller.

#include <span>

#include <tessera/complex.hpp>
#include <tessera/executor.hpp>
#include <tessera/status.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail {

/// Checks the row-major call as check_gemm() does. The message speaks of the column-major product: its b is the call's
/// A, its m is the call's n, and its matrices have as many rows as the call's have columns.
TESSERA_API Status check_column_major(const GemmCall& call);
/// Checks a row-major call of complex numbers, and speaks of the column-major product.
TESSERA_API Status check_column_major(const ComplexGemmCall& call);
/// Checks a batch of row-major calls as check_gemm_batch() does, and speaks of column-major products.
TESSERA_API Status check_column_major(std::span<const GemmBatch> groups);

/// Runs work that was made from row-major arguments or, `by_columns`, from column-major ones, whose InvalidArgument
/// then speaks of these.
template <class Work, class Run>
void run_in_words_of_caller(bool by_columns, const Work& work, Run&& run) {
  try {
    run();
  } catch (const InvalidArgument&) {
    if (by_columns) throw_if_failed(check_column_major(work));
    throw;
  }
}

} // namespace tessera::detail

#include <tessera/detail/macros_on.hpp>
