/// Tests the error bound: kernels that are as accurate as their kind allows keep it, and worse kernels break it.

#include <bit>
#include <cmath>
#include <functional>

#include <boost/test/unit_test.hpp>

#include <tessera/checking/freivalds.hpp>
#include <tessera/gemm.hpp>

#include "compare_problem.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

/// Returns x rounded to `bits` bits of precision (the leading one included), to nearest, ties to even.
float rounded(float x, int bits) {
  if (x == 0 || !std::isfinite(x)) return x;
  int exponent = 0;
  std::frexp(x, &exponent);
  const double step = std::ldexp(1.0, exponent - bits);
  return static_cast<float>(std::nearbyint(static_cast<double>(x) / step) * step);
}

/// Returns x rounded towards zero.
float cut(float x, int bits) {
  if (x == 0 || !std::isfinite(x)) return x;
  int exponent = 0;
  std::frexp(x, &exponent);
  const double step = std::ldexp(1.0, exponent - bits);
  return static_cast<float>(std::trunc(static_cast<double>(x) / step) * step);
}

using Inner = std::function<float(const float* a, const float* b, Index k)>;

/// Computes a product from inner products. B is transposed, so that its columns are contiguous.
Matrix<float> product(const CompareProblem<float>& problem, const Inner& inner) {
  const Matrix<float> bt = transpose(problem.b);
  Matrix<float> c(problem.a.rows(), problem.b.cols());
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j)
      c(i, j) = inner(problem.a.row(i).data(), std::as_const(bt).row(j).data(), problem.a.cols());
  return c;
}

Inner on_rounded_inputs(int bits) {
  return [bits](const float* a, const float* b, Index k) {
    float sum = 0;
    for (Index p = 0; p < k; ++p) sum += rounded(a[p], bits) * rounded(b[p], bits);
    return sum;
  };
}

/// All terms have one sign, so nothing cancels, and errors add up.
CompareProblem<float> positive(Index n, Index k) {
  return {Matrix<float>::random(n, k, Seed{1}, 0.5f, 1.0f), Matrix<float>::random(k, n, Seed{2}, 0.5f, 1.0f)};
}

GemmError errors_as(const CompareProblem<float>& problem, const Matrix<float>& c, Math math,
                    Accumulator accumulator = Accumulator::Native) {
  return errors(problem.reference(), c, {DType::F32, math, Summation::Other, accumulator});
}

} // namespace

BOOST_AUTO_TEST_SUITE(compare_bound)

BOOST_AUTO_TEST_CASE(narrow_inputs_pass_in_their_own_mode_alone) {
  const CompareProblem<float> problem = positive(8, 300);
  for (const auto& [math, bits] :
       {std::pair{Math::Tf32, 11}, {Math::Bf16, 8}, {Math::Fp16, 11}, {Math::ScaledFp16, 11}}) {
    const Matrix<float> c = product(problem, on_rounded_inputs(bits));
    BOOST_TEST(errors_as(problem, c, math).within_bound(), to_string(math));
    BOOST_TEST(!errors_as(problem, c, Math::Strict).within_bound(), to_string(math));
  }
  const CompareProblem<float> few = positive(8, 2); // long sums of rounding errors average out, short ones do not
  BOOST_TEST(!errors_as(few, product(few, on_rounded_inputs(8)), Math::Tf32).within_bound());
  BOOST_TEST(!errors_as(few, product(few, on_rounded_inputs(6)), Math::Bf16).within_bound());
  BOOST_TEST(!errors_as(few, product(few, on_rounded_inputs(9)), Math::Fp16).within_bound());
  BOOST_TEST(!errors_as(few, product(few, on_rounded_inputs(9)), Math::ScaledFp16).within_bound());
}

BOOST_AUTO_TEST_CASE(cut_inputs_pass_as_tf32) {
  const CompareProblem<float> problem = positive(8, 300);
  const Matrix<float> c = product(problem, [](const float* a, const float* b, Index k) {
    float sum = 0;
    for (Index p = 0; p < k; ++p) sum += cut(a[p], 11) * cut(b[p], 11);
    return sum;
  });
  BOOST_TEST(errors_as(problem, c, Math::Tf32).within_bound());
}

