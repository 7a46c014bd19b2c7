#pragma once

/// Many products in one call: of one shape, with a stride or a list of pointers, or groups of unlike shapes.
///
/// This is what an Executor takes; gemm_batch.hpp has the functions for users.
///
/// Idea: the groups of MKL's cblas_?gemm_batch and the strides of cuBLAS' gemmStridedBatched, as one structure.

#include <cstddef>
#include <span>

#include <tessera/backend/kernel.hpp>

namespace tessera {

/// `count` products of one shape, one group of a batch.
///
/// Strided, if `c` is null: call.a, call.b and call.c are the first product's operands, and the strides are elements
/// from one product's to the next one's. Those of A and B may be 0: all products share the operand. None need be
/// positive.
///
/// Else `a`, `b` and `c` are arrays of `count` pointers each, in host memory that need not outlive the call, whatever
/// memory the pointers themselves are of. call.a, call.b, call.c and the strides are not looked at.
/// An epilogue is each product's own, with the one bias and residual that call.epilogue names.
struct GemmBatch {
  GemmCall call;
  Index count = 1;
  Index stride_a = 0;
  Index stride_b = 0;
  Index stride_c = 0;
  const void* const* a = nullptr;
  const void* const* b = nullptr;
  void* const* c = nullptr;

  bool has_pointers() const { return c != nullptr; }

  /// The i-th product by itself.
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

/// What check_gemm() looks at, of every group that has products; arrays of pointers and null among them; strides that
/// overflow; a C that overlaps its own A or B, and in a strided group any A, B or other C. That no C overlaps operands
/// of other groups, nor those of other products where there are pointers, is up to the caller.
TESSERA_API Status check_gemm_batch(std::span<const GemmBatch> groups);

} // namespace tessera
