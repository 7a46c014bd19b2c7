/// Tests batches that must be refused, and batches that look wrong and are right. The message names the argument, the
/// product and the values, and nothing is written.

#include <algorithm>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/backend.hpp>
#include <tessera/gemm_batch.hpp>
#include <tessera/matrix.hpp>

#include "support/borrowing_executor.hpp"
#include "support/expect.hpp"

using namespace tessera;
using tessera::test::contains;

namespace {

/// Three products C := A·B with A 2×3 and B 3×2, all compact, one behind the other; or pointers to these matrices.
struct Batch {
  std::vector<float> a = std::vector<float>(18, 1.0f), b = std::vector<float>(18, 1.0f),
                     c = std::vector<float>(12, 7.0f);
  std::vector<const void*> pointers_a{&a[0], &a[6], &a[12]}, pointers_b{&b[0], &b[6], &b[12]};
  std::vector<void*> pointers_c{&c[0], &c[4], &c[8]};
  GemmBatch batch{
      .call = {DType::F32, Math::Strict, Op::None, Op::None, 2, 2, 3, 1.0, a.data(), 3, b.data(), 2, 0.0, c.data(), 2},
      .count = 3,
      .stride_a = 6,
      .stride_b = 6,
      .stride_c = 4};

  void use_pointers() {
    batch.call.a = batch.call.b = batch.call.c = nullptr;
    batch.a = pointers_a.data();
    batch.b = pointers_b.data();
    batch.c = pointers_c.data();
  }
};

Status run_batch(std::span<const GemmBatch> groups) {
  Executor& executor = tessera::executor(Backend::Reference);
  return executor.gemm_batch(executor.default_queue(), groups);
}

template <class Change>
void batch_refused(Change change, std::initializer_list<std::string_view> parts) {
  Batch good, x;
  change(x);
  const GemmBatch groups[]{good.batch, x.batch};
  const Status alone = run_batch({&x.batch, 1}), second = run_batch(groups);
  BOOST_TEST((alone.code == StatusCode::InvalidArgument), alone.why);
  for (const std::string_view part : parts)
    BOOST_TEST(contains(alone.why, part), "'" << alone.why << "' lacks '" << part << "'");
  BOOST_TEST((second.why == "group 1: " + alone.why), second.why);
  for (const std::vector<float>* c : {&good.c, &x.c})
    for (const float element : *c) BOOST_TEST(element == 7.0f);
}

template <class Change>
void batch_accepted(Change change, std::vector<float> expected) {
  Batch x;
  change(x);
  const Status status = run_batch({&x.batch, 1});
  BOOST_TEST(status.ok(), status.why);
  BOOST_TEST(x.c == expected, boost::test_tools::per_element());
}

const std::vector<float> threes(12, 3.0f);

} // namespace

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

