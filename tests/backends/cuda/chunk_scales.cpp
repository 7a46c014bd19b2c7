/// emulated_fp16x3 and scaled_fp16 on a device: the bits of a result are the contract's and depend on its row, its
/// column and k alone, whatever kernel computes it, and rows whose magnitude jumps from chunk to chunk of k lose
/// nothing.

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/executor.hpp>
#include <tessera/tessera.hpp>

#include "few_results.hpp"
#include "is_hopper.hpp"
#include "round_trip.hpp"
#include "whole_numbers.hpp"

using namespace tessera;
using cuda_test::check_ok;
using cuda_test::is_hopper;
using test::whole_numbers;

namespace {

/// A matrix on the device whose lines begin at multiples of 16 bytes, so that the copy engine reads it where it is, or
/// do not, so that it is packed.
class Lines {
 public:
  Lines(Executor& device, const Matrix<float>& x, bool aligned)
      : device_(device), ld_((x.cols() + 3) / 4 * 4 + (aligned ? 0 : 1)) {
    check_ok(device.allocate(static_cast<std::size_t>(x.rows() * ld_) * 4, data_));
    const std::size_t width = static_cast<std::size_t>(x.cols()) * 4;
    check_ok(device.copy_in(device.default_queue(), data_, static_cast<std::size_t>(ld_) * 4, x.data(),
                            static_cast<std::size_t>(x.ld()) * 4, width, static_cast<std::size_t>(x.rows())));
  }
  ~Lines() { device_.free(data_); }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  void copy_out(Matrix<float>& x) const {
    const std::size_t width = static_cast<std::size_t>(x.cols()) * 4;
    check_ok(device_.copy_out(device_.default_queue(), x.data(), static_cast<std::size_t>(x.ld()) * 4, data_,
                              static_cast<std::size_t>(ld_) * 4, width, static_cast<std::size_t>(x.rows())));
  }
  void* data() const { return data_; }
  Index ld() const { return ld_; }

 private:
  Executor& device_;
  Index ld_;
  void* data_ = nullptr;
};

/// Numbers of all sizes: a factor of 2⁻²⁰ to 2²⁰ for each row and chunk of 64 k.
Matrix<float> uneven(Index rows, Index cols, Seed seed) {
  Matrix<float> x = Matrix<float>::random(rows, cols, seed);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) x(i, j) = std::ldexp(x(i, j), static_cast<int>((i * 7 + j / 64 * 11) % 41 - 20));
  return x;
}

Matrix<float> transposed(const Matrix<float>& x) {
  Matrix<float> y(x.cols(), x.rows());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) y(j, i) = x(i, j);
  return y;
}

struct Stored {
  bool a, b; ///< transposed
};

Matrix<float> product(Math math, const Matrix<float>& a, const Matrix<float>& b, Stored as, bool aligned, float alpha,
                      float beta) {
  Executor& device = executor(Backend::Cuda);
  Matrix<float> c = whole_numbers<float>(a.rows(), b.cols(), Seed{9});
  const Lines on_a(device, as.a ? transposed(a) : a, aligned), on_b(device, as.b ? transposed(b) : b, aligned);
  const Lines on_c(device, c, true);
  GemmCall call;
  call.math = math;
  call.op_a = as.a ? Op::Transpose : Op::None;
  call.op_b = as.b ? Op::Transpose : Op::None;
  call.m = a.rows();
  call.n = b.cols();
  call.k = a.cols();
  call.alpha = alpha;
  call.a = on_a.data();
  call.lda = on_a.ld();
  call.b = on_b.data();
  call.ldb = on_b.ld();
  call.beta = beta;
  call.c = on_c.data();
  call.ldc = on_c.ld();
  check_ok(device.gemm(device.default_queue(), call, to_string(math)));
  on_c.copy_out(c);
  return c;
}

Matrix<float> first_rows(const Matrix<float>& x, Index rows) {
  Matrix<float> y(rows, x.cols());
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < x.cols(); ++j) y(i, j) = x(i, j);
  return y;
}

Matrix<float> first_columns(const Matrix<float>& x, Index cols) {
  Matrix<float> y(x.rows(), cols);
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < cols; ++j) y(i, j) = x(i, j);
  return y;
}

using Modes =
    std::tuple<std::integral_constant<Math, Math::EmulatedFp16x3>, std::integral_constant<Math, Math::ScaledFp16>>;
constexpr Stored all_ways[]{{false, false}, {false, true}, {true, false}, {true, true}};

} // namespace

BOOST_AUTO_TEST_SUITE(chunk_scales)

