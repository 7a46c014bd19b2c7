#include "symmetric.hpp"

#include <tessera/linear_algebra/syrk.hpp>

#include <algorithm>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/uncancelled.hpp>

#include "arguments.hpp"

namespace tessera::linear_algebra {
namespace {

/// The most rows of a block on the diagonal, half of which is computed in vain. No bit depends on it.
template <class T>
constexpr Index diagonal_size = is_complex<T> ? 32 : 32;
/// Returns the rows for a triangle of n. Small complex products take long, because their operands are rewritten.
template <class T>
Index diagonal_size_of(Index n) {
  return n < 512 && !is_complex<T> ? diagonal_size<T> / 2 : diagonal_size<T>;
}

/// Copies the triangle of a block, whose other half is not touched.
template <class T>
void copy_triangle(const TriangleOf<T>& like, Block<const T> from, Block<T> to) {
  for (Index i = 0; i < like.n; ++i)
    std::copy(from.at(i, like.begin(i)), from.at(i, like.end(i)), to.at(i, like.begin(i)));
}

/// The rectangle m×n of C, for all terms.
template <class T>
void rectangle(const Products<T>& products, Index m, Index n, Index k, std::span<const Term<T>> terms, Index i, Index j,
               T beta, Block<T> c) {
  for (const Term<T>& term : terms) {
    const Term<T> here = term.from(i, j);
    products.multiply(here.alpha, m, n, k, here.a, here.b, &term == terms.data() ? beta : T(1), c);
  }
}

template <class T>
void diagonal_block(const Products<T>& products, const TriangleOf<T>& to, Index k, std::span<const Term<T>> terms,
                    Index first, T beta) {
  T memory[diagonal_size<T> * diagonal_size<T>] = {};
  const Block<T> scratch{memory, diagonal_size<T>};
  if (beta != T(0)) copy_triangle<T>(to, to.c, scratch);
  rectangle(products, to.n, to.n, k, terms, first, first, beta, scratch);
  if (to.is_hermitian)
    for (Index i = 0; i < to.n; ++i) *scratch.at(i, i) = real_part(*scratch.at(i, i));
  copy_triangle<T>(to, scratch, to.c);
}

/// The triangle of C from row and column `first` on, with blocks of `size` rows on the diagonal.
template <class T>
void triangle_from(const Products<T>& products, const TriangleOf<T>& to, Index k, std::span<const Term<T>> terms,
                   Index first, Index size, T beta) {
  if (to.n <= size) return diagonal_block(products, to, k, terms, first, beta);
  const Index half = (to.n / 2 + size - 1) / size * size, rest = to.n - half;
  triangle_from(products, {to.triangle, to.is_hermitian, half, to.c}, k, terms, first, size, beta);
  if (to.triangle == Triangle::Lower)
    rectangle(products, rest, half, k, terms, first + half, first, beta, to.c.from(half, 0));
  else
    rectangle(products, half, rest, k, terms, first, first + half, beta, to.c.from(0, half));
  triangle_from(products, {to.triangle, to.is_hermitian, rest, to.c.from(half, half)}, k, terms, first + half, size,
                beta);
}

} // namespace

template <class T>
void triangle_product(const Products<T>& products, const TriangleOf<T>& to, Index k, std::span<const Term<T>> terms,
                      T beta) {
  triangle_from(products, to, k, terms, 0, diagonal_size_of<T>(to.n), beta);
}

namespace {

template <class T>
const char* name_of(const detail::RankUpdateCall<T>& call) {
  return call.has_b ? (call.is_hermitian ? "her2k" : "syr2k") : (call.is_hermitian ? "herk" : "syrk");
}

template <class T>
void check(const detail::RankUpdateCall<T>& call) {
  const char* const name = name_of(call);
  const Op transposed = is_complex<T> && call.is_hermitian ? Op::ConjugateTranspose : Op::Transpose;
  if (call.op != Op::None && call.op != transposed)
    throw InvalidArgument(std::string(name) + ": op is the " + (transposed == Op::Transpose ? "conjugate" : "plain") +
                          " transpose; it must be None or " +
                          (transposed == Op::Transpose ? "Transpose" : "ConjugateTranspose"));
  check_sizes(name, {{"n", call.n}, {"k", call.k}});
  const Index rows = call.op == Op::None ? call.n : call.k, cols = call.op == Op::None ? call.k : call.n;
  const bool reads = call.n > 0 && call.k > 0 && call.alpha != T(0);
  const Stored a{"a", call.a, rows, cols, call.lda, sizeof(T)}, b{"b", call.b, rows, cols, call.ldb, sizeof(T)};
  const Stored c{"c", call.c, call.n, call.n, call.ldc, sizeof(T)};
  check_stored(name, a, reads);
  if (call.has_b) check_stored(name, b, reads);
  check_stored(name, c, call.n > 0);
  if (!reads) return;
  check_apart(name, c, call.triangle, a);
  if (call.has_b) check_apart(name, c, call.triangle, b);
}

template <class T>
void run(const detail::RankUpdateCall<T>& call, const SolveOptions& options, detail::Shortage shortage) {
  const TriangleOf<T> to{call.triangle, is_complex<T> && call.is_hermitian, call.n, {call.c, call.ldc}};
  const Factor<T> a = Factor<T>::of({call.a, call.lda}, call.op), b = Factor<T>::of({call.b, call.ldb}, call.op);
  const auto other = [&](const Factor<T>& x) { return to.is_hermitian ? x.transposed().conjugated() : x.transposed(); };
  const Term<T> both[] = {{call.alpha, a, other(b)}, {conjugated_if(call.is_hermitian, call.alpha), b, other(a)}};
  const Term<T> one[] = {{call.alpha, a, other(a)}};
  // A second term that adds nothing would only multiply by 1.
  const bool adds = call.k > 0 && call.alpha != T(0);
  const std::span<const Term<T>> terms = call.has_b ? std::span(both, adds ? 2 : 1) : std::span<const Term<T>>(one);
  const auto by_formula = [&] {
    for (const Term<T>& term : terms)
      model_triangle(to, call.k, term.alpha, term.a, term.b, &term == terms.data() ? call.beta : T(1));
  };
  const auto blocked = [&] { triangle_product(Products<T>(options, shortage), to, call.k, terms, call.beta); };
  if (options.backend == Backend::Reference) return by_formula();
  with_or_without_memory(shortage, blocked, by_formula);
}

} // namespace
} // namespace tessera::linear_algebra

namespace tessera::detail {

template <class T>
void rank_update(const RankUpdateCall<T>& call, const SolveOptions& options, Shortage shortage) try {
  const Uncancelled whole;
  const ContractArithmetic contract;
  linear_algebra::check(call);
  const bool adds_nothing = call.k == 0 || call.alpha == T(0);
  if (call.n == 0 || (adds_nothing && call.beta == T(1))) return;
  linear_algebra::run(call, options, shortage);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

#define TESSERA_INSTANTIATE(T) template void rank_update(const RankUpdateCall<T>&, const SolveOptions&, Shortage);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::complex<float>)
TESSERA_INSTANTIATE(std::complex<double>)
#undef TESSERA_INSTANTIATE

} // namespace tessera::detail

namespace tessera::linear_algebra {

#define TESSERA_INSTANTIATE(T) \
  template void triangle_product(const Products<T>&, const TriangleOf<T>&, Index, std::span<const Term<T>>, T);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
#undef TESSERA_INSTANTIATE

} // namespace tessera::linear_algebra
