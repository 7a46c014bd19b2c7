#pragma once

/// One operand of all products of a group of a batch, as it lies in memory.

#include <cstdint>
#include <string>

#include <tessera/executor.hpp>

namespace tessera {

/// Rectangles of one shape: the first product's rectangle and a stride, or one pointer for each product.
struct BatchOperand {
  const char* name;
  StoredRows rows; ///< of the first product; data is not used where there are pointers
  const void* const* pointers;
  Index stride;

  bool empty() const { return rows.rows == 0 || rows.cols == 0; }
  Index element() const { return static_cast<Index>(rows.element); }
  /// Bytes from the first element of one product's rectangle to the byte after its last element.
  Index extent() const { return empty() ? 0 : ((rows.rows - 1) * rows.ld + rows.cols) * element(); }
  /// Bytes from one product's rectangle to the next one's.
  Index step() const { return stride * element(); }
  std::intptr_t begin() const { return reinterpret_cast<std::intptr_t>(rows.data); }
  StoredRows at(Index i) const {
    StoredRows one = rows;
    one.data = pointers != nullptr ? pointers[i] : reinterpret_cast<const void*>(begin() + i * step());
    return one;
  }
};

inline BatchOperand batch_operand_a(const GemmBatch& x) {
  const bool flip = x.call.op_a == Op::Transpose;
  return {"a",
          {x.call.a, flip ? x.call.k : x.call.m, flip ? x.call.m : x.call.k, x.call.lda, size_of(x.call.type)},
          x.has_pointers() ? x.a : nullptr,
          x.stride_a};
}
inline BatchOperand batch_operand_b(const GemmBatch& x) {
  const bool flip = x.call.op_b == Op::Transpose;
  return {"b",
          {x.call.b, flip ? x.call.n : x.call.k, flip ? x.call.k : x.call.n, x.call.ldb, size_of(x.call.type)},
          x.has_pointers() ? x.b : nullptr,
          x.stride_b};
}
inline BatchOperand batch_operand_c(const GemmBatch& x) {
  return {"c", {x.call.c, x.call.m, x.call.n, x.call.ldc, size_of(x.call.result)}, x.c, x.stride_c};
}

/// Empty if a batch may have so many products, else the sentence that says why not. `name` is the argument's name.
std::string count_mistake(const char* name, Index count);
/// Empty if `count` rectangles like `one`, whose sizes are right, can lie `stride` elements apart, else the sentence
/// that says why not: all addresses and the distances of any two must fit the address space. All entries that take
/// strides ask here.
std::string stride_mistake(const char* name, const StoredRows& one, Index stride, Index count);

} // namespace tessera
