/// Triangles in tiles (backend/triangle_tiles.hpp) have the bits of the contract's formulas, read nothing on the other
/// side of the diagonal and write nothing but their lines. Everything else is NaN.

#include <random>
#include <sstream>

#include <boost/test/unit_test.hpp>

#include <tessera/backend/triangle_tiles.hpp>

#include "guarded.hpp"
#include "shapes.hpp"
#include "support/subject.hpp"

namespace tessera::conformance {
namespace {

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
             << (x.call.m.is_transposed ? " transposed" : "") << (x.call.m.has_unit_diagonal ? " unit" : "")
             << ", alpha=" << x.call.alpha << " threads=" << x.call.threads;
}

/// A square matrix and lines in the executor's memory.
template <class T>
class TriangleAndLines {
 public:
  TriangleAndLines(const TilesCase& x, std::mt19937& random)
      : x_(x),
        m_(subject(), x.call.n, x.call.n, {3, 64, true}),
        lines_(subject(), x.lines_are_rows ? x.call.count : x.call.n, x.lines_are_rows ? x.call.n : x.call.count,
               {2, 64, true}) {
    const StoredOperand& m = x.call.m;
    for (Index i = 0; i < x.call.n; ++i)
      for (Index j = 0; j < x.call.n; ++j) {
        const bool is_stored = m.part == MatrixPart::Lower ? j <= i : j >= i;
        if (!is_stored || (i == j && m.has_unit_diagonal)) continue;
        m_.at(i, j) = i == j ? T(1) + drawn(random) / 4 : drawn(random) / static_cast<T>(x.call.n);
      }
    for (Index i = 0; i < lines_.rows(); ++i)
      for (Index j = 0; j < lines_.cols(); ++j) lines_.at(i, j) = drawn(random, x.is_non_finite);
    m_.upload();
    lines_.upload();
  }

  TriangleTilesCall call() const {
    TriangleTilesCall call = x_.call;
    call.type = dtype_of<T>;
    call.m.data = m_.data();
    call.m.ld = m_.ld();
    call.x = lines_.data();
    call.line_step = x_.lines_are_rows ? lines_.ld() : 1;
    call.number_step = x_.lines_are_rows ? 1 : lines_.ld();
    return call;
  }
  Guarded<T>& m() { return m_; }
  Guarded<T>& lines() { return lines_; }

  /// Computes the lines by the formulas, in the host's image of them.
  std::vector<T> expected() {
    const Index n = x_.call.n;
    for (Index l = 0; l < x_.call.count; ++l)
      for (Index step = 0; step < n; ++step) {
        // A system's unknowns become known from the first one on, or from the last one. A product overwrites numbers
        // that no later row reads.
        const bool ascends = x_.is_lower() == x_.solves();
        const Index i = ascends ? step : n - 1 - step;
        number(i, l) = x_.solves() ? unknown(i, l) : static_cast<T>(x_.call.alpha) * sum(i, l);
      }
    return compact(lines_);
  }

 private:
  static T drawn(std::mt19937& random, bool is_non_finite = false) {
    if (is_non_finite && random() % 97 == 0) return random() % 2 == 0 ? std::numeric_limits<T>::infinity() : T{-0.0};
    return static_cast<T>(static_cast<int>(random() % 2000001) - 1000000) / 1000000;
  }
  T element(Index i, Index j) {
    if (i == j && x_.call.m.has_unit_diagonal) return T{1};
    return x_.call.m.is_transposed ? m_.at(j, i) : m_.at(i, j);
  }
  T& number(Index i, Index line) { return x_.lines_are_rows ? lines_.at(line, i) : lines_.at(i, line); }
  T unknown(Index i, Index line) {
    T s{0};
    if (x_.is_lower())
      for (Index k = 0; k < i; ++k) s = std::fma(element(i, k), number(k, line), s);
    else
      for (Index k = x_.call.n - 1; k > i; --k) s = std::fma(element(i, k), number(k, line), s);
    return (static_cast<T>(x_.call.alpha) * number(i, line) - s) / element(i, i);
  }
  T sum(Index i, Index line) {
    T s{0};
    for (Index k = x_.is_lower() ? 0 : i; k < (x_.is_lower() ? i + 1 : x_.call.n); ++k)
      s = std::fma(element(i, k), number(k, line), s);
    return s;
  }

  const TilesCase& x_;
  Guarded<T> m_, lines_;
};

/// Computes a case and compares its bits. Returns whether the executor takes it.
template <class T>
bool check_tiles(const TilesCase& x, std::mt19937& random) {
  TriangleAndLines<T> numbers(x, random);
  if (!triangle_in_tiles(subject(), numbers.call())) {
    BOOST_TEST(numbers.lines().unchanged(), x << ": it was not taken, and the lines have changed");
    return false;
  }
  const std::vector<T> expected = numbers.expected();
  BOOST_TEST(numbers.m().unchanged(), x << ": the triangle has changed");
  numbers.lines().download();
  BOOST_TEST(numbers.lines().surroundings_intact(), x << ": it wrote beside the lines");
  BOOST_TEST(differing(compact(numbers.lines()), expected) == 0u, x << ": bits differ from the definition's");
  return true;
}

/// Sizes around tiles and tasks, up to a whole segment.
TilesCase drawn_tiles(std::mt19937& random) {
  const auto size = [&](Index least, Index most) {
    return least + static_cast<Index>(random() % static_cast<unsigned>(most - least + 1));
  };
  TilesCase x;
  const bool is_long = random() % 12 == 0;
  x.call.task = random() % 2 == 0 ? TriangleTask::Solve : TriangleTask::Multiply;
  x.call.n = is_long ? size(900, 1024) : size(1, random() % 3 == 0 ? 150 : 40);
  x.call.count = is_long ? size(1, 17) : size(1, random() % 3 == 0 ? 200 : 40);
  x.call.m.part = random() % 2 == 0 ? MatrixPart::Lower : MatrixPart::Upper;
  x.call.m.kind = TriangleKind::Triangular;
  x.call.m.is_transposed = random() % 2 == 0;
  x.call.m.has_unit_diagonal = random() % 3 == 0;
  x.call.alpha = random() % 2 == 0 ? 1.0 : -0.6875;
  x.call.threads = static_cast<int>(random() % 4);
  x.lines_are_rows = random() % 2 == 0;
  x.is_non_finite = random() % 4 == 0;
  return x;
}

} // namespace

BOOST_AUTO_TEST_SUITE(triangle_tiles)

BOOST_AUTO_TEST_CASE_TEMPLATE(every_form, T, PartTypes) {
  std::mt19937 random(11);
  const int rounds = options().quick ? 80 : 400;
  int taken = 0;
  for (int round = 0; round < rounds; ++round) taken += check_tiles<T>(drawn_tiles(random), random);
  const Backend backend = options().backend;
  if (backend == Backend::OpenMP || backend == Backend::Tbb)
    BOOST_TEST(taken > rounds / 2);
  else
    BOOST_TEST(taken == 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::conformance
