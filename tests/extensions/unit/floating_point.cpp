/// The functions of the library beside the executors' own, from callers in other floating-point states. The tests in
/// tests/system/floating_point do this for every task of an executor.

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/checking/compare.hpp>
#include <tessera/checking/freivalds.hpp>
#include <tessera/checking/grade.hpp>
#include <tessera/complex.hpp>
#include <tessera/gemm_batch.hpp>
#include <tessera/performance/offload.hpp>
#include <tessera/tessera.hpp>

#include "system/floating_point/states.hpp"

using namespace tessera;
using tessera::test::callers_states;
using tessera::test::CallersState;
using tessera::test::leaves_state;

namespace {

struct LibraryCall {
  const char* name;
  std::function<std::vector<double>()> call;
};

/// Returns the elements, widened without arithmetic.
template <class T>
std::vector<double> elements_of(const Matrix<T>& x) {
  std::vector<double> all;
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) all.push_back(detail::exact_double(x(i, j)));
  return all;
}

std::vector<double> numbers_of(const GemmError& error) {
  return {error.total_abs,      error.max_abs,
          error.max_rel,        error.mean_rel,
          error.normwise,       error.componentwise,
          error.row_column,     error.norm_product,
          error.max_over_bound, detail::exact_double(static_cast<float>(error.differing_bits))};
}

bool same_bits(const std::vector<double>& x, const std::vector<double>& y) {
  const auto equal = [](double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  };
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), equal);
}

constexpr Index c_rows = 40, c_cols = 50, inner = 60;

/// Operands whose products are subnormal, and factors that are subnormal themselves.
struct FloatingPointOperands {
  Matrix<float> a = Matrix<float>::random(c_rows, inner, Seed{1}, -0x1p-68f, 0x1p-68f);
  Matrix<float> b = Matrix<float>::random(inner, c_cols, Seed{2}, -0x1p-68f, 0x1p-68f);
  Matrix<float> large = Matrix<float>::random(inner, c_cols, Seed{3}, -0x1p66f, 0x1p66f);
  Matrix<float> huge = Matrix<float>::random(c_rows, inner, Seed{4}, -0x1p66f, 0x1p66f);
  Matrix<float> c = gemm(a, b, Backend::Reference);
  Matrix<double> wide = Matrix<double>::random(c_rows, c_cols, Seed{5}, -0x1p-1030, 0x1p-1030);
  std::vector<std::complex<float>> x = std::vector<std::complex<float>>(64, {0x1p-70f, -0x1p-71f});
  GemmCall call{{.m = c_rows,
                 .n = c_cols,
                 .k = inner,
                 .a = a.data(),
                 .lda = a.ld(),
                 .b = b.data(),
                 .ldb = b.ld(),
                 .beta = 0.5,
                 .c = c.data(),
                 .ldc = c.ld(),
                 .threads = 3}};
};

void add_products_of_library(std::vector<LibraryCall>& all, const FloatingPointOperands& x) {
  static constexpr float tiny = 0x1p-140f;
  all.push_back({"gemm of matrices", [&] {
                   Matrix<float> c = x.c;
                   gemm(tiny, x.huge, x.large, 0.3f, c);
                   return elements_of(c);
                 }});
  all.push_back({"gemm with a subnormal beta", [&] {
                   auto c = Matrix<float>::uninitialized(c_rows, c_cols);
                   c.fill(0x1p100f);
                   gemm(1.0f, x.a, x.b, tiny, c, {.backend = Backend::Reference});
                   return elements_of(c);
                 }});
  all.push_back({"gemm of the caller's memory", [&] {
                   Matrix<float> c = x.c;
                   gemm<float>(Op::None, Op::None, c_rows, c_cols, inner, tiny, x.huge.data(), x.huge.ld(),
                               x.large.data(), x.large.ld(), tiny, c.data(), c.ld());
                   return elements_of(c);
                 }});
  all.push_back({"batch of the caller's memory", [&] {
                   Matrix<float> c = x.c;
                   gemm_batch<float>(Op::None, Op::None, 5, c_cols, inner, tiny, x.huge.data(), x.huge.ld(),
                                     5 * x.huge.ld(), x.large.data(), x.large.ld(), 0, tiny, c.data(), c.ld(),
                                     5 * c.ld(), c_rows / 5);
                   return elements_of(c);
                 }});
  all.push_back({"batch of matrices", [&] {
                   const std::vector<Matrix<float>> a(3, x.a), b(3, x.b);
                   return elements_of(gemm_batch(a, b).back());
                 }});
  all.push_back({"complex gemm", [&] {
                   std::vector<std::complex<float>> c(64, {tiny, tiny});
                   gemm<float>(Op::None, Op::ConjugateTranspose, 8, 8, 8, {0.7f, 0.1f}, x.x.data(), 8, x.x.data(), 8,
                               {0.3f, tiny}, c.data(), 8);
                   std::vector<double> parts;
                   for (const std::complex<float>& z : c)
                     for (const float part : {z.real(), z.imag()}) parts.push_back(detail::exact_double(part));
                   return parts;
                 }});
}