/// Results in a list, and of several groups, that share elements; and such that only lie between one another.
BOOST_AUTO_TEST_CASE(results_that_overlap_results) {
  const auto at = [](std::size_t i, std::size_t j, std::size_t k, Index ldc = 2) {
    return [=](Batch& x) {
      x.use_pointers();
      x.batch.call.ldc = ldc;
      x.pointers_c = {&x.c[i], &x.c[j], &x.c[k]};
    };
  };
  batch_refused(at(0, 0, 4), {"c[0] and c[1] overlap", "2×2 with ldc = 2", "a result of its own"});
  batch_refused(at(4, 0, 4), {"c[0] and c[2] overlap"});
  batch_refused(at(8, 5, 0), {"c[0] and c[1] overlap"});
  batch_refused(at(0, 8, 3), {"c[0] and c[2] overlap"});
  batch_refused(at(0, 2, 5, 6), {"c[0] and c[2] overlap"}); // the last one goes on in the next line
  batch_refused(at(1, 0, 4, 6), {"c[0] and c[1] overlap"});
  batch_accepted(at(8, 0, 4), threes);
  batch_accepted(at(4, 0, 2, 6), threes);

  const auto two = [](std::size_t i, Index ld_i, Index count, std::size_t j, Index ld_j, bool pointers) {
    Batch x, y;
    x.batch.call.c = &x.c[i];
    x.batch.call.ldc = ld_i;
    x.batch.count = count;
    y.batch.count = 1;
    y.batch.call.c = &x.c[j];
    y.batch.call.ldc = ld_j;
    void* const only = &x.c[j];
    const void *const a = y.a.data(), *const b = y.b.data();
    if (pointers) {
      y.batch.a = &a;
      y.batch.b = &b;
      y.batch.c = &only;
    }
    const GemmBatch groups[]{x.batch, y.batch};
    const Status status = run_batch(groups);
    const bool written = x.c != std::vector<float>(12, 7.0f);
    BOOST_TEST(written == status.ok());
    return status.why;
  };
  for (const bool pointers : {false, true}) {
    BOOST_TEST(two(0, 2, 2, 8, 2, pointers).empty());
    BOOST_TEST(two(4, 2, 2, 0, 2, pointers).empty());
    BOOST_TEST(two(0, 4, 1, 2, 4, pointers).empty()); // beside one another
    BOOST_TEST(two(0, 8, 1, 2, 4, pointers).empty()); // lines of other lengths
    for (const std::string& why : {two(0, 2, 2, 7, 2, pointers), two(0, 4, 1, 1, 4, pointers),
                                   two(0, 6, 1, 2, 4, pointers), two(0, 8, 1, 1, 4, pointers)})
      BOOST_TEST(contains(why, "of group 0 and product 0 of group 1 overlap in memory"), why);
  }
  BOOST_TEST(contains(two(0, 2, 2, 7, 2, false), "product 1 of group 0"));
}

/// Random rectangles in one array: a map in which each element counts its writers has the answer.
BOOST_AUTO_TEST_CASE(results_of_any_places) {
  std::mt19937 random(1);
  const auto below = [&](int n) { return static_cast<std::size_t>(random() % static_cast<unsigned>(n)); };
  int shared = 0;
  for (int round = 0; round < 4000; ++round) {
    std::vector<float> all(200, 0.0f);
    std::vector<int> owners(200, 0);
    const std::vector<float> ones(64, 1.0f);
    std::vector<GemmBatch> groups;
    const std::size_t count = 2 + below(6);
    const Index pitch = 6 + static_cast<Index>(below(8));
    for (std::size_t i = 0; i < count; ++i) {
      const auto m = static_cast<Index>(below(4)), n = static_cast<Index>(1 + below(5));
      const Index ld = below(3) > 0 ? pitch : n + static_cast<Index>(below(9));
      const std::size_t first = below(120);
      for (Index row = 0; row < m; ++row)
        for (Index col = 0; col < n; ++col) ++owners[first + static_cast<std::size_t>(row * ld + col)];
      groups.push_back({.call = {DType::F32, Math::Strict, Op::None, Op::None, m, n, 1, 1.0, ones.data(), 1,
                                 ones.data(), n, 0.0, &all[first], ld},
                        .count = 1});
    }
    const bool apart = *std::max_element(owners.begin(), owners.end()) < 2;
    const Status status = run_batch(groups);
    BOOST_TEST_REQUIRE(status.ok() == apart, status.why);
    shared += apart ? 0 : 1;
    for (std::size_t i = 0; i < all.size(); ++i) BOOST_TEST(all[i] == (apart ? static_cast<float>(owners[i]) : 0.0f));
  }
  BOOST_TEST(shared > 500);
  BOOST_TEST(shared < 3900);
}

/// Many results between one another take no longer than sorting them: a list of all pairs would not end here.
BOOST_AUTO_TEST_CASE(many_results_between_one_another) {
  constexpr std::size_t count = 100000;
  std::vector<float> all(3 * count, 7.0f);
  const std::vector<float> ones(3, 1.0f);
  std::vector<const void*> a(count, ones.data());
  std::vector<void*> c;
  for (std::size_t i = 0; i < count; ++i) c.push_back(&all[(i * 7919) % count]); // columns of a 3×count matrix
  GemmBatch batch{.call = {DType::F32, Math::Strict, Op::None, Op::None, 3, 1, 1, 1.0, nullptr, 1, nullptr, 1, 0.0,
                           nullptr, static_cast<Index>(count)},
                  .count = static_cast<Index>(count)};
  batch.a = batch.b = a.data();
  batch.c = c.data();
  const Status good = check_gemm_batch({&batch, 1});
  BOOST_TEST(good.ok(), good.why);
  c[99000] = c[7];
  const Status status = check_gemm_batch({&batch, 1});
  BOOST_TEST(contains(status.why, "c[7] and c[99000] overlap"), status.why);
}

