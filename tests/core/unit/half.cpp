/// Tests f16 and bf16: every number widened and narrowed again, rounding, and matrices of them.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <boost/test/unit_test.hpp>

#include <tessera/tessera.hpp>

#include "support/expect.hpp"

using namespace tessera;
using tessera::test::expect_error;

namespace {

using HalfTypes = std::tuple<f16, bf16>;

/// Returns the value of a 16-bit number by the definition of its format.
template <class T>
double defined(std::uint16_t bits) {
  const int digits = std::numeric_limits<T>::digits - 1; // stored
  const int fraction = bits & ((1 << digits) - 1);
  const int exponent = (bits & 0x7FFF) >> digits;
  const int smallest = std::numeric_limits<T>::min_exponent - 1;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 0) return sign * std::ldexp(fraction, smallest - digits);
  if (exponent == 0x7FFF >> digits) return fraction == 0 ? sign * HUGE_VAL : std::nan("");
  return sign * std::ldexp(fraction + (1 << digits), smallest - digits + exponent - 1);
}

/// Returns the nearest number of T, ties to the even one, by comparing both neighbours.
template <class T>
std::uint16_t nearest(double x, std::uint16_t below) {
  const auto above = static_cast<std::uint16_t>(below + 1);
  const double low = x - defined<T>(below);
  // The step of the largest number goes on beyond it: Inf takes the place of the next number.
  const double next =
      std::isinf(defined<T>(above)) ? std::ldexp(1.0, std::numeric_limits<T>::max_exponent) : defined<T>(above);
  const double high = next - x;
  return low < high || (low == high && below % 2 == 0) ? below : above;
}

} // namespace

BOOST_AUTO_TEST_SUITE(half)

BOOST_AUTO_TEST_CASE_TEMPLATE(every_number_there_and_back, T, HalfTypes) {
  int wrong = 0;
  for (std::uint32_t n = 0; n < 0x10000; ++n) {
    const auto bits = static_cast<std::uint16_t>(n);
    const float value = T::from_bits(bits);
    const double expected = defined<T>(bits);
    if (std::isnan(expected)) {
      wrong += std::isnan(value) && std::isnan(float{T(value)}) && std::isnan(float{T(double{value})}) ? 0 : 1;
      continue;
    }
    wrong += value == expected && std::signbit(value) == std::signbit(expected) ? 0 : 1;
    wrong += T(value).bits == bits && T(double{value}).bits == bits ? 0 : 1;
  }
  BOOST_TEST(wrong == 0);
}

/// Checks, between each two neighbours, the middle and the floats and doubles next to it and to both ends.
BOOST_AUTO_TEST_CASE_TEMPLATE(rounding_is_to_nearest_even, T, HalfTypes) {
  int wrong = 0;
  const auto infinite = std::numeric_limits<T>::infinity().bits;
  for (std::uint16_t below = 0; below < infinite; ++below) {
    const double low = defined<T>(below);
    const double step =
        defined<T>(below) == 0 ? defined<T>(1) : low - defined<T>(static_cast<std::uint16_t>(below - 1));
    const double high = below + 1 == infinite ? low + step : defined<T>(static_cast<std::uint16_t>(below + 1));
    const double middle = (low + high) / 2;
    for (const double x : {low, middle, std::nextafter(middle, 0.0), std::nextafter(middle, HUGE_VAL),
                           std::nextafter(low, HUGE_VAL), std::nextafter(high, 0.0), low + 0.3 * (high - low)}) {
      const std::uint16_t expected = nearest<T>(x, below);
      wrong += T(x).bits == expected && T(-x).bits == (expected | 0x8000) ? 0 : 1;
      const auto rounded = static_cast<float>(x);
      if (static_cast<double>(rounded) == x && x <= high)
        wrong += T(rounded).bits == expected && T(-rounded).bits == (expected | 0x8000) ? 0 : 1;
    }
  }
  BOOST_TEST(wrong == 0);
}

#if defined(__FLT16_MANT_DIG__) && defined(__GNUC__)
BOOST_AUTO_TEST_CASE(f16_agrees_with_the_compilers_own) {
  int wrong = 0;
  for (std::uint64_t n = 0; n < 0x100000000; n += 65521) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(n));
    if (std::isnan(x)) continue;
    wrong += f16(x).bits == __builtin_bit_cast(std::uint16_t, static_cast<_Float16>(x)) ? 0 : 1;
  }
  BOOST_TEST(wrong == 0);
}
#endif