BOOST_AUTO_TEST_CASE(split_operands_pass_as_emulated) {
  const CompareProblem<float> problem(8, 8, 400);
  const Matrix<float> fp16x3 = product(problem, [](const float* a, const float* b, Index k) {
    float sum = 0;
    for (Index p = 0; p < k; ++p) {
      const float ah = rounded(a[p], 11), al = rounded(a[p] - ah, 11);
      const float bh = rounded(b[p], 11), bl = rounded(b[p] - bh, 11);
      sum = std::fma(ah, bl, std::fma(al, bh, std::fma(ah, bh, sum)));
    }
    return sum;
  });
  BOOST_TEST(errors_as(problem, fp16x3, Math::EmulatedFp16x3).within_bound());
  const Matrix<float> bf16x6 = product(problem, [](const float* a, const float* b, Index k) {
    float sum = 0;
    for (Index p = 0; p < k; ++p) {
      float x[3], y[3], left_a = a[p], left_b = b[p];
      for (int part = 0; part < 3; ++part) {
        left_a -= x[part] = rounded(left_a, 8);
        left_b -= y[part] = rounded(left_b, 8);
      }
      for (int i = 0; i < 3; ++i)
        for (int j = 0; i + j < 3; ++j) sum = std::fma(x[i], y[j], sum);
    }
    return sum;
  });
  BOOST_TEST(errors_as(problem, bf16x6, Math::EmulatedBf16x6).within_bound());
  // Two products of the three leave one operand's low part out.
  const Matrix<float> fp16x2 = product(problem, [](const float* a, const float* b, Index k) {
    float sum = 0;
    for (Index p = 0; p < k; ++p) {
      const float ah = rounded(a[p], 11), al = rounded(a[p] - ah, 11), bh = rounded(b[p], 11);
      sum = std::fma(al, bh, std::fma(ah, bh, sum));
    }
    return sum;
  });
  const CompareProblem<float> few(8, 8, 4);
  const Matrix<float> short_sum = product(few, [](const float* a, const float* b, Index k) {
    float sum = 0;
    for (Index p = 0; p < k; ++p) sum += rounded(a[p], 11) * b[p];
    return sum;
  });
  BOOST_TEST(!errors_as(few, short_sum, Math::EmulatedFp16x3).within_bound());
  BOOST_TEST(errors_as(problem, fp16x2, Math::EmulatedFp16x3).max_abs >
             errors_as(problem, fp16x3, Math::EmulatedFp16x3).max_abs);
}

BOOST_AUTO_TEST_CASE(fp16x3_loses_bits_of_small_elements_without_a_scale) {
  // Unscaled elements lose their bits below fp16's smallest step.
  CompareProblem<float> small(8, 8, 4);
  for (Index i = 0; i < 8; ++i)
    for (Index p = 0; p < 4; ++p) small.a(i, p) *= 0x1p-12f;
  const auto with_scale = [&](float scale) {
    return product(small, [scale](const float* a, const float* b, Index k) {
      const auto in_steps = [](float x) { return std::nearbyint(x * 0x1p24f) * 0x1p-24f; }; // fp16's smallest
      float sum = 0;
      for (Index p = 0; p < k; ++p) {
        const float x = a[p] * scale;
        const float ah = in_steps(rounded(x, 11)), al = in_steps(rounded(x - ah, 11));
        const float bh = rounded(b[p], 11), bl = rounded(b[p] - bh, 11);
        sum = std::fma(ah, bl, std::fma(al, bh, std::fma(ah, bh, sum)));
      }
      return sum / scale;
    });
  };
  BOOST_TEST(errors_as(small, with_scale(0x1p26f), Math::EmulatedFp16x3).within_bound());
  BOOST_TEST(!errors_as(small, with_scale(1), Math::EmulatedFp16x3).within_bound());
}

BOOST_AUTO_TEST_CASE(scaled_fp16_needs_its_scale) {
  CompareProblem<float> small(8, 8, 4);
  for (Index i = 0; i < 8; ++i)
    for (Index p = 0; p < 4; ++p) small.a(i, p) *= 0x1p-20f;
  const auto with_scale = [&](float scale) {
    return product(small, [scale](const float* a, const float* b, Index k) {
      float sum = 0;
      for (Index p = 0; p < k; ++p)
        sum = std::fma(std::nearbyint(rounded(a[p] * scale, 11) * 0x1p24f) * 0x1p-24f, rounded(b[p], 11), sum);
      return sum / scale;
    });
  };
  BOOST_TEST(errors_as(small, with_scale(0x1p34f), Math::ScaledFp16).within_bound());
  BOOST_TEST(!errors_as(small, with_scale(1), Math::ScaledFp16).within_bound());
}

BOOST_AUTO_TEST_CASE(truncating_accumulators_have_twice_the_bound) {
  const CompareProblem<float> problem = positive(4, 500);
  const Matrix<float> c = product(problem, [](const float* a, const float* b, Index k) {
    double sum = 0; // an exact sum of two floats, cut to 24 bits
    for (Index p = 0; p < k; ++p) sum = cut(static_cast<float>(sum), 24) + static_cast<double>(a[p]) * b[p];
    return static_cast<float>(sum);
  });
  const double truncating = errors_as(problem, c, Math::Strict, Accumulator::Truncating).max_over_bound;
  const double native = errors_as(problem, c, Math::Strict).max_over_bound;
  BOOST_TEST(truncating <= 1);
  BOOST_TEST(native == 2 * truncating, boost::test_tools::tolerance(1e-3));
}

