/// int8_units on a device: the bits are the contract's, as the reference's kernel writes it down, for elements
/// that are certain and for strict ones, whatever the shape, the operands' storage, alpha and beta are.

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <tuple>

#include <tessera/executor.hpp>
#include <tessera/tessera.hpp>

#include "is_hopper.hpp"
#include "round_trip.hpp"

using namespace tessera;
using cuda_test::check_ok;
using cuda_test::is_hopper;

namespace {

/// Ways to fill a line of an operand.
enum class LineKind {
  Normal,
  Uniform,
  WideExponents,
  Zeros,
  OneElement,
  Alternating, ///< sums cancel
  Triangle,
  Sparse,
  Subnormal,
  Infinite,
  NotANumber,
  Largest,
  Powers,
  FewLarge,
  WholeRange, ///< magnitudes just below a power of two, so that sums are as large as they can be
};
constexpr int line_kinds = 15;

/// Fills line `i` of a matrix whose rows are lines. Scales differ from line to line.
void fill_line(Matrix<double>& x, Index i, LineKind kind, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(-0.5, 0.5);
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  const bool far = below(8) == 0;
  const double scale = std::ldexp(1.0, far ? below(1900) - 1000 : below(200) - 100);
  const Index k = x.cols(), one = i * 37 % k;
  for (Index p = 0; p < k; ++p) {
    const double v = normal(random);
    double& to = x(i, p);
    switch (kind) {
      case LineKind::Normal:
        to = v * scale;
        break;
      case LineKind::Uniform:
        to = uniform(random) * scale;
        break;
      case LineKind::WideExponents:
        to = std::ldexp(v, below(61) - 30);
        break;
      case LineKind::Zeros:
        to = p % 2 == 0 ? 0.0 : -0.0;
        break;
      case LineKind::OneElement:
        to = p == one ? v * scale : 0;
        break;
      case LineKind::Alternating:
        to = (p % 2 == 0 ? 1 : -1) * (1 + 1e-12 * v) * scale;
        break;
      case LineKind::Triangle:
        to = p > one ? v * scale : 0;
        break;
      case LineKind::Sparse:
        to = below(50) == 0 ? v * scale : 0;
        break;
      case LineKind::Subnormal:
        to = std::ldexp(v, -1040);
        break;
      case LineKind::Infinite:
        to = p == k - 1 ? std::numeric_limits<double>::infinity() : v;
        break;
      case LineKind::NotANumber:
        to = p == one ? std::numeric_limits<double>::quiet_NaN() : v;
        break;
      case LineKind::Largest:
        to = p == one ? std::numeric_limits<double>::max() : v;
        break;
      case LineKind::Powers:
        to = std::ldexp(1.0, static_cast<int>(p % 64));
        break;
      case LineKind::FewLarge:
        to = p < 4 ? v * 1e10 : v;
        break;
      case LineKind::WholeRange:
        to = (i % 3 == 0 && v < 0 ? -1 : 1) * std::nextafter(2.0, 0.0);
        break;
    }
  }
}

/// Makes lines of one kind, or of all kinds if `kind` is negative.
Matrix<double> lines(Index count, Index k, int kind, unsigned seed) {
  std::mt19937_64 random(seed);
  Matrix<double> x(count, k);
  for (Index i = 0; i < count; ++i)
    fill_line(x, i, static_cast<LineKind>(kind >= 0 ? kind : static_cast<int>(random() % line_kinds)), random);
  return x;
}

Matrix<double> turned(const Matrix<double>& x) {
  Matrix<double> y(x.cols(), x.rows());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) y(j, i) = x(i, j);
  return y;
}

/// A matrix on the device, whose rows are `gap` elements apart.
class F64OnDevice {
 public:
  F64OnDevice(Executor& device, const Matrix<double>& x, Index gap) : device_(device), ld_(x.cols() + gap) {
    check_ok(device.allocate(static_cast<std::size_t>(x.rows() * ld_) * 8, data_));
    check_ok(device.copy_in(device.default_queue(), data_, bytes(ld_), x.data(), bytes(x.ld()), bytes(x.cols()),
                            static_cast<std::size_t>(x.rows())));
  }
  ~F64OnDevice() { device_.free(data_); }
  F64OnDevice(const F64OnDevice&) = delete;
  F64OnDevice& operator=(const F64OnDevice&) = delete;