BOOST_AUTO_TEST_CASE(extremes) {
  static_assert(f16(65519.0f).bits == 0x7BFF && f16(65520.0f).bits == 0x7C00);
  static_assert(f16(1e-8f).bits == 0 && f16(-1e-8).bits == 0x8000 && f16(1e300).bits == 0x7C00);
  static_assert(bf16(std::numeric_limits<float>::max()).bits == 0x7F80 && bf16(1e-300).bits == 0);
  static_assert(bf16(1) == 1 && f16(-2) < f16(0.5f) && !(f16(0.0f) < f16(-0.0f)));
  // A double between a middle and the float next to it would become a tie if it were rounded by way of float.
  BOOST_TEST(f16(1 + 0x1p-11 + 0x1p-40).bits == 0x3C01);
  BOOST_TEST(bf16(1 + 0x1p-8 + 0x1p-40).bits == 0x3F81);
  BOOST_TEST(bf16(0x1p-134 + 0x1p-180).bits == 1); // subnormal in both
}

BOOST_AUTO_TEST_CASE_TEMPLATE(operations_round_once, T, HalfTypes) {
  const auto a = Matrix<T>::random(5, 7, Seed{1}), b = Matrix<T>::random(5, 7, Seed{2});
  const auto wide_a = matrix_cast<float>(a), wide_b = matrix_cast<float>(b);
  auto rounded = matrix_cast<T>(Matrix<float>::random(5, 7, Seed{1}));
  for (Index i = 0; i < rounded.rows(); ++i)
    for (T& x : rounded.row(i))
      if (x == 1.0f) x = T(1.0f - static_cast<float>(std::numeric_limits<T>::epsilon()) / 2); // below high
  BOOST_TEST((a == rounded));
  BOOST_TEST((a + b == matrix_cast<T>(wide_a + wide_b)));
  BOOST_TEST((a - b == matrix_cast<T>(wide_a - wide_b)));
  BOOST_TEST((0.3f * a == matrix_cast<T>(0.3f * wide_a)));
  BOOST_TEST((hadamard(a, b) == matrix_cast<T>(hadamard(wide_a, wide_b))));
  BOOST_TEST((transpose(a) == matrix_cast<T>(wide_a.transposed())));
  BOOST_TEST((matrix_cast<double>(a.transposed()) == transpose(matrix_cast<double>(wide_a))));
  BOOST_TEST(a.sum_of_squares() == wide_a.sum_of_squares());
  BOOST_TEST(a.norm_max() == wide_a.norm_max());
  BOOST_TEST(a.norm_one() == wide_a.norm_one());
  BOOST_TEST((Matrix<T>{{1, 2}, {3, 4}}.transposed() == Matrix<T>{{1, 3}, {2, 4}}));
  BOOST_TEST((Matrix<T>::identity(2) == Matrix<T>{{1, 0}, {0, 1}}));
  BOOST_TEST((Matrix<T>(2, 2, 0.1f) == matrix_cast<T>(Matrix<float>(2, 2, 0.1f))));
}

/// On every backend that exists here, the product is the f32 product of the widened operands, rounded once.
BOOST_AUTO_TEST_CASE_TEMPLATE(products_are_those_of_f32_rounded_once, T, HalfTypes) {
  for (const Backend backend : {Backend::Reference, Backend::OpenMP, Backend::Tbb, Backend::Cuda}) {
    try {
      executor(backend);
    } catch (const BackendUnavailable&) {
      continue;
    }
    const auto a = Matrix<T>::random(13, 1031, Seed{3}), b = Matrix<T>::random(17, 1031, Seed{4});
    const auto wide = gemm(matrix_cast<float>(a), matrix_cast<float>(b).transposed(), Backend::Reference);
    BOOST_TEST((gemm(a, b.transposed(), backend) == matrix_cast<T>(wide)), to_string(backend));
    BOOST_TEST((gemm<float>(a, b.transposed(), backend) == wide), to_string(backend));

    auto c = Matrix<T>::random(13, 17, Seed{5});
    auto wide_c = matrix_cast<float>(c);
    auto c_in_f32 = wide_c;
    gemm(0.7f, matrix_cast<float>(a), matrix_cast<float>(b).transposed(), -1.5f, wide_c, {.backend = backend});
    gemm(0.7f, a, b.transposed(), -1.5f, c, {.backend = backend});
    gemm(0.7f, a, b.transposed(), -1.5f, c_in_f32, {.backend = backend});
    BOOST_TEST((c == matrix_cast<T>(wide_c)), to_string(backend));
    BOOST_TEST((c_in_f32 == wide_c), to_string(backend));

    Matrix<T> raw(13, 17);
    gemm(Op::None, Op::Transpose, 13, 17, 1031, 1.0f, a.data(), a.ld(), b.data(), b.ld(), 0.0f, raw.data(), raw.ld(),
         {.backend = backend});
    BOOST_TEST((raw == matrix_cast<T>(wide)), to_string(backend));
  }
}

