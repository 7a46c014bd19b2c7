/// The arithmetic of the emulated modes on matrix units: scales, terms and carried sums against exact arithmetic, and
/// the kernels of the hosts against loops that follow the contract's words.

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/checking/compare.hpp>
#include <tessera/detail/matrix_unit_contract.hpp>
#include <tessera/random.hpp>
#include <tessera/tessera.hpp>

#include "support/exact_sum.hpp"

using namespace tessera;
using namespace tessera::detail;
using test::exact_sum, test::rounded_to;

namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();

bool equal(float x, float y) {
  return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y) || (std::isnan(x) && std::isnan(y));
}

/// Returns a random f32 with any bits of a finite number.
float any_number(std::uint64_t seed, std::uint64_t e) {
  const std::uint32_t bits = philox4x32(seed, e).word[0];
  return std::bit_cast<float>((bits & 0x7f800000u) == 0x7f800000u ? bits & ~0x40000000u : bits);
}

/// Does the mode scale its operands? Its terms then are f16 numbers.
bool is_scaled(Math math) { return math != Math::EmulatedBf16x6; }

/// A sum by the words of docs/contract.md: the terms of a line's k, and the factor of its chunk as a power of two.
struct Line {
  std::vector<float> terms[3];
  int power = 0;

  Line(std::span<const float> numbers, Math math) {
    float largest = 0;
    for (const float x : numbers) largest = std::max(largest, std::abs(x));
    if (is_scaled(math) && largest != 0) power = std::max(std::ilogb(largest), -112) - 14;
    for (const float x : numbers) {
      double left = std::ldexp(static_cast<double>(x), -power);
      for (std::vector<float>& term : terms) {
        const double value = is_scaled(math) ? rounded_to(left, 11, -24) : rounded_to(left, 8, -133);
        term.push_back(static_cast<float>(value));
        left -= value;
      }
    }
  }
};

/// Returns the sum of a row and a column by the words of the contract; `length` is the k of a segment.
float described_sum(std::span<const float> a, std::span<const float> b, Math math, std::size_t length) {
  using Order = std::vector<std::array<std::size_t, 2>>;
  const bool scaled = is_scaled(math);
  const Order order = math == Math::ScaledFp16 ? Order{{0, 0}}
                      : scaled                 ? Order{{1, 0}, {0, 1}, {0, 0}}
                                               : Order{{2, 0}, {1, 1}, {0, 2}, {1, 0}, {0, 1}, {0, 0}};
  const hopper::OperandFormat format = scaled ? hopper::f16_operands : hopper::bf16_operands;
  float total = 0, carried = 0;
  for (std::size_t p = 0; p < a.size();) {
    const std::size_t end = std::min({p + (scaled ? 128 : 64), (p / length + 1) * length, a.size()});
    const Line row(a.subspan(p, end - p), math), column(b.subspan(p, end - p), math);
    float chain = 0;
    for (std::size_t s = 0; s < end - p; s += 16) {
      const std::size_t count = std::min<std::size_t>(16, end - p - s);
      for (const auto& [i, j] : order)
        chain = hopper::multiply_add(std::span(row.terms[i]).subspan(s, count),
                                     std::span(column.terms[j]).subspan(s, count), chain, format);
    }
    carried = exact_sum(carried, chain, row.power + column.power);
    p = end;
    if (p % length == 0 || p == a.size()) {
      total = p <= length ? carried : total + carried;
      carried = 0;
    }
  }
  return total;
}

Matrix<float> with_exponents(Index rows, Index cols, std::uint64_t seed, float low, float high) {
  Matrix<float> x(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j)
      x(i, j) = random_element<float>(Distribution::Wide, seed, static_cast<std::uint64_t>(i * cols + j), low, high);
  return x;
}

/// The backends that compute on the host.
std::vector<Backend> hosts() {
  std::vector<Backend> found;
  for (const BackendInfo& info : available_backends())
    if (info.available && info.memory == Memory::Host) found.push_back(info.backend);
  return found;
}

GemmOptions row_of(Backend backend, Math math) {
  return {.backend = backend, .math = math, .kernel = math == Math::Strict ? "" : "hopper_units"};
}

