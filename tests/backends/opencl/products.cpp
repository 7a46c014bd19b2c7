/// The choices of the tiled product: whichever way its operands are read and its segments added, the bits are the
/// contract's. The conformance program has the small shapes.

#include <array>
#include <cstring>
#include <thread>

#include <tessera/random.hpp>

#include "support.hpp"

using namespace tessera;
using namespace tessera::opencl_test;

namespace {

struct Shape {
  Index m, n, k;
};

template <class T>
std::vector<T> random_numbers(Index count, std::uint64_t seed) {
  std::vector<T> numbers(static_cast<std::size_t>(count));
  for (std::size_t e = 0; e < numbers.size(); ++e)
    numbers[e] = random_element<T>(Distribution::Uniform, seed, e, Scalar<T>{-1}, Scalar<T>{1});
  return numbers;
}

/// Operands of a product on the host, and on the device once upload() was called.
template <class T>
class Product {
 public:
  Product(const Shape& x, Op op_a, Op op_b, double beta)
      : a_(random_numbers<T>(x.m * x.k, 5)), b_(random_numbers<T>(x.k * x.n, 6)), c_(random_numbers<T>(x.m * x.n, 7)) {
    call_ = GemmCall{
        {.type = dtype_of<T>, .op_a = op_a, .op_b = op_b, .m = x.m, .n = x.n, .k = x.k, .alpha = 0.75, .beta = beta}};
    call_.lda = op_a == Op::None ? x.k : x.m;
    call_.ldb = op_b == Op::None ? x.n : x.k;
    call_.ldc = x.n;
  }

  /// Returns how many elements of the device's product have other bits than the reference's.
  std::size_t differing(Executor& device, const char* kernel) const {
    const OnDevice<T> a(device, a_), b(device, b_), c(device, c_);
    const GemmCall call = with(a.data(), b.data(), c.data());
    throw_if_failed(device.gemm(device.default_queue(), call, kernel));
    const std::vector<T> computed = c.fetch();
    std::vector<T> expected = c_;
    Executor& reference = executor(Backend::Reference);
    throw_if_failed(
        reference.gemm(reference.default_queue(), with(a_.data(), b_.data(), expected.data()), "canonical"));
    std::size_t count = 0;
    for (std::size_t e = 0; e < computed.size(); ++e)
      count += std::memcmp(&computed[e], &expected[e], sizeof(T)) == 0 ? 0 : 1;
    return count;
  }

 private:
  GemmCall with(const T* a, const T* b, T* c) const {
    GemmCall call = call_;
    call.a = a;
    call.b = b;
    call.c = c;
    return call;
  }

  std::vector<T> a_, b_, c_;
  GemmCall call_;
};

template <class T>
void check(const Shape& x, double beta, const char* kernel) {
  for (const Op op_a : {Op::None, Op::Transpose})
    for (const Op op_b : {Op::None, Op::Transpose}) {
      const std::size_t differing = Product<T>(x, op_a, op_b, beta).differing(executor(Backend::OpenCl), kernel);
      BOOST_TEST(differing == 0u, kernel << ' ' << to_string(dtype_of<T>) << ' ' << x.m << "×" << x.n << "×" << x.k
                                         << ' ' << to_string(op_a) << ' ' << to_string(op_b) << ": " << differing
                                         << " elements differ");
    }
}

/// Packed panels and strided operands with one segment and several, k split, few rows, few columns.
constexpr Shape shapes[]{{390, 400, 1100}, {300, 280, 1500}, {300, 280, 500}, {33, 35, 5000},
                         {3, 700, 300},    {700, 3, 300},    {130, 70, 90}};

} // namespace

BOOST_AUTO_TEST_SUITE(products)

BOOST_AUTO_TEST_CASE(every_choice_has_the_bits_of_the_contract) {
  if (!has_device()) return;
  for (const Shape& x : shapes)
    for (const char* const kernel : {"tiled", "tiled_local"}) {
      check<float>(x, -0.5, kernel);
      if (has_f64()) check<double>(x, 0, kernel);
    }
}

/// Threads compute products at the same time; each product has memory of its own for its sums of segments.
BOOST_AUTO_TEST_CASE(of_several_threads) {
  if (!has_device()) return;
  constexpr std::size_t threads = 4;
  std::array<std::string, threads> failures;
  {
    std::vector<std::jthread> team;
    for (std::size_t t = 0; t < threads; ++t)
      team.emplace_back([&failures, t] {
        try {
          const auto a = Matrix<float>::random(20 + static_cast<Index>(t), 3000, Seed{t});
          const auto b = Matrix<float>::random(3000, 30, Seed{t + threads});
          const Matrix<float> expected = gemm(a, b, Backend::Reference);
          for (int turn = 0; turn < 5; ++turn)
            if (gemm(a, b, {.backend = Backend::OpenCl, .kernel = "tiled_local"}) != expected)
              failures[t] = "other bits";
        } catch (const std::exception& error) {
          failures[t] = error.what();
        }
      });
  }
  for (const std::string& failure : failures) BOOST_TEST(failure == "");
}

BOOST_AUTO_TEST_SUITE_END()

/// These run in an environment whose limit leaves memory for the operands, and not for their copies.
BOOST_AUTO_TEST_SUITE(little_memory)

BOOST_AUTO_TEST_CASE(products_without_copies) {
  if (!has_device()) return;
  constexpr Shape x{500, 400, 1100};
  Executor& device = executor(Backend::OpenCl);
  {
    const OnDevice<float> operands(device, x.m * x.k + x.k * x.n + x.m * x.n);
    void* copies = nullptr;
    BOOST_TEST_REQUIRE(
        (device.allocate((x.m * x.k + x.k * x.n) * sizeof(float), copies).code == StatusCode::OutOfMemory));
  }
  for (const char* const kernel : {"tiled", "tiled_local"}) check<float>(x, 2, kernel);
}

BOOST_AUTO_TEST_SUITE_END()
