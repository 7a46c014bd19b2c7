/// Comparisons of kernels that keep the contract of matrix units: the bits that they promise, and their bound.

#include <limits>

#include <boost/test/unit_test.hpp>

#include <tessera/checking/compare.hpp>
#include <tessera/tessera.hpp>

#include "support/matrix_unit_modes.hpp"

using namespace tessera;
using namespace tessera::test;

BOOST_AUTO_TEST_SUITE(matrix_unit_comparisons)

/// Comparisons count the bits of such a kernel against the contract's, and its bound holds for subnormal operands,
/// which the matrix units align by the least exponent of their type.
BOOST_AUTO_TEST_CASE_TEMPLATE(comparisons_know_the_bits, M, Modes) {
  using T = typename M::Element;
  const bool is_f16 = std::same_as<T, f16>;
  for (const float low : {-4.0f, M::math == Math::Fp16 ? -24.0f : -100.0f}) {
    const auto a = drawn<T>(50, 2100, 31, low, 0), b = drawn<T>(2100, 30, 32, low, 0);
    auto c = Matrix<T>::random(50, 30, Seed{33});
    const Matrix<T> before = c;
    gemm(0.75f, a, b, 0.5f, c, {.backend = Backend::Reference, .math = M::math});
    GemmCall call{{.type = dtype_of<T>,
                   .m = 50,
                   .n = 30,
                   .k = 2100,
                   .alpha = 0.75,
                   .a = a.data(),
                   .lda = a.ld(),
                   .b = b.data(),
                   .ldb = b.ld(),
                   .beta = 0.5,
                   .c = const_cast<T*>(before.data()),
                   .ldc = before.ld()},
                  dtype_of<T>};
    GemmReference reference(call, sample_rows(50, 20, 1));
    const Arithmetic units{dtype_of<T>, M::math, Summation::HopperUnits, Accumulator::Truncating};
    BOOST_TEST(reference.compare(c.data(), c.ld(), units).within_bound());
    if (std::same_as<T, float>) BOOST_TEST(reference.compare(c.data(), c.ld(), units).differing_bits > 0);
    call.math = M::math;
    reference.add_bits(call);
    reference.add_bits(call, 3);
    BOOST_TEST(reference.compare(c.data(), c.ld(), units).differing_bits == 0);
    c(reference.rows()[7], 11) = T(1000.0f); // no result is so large
    BOOST_TEST(reference.compare(c.data(), c.ld(), units).differing_bits == 1);
    call.math = Math::Compensated;
    if (std::same_as<T, float>) BOOST_CHECK_THROW(reference.add_bits(call), InvalidArgument);
    call.math = M::math;
    call.k = 2099;
    BOOST_CHECK_THROW(reference.add_bits(call), InvalidArgument);
  }
  // A subnormal factor beside a normal one of 2⁻¹⁴: their products are alike, but the second one is cut as if it were
  // 2¹⁰ times smaller than the first.
  if constexpr (!std::same_as<T, float>) {
    using Limits = std::numeric_limits<T>;
    const auto least = static_cast<float>(Limits::denorm_min()), normal = static_cast<float>((Limits::min)());
    const float step = 1 + static_cast<float>(Limits::epsilon());
    const Matrix<T> a{{T(least), T(normal * step)}}, b{{T(1.0f)}, {T(least / normal * step)}};
    const auto c = gemm<float>(a, b, GemmOptions{.backend = Backend::Reference, .math = M::math});
    const GemmCall call{{.type = dtype_of<T>,
                         .m = 1,
                         .n = 1,
                         .k = 2,
                         .a = a.data(),
                         .lda = a.ld(),
                         .b = b.data(),
                         .ldb = b.ld(),
                         .c = const_cast<float*>(c.data()),
                         .ldc = 1},
                        DType::F32};
    const GemmReference reference(call);
    BOOST_TEST(
        reference.compare(c.data(), c.ld(), {dtype_of<T>, M::math, Summation::HopperUnits, Accumulator::Truncating})
            .within_bound());
    if (is_f16) // the bound for normal operands would not do
      BOOST_TEST(!reference.compare(c.data(), c.ld(), {dtype_of<T>, M::math, Summation::Other, Accumulator::Truncating})
                      .within_bound());
  }
}

BOOST_AUTO_TEST_SUITE_END()