/// Matrices whose storage is one: of the library's memory, and views of the caller's.
BOOST_AUTO_TEST_CASE(matrices_that_share_elements) {
  const std::vector<Matrix<float>> a(3, Matrix<float>(2, 3, 1.0f)), b(3, Matrix<float>(3, 2, 1.0f));
  std::vector<Matrix<float>> c(3, Matrix<float>(2, 2, 7.0f));
  gemm_batch<float, float>(1, a, b, 0, std::span(c));
  BOOST_TEST(c[2].at(1, 1) == 3.0f);

  const auto operands = [](const std::vector<Matrix<float>>& x) {
    std::vector<detail::Operand> all;
    for (const Matrix<float>& one : x) all.push_back(one.view().operand());
    return all;
  };
  const auto of_a = operands(a), of_b = operands(b);
  Matrix<float> whole(4, 6, 7.0f);
  const auto block = [&](Index row, Index col) { return detail::block_of(whole.operand(), row, col, 2, 2); };
  const std::vector<detail::Operand> apart{block(0, 4), block(0, 0), block(2, 1)};
  tessera::detail::gemm_batch(1, of_a, of_b, 0, apart, {});
  BOOST_TEST(whole.at(0, 4) == 3.0f);
  whole = Matrix<float>(4, 6, 7.0f);
  const std::vector<detail::Operand> shared{block(0, 4), block(1, 1), block(2, 2)};
  test::expect_error<InvalidArgument>([&] { tessera::detail::gemm_batch(1, of_a, of_b, 0, shared, {}); },
                                      {"c[1] (2×2) overlaps c[2] (2×2)", "result of its own"});
  BOOST_TEST(whole == Matrix<float>(4, 6, 7.0f));

  std::vector<float> memory(12, 7.0f);
  const auto view = [&](std::size_t first) { return detail::wrap_host(&memory[first], 2, 2, 4, DType::F32); };
  const std::vector<detail::Operand> views{view(0), view(6), view(2)}, crossed{view(0), view(6), view(1)};
  test::expect_error<InvalidArgument>([&] { tessera::detail::gemm_batch(1, of_a, of_b, 0, crossed, {}); },
                                      {"c[0]", "c[2]"});
  for (const float element : memory) BOOST_TEST(element == 7.0f);
  test::expect_error<InvalidArgument>([&] { tessera::detail::gemm_batch(1, of_a, of_b, 0, views, {}); },
                                      {"c[1]", "c[2]"});
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
    std::span<const GemmKernel> gemm_kernels() const noexcept override { return {&row, 1}; }
    GemmKernel row;
  } scarce;
  static int products_left;
  scarce.row = executor(Backend::Reference).gemm_kernels()[0];
  scarce.row.run = [](const GemmKernel&, Executor&, Queue&, const GemmCall&) noexcept -> Status {
    return products_left-- > 0 ? Status{} : Status{StatusCode::OutOfMemory, "no scratch"};
  };
  const Batch x;
  const auto outcome = [&](int products) {
    products_left = products;
    return scarce.gemm_batch(scarce.default_queue(), {&x.batch, 1}, scarce.row.name);
  };
  BOOST_TEST((outcome(0).code == StatusCode::OutOfMemory));
  const Status half_way = outcome(1);
  BOOST_TEST((half_way.code == StatusCode::DeviceError));
  BOOST_TEST(half_way.why == "no scratch; parts of C were written already");
  BOOST_TEST(outcome(3).ok());
}

/// Products that share the rows of A and C: the host reads where they end. Rows behind the last one become beta·C.
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
