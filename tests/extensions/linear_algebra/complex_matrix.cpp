/// Tests the matrices of complex numbers: elements, views, copies, random numbers and products.

#include <vector>

#include <boost/test/unit_test.hpp>

#include "systems.hpp"

namespace tessera::test {

BOOST_AUTO_TEST_SUITE(complex_matrix)

BOOST_AUTO_TEST_CASE_TEMPLATE(elements_and_views, P, Elements) {
  using T = std::complex<P>;
  Matrix<T> a{{T(1, 2), T(3)}, {T(0, -1), T(4, 5)}, {T(6), T(7)}};
  BOOST_TEST(a.rows() == 3);
  BOOST_TEST(a.cols() == 2);
  BOOST_TEST(a.size() == 6);
  BOOST_TEST(a.ld() >= 2);
  BOOST_TEST(a.data()[a.ld() + 1] == T(4, 5));
  BOOST_TEST(std::as_const(a).at(2, 1) == T(7));
  BOOST_TEST(std::as_const(a).row(1)[0] == T(0, -1));
  const auto turned = std::as_const(a).transposed();
  BOOST_TEST(turned.rows() == 2);
  BOOST_TEST(turned(0, 1) == T(0, -1));
  const auto part = turned.block(1, 1, 1, 2);
  BOOST_TEST(part(0, 0) == T(4, 5));
  BOOST_TEST(part(0, 1) == T(7));
  BOOST_TEST(differing(Matrix<T>(part), Matrix<T>{{T(4, 5), T(7)}}) == 0);
  const P none = -P(0); // the conjugate of an imaginary part that is +0
  const Matrix<T> expected{{T(1, -2), T(0, 1), T(6, none)}, {T(3, none), T(4, -5), T(7, none)}};
  BOOST_TEST(differing(conjugate_transpose(a), expected) == 0);
  a.writable()(0, 0) = T(9);
  a.writable().block(1, 0, 1, 2).transposed()(1, 0) = T(8);
  BOOST_TEST(a(0, 0) == T(9));
  BOOST_TEST(a(1, 1) == T(8));
  BOOST_TEST(differing(Matrix<T>::identity(2), Matrix<T>{{T(1), T(0)}, {T(0), T(1)}}) == 0);
  BOOST_TEST(Matrix<T>(2, 3, T(0, 1))(1, 2) == T(0, 1));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(copies_and_lives, P, Elements) {
  using T = std::complex<P>;
  Matrix<T> a(2, 2, T(1, 1));
  Matrix<T> copied = a;
  copied(0, 0) = 5;
  BOOST_TEST(a(0, 0) == T(1, 1));
  a = copied;
  BOOST_TEST(a(0, 0) == T(5));
  const auto view = std::as_const(a).view();
  Matrix<T> moved = std::move(a);
  a = Matrix<T>(1, 1);
  moved = Matrix<T>();
  BOOST_TEST(moved.empty());
  BOOST_TEST(view(0, 0) == T(5)); // the view keeps the elements
  std::vector<T> memory{1, 2, 3, 4, 5, 6};
  const auto wrapped = MatrixView<T>::wrap(memory.data(), 2, 2, 3);
  wrapped(1, 1) = T(0, 7);
  BOOST_TEST(memory[4] == T(0, 7));
  BOOST_TEST(Matrix<T>(wrapped)(1, 0) == T(4));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(sizes_beyond_the_address_space, P, Elements) {
  using T = std::complex<P>;
  const auto names = [](const std::string& sizes) {
    return [sizes](const InvalidArgument& error) { return std::string(error.what()).find(sizes) != std::string::npos; };
  };
  constexpr Index huge = Index{1} << 62;
  BOOST_CHECK_EXCEPTION(Matrix<T>(2, huge), InvalidArgument, names("2×4611686018427387904;"));
  BOOST_CHECK_EXCEPTION(Matrix<T>(huge, 2), InvalidArgument, names("4611686018427387904×2;"));
  BOOST_CHECK_EXCEPTION(Matrix<T>::random(0, huge, Seed{6}), InvalidArgument, names("0×4611686018427387904;"));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(random_numbers, P, Elements) {
  const auto a = Matrix<std::complex<P>>::random(5, 7, Seed{3});
  const auto parts = Matrix<P>::random(5, 14, Seed{3});
  for (Index i = 0; i < 5; ++i)
    for (Index j = 0; j < 7; ++j) BOOST_TEST(a(i, j) == std::complex<P>(parts(i, 2 * j), parts(i, 2 * j + 1)));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(products, P, Elements) {
  using T = std::complex<P>;
  const auto a = Matrix<T>::random(9, 6, Seed{4}), b = Matrix<T>::random(6, 5, Seed{5});
  const Matrix<T> turned(a.transposed());
  Matrix<T> expected(9, 5);
  gemm(Op::None, Op::None, 9, 5, 6, T(1), a.data(), a.ld(), b.data(), b.ld(), T(0), expected.data(), expected.ld(),
       {.backend = Backend::Reference});
  const GemmOptions options{.backend = tested_backend()};
  BOOST_TEST(differing(gemm(a, b, options), expected) == 0);
  BOOST_TEST(differing(gemm(turned.transposed(), b, options), expected) == 0);
  BOOST_TEST(differing(gemm(a.block(2, 0, 3, 6), b.block(0, 1, 6, 2), options),
                       Matrix<T>(std::as_const(expected).block(2, 1, 3, 2))) == 0);
  BOOST_TEST(gemm(Matrix<T>(4, 0), Matrix<T>(0, 2))(3, 1) == T(0));
  BOOST_CHECK_THROW(gemm(a, a), InvalidArgument);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
