/// Triangles in tiles (backend/triangle_tiles.hpp) have the bits of the contract's formulas, read nothing on the other
/// side of the diagonal and write nothing but their lines. Everything else is NaN.

#include <random>
#include <sstream>

#include <boost/test/unit_test.hpp>

#include <tessera/backend/triangle_tiles.hpp>

#include "guarded.hpp"
#include "reference/elementwise/complex_division.hpp"
#include "reference/elementwise/complex_number.hpp"
#include "shapes.hpp"
#include "support/subject.hpp"

namespace tessera::conformance {
namespace {

/// A number as the formulas take it, of one part or two.
template <class N>
struct Formulas {
  using Part = N;
  static constexpr Index parts = 1;
  static N from(const N* x, bool /*is_conjugate*/) { return *x; }
  static void to(N* x, N value) { *x = value; }
  static N one() { return 1; }
  static N scaled(std::complex<double> alpha, N x) { return static_cast<N>(alpha.real()) * x; }
  static N add_term(N m, N x, N s, bool /*x_is_first*/) { return std::fma(m, x, s); }
  static N plus(N x, N y) { return x + y; }
  static N unknown(N b, N s, N m) { return (b - s) / m; }
};
template <class P>
struct Formulas<ComplexNumber<P>> {
  using N = ComplexNumber<P>;
  using Part = P;
  static constexpr Index parts = 2;
  static N from(const P* x, bool is_conjugate) { return {x[0], is_conjugate ? -x[1] : x[1]}; }
  static void to(P* x, N value) {
    x[0] = value.re;
    x[1] = value.im;
  }
  static N one() { return {1, 0}; }
  static N scaled(std::complex<double> alpha, N x) {
    return tessera::scaled({static_cast<P>(alpha.real()), static_cast<P>(alpha.imag())}, x);
  }
  static N add_term(N m, N x, N s, bool x_is_first) {
    const N a = x_is_first ? x : m, b = x_is_first ? m : x;
    return {std::fma(-a.im, b.im, std::fma(a.re, b.re, s.re)), std::fma(a.im, b.re, std::fma(a.re, b.im, s.im))};
  }
  static N plus(N x, N y) { return {x.re + y.re, x.im + y.im}; }
  static N unknown(N b, N s, N m) {
    N x{b.re - s.re, b.im - s.im};
    const ComplexDivisor<P> by(m.re, m.im);
    if (by.is_real) return {x.re / m.re, x.im / m.re};
    by.divide(x.re, x.im);
    return x;
  }
};
using NumberTypes = std::tuple<float, double, ComplexNumber<float>, ComplexNumber<double>>;

struct TilesCase {
  TriangleTilesCall call = {};
  bool lines_are_rows = false; ///< their numbers are side by side
  bool is_non_finite = false;

  bool is_lower() const { return (call.m.part == MatrixPart::Lower) != call.m.is_transposed; }
  bool solves() const { return call.task == TriangleTask::Solve; }
};

std::ostream& operator<<(std::ostream& out, const TilesCase& x) {
  return out << (x.solves() ? "system" : "product") << " of " << x.call.n << " numbers in " << x.call.count
             << (x.lines_are_rows ? " rows" : " columns") << (x.is_lower() ? ", lower" : ", upper")
             << (x.call.m.is_transposed ? " transposed" : "") << (x.call.m.is_conjugate ? " conjugate" : "")
             << (x.call.lines_come_first ? ", lines first" : "") << (x.call.m.has_unit_diagonal ? " unit" : "")
             << ", alpha=" << x.call.alpha << " threads=" << x.call.threads;
}

/// A square matrix and lines in the executor's memory.
template <class N>
class TriangleAndLines {
  using F = Formulas<N>;
  using P = typename F::Part;

 public:
  TriangleAndLines(const TilesCase& x, std::mt19937& random)
      : x_(x),
        m_(subject(), x.call.n, F::parts * x.call.n, {F::parts == 1 ? 3 : 4, 64, true}),
        lines_(subject(), x.lines_are_rows ? x.call.count : x.call.n,
               F::parts * (x.lines_are_rows ? x.call.n : x.call.count), {2, 64, true}) {
    const StoredOperand& m = x.call.m;
    for (Index i = 0; i < x.call.n; ++i)
      for (Index j = 0; j < x.call.n; ++j) {
        const bool is_stored = m.part == MatrixPart::Lower ? j <= i : j >= i;
        if (!is_stored || (i == j && m.has_unit_diagonal)) continue;
        const bool is_real = random() % 4 == 0; // divides each part
        for (Index part = 0; part < F::parts; ++part) {
          P& value = m_.at(i, F::parts * j + part);
          value = i == j ? drawn(random) / 4 : drawn(random) / static_cast<P>(x.call.n);
          if (i == j) value = part == 0 ? value + 1 : is_real ? P{0} : value;
        }
      }
    for (Index i = 0; i < lines_.rows(); ++i)
      for (Index j = 0; j < lines_.cols(); ++j) lines_.at(i, j) = drawn(random, x.is_non_finite);
    m_.upload();
    lines_.upload();
  }

  TriangleTilesCall call() const {
    TriangleTilesCall call = x_.call;
    call.type = dtype_of<P>;
    call.is_complex = F::parts == 2;
    call.m.data = m_.data();
    call.m.ld = m_.ld() / F::parts;
    call.x = lines_.data();
    call.line_step = x_.lines_are_rows ? lines_.ld() / F::parts : 1;
    call.number_step = x_.lines_are_rows ? 1 : lines_.ld() / F::parts;
    return call;
  }
  Guarded<P>& m() { return m_; }
  Guarded<P>& lines() { return lines_; }

