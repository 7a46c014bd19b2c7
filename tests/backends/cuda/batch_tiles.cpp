/// Batches on a device by tensor maps: in each tile, products have the bits that they have alone. Rows of Aᵀ that end
/// anywhere take another kernel.

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include <tessera/executor.hpp>
#include <tessera/tessera.hpp>

#include "batch_tiles.hpp"
#include "is_hopper.hpp"
#include "on_device.hpp"

using namespace tessera;
using cuda_test::check_ok;
using cuda_test::OnDevice;

namespace {

/// Ends of products of all sizes, some of them empty. Three rows are after the last one, if there are as many.
std::vector<std::int32_t> ends_of(Index count, Index m) {
  std::vector<std::int32_t> ends;
  const Index covered = std::max<Index>(m - 3, 1);
  for (Index i = 1; i <= count; ++i)
    ends.push_back(i % 4 == 2 ? ends.back() : static_cast<std::int32_t>(covered * i * i / (count * count)));
  return ends;
}

/// Fills a matrix of 16-bit elements with numbers of random bits, whose magnitudes are from 1/8 to 2.
void fill(Executor& device, DType type, const OnDevice& x, unsigned seed) {
  const std::size_t bytes = x.bytes().size();
  std::vector<std::uint64_t> words(bytes / 8 + 1);
  std::mt19937_64 random(seed);
  // The sign, the last two bits of the exponent and the mantissa are random.
  const bool bf16 = type == DType::BF16;
  const std::uint64_t mask = bf16 ? 0x81ff81ff81ff81ff : 0x8fff8fff8fff8fff;
  const std::uint64_t exponent = bf16 ? 0x3e003e003e003e00 : 0x3000300030003000;
  for (std::uint64_t& word : words) word = (random() & mask) | exponent;
  check_ok(device.copy_in(device.default_queue(), x.data(), bytes, words.data(), bytes, bytes, 1));
}

/// Compares the products of a batch with the same products alone.
void check(DType type, DType result, const test::BatchInTiles& x, bool by_ends, Op op_a, Op op_b, double alpha,
           double beta) {
  Executor& device = executor(Backend::Cuda);
  GemmBatch group = packed_batch(type, x, by_ends, op_a, op_b);
  GemmCall& call = group.call;
  const Index rows = by_ends ? x.m : x.m * x.count;
  OnDevice a(device, type, op_a == Op::None ? rows : x.k * (by_ends ? 1 : x.count), call.lda);
  OnDevice b(device, type, x.count * x.k, x.n), together(device, result, rows, x.n), alone(device, result, rows, x.n);
  fill(device, type, a, 1);
  fill(device, type, b, 2);
  fill(device, type, together, 3); // as f32 results, pairs of them are numbers too
  fill(device, type, alone, 3);
  const std::vector<std::int32_t> ends = ends_of(x.count, x.m);
  OnDevice ends_on_device(device, DType::F32, x.count, 1); // as many bytes
  const std::size_t bytes = ends.size() * sizeof(ends[0]);
  check_ok(device.copy_in(device.default_queue(), ends_on_device.data(), bytes, ends.data(), bytes, bytes, 1));
  group.ends = {by_ends ? ends_on_device.data() : nullptr, false};
  call.alpha = alpha;
  call.beta = beta;
  call.result = result;
  call.a = a.data();
  call.b = b.data();
  call.c = together.data();
  check_ok(device.gemm_batch(device.default_queue(), {&group, 1}));
  const std::vector<std::byte> results = together.bytes();
  call.c = alone.data();
  Index begin = 0;
  const auto run_rows = [&](GemmCall one, Index end) {
    one.m = end - begin;
    one.a = static_cast<std::byte*>(a.data()) + begin * (op_a == Op::None ? call.lda : 1) * 2;
    one.c = static_cast<std::byte*>(alone.data()) + begin * x.n * static_cast<Index>(size_of(result));
    if (one.m > 0) check_ok(device.gemm(device.default_queue(), one));
    begin = end;
  };
  for (Index i = 0; i < x.count; ++i) {
    if (by_ends)
      run_rows(group.product(i), ends[static_cast<std::size_t>(i)]);
    else
      check_ok(device.gemm(device.default_queue(), group.product(i)));
  }
  if (by_ends) {
    GemmCall after_last = call;
    after_last.k = 0;
    run_rows(after_last, x.m);
  }
  BOOST_TEST((together.bytes() == alone.bytes()),
             to_string(type) << ": " << x.count << (by_ends ? " by ends, " : " at strides, ") << x.m << "×" << x.n
                             << "×" << x.k << ", alpha " << alpha << ", beta " << beta);
}

/// Checks with the batch's description in messages.
void check_named(DType type, DType result, const test::BatchInTiles& x, bool by_ends, Op op_a, Op op_b, double alpha,
                 double beta) {
  BOOST_TEST_CONTEXT(to_string(type) << ": " << x.count << (by_ends ? " by ends, " : " at strides, ") << x.m << "×"
                                     << x.n << "×" << x.k << (op_a == Op::None ? ", A" : ", Aᵀ")
                                     << (op_b == Op::None ? "B" : "Bᵀ") << ", alpha " << alpha << ", beta " << beta)
  check(type, result, x, by_ends, op_a, op_b, alpha, beta);
}

void check_all(DType type, DType result, double alpha, double beta) {
  if (!cuda_test::is_hopper()) return;
  for (const Op op_a : {Op::None, Op::Transpose})
    for (const Op op_b : {Op::None, Op::Transpose}) {
      for (const test::BatchInTiles& x : test::batches_at_strides)
        check_named(type, result, x, false, op_a, op_b, alpha, beta);
      for (const test::BatchInTiles& x : test::batches_by_ends)
        check_named(type, result, x, true, op_a, op_b, alpha, beta);
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(batch_tiles)

BOOST_AUTO_TEST_CASE(products_have_the_bits_that_they_have_alone) {
  check_all(DType::BF16, DType::BF16, 1, 0);
  check_all(DType::F16, DType::F32, 1, 0);
}

BOOST_AUTO_TEST_CASE(results_are_added_to_c) { check_all(DType::F16, DType::F16, -0.5, 2); }

BOOST_AUTO_TEST_SUITE_END()