  void copy_out(Matrix<double>& x) const {
    check_ok(device_.copy_out(device_.default_queue(), x.data(), bytes(x.ld()), data_, bytes(ld_), bytes(x.cols()),
                              static_cast<std::size_t>(x.rows())));
  }
  void* data() const { return data_; }
  Index ld() const { return ld_; }

 private:
  static std::size_t bytes(Index elements) { return static_cast<std::size_t>(elements) * 8; }

  Executor& device_;
  Index ld_;
  void* data_ = nullptr;
};

struct F64Product {
  bool a_turned = false, b_turned = false; ///< how operands are stored
  Index gap = 0;                           ///< elements between rows
  double alpha = 1, beta = 0;
  const char* kernel = "int8_units";
};

Matrix<double> old_c(Index m, Index n) {
  Matrix<double> c(m, n);
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) c(i, j) = static_cast<double>((i * 31 + j * 17) % 1000) / 7 - 60;
  return c;
}

/// Multiplies the rows of `a` by the rows of `b` on the device.
Matrix<double> product_of_lines(const Matrix<double>& a, const Matrix<double>& b, const F64Product& as) {
  Executor& device = executor(Backend::Cuda);
  Matrix<double> c = old_c(a.rows(), b.rows());
  const F64OnDevice on_a(device, as.a_turned ? turned(a) : a, as.gap),
      on_b(device, as.b_turned ? b : turned(b), as.gap);
  const F64OnDevice on_c(device, c, as.gap);
  GemmCall call;
  call.type = call.result = DType::F64;
  call.math = Math::Int8Units;
  call.op_a = as.a_turned ? Op::Transpose : Op::None;
  call.op_b = as.b_turned ? Op::Transpose : Op::None;
  call.m = a.rows();
  call.n = b.rows();
  call.k = a.cols();
  call.alpha = as.alpha;
  call.a = on_a.data();
  call.lda = on_a.ld();
  call.b = on_b.data();
  call.ldb = on_b.ld();
  call.beta = as.beta;
  call.c = on_c.data();
  call.ldc = on_c.ld();
  check_ok(device.gemm(device.default_queue(), call, as.kernel));
  on_c.copy_out(c);
  return c;
}

/// Multiplies them by the reference's kernel.
Matrix<double> model_of_lines(const Matrix<double>& a, const Matrix<double>& b, double alpha, double beta) {
  Matrix<double> c = old_c(a.rows(), b.rows());
  const Matrix<double> columns = turned(b);
  gemm(alpha, a.view(), columns.view(), beta, c,
       {.backend = Backend::Reference, .math = Math::Int8Units, .kernel = "int8_units"});
  return c;
}

/// Returns how many elements differ. NaN is NaN.
Index differences(const Matrix<double>& x, const Matrix<double>& y) {
  Index count = 0;
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) {
      const bool both_nan = std::isnan(x(i, j)) && std::isnan(y(i, j));
      const bool equal = x(i, j) == y(i, j) && std::signbit(x(i, j)) == std::signbit(y(i, j));
      count += both_nan || equal ? 0 : 1;
    }
  return count;
}

Matrix<double> some_rows(const Matrix<double>& x, Index first, Index count) {
  Matrix<double> y(count, x.cols());
  for (Index i = 0; i < count; ++i)
    for (Index j = 0; j < x.cols(); ++j) y(i, j) = x(first + i, j);
  return y;
}

constexpr F64Product all_storages[]{{},
                                    {.b_turned = true, .gap = 1},
                                    {.a_turned = true, .gap = 3, .alpha = 0.3},
                                    {.a_turned = true, .b_turned = true, .gap = 2, .alpha = -2, .beta = -0.75}};

} // namespace

BOOST_AUTO_TEST_SUITE(int8_units)

