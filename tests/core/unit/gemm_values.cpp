/// Tests the values of products: Math::Strict against a plain loop, and the cases with nothing to add up.

#include <cmath>
#include <limits>

#include <boost/test/unit_test.hpp>

#include <tessera/tessera.hpp>

#include "support/expect.hpp"

using namespace tessera;
using Elements = std::tuple<float, double>;

namespace {

/// Computes the product as the contract says it, one element at a time.
template <class T>
T element(const Matrix<T>& a, const Matrix<T>& b, Index i, Index j, T alpha, T beta, T c) {
  T sum{0};
  for (Index first = 0; first < a.cols(); first += 1024) {
    T chain{0};
    for (Index p = first; p < std::min<Index>(first + 1024, a.cols()); ++p) chain = std::fma(a(i, p), b(p, j), chain);
    sum = first == 0 ? chain : sum + chain;
  }
  const T r = alpha * sum;
  return beta == T{0} ? r : std::fma(beta, c, r);
}

template <class T>
void compare_with_contract(Index k, T alpha, T beta, Backend backend) {
  const auto a = Matrix<T>::random(5, k, Seed{1});
  const auto b = Matrix<T>::random(k, 4, Seed{2});
  const auto before = Matrix<T>::random(5, 4, Seed{3});
  Matrix<T> c = before;
  gemm(alpha, a, b, beta, c, {.backend = backend});
  for (Index i = 0; i < 5; ++i)
    for (Index j = 0; j < 4; ++j)
      BOOST_TEST(c.at(i, j) == element(a, b, i, j, alpha, beta, before(i, j)),
                 "k = " << k << ", " << to_string(backend));
}

} // namespace

BOOST_AUTO_TEST_SUITE(gemm_values)

BOOST_AUTO_TEST_CASE_TEMPLATE(every_backend_keeps_the_contract, T, Elements) {
  for (const BackendInfo& info : available_backends())
    if (info.available)
      for (const Index k : {1, 7, 1023, 1024, 1025, 2048, 3333})
        for (const T beta : {T{0}, T{1}, T{0.6875}}) compare_with_contract<T>(k, T{-0.6875}, beta, info.backend);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(products_by_hand, T, Elements) {
  const Matrix<T> a{{1, 2}, {3, 4}};
  const Matrix<T> b{{5, 6}, {7, 8}};
  BOOST_TEST((gemm(a, b) == Matrix<T>{{19, 22}, {43, 50}}));
  BOOST_TEST((gemm(a.transposed(), b) == Matrix<T>{{26, 30}, {38, 44}}));
  BOOST_TEST((gemm(a, b.transposed()) == Matrix<T>{{17, 23}, {39, 53}}));
  Matrix<T> c{{1, 1}, {1, 1}};
  gemm(T{2}, a, b, T{-1}, c.transposed());
  BOOST_TEST((c == Matrix<T>{{37, 85}, {43, 99}}));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(raw_memory_with_leading_dimensions, T, Elements) {
  const std::vector<T> a{1, 2, 99, 3, 4, 99};       // 2×2, ld 3
  const std::vector<T> b{5, 6, 7, 8};               // 2×2
  std::vector<T> c{-1, -1, 99, 99, -1, -1, 99, 99}; // 2×2, ld 4
  gemm<T>(Op::Transpose, Op::None, 2, 2, 2, T{1}, a.data(), 3, b.data(), 2, T{0}, c.data(), 4);
  BOOST_TEST(c == (std::vector<T>{26, 30, 99, 99, 38, 44, 99, 99}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(beta_zero_never_reads_c, T, Elements) {
  Matrix<T> c(2, 2, std::numeric_limits<T>::quiet_NaN());
  const auto unit = Matrix<T>::identity(2);
  gemm(T{1}, unit, unit, T{0}, c);
  BOOST_TEST((c == unit));
  c.fill(std::numeric_limits<T>::quiet_NaN());
  gemm(T{0}, unit, unit, T{0}, c);
  BOOST_TEST((c == Matrix<T>(2, 2)));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(alpha_zero_or_k_zero_never_read_a_and_b, T, Elements) {
  const Matrix<T> nan(2, 2, std::numeric_limits<T>::quiet_NaN());
  Matrix<T> c(2, 2, T{3});
  gemm(T{0}, nan, nan, T{2}, c);
  BOOST_TEST((c == Matrix<T>(2, 2, T{6})));
  gemm(T{1}, Matrix<T>(2, 0), Matrix<T>(0, 2), T{0.5}, c);
  BOOST_TEST((c == Matrix<T>(2, 2, T{3})));
  BOOST_TEST((gemm(Matrix<T>(2, 0), Matrix<T>(0, 3)) == Matrix<T>(2, 3)));
}

BOOST_AUTO_TEST_CASE(empty_results_are_empty) {
  BOOST_TEST(gemm(Matrix<float>(0, 3), Matrix<float>(3, 2)).rows() == 0);
  BOOST_TEST(gemm(Matrix<float>(2, 3), Matrix<float>(3, 0)).cols() == 0);
  BOOST_TEST(gemm(Matrix<float>(), Matrix<float>()).empty());
}

BOOST_AUTO_TEST_SUITE_END()
