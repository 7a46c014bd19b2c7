/// Products of operands as they are stored (backend/stored_product.hpp) have the bits of the contract's formulas, read
/// nothing that is not stored and write nothing but their part of C. Everything else is NaN.

#include <array>
#include <complex>
#include <random>
#include <sstream>

#include <boost/test/unit_test.hpp>

#include <tessera/backend/stored_product.hpp>

#include "guarded.hpp"
#include "shapes.hpp"
#include "support/complex_reference.hpp"
#include "support/subject.hpp"

namespace tessera::conformance {
namespace {

/// How an operand is stored; `of` has no memory yet.
struct StoredShape {
  Index rows = 0, cols = 0; ///< of the operand
  StoredOperand of = {};

  bool is_triangular() const { return of.part != MatrixPart::Whole && of.kind == TriangleKind::Triangular; }
  bool is_symmetric() const { return of.part != MatrixPart::Whole && of.kind != TriangleKind::Triangular; }
  bool is_hermitian() const { return is_symmetric() && of.kind == TriangleKind::Hermitian; }
  Index stored_rows() const { return of.is_transposed ? cols : rows; }
  Index stored_cols() const { return of.is_transposed ? rows : cols; }
  /// Is the number at this place of the memory one of the matrix?
  bool is_stored(Index i, Index j) const {
    if (is_triangular() && of.has_unit_diagonal && i == j) return false;
    return of.part == MatrixPart::Whole || (of.part == MatrixPart::Lower ? j <= i : j >= i);
  }
  /// Is there a term with element (i, j) of the operand?
  bool is_term(Index i, Index j) const {
    if (!is_triangular()) return true;
    return (of.part == MatrixPart::Lower) != of.is_transposed ? j <= i : j >= i;
  }
};

struct StoredCase {
  bool is_complex = false;
  StoredShape a, b;
  std::complex<double> alpha = 1.0, beta = 0.0;
  MatrixPart part = MatrixPart::Whole;
  bool has_real_diagonal = false;
  bool is_non_finite = false;
  int threads = 0;

  Index parts() const { return is_complex ? 2 : 1; }
  bool computes(Index i, Index j) const {
    return part == MatrixPart::Whole || (part == MatrixPart::Lower ? j <= i : j >= i);
  }
};

std::ostream& operator<<(std::ostream& out, const StoredCase& x) {
  out << (x.is_complex ? "complex " : "real ") << x.a.rows << "×" << x.b.cols << "×" << x.a.cols << " alpha=" << x.alpha
      << " beta=" << x.beta << " part " << static_cast<int>(x.part) << (x.has_real_diagonal ? " real diagonal" : "")
      << " threads=" << x.threads;
  for (const StoredShape* y : {&x.a, &x.b})
    out << (y == &x.a ? "; a" : "; b") << " part " << static_cast<int>(y->of.part) << " kind "
        << static_cast<int>(y->of.kind) << (y->of.is_transposed ? " transposed" : "")
        << (y->of.is_conjugate ? " conjugate" : "") << (y->of.has_unit_diagonal ? " unit" : "");
  return out;
}

/// A stored operand in the executor's memory, NaN wherever nothing of it is.
template <class T>
class StoredNumbers {
 public:
  StoredNumbers(const StoredCase& x, const StoredShape& shape, std::mt19937& random)
      : shape_(shape),
        parts_(x.parts()),
        memory_(subject(), shape.stored_rows(), parts_ * shape.stored_cols(), {parts_ * 3, 64, true}) {
    for (Index i = 0; i < shape.stored_rows(); ++i)
      for (Index j = 0; j < shape.stored_cols(); ++j)
        for (Index part = 0; part < parts_; ++part)
          if (shape.is_stored(i, j) && !(shape.is_hermitian() && i == j && part == 1))
            memory_.at(i, parts_ * j + part) = drawn(random, x.is_non_finite);
    memory_.upload();
  }

