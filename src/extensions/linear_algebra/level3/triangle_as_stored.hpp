#pragma once

/// Products with a triangle that a backend reads where it packs it, with zeros on the other side of the diagonal within
/// a tile. Zeros may stand there where they change no chain (docs/contract.md, "Zeros that do not show").

#include <algorithm>
#include <limits>
#include <mutex>

#include "core/complex/scratch.hpp"
#include "extensions/linear_algebra/sided.hpp"
#include "magnitudes.hpp"

namespace tessera::linear_algebra {

template <class T>
Magnitudes<Part<T>> magnitudes_of_triangle(const detail::TriangularCall<T>& call) {
  const bool unit = call.diagonal == Diagonal::Unit, is_lower = call.triangle == Triangle::Lower;
  const NumbersInRows<T> all{.rows = call.n,
                             .first = is_lower ? call.t : call.t + unit,
                             .step = is_lower ? call.ldt : call.ldt + 1,
                             .count = is_lower ? 1 - unit : call.n - unit,
                             .more = is_lower ? 1 : -1};
  return magnitudes_of(all).with({unit ? Part<T>(1) : std::numeric_limits<Part<T>>::infinity(), true});
}

template <class T>
Magnitudes<Part<T>> magnitudes_of_lines(const detail::TriangularCall<T>& call) {
  const bool is_left = call.side == Side::Left;
  return magnitudes_of(NumbersInRows<T>{.rows = is_left ? call.n : call.count,
                                        .first = call.b,
                                        .step = call.ldb,
                                        .count = is_left ? call.count : call.n});
}

/// Returns the call for the lines from `first` on.
template <class T>
detail::TriangularCall<T> lines_of(const detail::TriangularCall<T>& call, Index first, Index count) {
  detail::TriangularCall<T> part = call;
  part.b += call.side == Side::Left ? first : first * call.ldb;
  part.count = count;
  return part;
}

/// Copies m×n numbers, and returns what is known of all of them.
template <class T>
Magnitudes<Part<T>> copy_and_look(const Products<T>& products, Index m, Index n, Block<const T> from, Block<T> to) {
  const Index rows_in_cache = std::max<Index>(1, 2048 / n);
  Magnitudes<Part<T>> all;
  std::mutex together;
  products.in_parts(m, lines_for_a_thread, [&](Index begin, Index end) {
    Magnitudes<Part<T>> part;
    for (Index first = begin; first < end; first += rows_in_cache) {
      const Index rows = std::min(rows_in_cache, end - first);
      for (Index i = first; i < first + rows; ++i) std::copy(from.at(i, 0), from.at(i, n), to.at(i, 0));
      part =
          part.with(magnitudes_of(NumbersInRows<T>{.rows = rows, .first = to.at(first, 0), .step = to.ld, .count = n}));
    }
    const std::lock_guard lock(together);
    all = all.with(part);
  });
  return all;
}

/// Returns the product of lines and M, which stands for zeros on the other side of its diagonal. `x` is X, or a copy of
/// it.
template <class T>
StoredProductCall as_stored(const detail::TriangularCall<T>& call, Block<const T> x) {
  const bool is_left = call.side == Side::Left;
  const bool is_lower = (call.triangle == Triangle::Lower) == (call.op == Op::None);
  const StoredOperand triangle =
      triangle_of(Factor<T>::of({call.t, call.ldt}, call.op), is_lower, call.diagonal == Diagonal::Unit);
  const StoredOperand lines{.data = x.data, .ld = x.ld};
  return {.m = is_left ? call.n : call.count,
          .n = is_left ? call.count : call.n,
          .k = call.n,
          .alpha = detail::exact_double(call.alpha),
          .a = is_left ? triangle : lines,
          .b = is_left ? lines : triangle,
          .c = call.b,
          .ldc = call.ldb};
}

/// Looks at lines and multiplies them, if the backend takes them and zeros cannot be seen. The product takes the place
/// of X. Where a sum has several segments, X is copied first. Where a sum has one, the backend packs what it reads of X
/// before it writes there.
template <class T>
bool look_and_multiply(const Products<T>& products, const detail::TriangularCall<T>& call,
                       const Magnitudes<Part<T>>& of_triangle) {
  const Block<const T> x{call.b, call.ldb};
  if (!products.takes_as_stored(as_stored(call, x))) return false; // before X is looked at in vain
  if (call.n <= segment_length<T>)
    return can_be_padded(of_triangle, magnitudes_of_lines(call)) && products.multiply_as_stored(as_stored(call, x));
  const bool is_left = call.side == Side::Left;
  const Index rows = is_left ? call.n : call.count, cols = is_left ? call.count : call.n;
  detail::ComplexScratch memory(products.host()); // the thread keeps it for the next product
  const auto bytes = static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols) * sizeof(T);
  if (!memory.allocate(products.host().default_queue(), bytes).ok()) return false;
  const Block<T> copy{reinterpret_cast<T*>(memory.data()), cols};
  return can_be_padded(of_triangle, copy_and_look(products, rows, cols, x, copy)) &&
         products.multiply_as_stored(as_stored(call, Block<const T>{copy.data, copy.ld}));
}

/// Multiplies some lines after others, so that the copy stays in the cache. Returns how many lines are done: all, or
/// those before the first ones that the backend does not take.
template <class T>
Index lines_as_stored(const Products<T>& products, const detail::TriangularCall<T>& call,
                      const Magnitudes<Part<T>>& of_triangle) {
  constexpr Index most_copied = Index{1} << 23, least_lines = 256; // fewer would pack the triangle too often
  const Index at_once = std::max(least_lines, most_copied / (static_cast<Index>(sizeof(T)) * call.n));
  Index done = 0;
  while (done < call.count) {
    const Index count = std::min(at_once, call.count - done);
    if (!look_and_multiply(products, lines_of(call, done, count), of_triangle)) break;
    done += count;
  }
  return done;
}

} // namespace tessera::linear_algebra
