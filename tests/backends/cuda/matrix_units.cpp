/// The model of the matrix units (matrix_unit.hpp) beside the GPU: 10⁶ dot products of each type whose terms are far
/// apart, long chains, subnormal numbers, and Inf and NaN; products of every plan, whose k is cut as
/// matrix_unit_segments.hpp says; and rows of a product beside the same rows of smaller ones.

#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/detail/matrix_unit.hpp>
#include <tessera/detail/matrix_unit_segments.hpp>
#include <tessera/random.hpp>
#include <tessera/tessera.hpp>

#include "support/scattered.hpp"

#include "is_hopper.hpp"
#include "tile_widths.hpp"

using namespace tessera;
using namespace tessera::detail;
using cuda_test::is_hopper;

namespace {

template <class T>
constexpr hopper::OperandFormat format_of = std::same_as<T, f16>    ? hopper::f16_operands
                                            : std::same_as<T, bf16> ? hopper::bf16_operands
                                                                    : hopper::tf32_operands;

/// Draws elements; the exponents of Wide lie between these.
struct Elements {
  Distribution distribution;
  float low, high;

  float draw(std::uint64_t seed, std::uint64_t number) const {
    return random_element<float>(distribution, seed, number, low, high);
  }
};

/// Draws elements whose exponents lie between −6 and 6 in few instructions, for large operands.
struct Scattered {
  float draw(std::uint64_t seed, std::uint64_t number) const { return test::scattered(seed, number); }
};

/// How the operands lie in memory.
struct Layout {
  bool a_transposed = false, b_transposed = false;
  Index offset = 0; ///< elements of a line in front of the operand
};

/// A matrix as it is stored, and its vectors along k as the matrix units see them.
template <class T>
class StoredOperand {
 public:
  template <class Draws>
  StoredOperand(Index count, Index k, bool along_k, Index offset, const Draws& elements, std::uint64_t seed)
      : matrix_(along_k ? count : k, (along_k ? k : count) + offset),
        seen_(static_cast<std::size_t>(count * k)),
        count_(count),
        k_(k),
        offset_(offset),
        along_k_(along_k) {
    for (Index v = 0; v < count; ++v)
      for (Index p = 0; p < k; ++p) {
        T& to = along_k ? matrix_(v, p + offset) : matrix_(p, v + offset);
        to = static_cast<T>(elements.draw(seed, static_cast<std::uint64_t>(v * k + p)));
        const auto stored = static_cast<float>(to);
        seen_[static_cast<std::size_t>(v * k + p)] = std::same_as<T, float> ? hopper::cut_to_tf32(stored) : stored;
      }
  }
  /// Returns the matrix whose lines are vectors along k, or their elements.
  MatrixView<const T> view() const { return matrix_.block(0, offset_, along_k_ ? count_ : k_, along_k_ ? k_ : count_); }
  std::span<const float> vector(Index v, Index begin, Index end) const {
    return {&seen_[static_cast<std::size_t>(v * k_ + begin)], static_cast<std::size_t>(end - begin)};
  }

 private:
  Matrix<T> matrix_;
  std::vector<float> seen_;
  Index count_, k_, offset_;
  bool along_k_;
};

/// A product on the GPU, and what the contract says of its elements.
template <class T>
class Comparison {
 public:
  template <class Draws>
  Comparison(Index m, Index n, Index k, const Draws& elements, std::uint64_t seed, const Layout& layout = {})
      : a_(m, k, !layout.a_transposed, layout.offset, elements, seed),
        b_(n, k, layout.b_transposed, layout.offset, elements, seed + 1),
        layout_(layout),
        k_(k) {}

