/// Operations of the BLAS's level 3 in C++, which write where the caller's numbers are, while memory is short.

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <complex>
#include <limits>

#include <tessera/linear_algebra/symm.hpp>
#include <tessera/linear_algebra/syrk.hpp>
#include <tessera/linear_algebra/triangular.hpp>

#include "products.hpp"

using namespace tessera;
using namespace memory_test;

namespace {

constexpr Backend on_host[]{Backend::OpenMP, Backend::Tbb};
/// The triangle's order: more than a segment, so that there are several products, of few lines. Code with a sanitizer
/// is slow, and has products of several panels.
#if defined(__SANITIZE_ADDRESS__)
constexpr Index order = 140;
#else
constexpr Index order = 1030;
#endif
constexpr Index lines = 9;
/// The order of a triangle of C, which is computed in many blocks.
constexpr Index square = 150;

/// Checks the first call of a process that has made the executor, and later calls. C begins with `first`.
template <class T, class Call>
void check(const std::string& name, Index m, Index n, Index k, Call call, T first = T(0.5f)) {
  for (const Backend backend : on_host) {
    const auto x = std::make_shared<HostProduct<T>>(m, n, k);
    for (Index i = 0; i < std::min(m, k); ++i) x->a[static_cast<std::size_t>(i * k + i)] = T(4096);
    EntryPoint entry{.name = name + ", " + std::string(to_string(backend)),
                     .reset =
                         [x, first] {
                           x->reset();
                           x->c.front() = first;
                         },
                     .call = [x, call, backend] { call(*x, SolveOptions{.backend = backend, .threads = 2}); },
                     .result = [x] { return x->bytes(); }};
    entry.warm_up = [backend] { executor(backend); };
    check_first_use(entry);
    check_later_use(entry);
  }
}

/// `x->c` are the lines of a triangle of `order`: columns on the left side of it, rows on the right.
template <class T>
void check_triangles(const std::string& type) {
  for (const Side side : {Side::Left, Side::Right})
    for (const Triangle triangle : {Triangle::Lower, Triangle::Upper}) {
      const bool is_left = side == Side::Left;
      const Index rows = is_left ? order : lines, cols = is_left ? lines : order;
      const std::string name =
          type + (is_left ? " left" : " right") + (triangle == Triangle::Lower ? " lower" : " upper");
      check<T>("trsm " + name, order, lines, order, [=](HostProduct<T>& x, const SolveOptions& options) {
        trsm<T>(side, triangle, Op::None, Diagonal::Stored, rows, cols, T(2), x.a.data(), order, x.c.data(), cols,
                options);
      });
      check<T>("trmm " + name, order, lines, order, [=](HostProduct<T>& x, const SolveOptions& options) {
        trmm<T>(side, triangle, Op::Transpose, Diagonal::Unit, rows, cols, T(2), x.a.data(), order, x.c.data(), cols,
                options);
      });
    }
}

/// Where an infinity lets zeros outside the triangle show, the product takes another way.
template <class T>
void check_infinities(const std::string& type) {
  for (const Triangle triangle : {Triangle::Lower, Triangle::Upper})
    check<T>(
        "trmm with infinities " + type, order, lines, order,
        [=](HostProduct<T>& x, const SolveOptions& options) {
          trmm<T>(Side::Left, triangle, Op::None, Diagonal::Stored, order, lines, T(1), x.a.data(), order, x.c.data(),
                  lines, options);
        },
        T(std::numeric_limits<float>::infinity()));
}

template <class T>
void check_symmetric(const std::string& type) {
  check<T>("symm " + type, order, lines, order, [](HostProduct<T>& x, const SolveOptions& options) {
    symm<T>(Side::Left, Triangle::Upper, order, lines, T(2), x.a.data(), order, x.b.data(), lines, T(1), x.c.data(),
            lines, options);
  });
  check<T>("syrk " + type, square, square, order, [=](HostProduct<T>& x, const SolveOptions& options) {
    syrk<T>(Triangle::Lower, Op::None, square, order, T(2), x.a.data(), order, T(1), x.c.data(), square, options);
  });
  check<T>("syr2k " + type, square, square, order, [=](HostProduct<T>& x, const SolveOptions& options) {
    syr2k<T>(Triangle::Upper, Op::None, square, order, T(2), x.a.data(), order, x.b.data(), order, T(1), x.c.data(),
             square, options);
  });
}

} // namespace

BOOST_AUTO_TEST_SUITE(level3)

BOOST_AUTO_TEST_CASE(triangles) {
  check_triangles<float>("f32");
  check_triangles<std::complex<double>>("complex f64");
}

BOOST_AUTO_TEST_CASE(infinities) {
  check_infinities<double>("f64");
  check_infinities<std::complex<float>>("complex f32");
}

BOOST_AUTO_TEST_CASE(symmetric) {
  check_symmetric<double>("f64");
  check_symmetric<std::complex<float>>("complex f32");
}

BOOST_AUTO_TEST_SUITE_END()