BOOST_AUTO_TEST_CASE(compensated_sums_keep_a_bound_that_plain_ones_break) {
  const CompareProblem<float> problem = positive(2, 200000);
  const Matrix<float> kahan = product(problem, [](const float* a, const float* b, Index k) {
    float sum = 0, lost = 0;
    for (Index p = 0; p < k; ++p) {
      const float term = a[p] * b[p] - lost;
      const float next = sum + term;
      lost = (next - sum) - term;
      sum = next;
    }
    return sum;
  });
  BOOST_TEST(errors_as(problem, kahan, Math::Compensated).within_bound());
  const Matrix<float> plain = product(problem, on_rounded_inputs(24));
  BOOST_TEST(!errors_as(problem, plain, Math::Compensated).within_bound());
  BOOST_TEST(errors_as(problem, plain, Math::Strict).within_bound());
}

BOOST_AUTO_TEST_CASE(wide_accumulators_round_once) {
  const CompareProblem<float> problem = positive(8, 2000);
  const Matrix<float> gold = problem.run("gold");
  BOOST_TEST(errors_as(problem, gold, Math::Strict, Accumulator::Wider).within_bound());
  Matrix<float> off = gold;
  for (int step = 0; step < 2; ++step) off(3, 4) = std::nextafter(off(3, 4), 1e9f);
  BOOST_TEST(!errors_as(problem, off, Math::Strict, Accumulator::Wider).within_bound());
  BOOST_TEST(errors_as(problem, off, Math::Strict).within_bound());
}

BOOST_AUTO_TEST_CASE(beta_may_be_added_first_or_last) {
  CompareProblem<float> problem(6, 6, 100);
  problem.beta = 1000; // C outweighs the product: adding term after term to it costs digits
  problem.alpha = 0.3f;
  const Matrix<float> bt = transpose(problem.b);
  Matrix<float> c(6, 6);
  for (Index i = 0; i < 6; ++i)
    for (Index j = 0; j < 6; ++j) {
      float sum = 1000.0f * problem.c(i, j);
      for (Index p = 0; p < 100; ++p) sum += 0.3f * (problem.a(i, p) * bt(j, p));
      c(i, j) = sum;
    }
  const GemmReference reference = problem.reference();
  BOOST_TEST(errors(reference, c, strict<float>).within_bound());
  BOOST_TEST(
      errors(reference, problem.run("canonical"), {DType::F32, Math::Strict, Summation::Canonical, Accumulator::Native})
          .within_bound());
}

BOOST_AUTO_TEST_CASE(underflow_is_allowed_for) {
  CompareProblem<float> problem(Matrix<float>(3, 50, 1e-30f), Matrix<float>(50, 3, 3e-16f));
  const Matrix<float> unfused = product(problem, [](const float* a, const float* b, Index k) {
    float sum = 0;
    for (Index p = 0; p < k; ++p) sum += a[p] * b[p]; // each product is lost: 3e-46 is below half of 2⁻¹⁴⁹
    return sum;
  });
  BOOST_TEST(unfused(0, 0) == 0);
  const GemmError error = errors(problem.reference(), unfused, strict<float>);
  BOOST_TEST(error.max_rel == 1);
  BOOST_TEST(error.within_bound());
}

/// The bound of a 16-bit result allows the last rounding to 16 bits, and no more.
BOOST_AUTO_TEST_CASE(f32_operands_with_a_16_bit_result) {
  const auto a = Matrix<float>::random(9, 1300, Seed{1}), b = Matrix<float>::random(1300, 11, Seed{2});
  const auto before = Matrix<bf16>::random(9, 11, Seed{3});
  Matrix<bf16> c = before;
  gemm(1.5f, a, b, 0.5f, c, {.backend = Backend::Reference});
  Matrix<bf16> old = before;
  const GemmCall call{{.m = 9,
                       .n = 11,
                       .k = 1300,
                       .alpha = 1.5,
                       .a = a.data(),
                       .lda = a.ld(),
                       .b = b.data(),
                       .ldb = b.ld(),
                       .beta = 0.5,
                       .c = old.data(),
                       .ldc = old.ld()},
                      DType::BF16};
  const GemmReference reference(call);
  const FreivaldsCheck freivalds(call, 1);
  const Arithmetic canonical{.summation = Summation::Canonical};
  const GemmError right = reference.compare(c.data(), c.ld(), canonical);
  BOOST_TEST(right.within_bound());
  BOOST_TEST(right.max_over_bound > 0.5);
  BOOST_TEST(right.differing_bits == 0);
  BOOST_TEST(freivalds.check(c.data(), c.ld(), canonical).within_bound());
  c(4, 5).bits ^= 2;
  BOOST_TEST(!reference.compare(c.data(), c.ld(), canonical).within_bound());
}

BOOST_AUTO_TEST_SUITE_END()
