/// Level 1 of the drop-in: every result has the bits of a plain model that is written from docs/contract.md, for any
/// steps and alignment, in both interfaces. Exit status: failed checks.

#include "vectors_model.hpp"

namespace tessera::test {
namespace {

/// The sums of a type against the model.
template <class N>
void sums(Random& random, Index n, Index step_x, Index step_y) {
  using R = RealOf<N>;
  const blas_int size = integer(n), incx = integer(step_x), incy = integer(step_y);
  const Spread<N> x(random, n, step_x), y(random, n, step_y);
  must_be("nrm2", model_nrm2(x), Blas<N>::nrm2(&size, x.data(), &incx), n, step_x);
  must_be("cblas_nrm2", model_nrm2(x), Blas<N>::cblas_nrm2(size, x.data(), incx), n, step_x);
  const bool forward = step_x > 0;
  must_be("asum", forward ? model_asum(x) : R{0}, Blas<N>::asum(&size, x.data(), &incx), n, step_x);
  must_be("cblas_asum", forward ? model_asum(x) : R{0}, Blas<N>::cblas_asum(size, x.data(), incx), n, step_x);
  const Index place = forward ? model_iamax(x) : -1;
  must_equal("iamax", static_cast<std::int64_t>(Blas<N>::iamax(&size, x.data(), &incx)), place + 1);
  must_equal("cblas_iamax", static_cast<std::int64_t>(Blas<N>::cblas_iamax(size, x.data(), incx)),
             std::max<Index>(place, 0));
  if constexpr (is_complex<N>) {
    N result;
    must_be("dotu", model_dot(x, y, false), Blas<N>::dotu(&size, x.data(), &incx, y.data(), &incy), n, step_x);
    must_be("dotc", model_dot(x, y, true), Blas<N>::dotc(&size, x.data(), &incx, y.data(), &incy), n, step_x);
    Blas<N>::cblas_dotu(size, x.data(), incx, y.data(), incy, &result);
    must_be("cblas_dotu_sub", model_dot(x, y, false), result, n, step_x);
    Blas<N>::cblas_dotc(size, x.data(), incx, y.data(), incy, &result);
    must_be("cblas_dotc_sub", model_dot(x, y, true), result, n, step_x);
  } else {
    must_be("dot", model_dot(x, y, false), Blas<N>::dot(&size, x.data(), &incx, y.data(), &incy), n, step_x);
    must_be("cblas_dot", model_dot(x, y, false), Blas<N>::cblas_dot(size, x.data(), incx, y.data(), incy), n, step_x);
  }
  if constexpr (std::is_same_v<N, float>) {
    const float b = random.value<float>();
    const double sum = model_double_dot(x, y);
    must_be("dsdot", sum, NAME(dsdot_)(&size, x.data(), &incx, y.data(), &incy), n, step_x);
    must_be("cblas_dsdot", sum, NAME(cblas_dsdot)(size, x.data(), incx, y.data(), incy), n, step_x);
    const auto rounded = n > 0 ? static_cast<float>(sum + static_cast<double>(b)) : b;
    must_be("sdsdot", rounded, NAME(sdsdot_)(&size, &b, x.data(), &incx, y.data(), &incy), n, step_x);
    must_be("cblas_sdsdot", rounded, NAME(cblas_sdsdot)(size, b, x.data(), incx, y.data(), incy), n, step_x);
  }
}

/// Calls run(x, y) with copies of the vectors for each interface, and then model(x, y) element by element.
template <class N, class Fortran, class C, class Model>
void updates(const char* what, Spread<N> x, Spread<N> y, const Fortran& fortran, const C& c, const Model& model) {
  Spread<N> left(x), right(y), other_left(x), other_right(y);
  fortran(left.data(), right.data());
  c(other_left.data(), other_right.data());
  for (Index i = 0; i < x.size; ++i) model(x.at(i), y.at(i));
  x.must_equal(what, left);
  y.must_equal(what, right);
  x.must_equal(what, other_left);
  y.must_equal(what, other_right);
}

template <class N>
void updated_vectors(Random& random, Index n, Index step_x, Index step_y) {
  using R = RealOf<N>;
  const blas_int size = integer(n), incx = integer(step_x), incy = integer(step_y);
  const Spread<N> x(random, n, step_x), y(random, n, step_y);
  updates(
      "copy", x, y, [&](N* a, N* b) { Blas<N>::copy(&size, a, &incx, b, &incy); },
      [&](N* a, N* b) { Blas<N>::cblas_copy(size, a, incx, b, incy); }, [](N& a, N& b) { b = a; });
  updates(
      "swap", x, y, [&](N* a, N* b) { Blas<N>::swap(&size, a, &incx, b, &incy); },
      [&](N* a, N* b) { Blas<N>::cblas_swap(size, a, incx, b, incy); }, [](N& a, N& b) { std::swap(a, b); });
  for (int kind = 0; kind < 3; ++kind) {
    const N alpha = random.factor<N>(kind);
    updates(
        "axpy", x, y, [&](N* a, N* b) { Blas<N>::axpy(&size, &alpha, a, &incx, b, &incy); },
        [&](N* a, N* b) { Blas<N>::cblas_axpy(size, by_value(alpha), a, incx, b, incy); },
        [&](const N& a, N& b) { b = model_axpy(alpha, a, b); });
    updates(
        "scal", x, y, [&](N* a, N*) { Blas<N>::scal(&size, &alpha, a, &incx); },
        [&](N* a, N*) { Blas<N>::cblas_scal(size, by_value(alpha), a, incx); },
        [&](N& a, N&) { a = step_x > 0 ? model_scaled(alpha, a) : a; });
  }
  const R c = random.value<R>(), s = random.value<R>();
  const auto rotate = [](R cosine, R sine, R& a, R& b) {
    const R old = a;
    a = std::fma(sine, b, cosine * a);
    b = std::fma(cosine, b, -sine * old);
  };
  updates(
      "rot", x, y, [&](N* a, N* b) { Blas<N>::rot(&size, a, &incx, b, &incy, &c, &s); },
      [&](N* a, N* b) { Blas<N>::cblas_rot(size, a, incx, b, incy, c, s); },
      [&](N& a, N& b) {
        for (int part = 0; part < parts<N>; ++part) rotate(c, s, part_of(a, part), part_of(b, part));
      });
  if constexpr (is_complex<N>)
    updates(
        "scal by a real number", x, y, [&](N* a, N*) { Blas<N>::real_scal(&size, &c, a, &incx); },
        [&](N* a, N*) { Blas<N>::cblas_real_scal(size, c, a, incx); },
        [&](N& a, N&) {
          a = step_x > 0 ? N{c * a.re, c * a.im} : a;
        });
  else
    for (const R flag : {R{-2}, R{-1}, R{0}, R{1}}) {
      const R h[5] = {flag, random.value<R>(), random.value<R>(), random.value<R>(), random.value<R>()};
      updates(
          "rotm", x, y, [&](N* a, N* b) { Blas<N>::rotm(&size, a, &incx, b, &incy, h); },
          [&](N* a, N* b) { Blas<N>::cblas_rotm(size, a, incx, b, incy, h); },
          [&](N& a, N& b) {
            if (flag == -2) return;
            const R old = a, h11 = flag == 0 ? R{1} : h[1], h21 = flag == 1 ? R{-1} : h[2];
            const R h12 = flag == 1 ? R{1} : h[3], h22 = flag == 0 ? R{1} : h[4];
            a = std::fma(h12, b, h11 * a);
            b = std::fma(h22, b, h21 * old);
          });
    }
}

/// Rotations bring b to zero and keep lengths, for numbers of all sizes.
template <class R>
void rotations(Random& random) {
  using N = ComplexNumber<R>;
  const R tolerance = 16 * std::numeric_limits<R>::epsilon();
  const auto near = [&](const char* what, long double got, long double expected, long double scale) {
    if (std::abs(got - expected) <= tolerance * scale) return;
    std::fprintf(stderr, "%s, f%d: %Lg, not %Lg\n", what, static_cast<int>(8 * sizeof(R)), got, expected);
    ++failures;
  };
  for (int round = 0; round < 2000; ++round) {
    const int range = std::numeric_limits<R>::max_exponent - 4;
    const auto any = [&] { return std::ldexp(random.value<R>(), static_cast<int>(random.below(2 * range)) - range); };
    R a = any(), b = any(), c = 0, s = 0, c2 = 0, s2 = 0;
    const long double f = a, g = b;
    R a2 = a, b2 = b;
    Blas<R>::rotg(&a, &b, &c, &s);
    Blas<R>::cblas_rotg(&a2, &b2, &c2, &s2);
    must_equal("rotg in both interfaces", same_bits(a, a2) && same_bits(b, b2) && same_bits(c, c2) && same_bits(s, s2),
               1);
    const long double length = std::hypot(f, g);
    near("c*c + s*s", static_cast<long double>(c) * c + static_cast<long double>(s) * s, 1, 1);
    if (length > std::numeric_limits<R>::min() / tolerance) near("c*a + s*b", c * f + s * g, a, length);
    if (length > std::numeric_limits<R>::min() / tolerance)
      near("|r|", std::abs(static_cast<long double>(a)), length, length);
    N p{any(), any()}, q{any(), any()}, sine{0, 0};
    const std::complex<long double> P(p.re, p.im), Q(q.re, q.im);
    Blas<N>::rotg(&p, &q, &c, &sine);
    const std::complex<long double> S(sine.re, sine.im), rotated = static_cast<long double>(c) * P + S * Q;
    const long double whole = std::hypot(std::abs(P), std::abs(Q));
    near("c*c + |s|*|s|", static_cast<long double>(c) * c + std::norm(S), 1, 1);
    if (whole > std::numeric_limits<R>::min() / tolerance && whole < std::numeric_limits<R>::max() / 4) {
      near("re of r", rotated.real(), p.re, whole);
      near("im of r", rotated.imag(), p.im, whole);
      near("what b becomes", std::abs(-std::conj(S) * P + static_cast<long double>(c) * Q), 0, whole);
    }
  }
}

/// The first of the largest magnitudes is found wherever it stands, and so is the first NaN, whatever its payload.
template <class R>
void first_of_equals() {
  const blas_int one = integer(1);
  for (Index n = 1; n <= 70; ++n)
    for (Index place = 0; place < n; ++place)
      for (const bool are_nan : {false, true}) {
        std::vector<R> x(static_cast<std::size_t>(n), R{1});
        if (are_nan) x[0] = std::numeric_limits<R>::infinity();
        for (Index i = place; i < n; i += 3)
          x[static_cast<std::size_t>(i)] =
              are_nan ? (i == place ? -std::numeric_limits<R>::quiet_NaN() : static_cast<R>(std::nan("77")))
                      : (i == place ? R{-2} : R{2});
        const blas_int size = integer(n);
        must_equal("iamax of equals", static_cast<std::int64_t>(Blas<R>::iamax(&size, x.data(), &one)), place + 1);
      }
}

template <class N>
void check_type() {
  Random random(17);
  for (int round = 0; round < 150; ++round) {
    const Index n = round < 40 ? round : random.below(5001);
    const Index steps[] = {1, 1, 2, -1, -3, 0};
    const Index step_x = steps[random.below(6)], step_y = steps[random.below(6)];
    random.choose_specials(round % 3);
    sums<N>(random, n, step_x, step_y);
    if (step_x != 0 && step_y != 0) updated_vectors<N>(random, n, step_x, step_y);
  }
  random.choose_specials(0);
  sums<N>(random, 1024 * 1024 + 1, 1, 1); // three levels of chunks
  sums<N>(random, 1024 * 1027 + 33, 1, 2);
  for (const int exponent : {-1060, -600, -530, -480, 479, 481, 520, 1000}) { // norms with a scale
    random.choose_exponent(exponent);
    sums<N>(random, 700, 1, 1);
    sums<N>(random, 2100, 3, 1);
  }
}

} // namespace
} // namespace tessera::test

int main() {
  using namespace tessera;
  test::check_type<float>();
  test::check_type<double>();
  test::check_type<ComplexNumber<float>>();
  test::check_type<ComplexNumber<double>>();
  test::first_of_equals<float>();
  test::first_of_equals<double>();
  test::Random random(5);
  test::rotations<float>(random);
  test::rotations<double>(random);
  return test::failures_of_program() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
