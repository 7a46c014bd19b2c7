/// The model of the matrix units (matrix_unit.hpp) beside the card: 10⁶ dot products of each type whose terms are far
/// apart, long chains, subnormal numbers, and Inf and NaN.

#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/detail/matrix_unit.hpp>
#include <tessera/random.hpp>
#include <tessera/tessera.hpp>

#include "is_hopper.hpp"

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
};

/// A product on the card, and what the model says of some of its elements.
template <class T>
class Comparison {
 public:
  /// The operands begin `offset` elements after the beginning of their rows.
  Comparison(Index m, Index n, Index k, const Elements& elements, std::uint64_t seed, Index offset = 0)
      : a_(m, k + offset),
        b_(k, n + offset),
        offset_(offset),
        n_(n),
        rows_(static_cast<std::size_t>(m * k)),
        cols_(static_cast<std::size_t>(k * n)),
        k_(k) {
    for (Index i = 0; i < m; ++i)
      for (Index p = 0; p < k; ++p) rows_[at(i, p)] = store(a_(i, p + offset), draw(elements, seed, i * k + p));
    for (Index j = 0; j < n; ++j)
      for (Index p = 0; p < k; ++p) cols_[at(j, p)] = store(b_(p, j + offset), draw(elements, seed + 1, j * k + p));
  }

  /// Compares every `step`-th element of C. `kernel` is a row of the mode.
  void check(Math math, const std::string& kernel, Index step) const {
    const auto a = a_.block(0, offset_, a_.rows(), k_);
    const auto b = b_.block(0, offset_, k_, n_);
    const Matrix<float> c = gemm<float>(a, b, GemmOptions{.backend = Backend::Cuda, .math = math, .kernel = kernel});
    const Index elements = (c.rows() * c.cols() + step - 1) / step;
    static_cast<void>(c.data()); // the result is on the host before several threads read it
    std::atomic<Index> different = 0;
    std::mutex mutex;
    std::string one;
    const auto compare = [&](Index begin, Index end) {
      for (Index e = begin * step; e < end * step && e < c.rows() * c.cols(); e += step) {
        const Index i = e / c.cols(), j = e % c.cols();
        const float expected = hopper::dot({&rows_[at(i, 0)], static_cast<std::size_t>(k_)},
                                           {&cols_[at(j, 0)], static_cast<std::size_t>(k_)}, 0.0f, format_of<T>);
        const float found = c(i, j);
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
    BOOST_TEST(different == 0, kernel << ", " << c.rows() << "×" << c.cols() << "×" << k_ << ": " << different << " of "
                                      << elements << " differ; " << one);
  }

 private:
  static std::string text(float x) {
    std::array<char, 40> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "%a", static_cast<double>(x));
    return buffer.data();
  }
  /// Stores x as a T, and returns what the units see of it.
  static float store(T& to, float x) {
    to = std::same_as<T, float> ? static_cast<T>(hopper::cut_to_tf32(x)) : static_cast<T>(x);
    return static_cast<float>(to);
  }
  static float draw(const Elements& e, std::uint64_t seed, Index number) {
    return random_element<float>(e.distribution, seed, static_cast<std::uint64_t>(number), e.low, e.high);
  }
  std::size_t at(Index line, Index p) const { return static_cast<std::size_t>(line * k_ + p); }

  Matrix<T> a_, b_;
  Index offset_, n_;
  std::vector<float> rows_, cols_; ///< of op(A) and op(B), as the units see them
  Index k_;
};

/// Products whose k one accumulator sums: one block of k, and large products that no plan cuts along k.
template <class T>
void check(Math math, const std::string& kernel) {
  if (!is_hopper()) return;
  // Products of factors between 2^−6 and 2^6 lie up to 2^26 apart, so that terms are cut, lost and kept.
  const Elements apart{Distribution::Wide, -6, 6}, near{Distribution::Uniform, -1, 1};
  Comparison<T>(1024, 1024, 64, apart, 1).check(math, kernel, 1);
  Comparison<T>(1024, 1024, 40, near, 3).check(math, kernel, 1);
  Comparison<T>(2048, 2048, 1500, apart, 5).check(math, kernel, 401);
  Comparison<T>(512, 512, 64, {Distribution::Wide, std::same_as<T, f16> ? -14.0f : -75.0f, 4}, 7)
      .check(math, kernel, 1);
  Comparison<T>(512, 512, 48, {Distribution::Special, 0.002f, 0.2f}, 9).check(math, kernel, 1);
}

} // namespace

BOOST_AUTO_TEST_SUITE(matrix_units)

BOOST_AUTO_TEST_CASE(of_bf16) { check<bf16>(Math::Bf16, "wgmma_bf16"); }

BOOST_AUTO_TEST_CASE(of_fp16) { check<f16>(Math::Fp16, "wgmma_fp16"); }

BOOST_AUTO_TEST_CASE(of_tf32) { check<float>(Math::Tf32, "wgmma_tf32"); }

/// mma.sync adds as wgmma does: a small product of operands that are not aligned, whose k is one part.
BOOST_AUTO_TEST_CASE(of_a_warps_instructions) {
  if (!is_hopper()) return;
  const Elements apart{Distribution::Wide, -6, 6};
  Comparison<bf16>(509, 511, 101, apart, 11, 1).check(Math::Bf16, "mma_bf16", 1);
  Comparison<f16>(509, 511, 101, apart, 13, 1).check(Math::Fp16, "mma_fp16", 1);
}

BOOST_AUTO_TEST_SUITE_END()
