/// Products with a symmetric or Hermitian matrix. Where the backend cannot read it as it is stored, panels of its rows
/// are written out, and multiplied as any matrix.

#include <tessera/linear_algebra/symm.hpp>

#include <algorithm>

#include "checks.hpp"
#include "extensions/linear_algebra/arguments.hpp"
#include "extensions/linear_algebra/host_numbers.hpp"
#include "extensions/linear_algebra/model_products.hpp"
#include "extensions/linear_algebra/on_host.hpp"
#include "extensions/linear_algebra/transpose_tile.hpp"

namespace tessera::linear_algebra {
namespace {

/// A panel has at least so many rows, and more as long as it takes no more than so many bytes. No bit depends on it.
constexpr Index least_rows = 512, most_bytes = Index{1} << 26;

/// Writes the rows first … first + rows − 1 of A, or of its transpose.
template <class T>
void write_rows(const HalfStored<T>& a, bool transposed, Index first, Index rows, Block<T> to) {
  const bool is_lower = a.triangle == Triangle::Lower;
  for (Index k = 0; k < a.n; k += transposed_tile)
    for (Index i = first; i < first + rows; i += transposed_tile) {
      const Index end_i = std::min(first + rows, i + transposed_tile), end_k = std::min(a.n, k + transposed_tile);
      if (is_lower ? end_k <= i : k >= end_i) // as it is stored
        for (Index row = i; row < end_i; ++row)
          for (Index col = k; col < end_k; ++col)
            *to.at(row - first, col) = conjugated_if(transposed && a.is_hermitian, *a.stored.at(row, col));
      else if (is_lower ? k >= end_i : end_k <= i) // the other half
        transpose_tile(end_i - i, end_k - k, !transposed && a.is_hermitian, a.stored.from(k, i), to.from(i - first, k));
      else
        for (Index row = i; row < end_i; ++row)
          for (Index col = k; col < end_k; ++col)
            *to.at(row - first, col) = transposed ? a.at(col, row) : a.at(row, col);
    }
}

/// Lets the backend read the triangle where it packs A. Returns false if it does not; nothing is written then.
template <class T>
bool multiply_as_stored(const Products<T>& products, const detail::SymmetricCall<T>& call, const HalfStored<T>& a) {
  const StoredOperand symmetric{.data = call.a,
                                .ld = call.lda,
                                .part = part_of(call.triangle),
                                .kind = a.is_hermitian ? TriangleKind::Hermitian : TriangleKind::Symmetric};
  const StoredOperand other{.data = call.b, .ld = call.ldb};
  const bool is_left = call.side == Side::Left;
  return products.multiply_as_stored({.m = call.m,
                                      .n = call.n,
                                      .k = a.n,
                                      .alpha = detail::exact_double(call.alpha),
                                      .a = is_left ? symmetric : other,
                                      .b = is_left ? other : symmetric,
                                      .beta = detail::exact_double(call.beta),
                                      .c = call.c,
                                      .ldc = call.ldc});
}

template <class T>
void run(const detail::SymmetricCall<T>& call, const SolveOptions& options, detail::Shortage shortage) {
  const bool is_left = call.side == Side::Left;
  const HalfStored<T> a{
      call.triangle, is_complex<T> && call.is_hermitian, is_left ? call.m : call.n, {call.a, call.lda}};
  const Block<const T> b{call.b, call.ldb};
  const Block<T> c{call.c, call.ldc};
  const auto by_formula = [&] { model_symmetric(call.side, call.m, call.n, call.alpha, a, b, call.beta, c); };
  const auto blocked = [&](detail::Shortage now) {
    const Products<T> products(options, now);
    if (call.alpha == T(0)) // no operand is read
      return products.multiply(call.alpha, call.m, call.n, 0, {b}, {b}, call.beta, c);
    if (multiply_as_stored(products, call, a)) return;
    const Index in_memory = most_bytes / (a.n * static_cast<Index>(sizeof(T)));
    const Index rows = std::min(a.n, std::max(least_rows, in_memory));
    const Scratch<T> memory(rows * a.n);
    const Block<T> panel{memory.data(), a.n};
    for (Index first = 0; first < a.n; first += rows) {
      const Index here = std::min(rows, a.n - first);
      products.in_parts(here, transposed_tile, [&](Index begin, Index end) {
        write_rows(a, !is_left, first + begin, end - begin, panel.from(begin, 0));
      });
      if (is_left)
        products.multiply(call.alpha, here, call.n, a.n, {panel}, {b}, call.beta, c.from(first, 0));
      else
        products.multiply(call.alpha, call.m, here, a.n, {b}, Factor<T>{panel}.transposed(), call.beta,
                          c.from(0, first));
    }
  };
  if (options.backend == Backend::Reference) return by_formula();
  complete_in_place(shortage, blocked, by_formula);
}

} // namespace

template <class T>
void check_symmetric(const detail::SymmetricCall<T>& call) {
  const char* const name = call.is_hermitian ? "hemm" : "symm";
  check_sizes(name, {{"m", call.m}, {"n", call.n}});
  const Index order = call.side == Side::Left ? call.m : call.n;
  const bool writes = call.m > 0 && call.n > 0, reads = writes && call.alpha != T(0);
  const Stored a{"a", call.a, order, order, call.lda, sizeof(T)}, c{"c", call.c, call.m, call.n, call.ldc, sizeof(T)};
  check_stored(name, a, reads);
  check_stored(name, {"b", call.b, call.m, call.n, call.ldb, sizeof(T)}, reads);
  check_stored(name, c, writes);
  if (!reads) return;
  check_apart(name, a, call.triangle, c);
  check_apart(name, c, {"b", call.b, call.m, call.n, call.ldb, sizeof(T)});
}
template <class T>
void multiply_symmetric_on_host(const detail::SymmetricCall<T>& call, const SolveOptions& options,
                                detail::Shortage shortage) {
  if (call.m > 0 && call.n > 0) run(call, options, shortage);
}

#define TESSERA_INSTANTIATE(T)                                    \
  template void check_symmetric(const detail::SymmetricCall<T>&); \
  template void multiply_symmetric_on_host(const detail::SymmetricCall<T>&, const SolveOptions&, detail::Shortage);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::complex<float>)
TESSERA_INSTANTIATE(std::complex<double>)
#undef TESSERA_INSTANTIATE

} // namespace tessera::linear_algebra
