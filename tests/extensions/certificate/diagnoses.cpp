/// Tests what certificates say about wrong products: each diagnosis where it holds, and none of them where it does not.

#include <tessera/checking/check.hpp>

#include <cmath>

#include <boost/test/unit_test.hpp>

#include <tessera/gemm.hpp>
#include <tessera/half.hpp>
#include <tessera/matrix.hpp>

using namespace tessera;

namespace {

constexpr GemmOptions serial{.backend = Backend::Reference};
constexpr Index size = 48;

/// A square product of random matrices, and C₀.
template <class T>
struct Square {
  Matrix<T> a = Matrix<T>::random(size, size, Seed{1});
  Matrix<T> b = Matrix<T>::random(size, size, Seed{2});
  Matrix<T> before = Matrix<T>::random(size, size, Seed{3});
  Matrix<T> c = before;
  CheckOptions options = {};
  CheckedProduct operands() const { return {checked(a), checked(b), checked(before)}; }
};

std::vector<Diagnosis> diagnoses(const CheckedProduct& product, const CheckedMatrix& c, CheckOptions options) {
  std::vector<Diagnosis> of_all;
  for (const bool by_freivalds : {false, true}) { // the rows are found by comparing all, or by Freivalds' check
    options.rows = by_freivalds ? 2 : 0;
    options.vectors = by_freivalds ? 16 : 0;
    const Certificate answer = check(product, c, options);
    BOOST_TEST(!answer.right());
    std::vector<Diagnosis> found;
    for (const Finding& finding : answer.findings) {
      BOOST_TEST(!finding.text.empty());
      found.push_back(finding.diagnosis);
    }
    if (by_freivalds)
      BOOST_TEST((found == of_all), to_text(answer));
    else
      of_all = found;
  }
  return of_all;
}

template <class T>
void expect(const Square<T>& x, const std::vector<Diagnosis>& expected) {
  const std::vector<Diagnosis> found = diagnoses(x.operands(), checked(x.c), x.options);
  BOOST_TEST((found == expected), to_text(check(x.operands(), checked(x.c), x.options)));
}

} // namespace

BOOST_AUTO_TEST_SUITE(diagnosed_products)

using Elements = std::tuple<float, double>;

