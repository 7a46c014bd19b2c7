#include "by_elements.hpp"

#include <algorithm>
#include <cstring>

namespace tessera::verify {
namespace {

/// Adds the worst elements of a comparison; `place` turns an element's place there into its place in C.
template <class Place>
void add_worst(Findings& found, const GemmError& error, const Place& place) {
  for (const WorstElement& x : error.worst) {
    if (x.over_bound <= 1) continue;
    WrongElement element = place(x.row, x.col);
    element.computed = x.computed;
    element.exact = x.exact;
    element.bound = x.bound;
    found.worst.push_back(element);
  }
}

/// Copies one column of a matrix with elements of `element` bytes to a row.
void copy_column(const void* matrix, Index ld, Index rows, Index column, std::size_t element, char* row) {
  const auto* from = static_cast<const char*>(matrix) + static_cast<std::size_t>(column) * element;
  for (Index i = 0; i < rows; ++i)
    std::memcpy(row + static_cast<std::size_t>(i) * element, from + static_cast<std::size_t>(i * ld) * element,
                element);
}

} // namespace

Findings look_at_rows(const GemmCall& call, const void* before, Index ld_before, std::span<const Index> rows,
                      const Arithmetic& arithmetic, Index together) {
  Findings found;
  GemmCall reference = call;
  if (call.beta != 0) {
    reference.c = const_cast<void*>(before); // a reference reads it alone
    reference.ldc = ld_before;
  }
  const auto all = static_cast<Index>(rows.size());
  for (Index first = 0; first < all; first += together) {
    const auto chunk =
        rows.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(std::min(together, all - first)));
    const GemmReference exact(reference, {chunk.begin(), chunk.end()}, call.threads);
    const GemmError error = exact.compare(call.c, call.ldc, arithmetic, call.threads);
    if (error.within_bound()) continue;
    found.places.push_back(first);
    found.counts.push_back(static_cast<Index>(chunk.size()));
    add_worst(found, error, [](Index i, Index j) { return WrongElement{.row = i, .col = j}; });
  }
  return found;
}

Findings look_at_columns(const GemmCall& call, const void* before, Index ld_before, std::span<const Index> columns,
                         const Arithmetic& arithmetic) {
  Findings found;
  const std::size_t element = size_of(call.type), result = size_of(call.result);
  std::vector<char> b(static_cast<std::size_t>(call.k) * element), c(static_cast<std::size_t>(call.m) * result);
  std::vector<char> old(call.beta != 0 ? c.size() : 0);
  for (const Index column : columns) {
    if (call.op_b == Op::None)
      copy_column(call.b, call.ldb, call.k, column, element, b.data());
    else
      std::memcpy(b.data(), static_cast<const char*>(call.b) + static_cast<std::size_t>(column * call.ldb) * element,
                  b.size());
    copy_column(call.c, call.ldc, call.m, column, result, c.data());
    GemmCall turned = call; // a column of C is a row of Cᵀ = op(B)ᵀ·op(A)ᵀ
    turned.op_a = Op::None;
    turned.op_b = call.op_a == Op::None ? Op::Transpose : Op::None;
    turned.m = 1;
    turned.n = call.m;
    turned.a = b.data();
    turned.lda = std::max<Index>(call.k, 1);
    turned.b = call.a;
    turned.ldb = call.lda;
    turned.c = c.data();
    turned.ldc = call.m;
    if (call.beta != 0) {
      copy_column(before, ld_before, call.m, column, result, old.data());
      turned.c = old.data();
    }
    const GemmError error = GemmReference(turned, call.threads).compare(c.data(), call.m, arithmetic, call.threads);
    if (error.within_bound()) continue;
    found.places.push_back(column);
    found.counts.push_back(1);
    add_worst(found, error, [&](Index, Index i) { return WrongElement{.row = i, .col = column}; });
  }
  return found;
}

} // namespace tessera::verify
