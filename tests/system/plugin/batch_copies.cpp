/// Batches in host memory on a device. All operands are copied at once, or in parts where the device is too small, and
/// only results are written.

#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/gemm_batch.hpp>
#include <tessera/random.hpp>

#include "small_device.hpp"
#include "support/expect.hpp"

using namespace tessera;
using tessera::test::use_small_device;

namespace {

const GemmOptions on_device{.backend = Backend::Cuda}, on_host{.backend = Backend::Reference};

/// `count` matrices of rows×cols, `gap` elements apart, with rows of ld elements. The padding is NaN.
struct Batched {
  Index rows, cols, ld, stride, count;
  std::vector<double> memory;

  Batched(Index r, Index c, Index padding, Index gap, Index n, std::uint64_t seed)
      : rows(r),
        cols(c),
        ld(c + padding),
        stride(r * ld + gap),
        count(n),
        memory(static_cast<std::size_t>(stride * n)) {
    std::fill(memory.begin(), memory.end(), std::numeric_limits<double>::quiet_NaN());
    for (Index i = 0; i < n; ++i)
      for (Index row = 0; row < r; ++row)
        for (Index col = 0; col < c; ++col)
          at(i)[row * ld + col] = random_element<double>(Distribution::Uniform, seed,
                                                         static_cast<std::uint64_t>((i * r + row) * c + col), -1., 1.);
  }
  double* at(Index i) { return memory.data() + i * stride; }
  std::vector<double*> pointers() {
    std::vector<double*> all;
    for (Index i = count; i > 0; --i) all.push_back(at(i - 1));
    return all;
  }
};

/// Are two results equal, where NaN equals NaN?
int differing(const std::vector<double>& x, const std::vector<double>& y) {
  int count = 0;
  for (std::size_t e = 0; e < x.size(); ++e) count += x[e] == y[e] || (std::isnan(x[e]) && std::isnan(y[e])) ? 0 : 1;
  return count;
}

void compare_batches(Index count, Index padding, Index gap, bool pointers, double beta, Op op_a = Op::None) {
  Batched a(op_a == Op::None ? 6 : 5, op_a == Op::None ? 5 : 6, padding, gap, count, 1), b(5, 7, padding, 0, count, 2);
  Batched c(6, 7, padding, gap, count, 3);
  Batched expected = c;
  const auto run = [&](Batched& result, const GemmOptions& options) {
    if (pointers)
      gemm_batch<double>(op_a, Op::None, 6, 7, 5, 2.0, a.pointers().data(), a.ld, b.pointers().data(), b.ld, beta,
                         result.pointers().data(), result.ld, count, options);
    else
      gemm_batch<double>(op_a, Op::None, 6, 7, 5, 2.0, a.at(0), a.ld, a.stride, b.at(0), b.ld, b.stride, beta,
                         result.at(0), result.ld, result.stride, count, options);
  };
  run(c, on_device);
  run(expected, on_host);
  const int wrong = differing(c.memory, expected.memory);
  BOOST_TEST(wrong == 0, wrong << " elements: count=" << count << " padding=" << padding << " gap=" << gap
                               << " pointers=" << pointers << " beta=" << beta);
}

} // namespace

BOOST_AUTO_TEST_SUITE(batch_copies)

BOOST_AUTO_TEST_CASE(every_layout) {
  use_small_device();
  for (const bool pointers : {false, true})
    for (const Index padding : {0, 3})
      for (const Index gap : {0, 2})
        for (const double beta : {0.0, 1.5}) {
          compare_batches(9, padding, gap, pointers, beta);
          compare_batches(4, padding, gap, pointers, beta, Op::Transpose);
        }
}

/// The device's 8 KiB hold fewer than nine products.
BOOST_AUTO_TEST_CASE(parts_of_a_batch) {
  use_small_device();
  for (const bool pointers : {false, true}) {
    compare_batches(40, 0, 0, pointers, 0.5);
    compare_batches(41, 1, 3, pointers, 0.0);
  }
}

