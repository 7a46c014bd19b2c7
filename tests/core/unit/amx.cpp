/// The rungs on AMX, in products of many blocks and with numbers that their tiles cannot hold. The conformance program
/// tests small shapes, edges and special values.

#include <array>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/backend.hpp>
#include <tessera/executor.hpp>
#include <tessera/half.hpp>
#include <tessera/random.hpp>

using namespace tessera;

namespace {

Executor& host() { return executor(Backend::OpenMP); }

boost::test_tools::assertion_result has_amx(boost::unit_test::test_unit_id) {
  for (const BackendInfo& info : available_backends())
    if (info.backend == Backend::OpenMP && !info.available) return false;
  for (const GemmKernel& kernel : host().gemm_kernels())
    if (kernel.name == std::string("amx_bf16")) return kernel.reject(kernel, {}, host().capabilities()) == nullptr;
  return false;
}

template <class T>
std::vector<T> whole_numbers(Index count, std::uint64_t seed) {
  std::vector<T> x(static_cast<std::size_t>(count));
  for (std::size_t e = 0; e < x.size(); ++e)
    x[e] = random_element<T>(Distribution::Integers, seed, e, Scalar<T>{-4}, Scalar<T>{4});
  return x;
}

template <class T, class R = T>
struct AmxProblem {
  GemmCall call;
  std::vector<T> a, b;
  std::vector<R> c;

  AmxProblem(Index m, Index n, Index k)
      : a(whole_numbers<T>(m * k, 1)), b(whole_numbers<T>(k * n, 2)), c(whole_numbers<R>(m * n, 3)) {
    call.type = dtype_of<T>;
    call.result = dtype_of<R>;
    call.m = m;
    call.n = n;
    call.k = k;
    call.ldc = n;
    set(Op::None, Op::None, 0);
  }
  /// Takes the stored elements for matrices with these ops, with leading dimensions that fit.
  void set(Op op_a, Op op_b, double beta) {
    call.op_a = op_a;
    call.op_b = op_b;
    call.lda = op_a == Op::None ? call.k : call.m;
    call.ldb = op_b == Op::None ? call.n : call.k;
    call.beta = beta;
  }
  std::vector<R> run(Math math, const std::string& kernel, int threads) {
    std::vector<R> result = c;
    call.math = math;
    call.threads = threads;
    call.a = a.data();
    call.b = b.data();
    call.c = result.data();
    const Status status = host().gemm(host().default_queue(), call, kernel);
    BOOST_REQUIRE_MESSAGE(status.ok(), status.why);
    return result;
  }
};

template <class R>
bool same_bits(const std::vector<R>& x, const std::vector<R>& y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(R)) == 0;
}

/// The test uses whole numbers, whose sums are exact in any order.
template <class T, class R = T>
void check_exact(Math math, const std::string& kernel) {
  // The shapes have strips of either operand, several tasks, blocks of k, runs, and tiles of one and two rows at the
  // edge.
  constexpr std::array<std::array<Index, 3>, 6> shapes{
      {{520, 300, 1300}, {300, 520, 1300}, {1000, 40, 1100}, {40, 1000, 1100}, {9, 700, 2100}, {700, 9, 40}}};
  for (const auto& [m, n, k] : shapes) {
    AmxProblem<T, R> product(m, n, k);
    for (const auto& [op_a, op_b, beta, threads] : {std::tuple{Op::None, Op::None, 0.0, 1},
                                                    {Op::None, Op::None, 1.0, 2},
                                                    {Op::Transpose, Op::None, 0.0, 2},
                                                    {Op::None, Op::Transpose, 0.0, 2},
                                                    {Op::Transpose, Op::Transpose, 1.0, 1}}) {
      product.set(op_a, op_b, beta);
      const std::vector<R> expected = product.run(Math::Strict, {}, 2);
      BOOST_TEST(same_bits(product.run(math, kernel, threads), expected),
                 kernel << " " << m << "x" << n << "x" << k << ", " << threads << " threads, beta " << beta);
    }
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(amx, *boost::unit_test::precondition(has_amx))

BOOST_AUTO_TEST_CASE(whole_numbers_in_many_blocks) {
  check_exact<bf16>(Math::Bf16, "amx_bf16");
  check_exact<bf16, float>(Math::Bf16, "amx_bf16");
  check_exact<float>(Math::Bf16, "amx_bf16");
  check_exact<float>(Math::EmulatedBf16x6, "amx_bf16x6");
}

/// Tiles take subnormal numbers for zero. Products with such numbers have the bits of the strict kernel, even if only
/// the last element is subnormal.
BOOST_AUTO_TEST_CASE(products_that_may_be_subnormal_are_not_flushed) {
  for (const double beta : {0.0, 1.0})
    for (const auto& [least_a, scale_b] : {std::pair{0x1p-130f, 0x1p-8f}, {0x1p-60f, 0x1p-72f}}) {
      AmxProblem<bf16, float> product(300, 300, 1100);
      product.set(Op::None, Op::None, beta);
      for (bf16& x : product.a) x = bf16(0.0f);
      for (bf16& x : product.b) x = static_cast<bf16>(static_cast<float>(x) * scale_b);
      for (float& x : product.c) x *= 0x1p-140f;
      product.a.back() = static_cast<bf16>(least_a);
      product.b.back() = static_cast<bf16>(scale_b);
      const auto expected = product.run(Math::Strict, {}, 1);
      if (beta == 0) BOOST_TEST(expected.back() == least_a * scale_b);
      BOOST_TEST(same_bits(product.run(Math::Bf16, "amx_bf16", 1), expected), "beta " << beta << ", " << least_a);
    }
}

/// The smallest products that cannot become subnormal are computed on the tiles, and are right.
BOOST_AUTO_TEST_CASE(small_products_that_are_normal) {
  AmxProblem<bf16, float> product(64, 64, 64);
  for (bf16& x : product.a) x = static_cast<bf16>(static_cast<float>(x) * 0x1p-56f);
  for (bf16& x : product.b) x = static_cast<bf16>(static_cast<float>(x) * 0x1p-56f);
  BOOST_TEST(same_bits(product.run(Math::Bf16, "amx_bf16", 1), product.run(Math::Strict, {}, 1)));
}

BOOST_AUTO_TEST_CASE(f32_is_rounded_to_the_nearest_even) {
  AmxProblem<float> product(1, 4, 1);
  product.a = {1};
  product.b = {0x1.01p0f, 0x1.03p0f, 0x1.010002p0f, -0x1.01p0f}; // ties, what is just above one, a tie
  const std::vector<float> expected{1.0f, 0x1.04p0f, 0x1.02p0f, -1.0f};
  BOOST_TEST(same_bits(product.run(Math::Bf16, "amx_bf16", 1), expected));
}

BOOST_AUTO_TEST_SUITE_END()
