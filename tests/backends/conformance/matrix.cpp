/// Matrix gives equal bits over the backend under test and over the reference, and results stay where they were
/// computed.

#include <boost/test/unit_test.hpp>

#include <tessera/tessera.hpp>

#include "guarded.hpp"
#include "shapes.hpp"
#include "support/subject.hpp"

namespace tessera::conformance {
namespace {

template <class T>
bool identical(const Matrix<T>& x, const Matrix<T>& y) {
  if (x.rows() != y.rows() || x.cols() != y.cols()) return false;
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j)
      if (!same(x(i, j), y(i, j))) return false;
  return true;
}

/// Returns the subject, or null if its memory is the host's, so that there is no other copy.
Executor* home() { return subject().capabilities().host_memory ? nullptr : &subject(); }

/// Computes with transposed views, blocks and a product of products, as applications do.
template <class T>
Matrix<T> expression(Backend backend) {
  const auto a = Matrix<T>::random(60, 70, Seed{1});
  const auto b = Matrix<T>::random(70, 50, Seed{2});
  const auto c = gemm(a, b, backend);
  Matrix<T> d = gemm(b.transposed(), a.transposed(), backend);
  gemm(T{0.5}, a.block(3, 5, 20, 30), b.block(7, 9, 30, 40), T{-1}, d.transposed().block(11, 2, 20, 40),
       {.backend = backend});
  const Matrix<T> sum = c + d.transposed();
  return gemm(hadamard(sum, c).transposed(), T{3} * (sum - c), backend);
}

} // namespace

BOOST_AUTO_TEST_SUITE(matrix)

BOOST_AUTO_TEST_CASE_TEMPLATE(expressions_give_the_reference_bits, T, ElementTypes) {
  BOOST_TEST(identical(expression<T>(options().backend), expression<T>(Backend::Reference)));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_product_stays_where_it_was_computed, T, ElementTypes) {
  const auto a = Matrix<T>::random(33, 40, Seed{3});
  const Matrix<T> c = gemm(a, a.transposed(), options().backend);
  BOOST_TEST(c.newest_on() == home());
  const Matrix<T> sum = c + c;
  BOOST_TEST(sum.newest_on() == home());
  BOOST_TEST(c.newest_on() == home()); // c was read on the device, not fetched
  BOOST_TEST(same(c(1, 2), gemm(a, a.transposed(), Backend::Reference).at(1, 2)));
  BOOST_TEST(c.newest_on() == nullptr); // reading fetched it
}

BOOST_AUTO_TEST_CASE_TEMPLATE(what_the_host_writes_reaches_the_backend, T, ElementTypes) {
  Matrix<T> a = Matrix<T>::random(12, 12, Seed{4});
  const auto unit = Matrix<T>::identity(12);
  BOOST_TEST(identical(gemm(a, unit, options().backend), a));
  a(3, 4) = T{7};
  BOOST_TEST((gemm(a, unit, options().backend).at(3, 4) == T{7}));
  Matrix<T> c = gemm(a, unit, options().backend);
  c(0, 0) = T{9}; // fetches c first
  BOOST_TEST((c.at(3, 4) == T{7}));
  BOOST_TEST((gemm(c, unit, options().backend).at(0, 0) == T{9}));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(norms_agree, T, ElementTypes) {
  const auto a = Matrix<T>::random(150, 90, Seed{5});
  const auto unit = Matrix<T>::identity(90);
  const Matrix<T> here = gemm(a, unit, options().backend);
  BOOST_TEST(here.sum_of_squares() == a.sum_of_squares());
  BOOST_TEST(here.norm_frobenius() == a.norm_frobenius());
  BOOST_TEST(here.norm_max() == a.norm_max());
  BOOST_TEST(here.norm_sum() == a.norm_sum());
  BOOST_TEST(here.norm_one() == a.norm_one());
  BOOST_TEST(here.norm_inf() == a.norm_inf());
}

BOOST_AUTO_TEST_CASE(a_product_too_large_for_memory_throws_and_nothing_is_lost) {
  constexpr Index n = Index{1} << 23; // n² floats are more than a process can address
  const Matrix<float> row(1, n, 1.0f);
  BOOST_CHECK_THROW(static_cast<void>(gemm(row.transposed(), row, options().backend)), OutOfMemory);
  BOOST_TEST(gemm(row, row.transposed(), options().backend).at(0, 0) == static_cast<float>(n));
}

BOOST_AUTO_TEST_CASE(an_empty_inner_dimension_gives_zeros) {
  const Matrix<float> c = gemm(Matrix<float>(3, 0), Matrix<float>(0, 4), options().backend);
  BOOST_TEST(identical(c, Matrix<float>(3, 4)));
  BOOST_TEST(gemm(Matrix<float>(0, 3), Matrix<float>(3, 4), options().backend).rows() == 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::conformance
