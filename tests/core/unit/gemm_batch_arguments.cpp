/// Tests batches that must be refused, and batches that look wrong and are right. The message names the argument, the
/// product and the values, and nothing is written. gemm_batch_results.cpp tests results that share elements.

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/backend.hpp>
#include <tessera/gemm_batch.hpp>
#include <tessera/matrix.hpp>

#include "gemm_batch_problem.hpp"
#include "support/borrowing_executor.hpp"
#include "support/expect.hpp"

using namespace tessera;
using namespace tessera::test;

BOOST_AUTO_TEST_SUITE(gemm_batch_arguments)

BOOST_AUTO_TEST_CASE(shapes) {
  batch_accepted([](Batch&) {}, threes);
  batch_accepted([](Batch& x) { x.use_pointers(); }, threes);
  batch_refused([](Batch& x) { x.batch.count = -2; }, {"count = -2", "negative"});
  batch_refused([](Batch& x) { x.batch.call.m = -1; }, {"m = -1"});
  batch_refused([](Batch& x) { x.batch.call.lda = 2; }, {"lda = 2", "3 columns"});
  batch_refused(
      [](Batch& x) {
        x.use_pointers();
        x.batch.call.ldc = 1;
      },
      {"ldc = 1", "2 columns"});
  batch_refused([](Batch& x) { x.batch.count = std::numeric_limits<Index>::max(); }, {"count = 9223372036854775807"});
  batch_accepted([](Batch& x) { x.batch.count = 0; }, std::vector<float>(12, 7.0f));
}

BOOST_AUTO_TEST_CASE(null_pointers) {
  batch_refused([](Batch& x) { x.batch.call.a = nullptr; }, {"a is null", "2×3"});
  const auto with_pointers = [](auto change) {
    return [change](Batch& x) {
      x.use_pointers();
      change(x);
    };
  };
  batch_refused(with_pointers([](Batch& x) { x.pointers_a[2] = nullptr; }), {"a[2] is null", "2×3"});
  batch_refused(with_pointers([](Batch& x) { x.pointers_b[0] = nullptr; }), {"b[0] is null", "3×2"});
  batch_refused(with_pointers([](Batch& x) { x.pointers_c[1] = nullptr; }), {"c[1] is null", "2×2"});
  batch_refused(with_pointers([](Batch& x) { x.batch.a = nullptr; }), {"array of pointers a is null"});
  batch_refused(with_pointers([](Batch& x) { x.batch.c = nullptr; }), {"array of pointers c is null", "that of a"});
}

BOOST_AUTO_TEST_CASE(strides) {
  batch_refused([](Batch& x) { x.batch.stride_c = 0; }, {"stride_c = 0", "products 0 and 1 overlap", "2×2", "ldc = 2"});
  batch_refused([](Batch& x) { x.batch.stride_c = 3; }, {"stride_c = 3", "products 0 and 1"});
  batch_refused(
      [](Batch& x) {
        x.batch.call.c = &x.c[8];
        x.batch.stride_c = -3;
      },
      {"stride_c = -3", "overlap"});
  constexpr Index huge = std::numeric_limits<Index>::max() / 4;
  batch_refused([](Batch& x) { x.batch.stride_b = huge; }, {"stride_b", "overflow"});
  batch_refused([](Batch& x) { x.batch.stride_a = std::numeric_limits<Index>::min(); }, {"stride_a", "overflow"});
  batch_accepted([](Batch& x) { x.batch.stride_a = x.batch.stride_b = 0; }, threes);
  batch_accepted(
      [](Batch& x) {
        x.batch.call.a = &x.a[12];
        x.batch.call.c = &x.c[8];
        x.batch.stride_a = -6;
        x.batch.stride_c = -4;
      },
      threes);
  // The matrices are side by side, in rows of six.
  batch_accepted(
      [](Batch& x) {
        x.batch.call.ldc = 6;
        x.batch.stride_c = 2;
      },
      threes);
  batch_refused(
      [](Batch& x) { // row 1 of the first one is where row 0 of the third one would be
        x.batch.call.ldc = 4;
        x.batch.stride_c = 2;
      },
      {"products 0 and 2 overlap"});
}

BOOST_AUTO_TEST_CASE(results_that_overlap_operands) {
  batch_refused([](Batch& x) { x.batch.call.a = &x.c[4]; }, {"a c overlaps an a", "stride_c = 4", "stride_a = 6"});
  batch_refused( // not in the first product
      [](Batch& x) {
        x.batch.call.b = &x.c[8];
        x.batch.call.ldb = 2;
        x.batch.stride_b = 0;
        x.batch.call.k = 2;
        x.batch.call.lda = 3;
      },
      {"a c overlaps a b"});
  batch_refused(
      [](Batch& x) {
        x.use_pointers();
        x.pointers_a[1] = &x.c[3];
      },
      {"c[1] overlaps a[1]"});
  // A and C take turns in one array: rows of 2 + 2 elements, two products.
  std::vector<float> both(16, 1.0f);
  Batch x;
  x.batch.count = 2;
  x.batch.call.k = 2;
  x.batch.call.a = both.data();
  x.batch.call.c = both.data() + 2;
  x.batch.call.lda = x.batch.call.ldc = 4;
  x.batch.stride_a = x.batch.stride_c = 8;
  const Status status = run_batch({&x.batch, 1});
  BOOST_TEST(status.ok(), status.why);
  const std::vector<float> turns{1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2};
  BOOST_TEST(both == turns, boost::test_tools::per_element());
  x.batch.stride_a = 6;
  BOOST_TEST(!run_batch({&x.batch, 1}).ok());
}

