#pragma once

/// Products whose k comes in parts, with the bits of the whole product.
///
///     RunningSums sums{workspace, n};                                   // m×n, in the executor's memory
///     for (…)                                                           // parts of k, in ascending order
///       throw_if_failed(add_segments(executor, queue, part, sums));     // sums += the part's segments
///     throw_if_failed(finish_product(executor, queue, call, sums));     // C := alpha·sums + beta·C, then the epilogue
///
/// The contract of Math::Strict (docs/contract.md) adds the sums of segments of k in ascending order, and applies alpha
/// and beta last. C := A·B + C by a second product would add the second part's sums to one another first, which gives
/// other bits. These functions continue the sum instead, with any kernel of any backend that keeps the contract: a
/// product of one segment with alpha = beta = 1 is fma(1, sums, segment), which is the contract's addition.
///
/// Parts come from a file, from another machine, or through a device's memory that is too small for the operands.
/// Sources: SLATE's gemmC, which multiplies one panel of k after another; the order of the sums is Tessera's own.

#include <string_view>

#include <tessera/detail/export.hpp>
#include <tessera/executor.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// The sums of the segments of k that were multiplied so far: m×n elements of scalar_of(call.type), which is f32 for
/// operands of 16 bits, in the memory of the executor. The caller owns the memory.
struct RunningSums {
  void* data = nullptr; ///< the first element
  Index ld = 0;         ///< elements from one row to the next, at least n
  bool empty = true;    ///< no segment was added yet: the elements are undefined and are not read
};

/// Adds the segments of a part of k to the sums, in the order of the contract. The function reads the type, the
/// operands with their sizes, op_a, op_b and threads of `call`; it does not read alpha, beta, C and the epilogue. k
/// must be a multiple of canonical_segment in every part but the last one of a product. The work is enqueued, or done,
/// as by Executor::gemm(). `kernel` names a kernel, which must keep the contract.
///
/// Errors: InvalidArgument for arguments that check_gemm() refuses with the sums in the place of C, and for a math mode
/// other than Strict; Rejected where `kernel` does not keep the contract or takes no such product. Then the sums are
/// unchanged. After another error they are undefined.
TESSERA_API Status add_segments(Executor& executor, Queue& queue, const GemmCall& call, RunningSums& sums,
                                std::string_view kernel = {}) noexcept;

/// Computes C := alpha·sums + beta·C and applies the epilogue, as the contract does when all segments are added. The
/// function reads type, result, m, n, alpha, beta, C, the epilogue and threads of `call`; it does not read A, B and k.
/// The sums stay as they are, so that further segments can be added. Empty sums, or alpha = 0, give beta·C. The sums
/// must not overlap C.
///
/// Fails as add_segments() does; C is then unchanged. OutOfMemory where C has 16 bits and beta is not 0, which takes
/// a copy of C in f32.
TESSERA_API Status finish_product(Executor& executor, Queue& queue, const GemmCall& call,
                                  const RunningSums& sums) noexcept;

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