  /// Computes the lines by the formulas, in the host's image of them.
  std::vector<P> expected() {
    const Index n = x_.call.n;
    for (Index l = 0; l < x_.call.count; ++l)
      for (Index step = 0; step < n; ++step) {
        // A system's unknowns become known from the first one on, or from the last one. A product overwrites numbers
        // that no later row reads.
        const bool ascends = x_.is_lower() == x_.solves();
        const Index i = ascends ? step : n - 1 - step;
        F::to(number(i, l), x_.solves() ? unknown(i, l) : F::scaled(x_.call.alpha, sum(i, l)));
      }
    return compact(lines_);
  }

 private:
  static P drawn(std::mt19937& random, bool is_non_finite = false) {
    if (is_non_finite && random() % 97 == 0) return random() % 2 == 0 ? std::numeric_limits<P>::infinity() : P{-0.0};
    return static_cast<P>(static_cast<int>(random() % 2000001) - 1000000) / 1000000;
  }
  N element(Index i, Index j) {
    if (i == j && x_.call.m.has_unit_diagonal) return F::one();
    const bool turned = x_.call.m.is_transposed;
    return F::from(&m_.at(turned ? j : i, F::parts * (turned ? i : j)), x_.call.m.is_conjugate);
  }
  P* number(Index i, Index line) {
    return x_.lines_are_rows ? &lines_.at(line, F::parts * i) : &lines_.at(i, F::parts * line);
  }
  N extended(N s, Index i, Index k, Index line) {
    return F::add_term(element(i, k), F::from(number(k, line), false), s, x_.call.lines_come_first);
  }
  N unknown(Index i, Index line) {
    N s{};
    if (x_.is_lower())
      for (Index k = 0; k < i; ++k) s = extended(s, i, k, line);
    else
      for (Index k = x_.call.n - 1; k > i; --k) s = extended(s, i, k, line);
    N b = F::from(number(i, line), false);
    if (x_.call.alpha != 1.0) b = F::scaled(x_.call.alpha, b);
    return F::unknown(b, s, element(i, i));
  }
  /// A unit diagonal's term is the line's number.
  N sum(Index i, Index line) {
    N s{};
    for (Index k = x_.is_lower() ? 0 : i; k < (x_.is_lower() ? i + 1 : x_.call.n); ++k)
      s = k == i && x_.call.m.has_unit_diagonal ? F::plus(s, F::from(number(k, line), false)) : extended(s, i, k, line);
    return s;
  }

  const TilesCase& x_;
  Guarded<P> m_, lines_;
};

/// Computes a case and compares its bits. Returns whether the executor takes it.
template <class N>
bool check_tiles(const TilesCase& x, std::mt19937& random) {
  TriangleAndLines<N> numbers(x, random);
  if (!triangle_in_tiles(subject(), numbers.call())) {
    BOOST_TEST(numbers.lines().unchanged(), x << ": it was not taken, and the lines have changed");
    return false;
  }
  const auto expected = numbers.expected();
  BOOST_TEST(numbers.m().unchanged(), x << ": the triangle has changed");
  numbers.lines().download();
  BOOST_TEST(numbers.lines().surroundings_intact(), x << ": it wrote beside the lines");
  BOOST_TEST(differing(compact(numbers.lines()), expected) == 0u, x << ": bits differ from the definition's");
  return true;
}

/// Sizes around tiles and tasks, up to a whole segment of numbers of so many parts.
TilesCase drawn_tiles(Index number_parts, std::mt19937& random) {
  const auto size = [&](Index least, Index most) {
    return least + static_cast<Index>(random() % static_cast<unsigned>(most - least + 1));
  };
  TilesCase x;
  const bool is_long = random() % 12 == 0;
  x.call.task = random() % 2 == 0 ? TriangleTask::Solve : TriangleTask::Multiply;
  x.call.n = is_long ? size(900 / number_parts, 1024 / number_parts) : size(1, random() % 3 == 0 ? 150 : 40);
  x.call.count = is_long ? size(1, 17) : size(1, random() % 3 == 0 ? 200 : 40);
  x.call.m.part = random() % 2 == 0 ? MatrixPart::Lower : MatrixPart::Upper;
  x.call.m.kind = TriangleKind::Triangular;
  x.call.m.is_transposed = random() % 2 == 0;
  x.call.m.has_unit_diagonal = random() % 3 == 0;
  x.call.m.is_conjugate = number_parts == 2 && random() % 2 == 0;
  x.call.lines_come_first = random() % 2 == 0;
  x.call.alpha = random() % 2 == 0 ? 1.0 : -0.6875;
  if (number_parts == 2 && random() % 2 == 0) x.call.alpha += std::complex<double>(0, 0.375);
  x.call.threads = static_cast<int>(random() % 4);
  x.lines_are_rows = random() % 2 == 0;
  x.is_non_finite = random() % 4 == 0;
  return x;
}

} // namespace

BOOST_AUTO_TEST_SUITE(triangle_tiles)

BOOST_AUTO_TEST_CASE_TEMPLATE(every_form, N, NumberTypes) {
  std::mt19937 random(11);
  const int rounds = options().quick ? 80 : 400;
  int taken = 0;
  for (int round = 0; round < rounds; ++round) taken += check_tiles<N>(drawn_tiles(Formulas<N>::parts, random), random);
  const Backend backend = options().backend;
  const bool has_tiles = Formulas<N>::parts == 1 || subject().capabilities().instruction_set != "portable";
  if (has_tiles && (backend == Backend::OpenMP || backend == Backend::Tbb))
    BOOST_TEST(taken > rounds / 2);
  else
    BOOST_TEST(taken == 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::conformance