/// All products share one bias and one residual: no result may overlap them, not only the first result.
BOOST_AUTO_TEST_CASE(results_that_overlap_an_epilogue) {
  for (const bool pointers : {false, true}) {
    const auto bias_at = [&](std::size_t element) {
      return [=](Batch& x) {
        if (pointers) x.use_pointers();
        x.batch.call.epilogue = {.bias_per = BiasPer::Column, .bias = &x.c[element]};
      };
    };
    batch_refused(bias_at(2), {"c overlaps the epilogue's bias"});
    batch_refused(bias_at(10), {"c[2] overlaps the epilogue's bias"});
    batch_refused(
        [&](Batch& x) {
          if (pointers) x.use_pointers();
          x.batch.call.epilogue = {.residual = &x.c[4], .ld_residual = 2};
        },
        {"c[1] overlaps the epilogue's residual"});
    batch_accepted(
        [&](Batch& x) {
          if (pointers) x.use_pointers();
          x.batch.call.epilogue = {.residual = &x.a[3], .ld_residual = 2};
        },
        std::vector<float>(12, 4.0f));
  }
}

BOOST_AUTO_TEST_CASE(a_name_that_is_unknown) {
  const Batch x;
  Executor& executor = tessera::executor(Backend::Reference);
  const Status status = executor.gemm_batch(executor.default_queue(), {&x.batch, 1}, "canonicle");
  BOOST_TEST(contains(status.why, "did you mean 'canonical'?"), status.why);
  for (const float element : x.c) BOOST_TEST(element == 7.0f);
}

/// A kernel whose scratch memory runs out at the second of three products. A caller that tried again would apply beta
/// twice.
BOOST_AUTO_TEST_CASE(out_of_memory_half_way_is_no_longer_out_of_memory) {
  struct Scarce : test::BorrowingExecutor {
    Scarce() : BorrowingExecutor(Backend::Reference) {}
    std::span<const GemmKernel> gemm_kernels() const noexcept override { return {&kernel, 1}; }
    GemmKernel kernel;
  } scarce;
  static int products_left;
  scarce.kernel = executor(Backend::Reference).gemm_kernels()[0];
  scarce.kernel.run = [](const GemmKernel&, Executor&, Queue&, const GemmCall&) noexcept -> Status {
    return products_left-- > 0 ? Status{} : Status{StatusCode::OutOfMemory, "no scratch"};
  };
  const Batch x;
  const auto outcome = [&](int products) {
    products_left = products;
    return scarce.gemm_batch(scarce.default_queue(), {&x.batch, 1}, scarce.kernel.name);
  };
  BOOST_TEST((outcome(0).code == StatusCode::OutOfMemory));
  const Status half_way = outcome(1);
  BOOST_TEST((half_way.code == StatusCode::DeviceError));
  BOOST_TEST(half_way.why == "no scratch; parts of C were written already");
  BOOST_TEST(outcome(3).ok());
}

/// Products that share the rows of A and C: the host reads where they end. Rows after the last one become beta·C.
BOOST_AUTO_TEST_CASE(rows_that_products_share) {
  Batch x;
  for (std::size_t i = 0; i < x.b.size(); ++i) x.b[i] = static_cast<float>(i / 6 + 1);
  x.batch.call.m = 6;
  x.batch.stride_a = x.batch.stride_c = 0;
  const std::int32_t narrow[]{1, 1, 4};
  x.batch.ends = {narrow};
  BOOST_TEST(run_batch({&x.batch, 1}).ok());
  BOOST_TEST(x.c == (std::vector<float>{3, 3, 9, 9, 9, 9, 9, 9, 0, 0, 0, 0}), boost::test_tools::per_element());
  const std::int64_t wide[]{0, 6, 6};
  x.batch.ends = {wide, true};
  x.batch.call.beta = 1;
  BOOST_TEST(run_batch({&x.batch, 1}).ok());
  BOOST_TEST(x.c == (std::vector<float>{9, 9, 15, 15, 15, 15, 15, 15, 6, 6, 6, 6}), boost::test_tools::per_element());
  x.batch.ends = {narrow};
  x.batch.call.beta = 2;
  BOOST_TEST(run_batch({&x.batch, 1}).ok());
  BOOST_TEST(x.c == (std::vector<float>{21, 21, 39, 39, 39, 39, 39, 39, 12, 12, 12, 12}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(rows_that_products_cannot_share) {
  static constexpr std::int32_t good[]{0, 2, 2}, falls[]{1, 0, 2}, far[]{0, 1, 3}, negative[]{-1, 1, 2};
  const auto with = [](const std::int32_t* ends) {
    return [=](Batch& x) {
      x.batch.stride_a = x.batch.stride_c = 0;
      x.batch.ends = {ends};
    };
  };
  batch_refused(with(falls), {"ends[1] = 0", "the end before it, 1", "m = 2"});
  batch_refused(with(far), {"ends[2] = 3", "m = 2"});
  batch_refused(with(negative), {"ends[0] = -1"});
  batch_refused([](Batch& x) { x.batch.ends = {good}; }, {"stride_a = 6", "stride_c = 4", "must be 0"});
  batch_refused(
      [&](Batch& x) {
        with(good)(x);
        x.use_pointers();
      },
      {"arrays of pointers"});
  batch_refused(
      [&](Batch& x) {
        with(good)(x);
        x.batch.call.epilogue.activation = Activation::Relu;
      },
      {"no epilogue"});
  batch_refused(
      [&](Batch& x) {
        with(good)(x);
        x.batch.call.c = &x.b[6];
      },
      {"c overlaps b of product 1"});
}

BOOST_AUTO_TEST_SUITE_END()
