/// The rank-k and rank-2k updates of the BLAS, with their arguments.

#include <tessera/linear_algebra/syrk.hpp>

#include <algorithm>

#include "checks.hpp"
#include "extensions/linear_algebra/arguments.hpp"
#include "extensions/linear_algebra/on_host.hpp"
#include "extensions/linear_algebra/symmetric.hpp"

namespace tessera::linear_algebra {
namespace {

template <class T>
const char* name_of(const detail::RankUpdateCall<T>& call) {
  return call.has_b ? (call.is_hermitian ? "her2k" : "syr2k") : (call.is_hermitian ? "herk" : "syrk");
}

template <class T>
void run(const detail::RankUpdateCall<T>& call, const SolveOptions& options, detail::Shortage shortage) {
  const TriangleOf<T> to{call.triangle, is_complex<T> && call.is_hermitian, call.n, {call.c, call.ldc}};
  const Factor<T> a = Factor<T>::of({call.a, call.lda}, call.op), b = Factor<T>::of({call.b, call.ldb}, call.op);
  const auto other = [&](const Factor<T>& x) { return to.is_hermitian ? x.transposed().conjugated() : x.transposed(); };
  const Term<T> both[] = {{call.alpha, a, other(b)}, {conjugated_if(call.is_hermitian, call.alpha), b, other(a)}};
  const Term<T> one[] = {{call.alpha, a, other(a)}};
  // Without terms of the sums, A and B are not looked at, and a second product would multiply by 1.
  const bool adds = !adds_nothing(call);
  const Index k = adds ? call.k : 0;
  const std::span<const Term<T>> terms = call.has_b ? std::span(both, adds ? 2 : 1) : std::span<const Term<T>>(one);
  std::size_t done = 0; // terms
  const auto beta = [&] { return done == 0 ? call.beta : T(1); };
  const auto by_formula = [&] {
    for (; done < terms.size(); ++done) model_triangle(to, k, terms[done].alpha, terms[done].a, terms[done].b, beta());
  };
  const auto blocked = [&](detail::Shortage now) {
    const Products<T> products(options, now);
    products.run_steps(product_work(call.n, call.n, k) / 2 * static_cast<double>(terms.size()), [&] {
      if (adds) done = terms_as_stored(products, to, k, terms, call.beta);
      if (done < terms.size()) triangle_product(products, to, k, terms.subspan(done), beta());
    });
  };
  if (options.backend == Backend::Reference) return by_formula();
  complete_in_place(shortage, blocked, by_formula);
}

} // namespace

template <class T>
void check_rank_update(const detail::RankUpdateCall<T>& call) {
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
void update_on_host(const detail::RankUpdateCall<T>& call, const SolveOptions& options, detail::Shortage shortage) {
  if (call.n > 0 && !leaves_result(call)) run(call, options, shortage);
}

#define TESSERA_INSTANTIATE(T)                                       \
  template void check_rank_update(const detail::RankUpdateCall<T>&); \
  template void update_on_host(const detail::RankUpdateCall<T>&, const SolveOptions&, detail::Shortage);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::complex<float>)
TESSERA_INSTANTIATE(std::complex<double>)
#undef TESSERA_INSTANTIATE

} // namespace tessera::linear_algebra