BOOST_AUTO_TEST_CASE(what_there_is_not) {
  const Matrix<f16> a(2, 2, 1.0f);
  expect_error<KernelRejected>([&] { static_cast<void>(gemm(a, a, {.math = Math::Tf32})); }, {"tf32", "f16", "fp16"});
  expect_error<KernelRejected>([&] { static_cast<void>(gemm(a, a, {.math = Math::Bf16})); }, {"bf16", "f16"});
  expect_error<KernelRejected>(
      [&] { static_cast<void>(gemm(a, a, {.backend = Backend::Reference, .math = Math::Fp16, .kernel = "gold"})); },
      {"gold", "fp16"});
  std::uint16_t x = 0;
  double y = 7;
  const GemmCall call{
      {.type = DType::BF16, .m = 1, .n = 1, .k = 1, .a = &x, .lda = 1, .b = &x, .ldb = 1, .c = &y, .ldc = 1},
      DType::F64};
  const Status status = check_gemm(call);
  BOOST_TEST((status.code == StatusCode::InvalidArgument));
  BOOST_TEST(status.why.find("bf16") != std::string::npos);
  BOOST_TEST(status.why.find("f64") != std::string::npos);
  expect_error<InvalidArgument>(
      [] { static_cast<void>(Matrix<f16>::random(2, 2, Seed{1}, Distribution::Wide, -20, 20)); }, {"f16", "-14", "15"});
}

/// Every type of whole numbers makes an element, rounded once.
BOOST_AUTO_TEST_CASE_TEMPLATE(every_type_of_whole_numbers_is_rounded_once, T, HalfTypes) {
  const auto all = []<class I>(I) {
    for (const I x : {I{0}, I{1}, I{100}, std::numeric_limits<I>::max(), std::numeric_limits<I>::min()})
      BOOST_TEST((T(x).bits == T(static_cast<long double>(x)).bits), "a number of " << sizeof(I) << " bytes");
  };
  all(short{}), all(int{}), all(long{}), all(static_cast<long long>(0)), all(static_cast<signed char>(0)), all(char{});
  all(static_cast<unsigned char>(0)), all(static_cast<unsigned short>(0)), all(0u), all(0ul), all(0ull);
  all(std::int8_t{}), all(std::uint64_t{}), all(Index{}), all(std::size_t{}), all(wchar_t{}), all(char16_t{});
  BOOST_TEST((T(true).bits == T(1.0f).bits));
  enum Unscoped { three = 3 };
  BOOST_TEST((T(three).bits == T(3.0f).bits));
  // 1 + 2⁻⁸ and 1 + 2⁻¹¹ are middles of two elements. The last digit of 64 says that these numbers are above them.
  const std::uint64_t one = std::uint64_t{1} << 63;
  BOOST_TEST((bf16(one + (one >> 8)).bits == bf16(0x1p63f).bits));
  BOOST_TEST((bf16(one + (one >> 8) + 1).bits == bf16(0x1.02p63f).bits));
  BOOST_TEST((bf16(one + (one >> 8) - 1).bits == bf16(0x1p63f).bits));
  BOOST_TEST((bf16(-static_cast<std::int64_t>((one >> 1) + (one >> 9) + 1)).bits == bf16(-0x1.02p62f).bits));
  BOOST_TEST((bf16(0x1p0L + 0x1p-8L + 0x1p-60L).bits == bf16(0x1.02p0f).bits));
  BOOST_TEST((f16(-0x1p0L - 0x1p-11L - 0x1p-60L).bits == f16(-0x1.004p0f).bits));
  BOOST_TEST((f16(Index{65519}).bits == f16(65504.0f).bits));
  BOOST_TEST((f16(Index{65520}).bits == f16(HUGE_VALF).bits));
  static_assert(bf16(Index{5}) == bf16(5.0f) && f16(std::size_t{5}) == f16(5.0f));
}

BOOST_AUTO_TEST_SUITE_END()