  StoredOperand operand() const {
    StoredOperand of = shape_.of;
    of.data = memory_.data();
    of.ld = memory_.ld() / parts_;
    return of;
  }
  /// Element (i, j) of the operand.
  std::complex<T> number(Index i, Index j) {
    if (shape_.is_triangular() && shape_.of.has_unit_diagonal && i == j) return T{1};
    if (shape_.of.is_transposed) std::swap(i, j);
    const bool is_mirrored = shape_.is_symmetric() && !shape_.is_stored(i, j);
    if (is_mirrored) std::swap(i, j);
    if (parts_ == 1) return memory_.at(i, j);
    if (shape_.is_hermitian() && i == j) return memory_.at(i, 2 * j);
    const std::complex<T> stored(memory_.at(i, 2 * j), memory_.at(i, 2 * j + 1));
    return shape_.of.is_conjugate != (shape_.is_hermitian() && is_mirrored) ? std::conj(stored) : stored;
  }
  bool unchanged() { return memory_.unchanged(); }

  static T drawn(std::mt19937& random, bool is_non_finite) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    if (is_non_finite && random() % 97 == 0) return random() % 2 == 0 ? infinity : sentinel<T>();
    return static_cast<T>(static_cast<int>(random() % 2000001) - 1000000) / 1000000;
  }

 private:
  StoredShape shape_;
  Index parts_;
  Guarded<T> memory_;
};

/// Σ A(i, p)·B(p, j) over the terms, in segments. Real numbers have imaginary parts of +0, which change nothing.
template <class T>
std::complex<T> sum_as_defined(const StoredCase& x, StoredNumbers<T>& a, StoredNumbers<T>& b, Index i, Index j) {
  const Index segment = 1024 / x.parts();
  std::complex<T> sum;
  bool is_first = true;
  for (Index first = 0; first < x.a.cols; first += segment) {
    T re = 0, im = 0;
    bool has_terms = false;
    for (Index p = first; p < std::min(first + segment, x.a.cols); ++p) {
      if (!x.a.is_term(i, p) || !x.b.is_term(p, j)) continue;
      has_terms = true;
      const std::complex<T> l = a.number(i, p), r = b.number(p, j);
      re = std::fma(l.real(), r.real(), re);
      if (!x.is_complex) continue;
      re = std::fma(l.imag(), -r.imag(), re);
      im = std::fma(l.real(), r.imag(), im);
      im = std::fma(l.imag(), r.real(), im);
    }
    if (has_terms) sum = is_first ? std::complex<T>(re, im) : std::complex<T>(sum.real() + re, sum.imag() + im);
    is_first = is_first && !has_terms;
  }
  return sum;
}

/// Computes a case and compares its bits. Returns whether the executor takes it.
template <class T>
bool check_stored(const StoredCase& x, std::mt19937& random) {
  const Index m = x.a.rows, n = x.b.cols, in_number = x.parts();
  StoredNumbers<T> a(x, x.a, random), b(x, x.b, random);
  Guarded<T> c(subject(), m, in_number * n, {in_number, 64, true});
  if (x.beta != 0.0)
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < in_number * n; ++j)
        if (x.computes(i, j / in_number) && !(x.has_real_diagonal && j == 2 * i + 1))
          c.at(i, j) = StoredNumbers<T>::drawn(random, x.is_non_finite);
  c.upload();
  const StoredProductCall call{.type = dtype_of<T>,
                               .is_complex = x.is_complex,
                               .m = m,
                               .n = n,
                               .k = x.a.cols,
                               .alpha = x.alpha,
                               .a = a.operand(),
                               .b = b.operand(),
                               .beta = x.beta,
                               .c = c.data(),
                               .ldc = c.ld() / in_number,
                               .part = x.part,
                               .has_real_diagonal = x.has_real_diagonal,
                               .threads = x.threads};
  if (!stored_product(subject(), subject().default_queue(), call)) {
    BOOST_TEST(c.unchanged(), x << ": it was not taken, and C has changed");
    return false;
  }
  std::vector<T> expected = compact(c);
  const std::complex<T> alpha(x.alpha), beta(x.beta);
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) {
      if (!x.computes(i, j)) continue;
      T* const at = expected.data() + (i * n + j) * in_number;
      std::complex<T> r = test::product(alpha, sum_as_defined(x, a, b, i, j));
      if (x.beta != 0.0) r = test::product_added(beta, x.is_complex ? std::complex<T>(at[0], at[1]) : at[0], r);
      at[0] = r.real();
      if (x.is_complex) at[1] = x.has_real_diagonal && i == j ? T{0} : r.imag();
    }
  BOOST_TEST(a.unchanged(), x << ": A has changed");
  BOOST_TEST(b.unchanged(), x << ": B has changed");
  c.download();
  BOOST_TEST(c.surroundings_intact(), x << ": it wrote beside C");
  BOOST_TEST(differing(compact(c), expected) == 0u, x << ": bits differ from the definition's");
  return true;
}