  /// Compares every `step`-th element of C. `kernel` is a kernel of the mode.
  void check(Math math, const std::string& kernel, Index step) const {
    const MatrixView<const T> a = a_.view(), b = b_.view();
    const GemmOptions options{.backend = Backend::Cuda, .math = math, .kernel = kernel};
    const Matrix<float> c =
        gemm<float>(layout_.a_transposed ? a.transposed() : a, layout_.b_transposed ? b.transposed() : b, options);
    const Index elements = (c.rows() * c.cols() + step - 1) / step;
    static_cast<void>(c.data()); // the result is on the host before several threads read it
    std::atomic<Index> different = 0;
    std::mutex mutex;
    std::string one;
    const auto compare = [&](Index begin, Index end) {
      for (Index e = begin * step; e < end * step && e < c.rows() * c.cols(); e += step) {
        const Index i = e / c.cols(), j = e % c.cols();
        const float expected = contract(i, j), found = c(i, j);
        if (std::bit_cast<std::uint32_t>(expected) == std::bit_cast<std::uint32_t>(found)) continue;
        if (std::isnan(expected) && std::isnan(found)) continue;
        if (different++ > 0) continue;
        const std::lock_guard lock(mutex);
        one = "C(" + std::to_string(i) + ", " + std::to_string(j) + ") is " + text(found) + ", the model says " +
              text(expected);
      }
    };
    const Index threads = default_threads();
    std::vector<std::thread> team;
    for (Index t = 0; t < threads; ++t)
      team.emplace_back(compare, elements * t / threads, elements * (t + 1) / threads);
    for (std::thread& thread : team) thread.join();
    BOOST_TEST(different == 0, kernel << ", " << c.rows() << "×" << c.cols() << "×" << k_
                                      << (layout_.a_transposed ? ", A transposed" : "")
                                      << (layout_.b_transposed ? ", B transposed" : "") << ": " << different << " of "
                                      << elements << " differ; " << one);
  }

 private:
  static std::string text(float x) {
    std::array<char, 40> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "%a", static_cast<double>(x));
    return buffer.data();
  }
  /// Returns the sums of the segments of k, added in ascending order.
  float contract(Index i, Index j) const {
    const Index length = matrix_unit_segment_length(k_);
    float sum = 0;
    for (Index begin = 0; begin < k_; begin += length) {
      const Index end = std::min(begin + length, k_);
      const float next = hopper::dot(a_.vector(i, begin, end), b_.vector(j, begin, end), 0.0f, format_of<T>);
      sum = begin == 0 ? next : sum + next;
    }
    return sum;
  }

  StoredOperand<T> a_, b_;
  Layout layout_;
  Index k_;
};

/// One block of k, and large products of one segment.
template <class T>
void check(Math math, const std::string& kernel) {
  if (!is_hopper()) return;
  // Products of factors between 2^−6 and 2^6 lie up to 2^26 apart, so that terms are cut, lost and kept.
  const Elements apart{Distribution::Wide, -6, 6}, near{Distribution::Uniform, -1, 1};
  Comparison<T>(1024, 1024, 64, apart, 1).check(math, kernel, 1);
  Comparison<T>(1024, 1024, 40, near, 3).check(math, kernel, 1);
  Comparison<T>(2048, 2048, 1500, apart, 5).check(math, kernel, 401);
  Comparison<T>(512, 512, 64, Elements{Distribution::Wide, std::same_as<T, f16> ? -14.0f : -75.0f, 4}, 7)
      .check(math, kernel, 1);
  Comparison<T>(512, 512, 48, Elements{Distribution::Special, 0.002f, 0.2f}, 9).check(math, kernel, 1);
}

/// Compares some elements of products that take every tile, in every direction, with one segment of k and more.
/// The largest ones do not fit into the memory that tests may take on a GPU; they have two layouts, because filling
/// them takes the host long.
template <class T>
void check_plans(Math math, const std::string& kernel, std::span<const tessera::GemmShape> products) {
  if (!is_hopper()) return;
  for (const auto& [m, n, k] : products) {
    const Index step = std::max<Index>(1, m * n * k / 2'000'000);
    const std::array layouts{Layout{true, false, 1}, Layout{false, true, 0}, Layout{false, false, 0},
                             Layout{true, false, 0}, Layout{true, true, 0}};
    for (const Layout& layout : std::span(layouts).first((m + n) * k > 8'000'000 ? 2 : layouts.size()))
      Comparison<T>(m, n, k, Scattered{}, 21, layout).check(math, kernel, step);
  }
}

