#pragma once

/// Batches: many products in one call, as groups. The products of a group have one shape, and strides or lists of
/// pointers for their operands; groups may have different shapes.
///
/// An Executor takes these structures; gemm_batch.hpp has the functions for users.
///
/// Source: the groups of MKL's cblas_?gemm_batch and the strides of cuBLAS' gemmStridedBatched, in one structure.

#include <cstddef>
#include <cstdint>
#include <span>

#include <tessera/backend/kernel.hpp>
#include <tessera/detail/by_name.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// Says where the rows of a group's products end. `data` has `count` ascending numbers, in the executor's memory, which
/// may be written by work that the queue has before the product.
struct RowEnds {
  const void* data = nullptr; ///< null: all products have call.m rows
  bool wide = false;          ///< the numbers have 64 bits, else 32

  /// Returns number i; the numbers are in host memory.
  TESSERA_HOST_DEVICE Index at(Index i) const {
    return wide ? static_cast<const std::int64_t*>(data)[i] : Index{static_cast<const std::int32_t*>(data)[i]};
  }
};

/// A group of a batch: `count` products of one shape.
///
/// If `c` is null, the group is strided: call.a, call.b and call.c are the operands of the first product, and the
/// strides count elements from one product's operand to the next one's. A stride of A or B may be 0; then all products
/// share the operand. A stride may be negative.
///
/// If `c` is not null, `a`, `b` and `c` are arrays of `count` pointers each. The arrays are in host memory and need not
/// outlive the call; the pointers are memory of the executor. call.a, call.b, call.c and the strides are ignored.
///
/// If `ends` has numbers, products share the rows of op(A) and C, as experts share tokens: call.m are all rows, product
/// i has the rows from end i − 1 (0 for the first one) to end i, and call.a and call.c are where the first row lies.
/// stride_b is from one B to the next; stride_a and stride_c are 0. Rows after the last end become beta·C, as if they
/// belonged to a product whose k is 0. A device reads the numbers there, so that the host waits for nothing. An end
/// below the one before it stands for that one, and an end beyond call.m for call.m; in host memory such an end is an
/// error. There is no epilogue.
///
/// An epilogue is applied to each product, with the one bias and residual that call.epilogue names.
struct GemmBatch {
  /// Keeps lists without names from compiling: strides could be exchanged.
  [[no_unique_address]] detail::ByName<GemmBatch> by_name = detail::ByName<GemmBatch>{};
  GemmCall call;                  ///< the shape, the factors and, in a strided group, the first product's operands
  Index count = 1;                ///< number of products
  Index stride_a = 0;             ///< elements from one A to the next
  Index stride_b = 0;             ///< elements from one B to the next
  Index stride_c = 0;             ///< elements from one C to the next
  const void* const* a = nullptr; ///< `count` pointers to A
  const void* const* b = nullptr; ///< `count` pointers to B
  void* const* c = nullptr;       ///< `count` pointers to C; null: the group is strided
  RowEnds ends = {};              ///< where the products' rows end

  /// Are the operands given by pointers?
  bool has_pointers() const { return c != nullptr; }

  /// Returns the call of product i, 0 ≤ i < count.
  GemmCall product(Index i) const {
    GemmCall one = call;
    if (has_pointers()) {
      one.a = a[i];
      one.b = b[i];
      one.c = c[i];
    } else {
      one.a = later(call.a, i * stride_a, call.type);
      one.b = later(call.b, i * stride_b, call.type);
      one.c = const_cast<void*>(later(call.c, i * stride_c, call.result));
    }
    return one;
  }

 private:
  static const void* later(const void* first, Index elements, DType type) {
    return first == nullptr ? nullptr : static_cast<const char*>(first) + elements * static_cast<Index>(size_of(type));
  }
};

/// Checks every group that has products as check_gemm() does; checks arrays of pointers and null pointers in them, and
/// strides that overflow. No C may share an element with another C of any group, or with its own A or B; in a strided
/// group no C may overlap any A or B. Results may lie between one another, as blocks of columns of one matrix do. The
/// caller must make sure that no C overlaps an A or B of another group, or, where there are pointers, of another
/// product.
TESSERA_API Status check_gemm_batch(std::span<const GemmBatch> groups);

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
