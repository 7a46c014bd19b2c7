/// Tests epilogues of matrices: what each step does to which element, and what is refused.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <boost/test/unit_test.hpp>

#include <tessera/backend/activation.hpp>
#include <tessera/tessera.hpp>

#include "support/expect.hpp"

using namespace tessera;
using tessera::test::expect_error;

namespace {

/// GELU as Hendrycks and Gimpel define it.
long double exact_gelu(long double x) {
  const long double z = 2 * std::sqrt(2 / std::numbers::pi_v<long double>) * (x + 0.044715L * x * x * x);
  return x / (1 + std::exp(-z));
}

/// Returns the largest error in units of |x|·2⁻ᵖ.
template <class T>
long double worst_gelu_error(double from, double to, double step) {
  long double worst = 0;
  for (double at = from; at <= to; at += step) {
    const auto x = static_cast<T>(at);
    if (x == 0) continue;
    const long double error = std::abs(gelu(x) - exact_gelu(x));
    worst = std::max(worst, error / (std::abs(static_cast<long double>(x)) * std::numeric_limits<T>::epsilon() / 2));
  }
  return worst;
}

const Matrix<float> samples{{1, 2}, {3, -4}, {-5, 6}};
const Matrix<float> weights{{1, 0, -1, 2}, {2, 1, 1, -3}};
// samples·weights = {{5, 2, 1, -4}, {-5, -4, -7, 18}, {7, 6, 11, -28}}

} // namespace

BOOST_AUTO_TEST_SUITE(epilogue)

BOOST_AUTO_TEST_CASE(gelu_is_the_tanh_form) {
  BOOST_TEST(worst_gelu_error<float>(-30, 30, 0x1p-9) <= 4.0L);
  BOOST_TEST(worst_gelu_error<double>(-30, 30, 0x1p-9) <= 4.0L);
  BOOST_TEST(gelu(1e30f) == 1e30f);
  BOOST_TEST(gelu(-1e30f) == 0.0f);
  BOOST_TEST(gelu(-1e300) == 0.0);
  BOOST_TEST(gelu(0.0) == 0.0);
  BOOST_TEST(std::isnan(gelu(std::numeric_limits<float>::quiet_NaN())));
  BOOST_TEST(gelu(std::numeric_limits<float>::infinity()) == std::numeric_limits<float>::infinity());
  BOOST_TEST(std::isnan(relu(std::numeric_limits<double>::quiet_NaN())));
}

BOOST_AUTO_TEST_CASE(steps_come_in_their_order) {
  const Matrix<float> for_columns{{10, 20, 30, 1}};
  const Matrix<float> for_rows{{-1}, {0}, {100}};
  const Matrix<float> residual(3, 4, 1000.0f);
  Matrix<float> c(3, 4, 1.0f);
  gemm(1.0f, samples, weights, 0.0f, c,
       {.bias = for_columns.view(), .activation = Activation::Relu, .residual = residual.view()}, {});
  BOOST_TEST((c == Matrix<float>{{1015, 1022, 1031, 1000}, {1005, 1016, 1023, 1019}, {1017, 1026, 1041, 1000}}));
  gemm(1.0f, samples, weights, 0.0f, c, {.bias = for_rows.view(), .activation = Activation::Relu}, {});
  BOOST_TEST((c == Matrix<float>{{4, 1, 0, 0}, {0, 0, 0, 18}, {107, 106, 111, 72}}));
}

BOOST_AUTO_TEST_CASE(transposed_results_and_operands) {
  const Matrix<float> for_columns{{10, 20, 30, 1}};
  const Matrix<float> residual = Matrix<float>::random(3, 4, Seed{5});
  Matrix<float> straight(3, 4), turned(4, 3);
  gemm(1.0f, samples, weights, 0.0f, straight,
       {.bias = for_columns.view(), .activation = Activation::Gelu, .residual = residual.view()}, {});
  const Matrix<float> turned_residual(residual.view().transposed());
  const Matrix<float> column(for_columns.view().transposed());
  MatrixView<float> target = turned.writable().transposed();
  gemm(1.0f, samples, weights, 0.0f, target,
       {.bias = column.view().transposed(),
        .activation = Activation::Gelu,
        .residual = turned_residual.view().transposed()},
       {});
  BOOST_TEST((Matrix<float>(turned.view().transposed()) == straight));
}

BOOST_AUTO_TEST_CASE(f32_operands_give_16_bits_rounded_once) {
  const Matrix<bf16> c = gemm<bf16>(samples, weights);
  const Matrix<float> wide = gemm(samples, weights);
  for (Index i = 0; i < 3; ++i)
    for (Index j = 0; j < 4; ++j) BOOST_TEST(c.at(i, j).bits == bf16(wide.at(i, j)).bits);
}

BOOST_AUTO_TEST_CASE(wrong_operands_are_refused) {
  Matrix<float> c(3, 4, 7.0f);
  const auto refused = [&](const MatrixEpilogue<float>& epilogue, std::initializer_list<std::string_view> parts) {
    expect_error<InvalidArgument>([&] { gemm(1.0f, samples, weights, 0.0f, c, epilogue, {}); }, parts);
    BOOST_TEST((c == Matrix<float>(3, 4, 7.0f)));
  };
  const Matrix<float> three(1, 3, 0.0f), square(4, 4, 0.0f);
  refused({.bias = three.view()}, {"bias is 1×3", "1×4", "3×1"});
  refused({.residual = square.view()}, {"residual is 4×4", "c is 3×4"});
  refused({.residual = c.view()}, {"overlaps the residual", "beta = 1"});
  refused({.bias = c.view().block(0, 0, 1, 4)}, {"overlaps the bias"});
}

BOOST_AUTO_TEST_CASE(wrong_calls_are_refused) {
  float x[12] = {}, y[12] = {}, z[12] = {7.0f}, bias[8] = {};
  GemmCall call{{.m = 3, .n = 4, .k = 1, .a = x, .lda = 1, .b = y, .ldb = 4, .c = z, .ldc = 4}};
  const auto refused = [&](const Epilogue& epilogue, std::string_view part) {
    call.epilogue = epilogue;
    const Status status = check_gemm(call);
    BOOST_TEST((status.code == StatusCode::InvalidArgument), status.why);
    BOOST_TEST(tessera::test::contains(status.why, part), status.why);
  };
  refused({.bias_per = BiasPer::Row}, "bias is null");
  refused({.bias_per = BiasPer::Row, .bias = bias, .bias_step = 0}, "bias_step = 0");
  refused({.bias_per = BiasPer::Column, .bias = z + 1}, "overlaps the epilogue's bias");
  refused({.residual = x, .ld_residual = 3}, "ldresidual = 3");
  refused({.residual = z, .ld_residual = 4}, "overlaps the epilogue's residual");
  refused({.activation = static_cast<Activation>(9)}, "unknown activation 9");
  refused({.bias_per = static_cast<BiasPer>(5)}, "unknown kind of bias 5");
}

BOOST_AUTO_TEST_SUITE_END()