MatrixPart drawn_part(std::mt19937& random) { return random() % 2 == 0 ? MatrixPart::Lower : MatrixPart::Upper; }

/// An operand of a random kind; only a square one may have a part.
StoredShape drawn_shape(Index rows, Index cols, bool may_have_part, std::mt19937& random) {
  StoredShape shape;
  shape.rows = rows;
  shape.cols = cols;
  if (may_have_part && random() % 5 != 0) {
    shape.of.part = drawn_part(random);
    shape.of.kind = static_cast<TriangleKind>(random() % 3);
    shape.of.has_unit_diagonal = shape.is_triangular() && random() % 2 == 0;
  }
  if (!shape.is_symmetric()) {
    shape.of.is_transposed = random() % 2 == 0;
    shape.of.is_conjugate = shape.of.is_transposed && random() % 2 == 0;
  }
  return shape;
}

/// Sizes around tiles and tasks; some have several segments, and then a short side.
StoredCase drawn_case(std::mt19937& random) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr std::array<std::complex<double>, 8> alphas{
      {{1, 0}, {1, 0}, {-0.6875, 0}, {0.5, -1.25}, {0.5, -0.0}, {0, 2}, {nan, 0}, {0.25, nan}}};
  constexpr std::array<std::complex<double>, 8> betas{
      {{0, 0}, {0, 0}, {1, 0}, {0.375, 0}, {0.25, 0.75}, {-0.0, -0.0}, {0, -1}, {nan, 0}}};
  const auto size = [&](Index least, Index most) {
    return least + static_cast<Index>(random() % static_cast<unsigned>(most - least + 1));
  };
  StoredCase x;
  x.is_complex = random() % 3 != 0;
  const bool is_long = random() % 6 == 0, is_large = random() % 3 == 0; // small ones are not taken
  const Index least = is_large ? 75 : 1, most = is_large ? 130 : 60;
  Index m = size(least, most), n = size(least, most), k = size(least, most);
  if (is_long) {
    m = size(1, 9);
    n = size(1, 9);
    k = size(1, 1100);
  }
  const unsigned form = static_cast<unsigned>(random() % 4); // A has a part, or B, or C
  if (form == 0) m = k;
  if (form == 1) n = k;
  if (form == 2) {
    m = n;
    x.part = drawn_part(random);
  }
  x.a = drawn_shape(m, k, form == 0, random);
  x.b = drawn_shape(k, n, form == 1, random);
  x.alpha = alphas[random() % alphas.size()];
  x.beta = betas[random() % betas.size()];
  if (!x.is_complex) {
    x.alpha = x.alpha.real() == 0 ? 2.0 : x.alpha.real();
    x.beta = x.beta.real();
  }
  x.has_real_diagonal = x.is_complex && x.part != MatrixPart::Whole && random() % 2 == 0;
  if (x.has_real_diagonal) x.beta = x.beta.real();
  x.is_non_finite = !x.a.is_triangular() && !x.b.is_triangular() && random() % 4 == 0;
  x.threads = static_cast<int>(random() % 4);
  return x;
}

} // namespace

BOOST_AUTO_TEST_SUITE(stored_products)

BOOST_AUTO_TEST_CASE_TEMPLATE(every_form, T, PartTypes) {
  std::mt19937 random(7);
  const int rounds = options().quick ? 100 : 600;
  int taken = 0;
  for (int round = 0; round < rounds; ++round) taken += check_stored<T>(drawn_case(random), random);
  const Backend backend = options().backend;
  if (backend == Backend::OpenMP || backend == Backend::Tbb) // portable code takes no complex numbers
    BOOST_TEST(taken > rounds / 12);
  else
    BOOST_TEST(taken == 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::conformance