/// There are twelve small products, a product that is too large for the device by itself, and an operand that is on the
/// device already. The device's 200 KB hold four of the small products.
BOOST_AUTO_TEST_CASE(matrices_that_do_not_fit_at_once) {
  use_small_device();
  std::vector<Matrix<float>> a, b, c;
  for (int i = 0; i < 13; ++i) {
    const Index side = i == 5 ? 240 : 64;
    a.push_back(Matrix<float>::random(side, i == 5 ? 16 : 64, Seed{1}));
    b.push_back(Matrix<float>::random(i == 5 ? 16 : 64, side, Seed{2}));
    c.push_back(Matrix<float>::random(side, side, Seed{3}));
  }
  b[2] = gemm(a[2], b[2], on_device);
  std::vector<Matrix<float>> expected = c;
  for (auto* results : {&c, &expected})
    gemm_batch<float, float>(2.0f, a, b, 0.5f, *results, results == &c ? on_device : on_host);
  for (std::size_t i = 0; i < c.size(); ++i) {
    BOOST_TEST((c[i] == expected[i]), "product " << i);
    const bool stays = i == 2;
    BOOST_TEST((a[i].view().operand().storage->resident_on() != nullptr) == stays, "operand " << i);
  }
}

/// Computes C := C + A·B with matrices of ones, in two groups: a small product and a large one.
struct TwoGroups {
  static constexpr Index large = 300, depth = 2000;
  std::vector<double> a = std::vector<double>(large * depth, 1.0), small = std::vector<double>(4, 5.0),
                      c = std::vector<double>(large * large, 5.0);
  GemmBatch groups[2];

  explicit TwoGroups(Index m) {
    groups[0].call = {{.type = DType::F64,
                       .m = 2,
                       .n = 2,
                       .k = 1,
                       .a = a.data(),
                       .lda = 1,
                       .b = a.data(),
                       .ldb = 2,
                       .beta = 1.0,
                       .c = small.data(),
                       .ldc = 2}};
    groups[1].call = {{.type = DType::F64,
                       .m = m,
                       .n = m,
                       .k = depth,
                       .a = a.data(),
                       .lda = depth,
                       .b = a.data(),
                       .ldb = m,
                       .beta = 1.0,
                       .c = c.data(),
                       .ldc = m}};
  }
  void expect_parts_written(std::string_view why) {
    test::expect_error<DeviceError>([&] { detail::gemm_batch_raw(groups, on_device); },
                                    {why, "parts of C were written already"});
    BOOST_TEST(small == std::vector<double>(4, 6.0), boost::test_tools::per_element()); // added once
    BOOST_TEST(c == std::vector<double>(large * large, 5.0));
  }
};

/// The device runs out of memory when the first of two groups is on the host again, because its 200 KB hold no block of
/// the second group.
BOOST_AUTO_TEST_CASE(parts_that_were_written_are_told_of) {
  use_small_device();
  TwoGroups(TwoGroups::large).expect_parts_written("64×64");
}

/// The device fails while it copies the results of the second group to the host, after the first group's.
BOOST_AUTO_TEST_CASE(fetches_that_fail_are_not_tried_again) { // SMALL_DEVICE_FETCHES is 1
  use_small_device();
  TwoGroups(8).expect_parts_written("no memory for copies");
}

BOOST_AUTO_TEST_CASE(one_operand_for_all) {
  use_small_device();
  Batched a(6, 5, 1, 0, 1, 1), b(5, 7, 0, 0, 8, 2), c(6, 7, 0, 0, 8, 3), expected = c;
  for (auto [result, options] : {std::pair{&c, on_device}, std::pair{&expected, on_host}})
    gemm_batch<double>(Op::None, Op::None, 6, 7, 5, 1.0, a.at(0), a.ld, 0, b.at(0), b.ld, b.stride, 0.0, result->at(0),
                       result->ld, result->stride, 8, options);
  BOOST_TEST(differing(c.memory, expected.memory) == 0);
}

BOOST_AUTO_TEST_CASE(matrices_of_unlike_shapes) {
  use_small_device();
  std::vector<Matrix<float>> a, b;
  for (const Index size : {3, 3, 1, 17, 5, 0}) {
    a.push_back(Matrix<float>::random(size, 2 * size, Seed{static_cast<std::uint64_t>(size)}));
    b.push_back(Matrix<float>::random(2 * size, size + 1, Seed{8}));
  }
  const std::vector<Matrix<float>> c = gemm_batch(a, b, on_device);
  BOOST_TEST(c.size() == a.size());
  for (std::size_t i = 0; i < a.size(); ++i) BOOST_TEST((c[i] == gemm(a[i], b[i], Backend::Reference)));
  std::vector<Matrix<float>> fewer(a.begin(), a.begin() + 1);
  test::expect_error<InvalidArgument>([&] { gemm_batch<float, float>(1, a, b, 0, fewer, on_device); },
                                      {"6 a", "6 b", "1 c"});
  std::swap(b[0], b[3]);
  test::expect_error<InvalidArgument>([&] { static_cast<void>(gemm_batch(a, b, on_device)); },
                                      {"product 0", "3×6", "34×18"});
}

BOOST_AUTO_TEST_SUITE_END()