/// Rows of a product have the bits of the same rows in smaller products, wherever they stand.
template <class T>
void check_batches(Math math) {
  if (!is_hopper()) return;
  for (const auto& [n, k] : {std::pair<Index, Index>{4096, 4096}, {1024, 14336}, {5120, 1024}, {300, 20000}}) {
    const Matrix<T> weights = Matrix<T>::random(n, k, Seed{31}), x = Matrix<T>::random(2100, k, Seed{32});
    const GemmOptions options{.backend = Backend::Cuda, .math = math};
    const Matrix<float> all = gemm<float>(x, weights.transposed(), options);
    for (const Index m : {1, 2, 8, 9, 16, 17, 31, 64, 65, 100, 128, 129, 200, 256, 257, 500, 1000, 2000}) {
      const Index first = m % 97;
      const Matrix<float> some = gemm<float>(x.block(first, 0, m, k), weights.transposed(), options);
      Index different = 0;
      for (Index i = 0; i < m; ++i)
        different += std::memcmp(some.row(i).data(), all.row(first + i).data(),
                                 static_cast<std::size_t>(n) * sizeof(float)) != 0;
      BOOST_TEST(different == 0, to_string(math) << ", " << m << "×" << n << "×" << k << ": " << different
                                                 << " rows differ from those of 2100");
    }
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(matrix_units)

BOOST_AUTO_TEST_CASE(of_bf16) { check<bf16>(Math::Bf16, "wgmma_bf16"); }

BOOST_AUTO_TEST_CASE(of_fp16) { check<f16>(Math::Fp16, "wgmma_fp16"); }

BOOST_AUTO_TEST_CASE(of_tf32) { check<float>(Math::Tf32, "wgmma_tf32"); }

BOOST_AUTO_TEST_CASE(plans_of_bf16) { check_plans<bf16>(Math::Bf16, "wgmma_bf16", test::products_of_the_contract); }

BOOST_AUTO_TEST_CASE(plans_of_fp16) { check_plans<f16>(Math::Fp16, "wgmma_fp16", test::products_of_the_contract); }

BOOST_AUTO_TEST_CASE(plans_of_tf32) { check_plans<float>(Math::Tf32, "wgmma_tf32", test::products_of_the_contract); }

BOOST_AUTO_TEST_CASE(plans_of_a_warps_instructions) {
  check_plans<bf16>(Math::Bf16, "mma_sync_bf16", test::products_of_the_contract);
  check_plans<bf16>(Math::Bf16, "mma_sync_bf16", test::products_of_warps);
  check_plans<f16>(Math::Fp16, "mma_sync_fp16", test::products_of_the_contract);
  check_plans<f16>(Math::Fp16, "mma_sync_fp16", test::products_of_warps);
  check_plans<float>(Math::Tf32, "mma_sync_tf32", test::products_of_the_contract);
  check_plans<float>(Math::Tf32, "mma_sync_tf32", test::products_of_warps);
}

/// Operands that begin at every element of 16 bytes, whose lines are an odd number of elements apart, or an even one.
BOOST_AUTO_TEST_CASE(operands_that_begin_anywhere) {
  if (!is_hopper()) return;
  for (const auto& [m, n, k] :
       {std::tuple<Index, Index, Index>{13, 9, 1}, {40, 33, 150}, {150, 130, 260}, {65, 70, 513}})
    for (Index offset = 0; offset < 9; ++offset)
      for (const bool a : {false, true})
        for (const bool b : {false, true}) {
          Comparison<bf16>(m, n, k, Scattered{}, 23, {a, b, offset}).check(Math::Bf16, "mma_sync_bf16", 3);
          Comparison<f16>(m, n, k, Scattered{}, 25, {a, b, offset}).check(Math::Fp16, "mma_sync_fp16", 3);
          Comparison<float>(m, n, k, Scattered{}, 27, {a, b, offset}).check(Math::Tf32, "mma_sync_tf32", 3);
        }
}

/// The kernels that gemm() chooses by itself.
BOOST_AUTO_TEST_CASE(plans_by_default) {
  check_plans<bf16>(Math::Bf16, "", test::products_of_warps);
  check_plans<f16>(Math::Fp16, "", test::products_of_warps);
  check_plans<float>(Math::Tf32, "", test::products_of_warps);
}

BOOST_AUTO_TEST_CASE(batches_of_bf16) { check_batches<bf16>(Math::Bf16); }

BOOST_AUTO_TEST_CASE(batches_of_fp16) { check_batches<f16>(Math::Fp16); }

BOOST_AUTO_TEST_CASE(batches_of_tf32) { check_batches<float>(Math::Tf32); }

/// mma.sync adds as wgmma does: a small product of operands that are not aligned.
BOOST_AUTO_TEST_CASE(of_a_warps_instructions) {
  if (!is_hopper()) return;
  const Elements apart{Distribution::Wide, -6, 6};
  Comparison<bf16>(509, 511, 101, apart, 11, {false, false, 1}).check(Math::Bf16, "mma_bf16", 1);
  Comparison<f16>(509, 511, 101, apart, 13, {true, true, 1}).check(Math::Fp16, "mma_fp16", 1);
}

BOOST_AUTO_TEST_SUITE_END()