constexpr std::array modes{Math::EmulatedFp16x3, Math::EmulatedBf16x6, Math::ScaledFp16};

} // namespace

BOOST_AUTO_TEST_SUITE(emulated_matrix_unit)

BOOST_AUTO_TEST_CASE(scales_bring_the_largest_element_to_the_top) {
  BOOST_TEST(hopper::ChunkScale(0).scale == 1);
  int wrong = 0;
  for (std::uint64_t e = 0; e < 20000; ++e) {
    const float x = std::abs(any_number(1, e));
    const hopper::ChunkScale scale(std::bit_cast<std::uint32_t>(x));
    const float scaled = x * scale.scale;
    wrong += static_cast<double>(scale.scale) * static_cast<double>(scale.factor) != 1;
    wrong += static_cast<double>(scaled) != static_cast<double>(x) * static_cast<double>(scale.scale); // exact
    wrong += x >= 0x1p-112f ? !(scaled >= 0x1p14f && scaled < 0x1p15f)
                            : x != 0 && (scale.scale != 0x1p126f || std::fmod(scaled, 0x1p-23f) != 0);
  }
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(terms_are_rounded_one_after_the_other) {
  int wrong = 0, with_rest = 0;
  for (std::uint64_t e = 0; e < 20000; ++e) {
    const float x = any_number(2, e);
    if (!hopper::can_be_split(x, false)) continue;
    double left = static_cast<double>(x);
    for (const float term : hopper::split<bf16, 3>(x)) {
      wrong += static_cast<double>(term) != rounded_to(left, 8, -133);
      left -= static_cast<double>(term);
    }
    wrong += std::abs(left) > 0x1p-134;
    const float scaled = x * hopper::ChunkScale(hopper::magnitude_bits(x) | (e % 16) << 23).scale;
    left = static_cast<double>(scaled);
    for (const float term : hopper::split<f16, 2>(scaled)) {
      wrong += static_cast<double>(term) != rounded_to(left, 11, -24);
      left -= static_cast<double>(term);
    }
    with_rest += left != 0;
    wrong += std::abs(left) > std::max(0x1p-22 * std::abs(static_cast<double>(scaled)), 0x1p-25);
  }
  BOOST_TEST(wrong == 0);
  BOOST_TEST(with_rest > 1000); // two terms do not keep all 24 bits
}

BOOST_AUTO_TEST_CASE(elements_that_cannot_be_split) {
  for (const bool scaled : {false, true}) {
    for (const float x : {infinite, -infinite, std::nanf("")}) BOOST_TEST(!hopper::can_be_split(x, scaled));
    for (const float x : {0.0f, -0.0f, 0x1p-149f, std::nextafter(0x1.ffp127f, 0.0f)})
      BOOST_TEST(hopper::can_be_split(x, scaled));
  }
  const float least = 0x1.ffp127f; // rounds to 2¹²⁸ in bf16, since the number below ends in 1
  BOOST_TEST(std::isinf(static_cast<float>(bf16(least))));
  BOOST_TEST(!hopper::can_be_split(least, false));
  BOOST_TEST(!hopper::can_be_split(-least, false));
  BOOST_TEST(hopper::can_be_split(least, true));
}

BOOST_AUTO_TEST_CASE(carried_sums_are_rounded_once) {
  int wrong = 0, infinities = 0, zeros = 0;
  for (std::uint64_t e = 0; e < 100000; ++e) {
    const PhiloxBlock draw = philox4x32(3, e);
    // A sum of −0 or from 2⁻⁴⁸ to 2³⁸, and the factors' exponents from −126 to 113.
    const float sum =
        e % 50 == 0 ? 0.0f : std::bit_cast<float>((draw.word[0] & 0x807fffffu) | (127 - 48 + draw.word[1] % 86) << 23);
    const int row = static_cast<int>(draw.word[2] % 240) - 126, column = static_cast<int>(draw.word[3] % 240) - 126;
    // A third of the numbers to add to are about as large as the product, as far as there are such numbers.
    const int near = std::clamp(std::ilogb(sum == 0 ? 1.0f : sum) + row + column, -149, 127);
    const float other = any_number(4, e);
    const float carried =
        e % 3 == 0 ? std::ldexp(1 + std::abs(std::fmod(other, 1.0f)), near - 12 + static_cast<int>(e % 25)) : other;
    if (!std::isfinite(carried)) continue;
    const float expected = exact_sum(carried, sum, row + column);
    const float got = hopper::add_scaled(carried, sum, std::ldexp(1.0f, row), std::ldexp(1.0f, column));
    wrong += !equal(got, expected);
    infinities += std::isinf(expected);
    zeros += expected == carried;
  }
  BOOST_TEST(wrong == 0);
  BOOST_TEST(infinities > 1000);
  BOOST_TEST(zeros > 1000);
}

/// The kernels of all hosts have the bits of the contract's words, on both sides of each cut of k.
BOOST_AUTO_TEST_CASE(rows_are_as_the_contract_says) {
  struct Cut {
    Index k, length; // of each segment but the last one
  };
  for (const auto& [k, length] :
       {Cut{257, 1024}, Cut{258, 1024}, Cut{320, 1024}, Cut{384, 1024}, Cut{1023, 1024}, Cut{1024, 1024},
        Cut{1025, 1024}, Cut{2049, 1024}, Cut{4096, 1024}, Cut{4097, 1152}, Cut{5249, 1408}}) {
    BOOST_TEST(emulated_segment_chunks(k) * emulated_chunk == length);
    for (const auto& [low, high] : {std::array{-4.0f, 4.0f}, std::array{-40.0f, 20.0f}, std::array{-126.0f, 126.0f},
                                    std::array{-126.0f, -110.0f}}) {
      const auto a = with_exponents(2, k, 5, low, high), b = with_exponents(2, k, 6, -high, -low);
      for (const Math math : modes)
        for (const Backend backend : hosts()) {
          const auto c = gemm<float>(a, b.transposed(), row_of(backend, math));
          for (Index i = 0; i < 2; ++i)
            for (Index j = 0; j < 2; ++j) {
              const auto size = static_cast<std::size_t>(k);
              const float expected = described_sum({a.row(i).data(), size}, {b.row(j).data(), size}, math,
                                                   static_cast<std::size_t>(length));
              BOOST_TEST(equal(c(i, j), expected), to_string(math) << " on " << to_string(backend) << ", k = " << k
                                                                   << ", exponents from " << low << ": " << c(i, j)
                                                                   << ", not " << expected);
            }
        }
    }
  }
}

BOOST_AUTO_TEST_CASE(short_products_are_strict) {
  for (const Math math : modes)
    for (const Backend backend : hosts())
      for (const Index k : {Index{1}, emulated_strict_k(math), emulated_strict_k(math) + 1}) {
        const auto a = with_exponents(20, k, 7, -3, 3), b = with_exponents(k, 30, 8, -3, 3);
        const auto strict = gemm<float>(a, b, row_of(Backend::Reference, Math::Strict));
        BOOST_TEST((gemm<float>(a, b, row_of(backend, math)) == strict) == (k <= emulated_strict_k(math)),
                   to_string(math) << " on " << to_string(backend) << ", k = " << k);
      }
}

/// An element is strict where its row or column has one that cannot be split, in any chunk; no other element is.
BOOST_AUTO_TEST_CASE(special_rows_and_columns_alone_are_strict) {
  constexpr Index m = 9, n = 20, k = 1300;
  const auto a = with_exponents(m, k, 9, -3, 3), b = with_exponents(k, n, 10, -3, 3);
  for (const Math math : modes)
    for (const float special : {infinite, std::nanf(""), 0x1.ffp127f})
      for (const Backend backend : hosts()) {
        Matrix<float> odd_a = a, odd_b = b;
        odd_a(2, 5) = special;
        odd_a(7, k - 1) = -special;
        odd_b(600, 17) = special;
        const bool is_special = math == Math::EmulatedBf16x6 || !std::isfinite(special);
        const auto plain = gemm<float>(a, b, row_of(backend, math));
        const auto strict = gemm<float>(odd_a, odd_b, row_of(Backend::Reference, Math::Strict));
        const auto c = gemm<float>(odd_a, odd_b, row_of(backend, math));
        int wrong = 0, differing = 0;
        for (Index i = 0; i < m; ++i)
          for (Index j = 0; j < n; ++j) {
            const bool odd = i == 2 || i == 7 || j == 17;
            wrong += !odd ? !equal(c(i, j), plain(i, j)) : is_special && !equal(c(i, j), strict(i, j));
            differing += odd && !equal(c(i, j), strict(i, j));
          }
        BOOST_TEST(wrong == 0, to_string(math) << " on " << to_string(backend) << " with " << special);
        BOOST_TEST((differing == 0) == is_special, to_string(math) << " with " << special);
      }
}

/// A negative sum that underflows is −0, until another chunk adds +0 to it.
BOOST_AUTO_TEST_CASE(underflow_keeps_its_sign) {
  for (const Math math : {Math::EmulatedFp16x3, Math::ScaledFp16})
    for (const Backend backend : hosts())
      for (const Index place : {0, 399}) {
        Matrix<float> a(1, 400), b(400, 1);
        a(0, place) = 0x1p-100f;
        b(place, 0) = -0x1p-100f;
        const float c = gemm<float>(a, b, row_of(backend, math))(0, 0);
        BOOST_TEST((c == 0 && std::signbit(c) == (place == 399)), to_string(backend) << ", k = " << place);
        a.fill(-0.0f);
        BOOST_TEST(!std::signbit(gemm<float>(a, b, row_of(backend, math))(0, 0)));
      }
}

/// Returns the error of a product of the mode, beside its bound.
GemmError error_of(const Matrix<float>& a, const Matrix<float>& b, Math math) {
  const auto c = gemm<float>(a, b, row_of(Backend::Reference, math));
  const GemmCall call{{.m = a.rows(),
                       .n = b.cols(),
                       .k = a.cols(),
                       .a = a.data(),
                       .lda = a.ld(),
                       .b = b.data(),
                       .ldb = b.ld(),
                       .c = const_cast<float*>(c.data()),
                       .ldc = c.ld()}};
  return GemmReference(call).compare(c.data(), c.ld(),
                                     {DType::F32, math, Summation::HopperUnits, Accumulator::Truncating});
}

/// Elements of a chunk below 2⁻¹¹² become subnormal f16 terms, beside which the matrix units cut products of small
/// factors.
BOOST_AUTO_TEST_CASE(the_bound_holds_where_scales_end) {
  for (const Math math : {Math::EmulatedFp16x3, Math::ScaledFp16})
    for (const Index k : {65, 128, 257, 512, 1024})
      for (const float small : {0x1p-9f, 0x1p-12f, 0x1p-14f}) {
        Matrix<float> a(1, k, 0x1p-149f), b(k, 1);
        for (Index p = 0; p < k; ++p) b(p, 0) = (p % 16 == 0 ? 1 : 0x1.ffcp0f * small) * 0x1p100f;
        const GemmError error = error_of(a, b, math);
        BOOST_TEST(error.within_bound(), to_string(math)
                                             << ", k = " << k << ", " << error.max_over_bound << " of the bound");
      }
}

/// Elements far below the largest one of their chunk lose digits, which the bound has a term for: without it, errors
/// would be larger than the bound.
BOOST_AUTO_TEST_CASE(scaled_fp16_loses_digits_of_small_elements) {
  constexpr Index k = 128;
  Matrix<float> a(1, k), b(k, 1);
  for (Index p = 1; p < k; ++p) {
    a(0, p) = 0x1.8p-39f; // 1.5 steps of f16 beside the largest element, 2¹⁴ of them being its scale
    b(p, 0) = 1;
  }
  a(0, 0) = 1;
  const GemmError error = error_of(a, b, Math::ScaledFp16);
  BOOST_TEST(error.within_bound());
  BOOST_TEST(error.max_abs > 0x1p-10 * 0x1.8p-39 * k);
  a(0, 0) = 0x1p-30f; // which leaves ten digits and more of each
  BOOST_TEST(error_of(a, b, Math::ScaledFp16).max_abs == 0);
}

BOOST_AUTO_TEST_SUITE_END()
