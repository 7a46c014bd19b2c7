/// Complex products have the bits that include/tessera/complex.hpp defines, for any layout and any blocks.

#include <array>
#include <complex>

#include <boost/test/unit_test.hpp>

#include <tessera/complex.hpp>

#include "guarded.hpp"
#include "shapes.hpp"
#include "support/complex_reference.hpp"
#include "support/subject.hpp"

namespace tessera::conformance {
namespace {

constexpr std::array<Op, 3> complex_ops{Op::None, Op::Transpose, Op::ConjugateTranspose};

struct ComplexCase {
  Index m = 0, n = 0, k = 0;
  Op op_a = Op::None, op_b = Op::None;
  std::complex<double> alpha = 1.0, beta = 0.0;
  std::size_t scratch = 0;
  bool non_finite = false;
  int threads = 0;
};

std::ostream& operator<<(std::ostream& out, const ComplexCase& x) {
  return out << x.m << "×" << x.n << "×" << x.k << " ops " << to_string(x.op_a) << ' ' << to_string(x.op_b)
             << " alpha=" << x.alpha << " beta=" << x.beta << " scratch=" << x.scratch
             << (x.non_finite ? " non-finite" : "");
}

/// A matrix of complex numbers, which are pairs of a real matrix's elements. It does not have the alignment of pairs.
template <class T>
class ComplexGuarded : public Guarded<T> {
 public:
  ComplexGuarded(Index rows, Index cols, Index padding)
      : Guarded<T>(subject(), rows, 2 * cols, {2 * padding, 64, true}) {}
  Index numbers_ld() const { return this->ld() / 2; }
};

template <class T>
void fill_uniform(Guarded<T>& x, std::uint64_t seed, bool non_finite) {
  fill(x, [&](std::uint64_t e) {
    return non_finite && e % 41 == 7 ? random_element<T>(Distribution::Special, seed, e, Scalar<T>(0.6), Scalar<T>(0.2))
                                     : uniform<T>(seed, e);
  });
}

template <class T>
void check_complex(const ComplexCase& x) {
  const bool flip_a = x.op_a != Op::None, flip_b = x.op_b != Op::None;
  ComplexGuarded<T> a(flip_a ? x.k : x.m, flip_a ? x.m : x.k, 3);
  ComplexGuarded<T> b(flip_b ? x.n : x.k, flip_b ? x.k : x.n, 0);
  ComplexGuarded<T> c(x.m, x.n, 1);
  fill_uniform(a, 51, x.non_finite);
  fill_uniform(b, 52, x.non_finite);
  if (x.beta != 0.0) fill_uniform(c, 53, x.non_finite); // else C stays NaN, and must not be read
  for (auto* matrix : {&a, &b, &c}) matrix->upload();

  const auto ld = [](const ComplexGuarded<T>& y) { return std::max<Index>(1, y.numbers_ld()); };
  ComplexGemmCall call{{.type = dtype_of<T>,
                        .op_a = x.op_a,
                        .op_b = x.op_b,
                        .m = x.m,
                        .n = x.n,
                        .k = x.k,
                        .alpha = x.alpha,
                        .a = a.data(),
                        .lda = ld(a),
                        .b = b.data(),
                        .ldb = ld(b),
                        .beta = x.beta,
                        .c = c.data(),
                        .ldc = ld(c),
                        .threads = x.threads},
                       x.scratch};
  const Status status = gemm(subject(), subject().default_queue(), call);
  BOOST_TEST(status.ok(), x << ": " << status.why);
  throw_if_failed(subject().default_queue().synchronize());

  std::vector<T> numbers = compact(c);
  ComplexGemmCall defined = call;
  defined.a = a.host();
  defined.b = b.host();
  defined.c = numbers.data();
  defined.ldc = x.n;
  test::multiply_as_defined<T>(defined);
  BOOST_TEST(a.unchanged(), x << ": A has changed");
  BOOST_TEST(b.unchanged(), x << ": B has changed");
  c.download();
  BOOST_TEST(c.surroundings_intact(), x << ": it wrote beside C");
  BOOST_TEST(differing(compact(c), numbers) == 0u, x << ": bits differ from the definition's");
}

const std::complex<double> turning{0.5, -1.25}, tilting{0.25, 0.75};

} // namespace

BOOST_AUTO_TEST_SUITE(complex_products)

BOOST_AUTO_TEST_CASE_TEMPLATE(every_op_and_factor, T, PartTypes) {
  const std::vector<std::pair<std::complex<double>, std::complex<double>>> factors{
      {1, 0}, {-0.6875, 1}, {turning, 0}, {1, tilting}, {turning, 0.375}, {turning, tilting},
      {0, 0}, {0, -0.6875}, {0, tilting}};
  for (const Op op_a : complex_ops)
    for (const Op op_b : complex_ops)
      for (const auto& [alpha, beta] : factors)
        check_complex<T>({.m = 17, .n = 19, .k = 23, .op_a = op_a, .op_b = op_b, .alpha = alpha, .beta = beta});
}

/// The shapes are empty, thin or odd, have a k near the ends of segments, or are large enough for several threads.
BOOST_AUTO_TEST_CASE_TEMPLATE(every_shape, T, PartTypes) {
  const std::vector<std::array<Index, 3>> all{{0, 5, 3},    {5, 0, 3},    {5, 4, 0},     {1, 1, 1},
                                              {1, 37, 700}, {37, 1, 513}, {3, 5, 511},   {3, 5, 512},
                                              {5, 3, 1024}, {2, 3, 1025}, {65, 67, 130}, {129, 33, 64},
                                              {1, 300, 5},  {300, 1, 5},  {4, 2000, 40}, {140, 150, 97}};
  for (std::size_t s = 0; s < all.size(); s += options().quick ? 5 : 1) {
    const auto [m, n, k] = all[s];
    check_complex<T>({.m = m, .n = n, .k = k});
    check_complex<T>({.m = m, .n = n, .k = k, .op_a = Op::ConjugateTranspose, .alpha = 2.0, .beta = -1.0});
    check_complex<T>(
        {.m = m, .n = n, .k = k, .op_b = Op::ConjugateTranspose, .alpha = turning, .beta = tilting, .threads = 1});
  }
}

/// The scratch memory is too little for all of B, of a transposed A and of the sums, or for anything but slices of k.
BOOST_AUTO_TEST_CASE_TEMPLATE(blocks_change_no_bit, T, PartTypes) {
  for (const std::size_t scratch : {60'000u, 600'000u})
    for (const Op op : complex_ops) {
      if (options().quick && (scratch > 60'000 || op == Op::Transpose)) continue;
      check_complex<T>(
          {.m = 70, .n = 90, .k = 30, .op_a = op, .op_b = op, .alpha = turning, .beta = tilting, .scratch = scratch});
      check_complex<T>({.m = 5, .n = 31, .k = 1030, .op_a = op, .op_b = op, .scratch = scratch});
      check_complex<T>({.m = 5, .n = 31, .k = 700, .op_a = op, .alpha = 2.0, .beta = 0.375, .scratch = scratch});
      check_complex<T>({.m = 3, .n = 140, .k = 600, .op_b = op, .alpha = turning, .beta = 1.0, .scratch = scratch});
    }
}

/// NaN and infinities land where the definition puts them.
BOOST_AUTO_TEST_CASE_TEMPLATE(non_finite_numbers, T, PartTypes) {
  for (const std::complex<double>& alpha : {std::complex<double>(1), turning})
    for (const std::complex<double>& beta : {std::complex<double>(0), std::complex<double>(2), tilting})
      check_complex<T>({.m = 33,
                        .n = 20,
                        .k = 40,
                        .op_a = Op::ConjugateTranspose,
                        .alpha = alpha,
                        .beta = beta,
                        .non_finite = true});
}

BOOST_AUTO_TEST_CASE_TEMPLATE(operands_in_host_memory, T, PartTypes) {
  using Number = std::complex<T>;
  constexpr Index m = 30, n = 21, k = 40, ldc = n + 2;
  std::vector<Number> a(k * m), b(n * k), c(m * ldc), expected;
  std::uint64_t e = 0;
  for (auto* numbers : {&a, &b, &c})
    for (Number& number : *numbers) {
      number = {uniform<T>(54, e), uniform<T>(55, e)};
      ++e;
    }
  expected = c;
  const Number alpha(T(0.5), T(-2)), beta(T(1), T(0.25));
  const ComplexGemmCall call{{.type = dtype_of<T>,
                              .op_a = Op::ConjugateTranspose,
                              .op_b = Op::Transpose,
                              .m = m,
                              .n = n,
                              .k = k,
                              .alpha = alpha,
                              .a = a.data(),
                              .lda = m,
                              .b = b.data(),
                              .ldb = k,
                              .beta = beta,
                              .c = expected.data(),
                              .ldc = ldc}};
  test::multiply_as_defined<T>(call);
  gemm(Op::ConjugateTranspose, Op::Transpose, m, n, k, alpha, a.data(), m, b.data(), k, beta, c.data(), ldc,
       {.backend = options().backend});
  BOOST_TEST((c == expected));
  gemm(Op::None, Op::None, 0, n, k, 1, a.data(), k, b.data(), n, 0, c.data(), ldc, {.backend = options().backend});
  gemm(Op::None, Op::None, m, n, 0, 1, a.data(), 1, b.data(), n, 1, c.data(), ldc, {.backend = options().backend});
  BOOST_TEST((c == expected));
}

BOOST_AUTO_TEST_CASE(a_bad_call_is_refused) {
  Guarded<float> a(subject(), 4, 12, {4, 16, false}), c(subject(), 4, 12, {4, 16, false});
  fill(c, [](std::uint64_t e) { return uniform<float>(56, e); });
  c.upload();
  const auto expect = [&](auto change, StatusCode code, const char* part) {
    ComplexGemmCall call{{.type = DType::F32,
                          .op_b = Op::Transpose,
                          .m = 4,
                          .n = 4,
                          .k = 6,
                          .a = a.data(),
                          .lda = 8,
                          .b = a.data(),
                          .ldb = 8,
                          .beta = 1.0,
                          .c = c.data(),
                          .ldc = 8}};
    change(call);
    const Status status = gemm(subject(), subject().default_queue(), call);
    BOOST_TEST((status.code == code), status.why);
    BOOST_TEST(status.why.find(part) != std::string::npos, "'" << status.why << "' lacks '" << part << "'");
    BOOST_TEST(c.unchanged());
  };
  using Call = ComplexGemmCall;
  constexpr StatusCode invalid = StatusCode::InvalidArgument;
  expect([](Call& call) { call.n = -4; }, invalid, "n = -4");
  expect([](Call& call) { call.lda = 5; }, invalid, "lda = 5");
  expect([](Call& call) { call.ldb = 5; }, invalid, "ldb = 5");
  expect([](Call& call) { call.ldc = 3; }, invalid, "ldc = 3");
  expect([](Call& call) { call.b = nullptr; }, invalid, "b is null");
  expect([](Call& call) { call.c = const_cast<void*>(call.a); }, invalid, "overlaps a");
  expect([](Call& call) { call.type = DType::F16; }, invalid, "f16");
  expect([](Call& call) { call.op_a = static_cast<Op>(3); }, invalid, "op 3");
  expect([](Call& call) { call.lda = Index{1} << 60; }, invalid, "overflow");
  expect([](Call& call) { call.threads = -1; }, invalid, "threads = -1");
  expect(
      [](Call& call) {
        call.m = call.n = call.k = 1; // twice as large, they still fit
        call.math = Math::Fp16;
        call.type = DType::F64;
      },
      StatusCode::Rejected, "fp16");
  GemmCall real{
      {.op_a = Op::ConjugateTranspose, .m = 1, .n = 1, .k = 1, .a = a.data(), .lda = 1, .b = a.data(), .ldb = 1}};
  real.c = c.data();
  real.ldc = 1;
  BOOST_TEST((subject().gemm(subject().default_queue(), real).code == invalid));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::conformance