BOOST_AUTO_TEST_CASE(bits_are_the_references_for_each_kind_of_line) {
  if (!is_hopper()) return;
  for (int kind = -1; kind < line_kinds; ++kind) {
    const Matrix<double> a = lines(40, 1300, kind, 1), b = lines(70, 1300, kind, 2), other = lines(70, 1300, 0, 3);
    BOOST_TEST(differences(product_of_lines(a, b, {}), model_of_lines(a, b, 1, 0)) == 0, "kind " << kind);
    BOOST_TEST(differences(product_of_lines(a, other, {}), model_of_lines(a, other, 1, 0)) == 0,
               "kind " << kind << " beside normal numbers");
  }
}

BOOST_AUTO_TEST_CASE(bits_are_the_references_for_each_shape_and_storage) {
  if (!is_hopper()) return;
  for (const auto& [m, n, k] : {std::tuple<Index, Index, Index>{1, 1, 1025},
                                {1, 300, 1111},
                                {300, 1, 1111},
                                {7, 9, 2000},
                                {127, 63, 1100},
                                {128, 64, 1152},
                                {129, 257, 1025},
                                {257, 65, 2049},
                                {20, 30, 5000}})
    for (const int kind : {0, -1}) {
      const Matrix<double> a = lines(m, k, kind, 4), b = lines(n, k, kind, 5);
      for (const F64Product& as : all_storages)
        BOOST_TEST(differences(product_of_lines(a, b, as), model_of_lines(a, b, as.alpha, as.beta)) == 0,
                   m << "x" << n << "x" << k << ", kind " << kind << (as.a_turned ? ", A transposed" : "")
                     << (as.b_turned ? ", B transposed" : "") << ", beta " << as.beta);
    }
}

/// An element depends on its row, its column and k alone, so that some rows stand for a large product.
BOOST_AUTO_TEST_CASE(bits_of_large_products_are_the_references) {
  if (!is_hopper()) return;
  for (const auto& [m, n, k] : {std::tuple<Index, Index, Index>{1500, 1030, 1500}, {600, 2100, 2600}})
    for (const int kind : {0, -1}) {
      const Matrix<double> a = lines(m, k, kind, 8), b = lines(n, k, kind, 9);
      const Matrix<double> c = product_of_lines(a, b, {});
      for (const Index i : {Index{0}, m / 2, m - 3}) {
        Matrix<double> model = old_c(3, n);
        gemm(1, some_rows(a, i, 3).view(), turned(b).view(), 0, model,
             {.backend = Backend::Reference, .math = Math::Int8Units, .kernel = "int8_units"});
        BOOST_TEST(differences(some_rows(c, i, 3), model) == 0, m << "x" << n << "x" << k << ", row " << i);
      }
    }
}

BOOST_AUTO_TEST_CASE(short_k_is_strict) {
  if (!is_hopper()) return;
  for (const Index k : {1, 100, 1024}) {
    const Matrix<double> a = lines(40, k, 0, 10), b = lines(70, k, 0, 11);
    BOOST_TEST(differences(product_of_lines(a, b, {.kernel = "strict"}), model_of_lines(a, b, 1, 0)) == 0, "k " << k);
  }
}

/// Bias, activation and residual, at certain elements and at strict ones.
BOOST_AUTO_TEST_CASE(epilogues_are_the_references) {
  if (!is_hopper()) return;
  for (const int kind : {0, -1}) {
    const Matrix<double> a = lines(140, 1200, kind, 12), columns = turned(lines(270, 1200, kind, 13));
    const Matrix<double> residual = old_c(140, 270), bias = lines(1, 270, 0, 14);
    const auto with = [&](Backend backend) {
      Matrix<double> c = old_c(140, 270);
      gemm(0.5, a, columns, 0.25, c, {.bias = bias.view(), .activation = Activation::Relu, .residual = residual.view()},
           {.backend = backend, .math = Math::Int8Units, .kernel = "int8_units"});
      return c;
    };
    BOOST_TEST(differences(with(Backend::Cuda), with(Backend::Reference)) == 0, "kind " << kind);
  }
}

BOOST_AUTO_TEST_SUITE_END()
