/// What a product says that it will take, beside what it takes: its allocations are counted below the library, and its
/// log is read.

#include <algorithm>
#include <complex>
#include <limits>
#include <string>
#include <type_traits>

#include <boost/test/unit_test.hpp>

#include "ranks.hpp"
#include "support/captured_errors.hpp"
#include "support/expect.hpp"
#include "system/memory/shortage.hpp"

namespace tessera::test {
namespace {

struct Case {
  int rows, cols, layers;
  Blocks blocks_of_b; ///< other than C's: B moves first
};

template <class T>
void check_plan(const Case& on, DistributedFactor<T> beta) {
  constexpr Index m = 210, n = 190, k = 3000;
  const Grid grid(MPI_COMM_WORLD, on.rows, on.cols, on.layers);
  DistributedMatrix<T> a(grid, m, k), b(grid, k, n, on.blocks_of_b), c(grid, m, n);
  for (DistributedMatrix<T>* x : {&a, &b, &c}) std::fill_n(x->data(), x->local_rows() * x->local_cols(), T{});
  const DistributedOptions options{.backend = Backend::Reference, .engine = "summa", .threads = 1};
  const DistributedPlan plan = plan_gemm(DistributedFactor<T>(1), a, b, beta, c, options);
  gemm(DistributedFactor<T>(1), a, b, beta, c, options); // what is made once is there afterwards

  memory_test::only_in("libtessera");
  DistributedReport report;
  std::size_t taken = 0;
  std::string log;
  {
    const CapturedErrors errors;
    memory_test::arm(std::numeric_limits<long>::max(), memory_test::Lasting::No);
    report = gemm(DistributedFactor<T>(1), a, b, beta, c, options);
    taken = memory_test::disarm().total_bytes;
    log = errors.text();
  }
  // The plan leaves out lists of places of operands that move, and the buffers of local products. Reference has the
  // latter for 16 bits and complex numbers.
  const bool moves = on.layers > 1 || on.blocks_of_b.rows > 0;
  [[maybe_unused]] const std::size_t left_out = moves ? 256 << 10 : 16 << 10;
  BOOST_TEST_CONTEXT(on.rows << "×" << on.cols << "×" << on.layers << ", rank " << grid.rank()) {
    BOOST_TEST(plan.engine == "summa");
    BOOST_TEST(plan.bytes() == report.planned_bytes);
    BOOST_TEST(plan.bytes() == report.allocated_bytes);
    BOOST_TEST(plan.bytes_expected == report.bytes_received);
    BOOST_TEST(plan.device_bytes == 0U);
    if (!memory_test::only_operator_new) { // else the sanitizer has the other functions
      BOOST_TEST(taken >= plan.bytes());
      if (std::is_same_v<T, double>) BOOST_TEST(taken <= plan.bytes() + left_out);
    }
    const std::string said = std::to_string(plan.bytes()) + " bytes of memory on rank " + std::to_string(grid.rank());
    BOOST_TEST(log.find("distributed product by summa: " + said) != std::string::npos, log << " lacks " << said);
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(plan)

BOOST_AUTO_TEST_CASE(is_what_the_log_says_and_the_product_takes) {
  for (const Case& on : {Case{2, 2, 1, {}}, Case{1, 4, 1, {}}, Case{2, 2, 1, {7, 30}}, Case{1, 2, 2, {}},
                         Case{1, 1, 4, {}}, Case{1, 1, 1, {}}}) {
    check_plan<double>(on, 1.0);
    check_plan<bf16>(on, 0.5F);
    check_plan<std::complex<float>>(on, 1.0F);
  }
}

BOOST_AUTO_TEST_CASE(needs_no_memory_and_looks_at_no_limit) {
  const Grid grid(MPI_COMM_WORLD, 2, 2);
  DistributedMatrix<float> a(grid, 60, 1500), c(grid, 60, 60);
  const DistributedPlan plan = plan_gemm(1.0F, a, a.transposed(), 0.0F, c, {.memory_limit = 1});
  BOOST_TEST(plan.bytes() > 0U);
  BOOST_TEST(grid.largest(static_cast<double>(plan.bytes())) >= static_cast<double>(plan.bytes()));
  BOOST_TEST(plan_gemm(0.0F, a, a.transposed(), 0.0F, c).bytes() == 0U);
  expect_error<OutOfMemory>([&] { gemm(1.0F, a, a.transposed(), 0.0F, c, {.memory_limit = 1}); }, {"memory_limit"});
  expect_error<InvalidArgument>([&] { plan_gemm(1.0F, a, a, 0.0F, c); }, {"distributed gemm", "60×1500"});
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
