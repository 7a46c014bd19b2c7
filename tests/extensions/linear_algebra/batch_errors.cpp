/// Tests what batches of systems refuse, and how they report systems without a solution. Nothing is written where a
/// call is refused.

#include <limits>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/linear_algebra/batch.hpp>

#include "systems.hpp"

namespace tessera::test {
namespace {

/// Calls step(), which must throw InvalidArgument, and leave the numbers as they are.
template <class Step>
void refused(std::vector<double>& numbers, const std::string& said, Step&& step) {
  const std::vector<double> before = numbers;
  BOOST_CHECK_EXCEPTION(step(), InvalidArgument, [&](const InvalidArgument& error) {
    BOOST_TEST_MESSAGE(error.what());
    return std::string(error.what()).find(said) != std::string::npos;
  });
  BOOST_TEST(numbers == before, boost::test_tools::per_element());
}

/// Identity matrices, 2×2, one after another.
std::vector<double> identities(std::size_t count) {
  std::vector<double> all;
  for (std::size_t i = 0; i < count; ++i) all.insert(all.end(), {1, 0, 0, 1});
  return all;
}

} // namespace

BOOST_AUTO_TEST_SUITE(batch_errors)

BOOST_AUTO_TEST_CASE(arguments) {
  std::vector<double> a = identities(10), b(30, 7);
  const auto solve = [&](Index n, Index columns, Index lda, Index stride_a, double* x, Index ldb, Index stride_b,
                         Index count, const SolveOptions& options = tested()) {
    solve_batch<double>(n, columns, a.data(), lda, stride_a, x, ldb, stride_b, nullptr, count, options);
  };
  refused(b, "solve_batch: n = -1", [&] { solve(-1, 1, 2, 4, b.data(), 1, 2, 3); });
  refused(b, "solve_batch: columns = -2", [&] { solve(2, -2, 2, 4, b.data(), 1, 2, 3); });
  refused(b, "solve_batch: count = -3 is negative", [&] { solve(2, 1, 2, 4, b.data(), 1, 2, -3); });
  refused(b, "lda = 1, and stored rows of a have 2", [&] { solve(2, 1, 1, 4, b.data(), 1, 2, 3); });
  refused(b, "ldb = 2, and stored rows of b have 3", [&] { solve(2, 3, 2, 4, b.data(), 2, 6, 3); });
  refused(b, "lda = 9223372036854775807, and 2 rows of so many elements overflow the address space",
          [&] { solve(2, 1, std::numeric_limits<Index>::max(), 4, b.data(), 1, 2, 1); });
  refused(b, "solve_batch: b is null", [&] { solve(2, 1, 2, 4, nullptr, 1, 2, 3); });
  refused(b, "3 matrices with stride_b = 4611686018427387904 elements overflow the address space",
          [&] { solve(2, 1, 2, 4, b.data(), 1, Index{1} << 62, 3); });
  refused(b, "b[0] and b[1] overlap in memory; each system needs a result of its own",
          [&] { solve(2, 1, 2, 4, b.data(), 1, 1, 3); });
  refused(b, "b[0] and b[1] overlap in memory", [&] { solve(2, 1, 2, 4, b.data(), 1, 0, 3); });
  refused(a, "overlaps a[", [&] { solve(2, 1, 2, 4, a.data() + 9, 1, 2, 3); });
  refused(b, "refine is an option of solve() alone",
          [&] { solve(2, 1, 2, 4, b.data(), 1, 2, 3, {.backend = tested_backend(), .refine = true}); });
  refused(a, "lu_batch: a[0] and a[1] overlap in memory", [&] {
    std::vector<Index> pivots(6);
    lu_batch(2, 2, a.data(), 2, 0, pivots.data(), nullptr, 3, tested());
  });
  refused(a, "lu_batch: pivots is null, and has 2 numbers for each of 3 systems",
          [&] { lu_batch(2, 2, a.data(), 2, 4, nullptr, nullptr, 3, tested()); });
  const std::vector<Index> wrong{0, 1, 0, 2};
  refused(b, "lu_solve_batch: pivots[3] = 2, and rows are numbered from 0 to 1",
          [&] { lu_solve_batch(Op::None, 2, 1, a.data(), 2, 4, wrong.data(), b.data(), 1, 2, 2, tested()); });

  std::vector<double*> to{b.data(), nullptr, b.data() + 4};
  const std::vector<const double*> from{a.data(), a.data() + 4, a.data() + 8};
  const auto solve_pointers = [&](const double* const* all, double* const* x) {
    solve_batch(2, 1, all, 2, x, 1, nullptr, 3, tested());
  };
  refused(b, "solve_batch: b[1] is null, and has 2×1 elements", [&] { solve_pointers(from.data(), to.data()); });
  to[1] = b.data() + 5;
  refused(b, "solve_batch: b[1] and b[2] overlap in memory", [&] { solve_pointers(from.data(), to.data()); });
  refused(b, "the array of pointers a is null", [&] { solve_pointers(nullptr, to.data()); });
  to[1] = a.data() + 8;
  refused(a, "solve_batch: b[1] overlaps a[2] in memory", [&] { solve_pointers(from.data(), to.data()); });

  const Matrix<double> two = Matrix<double>::identity(2), three = Matrix<double>::identity(3);
  using All = std::vector<Matrix<double>>;
  refused(b, "solve_batch: a has 2 matrices, b has 1", [&] { solve_batch(All{two, two}, All{two}, tested()); });
  refused(b, "solve_batch: a[1] is 3×3, and must be 2×2", [&] { solve_batch(All{two, three}, All{two, two}); });
  refused(b, "solve_batch: b[1] is 3×3, and must be 2×2", [&] { solve_batch(All{two, two}, All{two, three}); });
}

BOOST_AUTO_TEST_CASE(results_between_one_another) {
  // The right-hand sides are columns of one matrix, and each system's matrix lies between the ones of others.
  std::vector<double> b{1, 2, 3, 4, 5, 6}, a{1, 0, 2, 0, 4, 0, 0, 1, 0, 2, 0, 4};
  solve_batch<double>(2, 1, a.data(), 6, 2, b.data(), 3, 1, nullptr, 3, tested());
  BOOST_TEST(b == (std::vector<double>{1, 1, 0.75, 4, 2.5, 1.5}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(systems_without_a_solution) {
  std::vector<double> a = identities(20), b(40, 3);
  a[4 * 5] = 0;      // system 5 has no first pivot
  a[4 * 17 + 3] = 0; // and system 17 no second one
  std::vector<double> x = b;
  std::vector<Index> info(20, -1), expected(20, 0);
  expected[5] = 1;
  expected[17] = 2;
  solve_batch<double>(2, 1, a.data(), 2, 4, x.data(), 1, 2, info.data(), 20, tested());
  BOOST_TEST(info == expected, boost::test_tools::per_element());
  try {
    for (double& value : x) value = 8;
    solve_batch<double>(2, 1, a.data(), 2, 4, x.data(), 1, 2, nullptr, 20, tested());
    BOOST_ERROR("two systems are singular");
  } catch (const FailedSystem& error) {
    BOOST_TEST_MESSAGE(error.what());
    BOOST_TEST(error.system() == 5);
    BOOST_TEST(error.info() == 1);
    BOOST_TEST(std::string(error.what())
                   .find("solve_batch: the matrix of system 5 is singular: pivot 0 of its "
                         "factorisation, counted from 0, is 0; so it is with 1 others") == 0);
    BOOST_TEST(x == std::vector<double>(40, 8), boost::test_tools::per_element()); // 8 solved is 8
  }
  a[4 * 5] = 1;
  a[4 * 17 + 3] = -1;
  const std::vector<double> before = a;
  BOOST_CHECK_EXCEPTION(cholesky_batch(Triangle::Lower, 2, a.data(), 2, 4, nullptr, 20, tested()), FailedSystem,
                        [](const FailedSystem& error) {
                          return error.system() == 17 && error.info() == 2 &&
                                 std::string(error.what()).find("its leading minor of order 2 is not") !=
                                     std::string::npos;
                        });
  BOOST_TEST(a == before, boost::test_tools::per_element()); // the factors of identities, and the failed one
  std::vector<double> zero(4), both(8, 5);
  info.assign(4, -1);
  solve_batch<double>(2, 1, zero.data(), 2, 0, both.data(), 1, 2, info.data(), 4, tested()); // all have one matrix
  BOOST_TEST(info == std::vector<Index>(4, 1), boost::test_tools::per_element());
  BOOST_TEST(both == std::vector<double>(8, 5), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(nothing_to_do) {
  std::vector<Index> info(3, -1), pivots(3, -1);
  double* const none = nullptr;
  solve_batch<double>(2, 1, none, 2, 4, none, 1, 2, nullptr, 0, tested());
  solve_batch<double>(0, 1, none, 1, 0, none, 1, 0, info.data(), 3, tested());
  BOOST_TEST(info == std::vector<Index>(3, 0), boost::test_tools::per_element());
  const std::vector<double> a = {0, 0, 0, 1};
  solve_batch<double>(1, 0, a.data(), 1, 1, none, 1, 0, info.data(), 3, tested()); // singular ones are found
  BOOST_TEST(info == std::vector<Index>(3, 1), boost::test_tools::per_element());
  lu_batch(0, 5, none, 5, 0, pivots.data(), info.data(), 3, tested());
  lu_batch(5, 0, none, 1, 0, pivots.data(), info.data(), 3, tested());
  BOOST_TEST(pivots == std::vector<Index>(3, -1), boost::test_tools::per_element());
  BOOST_TEST(solve_batch(std::vector<Matrix<float>>{}, std::vector<Matrix<float>>{}, tested()).empty());
  const std::vector<Matrix<float>> empty(2), x = solve_batch(empty, empty, tested());
  BOOST_TEST(x.size() == 2);
  const std::vector<Matrix<float>> zeros(2, Matrix<float>(4, 4)), without_columns(2, Matrix<float>(4, 0));
  BOOST_CHECK_THROW(solve_batch(zeros, without_columns, tested()), FailedSystem);
  lu_solve_batch<double>(Op::None, 2, 0, a.data(), 2, 0, pivots.data(), none, 1, 0, 1, tested());
  const std::vector<Matrix<float>> matrices(3, dominant<float>(6, Seed{1})), right(3, Matrix<float>(6, 2, 1.0f));
  for (const Matrix<float>& one : solve_batch(matrices, right, tested()))
    BOOST_TEST(differing(one, solve(matrices[0], right[0], tested())) == 0);
}

BOOST_AUTO_TEST_CASE(an_absent_backend) {
  std::vector<double> a = identities(3), b(6, 1);
  for (const BackendInfo& info : available_backends())
    if (!info.available)
      BOOST_CHECK_THROW(
          solve_batch<double>(2, 1, a.data(), 2, 4, b.data(), 1, 2, nullptr, 3, {.backend = info.backend}),
          BackendUnavailable);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