BOOST_AUTO_TEST_CASE_TEMPLATE(results_that_were_not_written, T, Elements) {
  Square<T> x;
  x.c.fill(0);
  expect(x, {Diagnosis::NotWritten});
  x.c = x.before;
  expect(x, {Diagnosis::Stale});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_part_of_c_that_was_not_written, T, Elements) {
  Square<T> x;
  gemm(T{1}, x.a, x.b, T{0}, x.c, serial);
  for (Index i = 0; i < size; ++i)
    for (Index j = 40; j < size; ++j) x.c(i, j) = 0;
  expect(x, {Diagnosis::NotWritten});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(transposed_operands, T, Elements) {
  Square<T> x;
  gemm(T{1}, x.a.transposed(), x.b, T{0}, x.c, serial);
  expect(x, {Diagnosis::TransposedA});
  gemm(T{1}, x.a, x.b.transposed(), T{0}, x.c, serial);
  expect(x, {Diagnosis::TransposedB});
  gemm(T{1}, x.a.transposed(), x.b.transposed(), T{0}, x.c, serial);
  expect(x, {Diagnosis::TransposedBoth});
  x.c = transpose(gemm(x.a, x.b, serial));
  expect(x, {Diagnosis::TransposedC});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(old_elements_of_c, T, Elements) {
  Square<T> x;
  x.c = x.before;
  gemm(T{1}, x.a, x.b, T{1}, x.c, serial);
  expect(x, {Diagnosis::AddedToC});
  x.options.beta = 2;
  x.options.alpha = 0.5;
  gemm(T(0.5), x.a, x.b, T{0}, x.c, serial);
  expect(x, {Diagnosis::BetaIgnored});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(sums_that_end_too_early, T, Elements) {
  Square<T> x;
  for (const Index depth : {size - 1, size - 8, size / 2}) {
    gemm(T{1}, x.a.block(0, 0, size, depth), x.b.block(0, 0, depth, size), T{0}, x.c, serial);
    expect(x, {Diagnosis::MissingTail});
    BOOST_TEST(check(x.operands(), checked(x.c)).findings.at(0).value == static_cast<double>(depth));
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(constant_factors, T, Elements) {
  Square<T> x;
  x.options.alpha = 0.125;
  gemm(T{1}, x.a, x.b, T{0}, x.c, serial);
  expect(x, {Diagnosis::Factor});
  BOOST_TEST(std::abs(check(x.operands(), checked(x.c), x.options).findings.at(0).value - 8) < 1e-4);
}

BOOST_AUTO_TEST_CASE(operands_that_were_rounded) {
  Square<float> x;
  // Rounds each element's fraction to the nearest multiple of 1 / scale.
  const auto rounded = [](const Matrix<float>& y, float scale) {
    Matrix<float> z = y;
    for (Index i = 0; i < size; ++i)
      for (Index j = 0; j < size; ++j) {
        int exponent = 0;
        const float fraction = std::frexp(y(i, j), &exponent);
        z(i, j) = std::ldexp(std::nearbyint(fraction * scale) / scale, exponent);
      }
    return z;
  };
  gemm(1.0f, rounded(x.a, 0x1p11f), rounded(x.b, 0x1p11f), 0.0f, x.c, serial);
  expect(x, {Diagnosis::LowPrecision});
  BOOST_TEST(check(x.operands(), checked(x.c)).findings.at(0).text.find("rounded to tf32") != std::string::npos);
  gemm(1.0f, rounded(x.a, 0x1p8f), rounded(x.b, 0x1p8f), 0.0f, x.c, serial);
  expect(x, {Diagnosis::LowPrecision});
  BOOST_TEST(check(x.operands(), checked(x.c)).findings.at(0).text.find("rounded to bf16") != std::string::npos);
  Square<double> y;
  Matrix<double> wide = gemm(y.a, y.b, serial);
  for (Index i = 0; i < size; ++i)
    for (Index j = 0; j < size; ++j) y.c(i, j) = static_cast<double>(static_cast<float>(wide(i, j)));
  expect(y, {Diagnosis::LowPrecision});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(sums_of_sixteen_bit_operands_in_sixteen_bits, T, decltype(std::tuple<f16, bf16>{})) {
  const Matrix<T> a = Matrix<T>::random(size, size, Seed{1}), b = Matrix<T>::random(size, size, Seed{2});
  Matrix<T> c(size, size);
  for (Index i = 0; i < size; ++i)
    for (Index j = 0; j < size; ++j) {
      T sum(0.0f);
      for (Index p = 0; p < size; ++p) sum = T(static_cast<float>(sum) + static_cast<float>(T(a(i, p) * b(p, j))));
      c(i, j) = sum;
    }
  BOOST_TEST((diagnoses({checked(a), checked(b)}, checked(c), {}) == std::vector{Diagnosis::LowPrecision}));
}

BOOST_AUTO_TEST_CASE(epilogues_that_lack_a_part) {
  const Matrix<float> bias = Matrix<float>::random(1, size, Seed{4});
  const Matrix<float> residual = Matrix<float>::random(size, size, Seed{5});
  Square<float> x;
  CheckedProduct operands = x.operands();
  operands.bias = checked(bias);
  operands.residual = checked(residual);
  x.options.activation = Activation::Relu;
  const auto with = [&](const MatrixEpilogue<float>& epilogue) {
    gemm(1.0f, x.a, x.b, 0.0f, x.c, epilogue, serial);
    std::vector<Diagnosis> found;
    for (const Finding& finding : check(operands, checked(x.c), x.options).findings) found.push_back(finding.diagnosis);
    return found;
  };
  BOOST_TEST(
      (with({.activation = Activation::Relu, .residual = residual.view()}) == std::vector{Diagnosis::MissingBias}));
  BOOST_TEST((with({.bias = bias.view(), .activation = Activation::Relu}) == std::vector{Diagnosis::MissingResidual}));
  BOOST_TEST((with({.bias = bias.view(), .residual = residual.view()}) == std::vector{Diagnosis::OtherActivation}));
  BOOST_TEST((with({.bias = bias.view(), .activation = Activation::Gelu, .residual = residual.view()}) ==
              std::vector{Diagnosis::OtherActivation}));
  BOOST_TEST(with({.bias = bias.view(), .activation = Activation::Relu, .residual = residual.view()}).empty());
}

/// A diagnosis must not be said where it does not hold.
BOOST_AUTO_TEST_CASE_TEMPLATE(random_errors_have_no_diagnosis, T, Elements) {
  Square<T> x;
  gemm(T{1}, x.a, x.b, T{0}, x.c, serial);
  const Matrix<T> noise = Matrix<T>::random(size, size, Seed{9});
  for (Index i = 0; i < size; i += 3)
    for (Index j = 0; j < size; j += 5) x.c(i, j) += noise(i, j);
  expect(x, {});
  gemm(T{1}, x.a, x.b, T{0}, x.c, serial);
  x.c(17, 30) += T{1};
  expect(x, {});
}

BOOST_AUTO_TEST_SUITE_END()
