/// Tests batches whose results share elements, which are refused, and batches whose results only lie between one
/// another.

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/gemm_batch.hpp>
#include <tessera/matrix.hpp>

#include "gemm_batch_problem.hpp"

using namespace tessera;
using namespace tessera::test;

BOOST_AUTO_TEST_SUITE(gemm_batch_results)

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
      groups.push_back({.call = {{.type = DType::F32,
                                  .m = m,
                                  .n = n,
                                  .k = 1,
                                  .a = ones.data(),
                                  .lda = 1,
                                  .b = ones.data(),
                                  .ldb = n,
                                  .c = &all[first],
                                  .ldc = ld}},
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
  GemmBatch batch{
      .call = {{.type = DType::F32, .m = 3, .n = 1, .k = 1, .lda = 1, .ldb = 1, .ldc = static_cast<Index>(count)}},
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

BOOST_AUTO_TEST_SUITE_END()
