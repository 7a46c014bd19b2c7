/// Products of files in the modes of matrix units have the bits of products in memory: no segment of k is cut.

#include <algorithm>
#include <array>
#include <string>

#include <boost/test/unit_test.hpp>

#include <tessera/backend.hpp>
#include <tessera/detail/matrix_unit_contract.hpp>
#include <tessera/executor.hpp>

#include "operands.hpp"
#include "support/expect.hpp"

namespace tessera::test {
namespace {

struct MatrixUnitProduct {
  Index m, n, k;
  Index slice; ///< the least k that is read at once
};

/// One segment; two and four that a product of their k takes as one; and longer ones, for which k stays whole.
constexpr std::array matrix_unit_products{MatrixUnitProduct{70, 90, 1500, 1500},  MatrixUnitProduct{90, 70, 2048, 2048},
                                          MatrixUnitProduct{130, 65, 2200, 1152}, MatrixUnitProduct{65, 80, 4096, 2048},
                                          MatrixUnitProduct{70, 66, 4200, 4200},  MatrixUnitProduct{66, 67, 6300, 1664},
                                          MatrixUnitProduct{65, 66, 8400, 8400}};

/// Blocks of 64 rows and columns with a deeper slice do not fit into the memory of the tests' device.
constexpr Index most_on_the_device = 2048;

/// The executors of this machine, and a device of the tests' own.
std::vector<Executor*> executors_with_the_contract() {
  std::vector<Executor*> all{&executor(Backend::Cuda, 0), &executor(Backend::Reference)};
  for (const BackendInfo& info : available_backends())
    if (info.available && info.memory == Memory::Host && info.backend != Backend::Reference)
      all.push_back(&executor(info.backend));
  return all;
}

/// A host's backend whose kernel of the contract is fast, where there is one: the reference's is a model.
Backend backend_in_memory() { return executors_with_the_contract().back()->capabilities().backend; }

template <class T, class R>
void check_matrix_units(Math math, const MatrixUnitProduct& x, double alpha, double beta, unsigned flags,
                        Executor& executor) {
  Operands<T, R> operands(x.m, x.n, x.k, alpha, beta, flags);
  FileProduct& product = operands.product;
  product.math = math;
  product.kernel = "hopper_units";
  product.executors = {&executor};
  operands.expected = operands.c;
  const auto a = (flags & 1) != 0 ? operands.a.transposed() : operands.a.view();
  const auto b = (flags & 2) != 0 ? operands.b.transposed() : operands.b.view();
  gemm(static_cast<Scalar<T>>(alpha), a, b, static_cast<Scalar<T>>(beta), operands.expected,
       GemmOptions{.backend = backend_in_memory(), .math = math, .kernel = "hopper_units"});
  const std::size_t least = operands.least_limit();
  for (const std::size_t limit : {least, least * 4}) {
    product.memory_limit = limit;
    const FileProductPlan plan = plan_files(product);
    const std::string what = std::to_string(x.m) + "×" + std::to_string(x.n) + "×" + std::to_string(x.k) + " " +
                             std::string(to_string(math)) + " within " + std::to_string(limit) + " bytes";
    BOOST_TEST(plan.depth_a % x.slice == (plan.depth_a == x.k ? x.k % x.slice : 0), what);
    BOOST_TEST(plan.depth_b % x.slice == (plan.depth_b == x.k ? x.k % x.slice : 0), what);
    gemm_files(product);
    BOOST_TEST(operands.differing() == 0, what << ": " << operands.differing() << " elements have other bits");
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(matrix_units)

BOOST_AUTO_TEST_CASE(slices_are_segments_or_all_of_k) {
  for (const MatrixUnitProduct& x : matrix_unit_products) {
    BOOST_TEST(detail::hopper::slice_of_mode(Math::Bf16, x.k) == x.slice, "k = " << x.k);
    BOOST_TEST(detail::hopper::slice_of_mode(Math::EmulatedFp16x3, x.k) == x.k);
    BOOST_TEST(detail::hopper::slice_of_mode(Math::ScaledFp16, x.k) == x.k);
  }
  for (Index k = 0; k < 40000; k += 13) {
    const Index slice = detail::matrix_unit_slice(k);
    BOOST_TEST_REQUIRE((slice == k || slice == detail::matrix_unit_segment_length(k)), "k = " << k);
    BOOST_TEST_REQUIRE((slice == k || detail::matrix_unit_segments(slice) == 1), "k = " << k);
  }
}

BOOST_AUTO_TEST_CASE(bits_are_those_in_memory) {
  unsigned flags = 0;
  for (Executor* executor : executors_with_the_contract())
    for (const MatrixUnitProduct& x : matrix_unit_products) {
      if (!executor->capabilities().host_memory && x.slice > most_on_the_device) continue;
      if (executor->capabilities().backend == Backend::Reference && x.k > 2200) continue; // a slow model
      ++flags;
      const double alpha = flags % 3 == 0 ? 1.0 : -0.75, beta = flags % 2 == 0 ? 0.0 : 0.5;
      // The emulated modes multiply several times, and their k stays whole.
      const bool is_fast =
          executor->capabilities().host_memory && executor->capabilities().backend != Backend::Reference;
      const bool is_long = x.k > (is_fast ? 4200 : most_on_the_device);
      switch (flags % (is_long ? 3 : 7)) {
        case 3:
          check_matrix_units<float, float>(Math::EmulatedFp16x3, {x.m, x.n, x.k, x.k}, alpha, beta, flags % 32,
                                           *executor);
          break;
        case 4:
          check_matrix_units<float, float>(Math::EmulatedBf16x6, {x.m, x.n, x.k, x.k}, alpha, beta, flags % 32,
                                           *executor);
          break;
        case 5:
          check_matrix_units<float, float>(Math::Fp16, x, alpha, beta, flags % 32, *executor);
          break;
        case 6:
          check_matrix_units<float, float>(Math::ScaledFp16, {x.m, x.n, x.k, x.k}, alpha, beta, flags % 32, *executor);
          break;
        case 0:
          check_matrix_units<float, float>(Math::Tf32, x, alpha, beta, flags % 32, *executor);
          break;
        case 1:
          check_matrix_units<bf16, float>(Math::Bf16, x, alpha, beta, flags % 32, *executor);
          break;
        default:
          check_matrix_units<f16, f16>(Math::Fp16, x, alpha, beta, flags % 32, *executor);
      }
    }
}

BOOST_AUTO_TEST_CASE(executors_share_the_blocks) {
  Operands<bf16, float> x(150, 140, 2200, 1.0, 0.0, 2);
  x.product.executors = executors_with_the_contract();
  x.product.math = Math::Bf16;
  x.product.kernel = "hopper_units";
  x.product.memory_limit = x.least_limit() * 2;
  x.expected = gemm<float>(x.a, x.b.transposed(),
                           GemmOptions{.backend = backend_in_memory(), .math = Math::Bf16, .kernel = "hopper_units"});
  BOOST_TEST(gemm_files(x.product).plan.blocks > 4);
  BOOST_TEST(x.differing() == 0);
}

/// Rows of k in memory need more than a strict product's slices: the message says why.
BOOST_AUTO_TEST_CASE(a_small_limit_is_refused_with_the_reason) {
  Operands<bf16, float> x(70, 70, 9000, 1.0, 0.0, 0);
  x.product.executors = {&executor(Backend::Reference)};
  x.product.memory_limit = x.least_limit();
  x.product.math = Math::Bf16;
  expect_error<OutOfMemory>([&] { gemm_files(x.product); },
                            {"memory_limit", "keeps its bits in slices of 9000 k", "the smallest limit that would do"});
}

BOOST_AUTO_TEST_CASE(a_small_device_is_refused_with_the_reason) {
  Operands<float> x(70, 70, 8400, 1.0, 0.0, 0);
  x.product.executors = {&executor(Backend::Cuda, 0)};
  x.product.math = Math::Tf32;
  expect_error<OutOfMemory>([&] { gemm_files(x.product); }, {"device memory", "slices of 8400 k"});
}

BOOST_AUTO_TEST_CASE(strict_products_keep_their_slices) {
  Operands<bf16, float> x(70, 70, 9000, 1.0, 0.0, 0);
  BOOST_TEST(plan_files(x.product).depth_b == canonical_segment);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