void add_element_wise_of_library(std::vector<LibraryCall>& all, const FloatingPointOperands& x) {
  all.push_back({"sum", [&] { return elements_of(x.c + x.c); }});
  all.push_back({"difference", [&] { return elements_of(x.wide - x.wide * 0.3); }});
  all.push_back({"scale", [&] { return elements_of(x.large * 0x1p-140f); }});
  all.push_back({"hadamard", [&] { return elements_of(hadamard(x.a, x.a)); }});
  all.push_back({"cast", [&] { return elements_of(matrix_cast<float>(matrix_cast<double>(x.c))); }});
  all.push_back({"cast to f16", [&] { return elements_of(matrix_cast<float>(matrix_cast<f16>(x.wide))); }});
  all.push_back({"fill", [&] { return elements_of(Matrix<float>(3, 3, 0x1p-140f)); }});
  all.push_back({"random", [&] { return elements_of(Matrix<float>::random(9, 9, Seed{1}, -0x1p-130f, 0x1p-129f)); }});
  all.push_back(
      {"normal", [&] { return elements_of(Matrix<double>::random(9, 9, Seed{1}, Distribution::Normal, 0.1, 0.3)); }});
  all.push_back({"norms", [&]() -> std::vector<double> {
                   return {x.c.norm_frobenius(), x.c.norm_max(),    x.c.norm_one(),   x.c.norm_inf(),
                           x.c.norm_sum(),       x.wide.norm_one(), x.wide.norm_inf()};
                 }});
  all.push_back({"equality", [&] {
                   Matrix<float> zero(1, 1, 0.0f), tiny(1, 1, 0x1p-140f);
                   return std::vector<double>{zero == tiny ? 1.0 : 0.0, tiny == tiny ? 1.0 : 0.0};
                 }});
}

void add_comparisons_of_library(std::vector<LibraryCall>& all, const FloatingPointOperands& x) {
  all.push_back({"reference", [&] {
                   const GemmReference reference(x.call, 3);
                   std::vector<double> numbers = numbers_of(reference.compare(x.c.data(), x.c.ld(), {}, 3));
                   for (Index j = 0; j < c_cols; ++j) {
                     numbers.push_back(detail::exact_double(static_cast<const float*>(reference.gold(0))[j]));
                     numbers.push_back(detail::exact_double(static_cast<const float*>(reference.canonical(0))[j]));
                   }
                   return numbers;
                 }});
  all.push_back({"Freivalds' check", [&]() -> std::vector<double> {
                   return {FreivaldsCheck(x.call, 7, 16, 3).check(x.c.data(), x.c.ld(), {}, 3).max_over_bound};
                 }});
  all.push_back({"reference of a reduction", [&]() -> std::vector<double> {
                   const ReduceReference sum = reduce_reference(
                       {.type = DType::F64, .rows = c_rows, .cols = c_cols, .x = x.wide.data(), .ldx = x.wide.ld()});
                   const ReduceReference magnitudes = reduce_reference({.op = ReduceOp::SumAbs,
                                                                        .type = DType::F64,
                                                                        .rows = c_rows,
                                                                        .cols = c_cols,
                                                                        .x = x.wide.data(),
                                                                        .ldx = x.wide.ld()});
                   return {sum.value, sum.bound, magnitudes.value, magnitudes.bound};
                 }});
  all.push_back({"grade", [] {
                   const std::vector<SizeErrors> sizes{{10, 1.1, 1.2, 1.3}, {100, 3.1, 2.7, 2.3}, {300, 5.1, 4.9, 3.3}};
                   return std::vector<double>{grade_growth(sizes).slope, growth_slope(sizes, &SizeErrors::row_column)};
                 }});
  all.push_back({"offload", [] {
                   const OffloadRates rates{1e-5, 1.1e10, 1.3e13, 1.7e11};
                   return std::vector<double>{rates.pays(333, 777, 555, 4) ? 1.0 : 0.0};
                 }});
}

} // namespace

BOOST_AUTO_TEST_SUITE(floating_point)

BOOST_AUTO_TEST_CASE(each_function_gives_the_same_numbers_in_every_state_and_leaves_it) {
  const FloatingPointOperands operands;
  std::vector<LibraryCall> all;
  add_products_of_library(all, operands);
  add_element_wise_of_library(all, operands);
  add_comparisons_of_library(all, operands);
  for (const LibraryCall& one : all) {
    const std::vector<double> expected = one.call();
    for (const CallersState& state : callers_states()) {
      std::vector<double> found;
      const bool left = leaves_state(state, [&] { found = one.call(); });
      BOOST_TEST(same_bits(found, expected), one.name << " differs under " << state.name);
      BOOST_TEST(left, one.name << " changed the caller's state under " << state.name);
    }
  }
}

BOOST_AUTO_TEST_CASE(an_error_leaves_the_callers_state) {
  const Matrix<float> x(2, 3), y(2, 3);
  for (const CallersState& state : callers_states()) {
    bool thrown = false;
    const bool left = leaves_state(state, [&] {
      try {
        auto c = Matrix<float>::uninitialized(2, 3);
        gemm(1.0f, x, y, 0.0f, c);
      } catch (const InvalidArgument&) {
        thrown = true;
      }
    });
    BOOST_TEST((thrown && left), state.name);
  }
}

BOOST_AUTO_TEST_CASE(floats_are_widened_as_the_instruction_does) {
  using Limits = std::numeric_limits<float>;
  for (const float x : {0.0f, 1.0f, 1.5f, 0.1f, Limits::max(), Limits::min(), Limits::denorm_min(), 0x1.8p-130f,
                        0x1.fffffcp-127f, Limits::infinity()})
    for (const float signed_x : {x, -x})
      BOOST_TEST(std::bit_cast<std::uint64_t>(detail::exact_double(signed_x)) ==
                 std::bit_cast<std::uint64_t>(static_cast<double>(signed_x)));
  BOOST_TEST(std::isnan(detail::exact_double(Limits::quiet_NaN())));
}

BOOST_AUTO_TEST_SUITE_END()