BOOST_AUTO_TEST_CASE_TEMPLATE(bits_of_few_rows_are_those_of_a_large_product, M, Modes) {
  if (!is_hopper()) return;
  for (const auto& [n, k] : {std::pair<Index, Index>{300, 1100}, {1000, 4100}, {136, 3000}}) {
    const Matrix<float> a = uneven(520, k, Seed{1}), b = uneven(k, n, Seed{2});
    const Matrix<float> large = product(M::value, a, b, {false, false}, false, 1, 0);
    for (const Index m : {1, 8, 31, 33, 64, 65, 128, 129, 256, 257})
      for (const Stored as : all_ways)
        BOOST_TEST((product(M::value, first_rows(a, m), b, as, true, 1, 0) == first_rows(large, m)),
                   m << "x" << n << "x" << k << (as.a ? ", A transposed" : "") << (as.b ? ", B transposed" : ""));
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(bits_of_few_columns_are_those_of_a_large_product, M, Modes) {
  if (!is_hopper()) return;
  const Index m = 1003, k = 2300;
  const Matrix<float> a = uneven(m, k, Seed{3}), b = uneven(k, 400, Seed{4});
  const Matrix<float> large = product(M::value, a, b, {false, false}, false, 1, 0);
  for (const Index n : {1, 17, 64, 100, 200, 300})
    for (const Stored as : all_ways)
      BOOST_TEST((product(M::value, a, first_columns(b, n), as, true, 1, 0) == first_columns(large, n)),
                 m << "x" << n << "x" << k << (as.a ? ", A transposed" : "") << (as.b ? ", B transposed" : ""));
}

/// Warps and blocks that split their operands themselves give the bits of a large product's packed operands.
BOOST_AUTO_TEST_CASE_TEMPLATE(bits_of_few_results_are_those_of_a_large_product, M, Modes) {
  if (!is_hopper()) return;
  bool aligned = true;
  std::vector<GemmShape> products(std::begin(test::products_of_split_warps), std::end(test::products_of_split_warps));
  products.insert(products.end(), std::begin(test::products_of_split_blocks), std::end(test::products_of_split_blocks));
  for (const auto& x : products) {
    const Matrix<float> all_a = uneven(std::max<Index>(x.m, 1200), x.k, Seed{7});
    const Matrix<float> all_b = uneven(x.k, std::max<Index>(x.n, 1200), Seed{8});
    const Matrix<float> large = first_columns(first_rows(product(M::value, all_a, all_b, {}, false, 1, 0), x.m), x.n);
    const Matrix<float> a = first_rows(all_a, x.m), b = first_columns(all_b, x.n);
    for (const Stored as : all_ways) {
      BOOST_TEST((product(M::value, a, b, as, aligned, 1, 0) == large),
                 x.m << "x" << x.n << "x" << x.k << (as.a ? ", A transposed" : "") << (as.b ? ", B transposed" : "")
                     << (aligned ? ", aligned" : ""));
      aligned = !aligned;
    }
    aligned = !aligned;
  }
}

/// Products of each way, in a chunk, in chunks that end anywhere and in several segments, beside the reference's model.
BOOST_AUTO_TEST_CASE_TEMPLATE(bits_are_the_models, M, Modes) {
  if (!is_hopper()) return;
  for (const auto& [m, n, k] : {std::tuple<Index, Index, Index>{5, 9, 257},
                                {40, 300, 300},
                                {300, 33, 1100},
                                {150, 140, 1025},
                                {130, 260, 384},
                                {65, 20, 2300}}) {
    const Matrix<float> a = uneven(m, k, Seed{11}), b = uneven(k, n, Seed{12});
    const Matrix<float> expected =
        gemm(a, b, {.backend = Backend::Reference, .math = M::value, .kernel = "hopper_units"});
    for (const bool aligned : {true, false})
      for (const Stored as : all_ways)
        BOOST_TEST((product(M::value, a, b, as, aligned, 1, 0) == expected),
                   m << "x" << n << "x" << k << (as.a ? ", A transposed" : "") << (as.b ? ", B transposed" : ""));
  }
}

/// Of k that emulated_fp16x3 takes to be strict, scaled_fp16 has a chunk or two.
BOOST_AUTO_TEST_CASE(bits_of_short_k_are_the_models) {
  if (!is_hopper()) return;
  for (const Index k : {65, 96, 127, 128, 129, 200, 256})
    for (const auto& [m, n] : {std::pair<Index, Index>{7, 30}, {300, 40}, {50, 1000}, {520, 530}}) {
      const Matrix<float> a = uneven(m, k, Seed{13}), b = uneven(k, n, Seed{14});
      const Matrix<float> expected =
          gemm(a, b, {.backend = Backend::Reference, .math = Math::ScaledFp16, .kernel = "hopper_units"});
      for (const bool aligned : {true, false})
        BOOST_TEST((product(Math::ScaledFp16, a, b, {false, aligned}, aligned, 1, 0) == expected),
                   m << "x" << n << "x" << k << (aligned ? ", aligned" : ""));
    }
}

/// Packed operands, in tiles of each width (choices.cpp has them).
BOOST_AUTO_TEST_CASE_TEMPLATE(bits_of_large_products_are_the_models, M, Modes) {
  if (!is_hopper()) return;
  for (const auto& [m, n, k] : test::products_of_tile_widths) {
    const Matrix<float> a = uneven(m, k, Seed{15}), b = uneven(k, n, Seed{16});
    const Matrix<float> c = product(M::value, a, b, {}, false, 1, 0);
    for (const Index i : {Index{0}, m / 2, m - 1}) {
      const auto row = gemm<float>(a.block(i, 0, 1, k), b,
                                   {.backend = Backend::Reference, .math = M::value, .kernel = "hopper_units"});
      BOOST_TEST((matrix_cast<float>(c.block(i, 0, 1, n)) == row), m << "x" << n << "x" << k << ", row " << i);
    }
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(alpha_and_beta_round_alike, M, Modes) {
  if (!is_hopper()) return;
  const Matrix<float> a = uneven(100, 700, Seed{5}), b = uneven(700, 1000, Seed{6});
  for (const float beta : {0.0F, -0.75F})
    BOOST_TEST((product(M::value, a, b, {false, true}, true, 0.3F, beta) ==
                product(M::value, a, b, {false, true}, false, 0.3F, beta)));
}

/// Products are exact, because the magnitudes of a row of A and of a column of B in a chunk are each other's inverse.
BOOST_AUTO_TEST_CASE_TEMPLATE(magnitudes_jump_between_chunks, M, Modes) {
  if (!is_hopper()) return;
  constexpr int jumps[]{0, 100, -100, 120, -120, 60, -60, 126, 1};
  const Index k = 2048 + 70;
  for (const Index m : {1, 40, 130, 600}) {
    Matrix<float> a = whole_numbers<float>(m, k, Seed{7}), b = whole_numbers<float>(k, 700, Seed{8});
    Matrix<float> plain_a = a, plain_b = b;
    for (Index p = 0; p < k; ++p) {
      const int by = jumps[p / 128 % 9];
      for (Index i = 0; i < m; ++i) a(i, p) = std::ldexp(a(i, p), by);
      for (Index j = 0; j < b.cols(); ++j) b(p, j) = std::ldexp(b(p, j), -by);
    }
    Matrix<float> expected = whole_numbers<float>(m, 700, Seed{9});
    gemm(2, plain_a.view(), plain_b.view(), -1, expected, {.backend = Backend::Cuda, .kernel = "z_order"});
    for (const bool aligned : {true, false})
      for (const Stored as : all_ways)
        BOOST_TEST((product(M::value, a, b, as, aligned, 2, -1) == expected),
                   m << " rows" << (aligned ? "" : ", packed"));
  }
}

/// NaN and Inf are where the strict product has them, and old elements of C are read before they are lost.
BOOST_AUTO_TEST_CASE_TEMPLATE(not_numbers, M, Modes) {
  if (!is_hopper()) return;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const Index m : {1, 40, 200})
    for (const float value : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()})
      for (const bool in_a : {true, false})
        for (const float beta : {0.0F, 2.0F}) {
          Matrix<float> a = whole_numbers<float>(m, 900, Seed{1}), b = whole_numbers<float>(900, 520, Seed{2});
          (in_a ? a(m - 1, 640) : b(899, 519)) = value;
          Matrix<float> expected = whole_numbers<float>(m, 520, Seed{9});
          gemm(1, a.view(), b.view(), beta, expected, {.backend = Backend::Cuda});
          const Matrix<float> c = product(M::value, a, b, {false, true}, true, 1, beta);
          bool equal = true;
          for (Index i = 0; i < m; ++i)
            for (Index j = 0; j < 520; ++j)
              equal = equal && (c(i, j) == expected(i, j) || (std::isnan(c(i, j)) && std::isnan(expected(i, j))));
          BOOST_TEST(equal, m << " rows, " << value << (in_a ? " in A" : " in B") << ", beta " << beta);
        }
}

/// A row with NaN and a column with Inf are strict. They change no bit of the other results.
BOOST_AUTO_TEST_CASE_TEMPLATE(lines_that_cannot_be_split, M, Modes) {
  if (!is_hopper()) return;
  for (const Index m : {3, 40, 200, 600})
    for (const float beta : {0.0F, 2.0F}) {
      Matrix<float> a = uneven(m, 1500, Seed{1}), b = uneven(1500, 1100, Seed{2});
      const Matrix<float> clean = product(M::value, a, b, {false, true}, true, 0.5F, beta);
      a(m / 2, 1499) = std::numeric_limits<float>::quiet_NaN();
      b(640, 333) = std::numeric_limits<float>::infinity();
      Matrix<float> strict = whole_numbers<float>(m, 1100, Seed{9});
      gemm(0.5F, a.view(), b.view(), beta, strict, {.backend = Backend::Cuda});
      const Matrix<float> c = product(M::value, a, b, {false, true}, true, 0.5F, beta);
      bool equal = true;
      for (Index i = 0; i < m; ++i)
        for (Index j = 0; j < 1100; ++j) {
          const float wanted = i == m / 2 || j == 333 ? strict(i, j) : clean(i, j);
          equal = equal && (c(i, j) == wanted || (std::isnan(c(i, j)) && std::isnan(wanted)));
        }
      BOOST_TEST(equal, m << " rows, beta " << beta);
    }
}

BOOST_AUTO_TEST_SUITE_END()
