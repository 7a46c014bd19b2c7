/// Systems of f64, or of complex numbers of it, that are solved with factors in f32 and refined: the factors are half
/// the work, and residuals in f64 bring the solution to f64's precision. The result is certified before it is returned.

#include <algorithm>
#include <cmath>
#include <complex>
#include <string>
#include <utility>
#include <vector>

#include <tessera/checking/check_solve.hpp>
#include <tessera/detail/number_text.hpp>
#include <tessera/linear_algebra/solve.hpp>

#include "enter.hpp"
#include "products.hpp"

namespace tessera {

NotRefined::NotRefined(const std::string& why)
    : InvalidArgument("solve: with refine, factors in f32 do not lead to a solution of this system: " + why +
                      "; solve it without refine") {}
NotRefined::~NotRefined() = default;

namespace linear_algebra {
namespace {

constexpr int most_steps = 30;

/// The same numbers in f32.
template <class T>
struct Narrow {
  using Type = float;
  static float of(double x) { return static_cast<float>(x); }
  static double widened(float x) { return x; }
};
template <>
struct Narrow<std::complex<double>> {
  using Type = std::complex<float>;
  static Type of(std::complex<double> x) { return {static_cast<float>(x.real()), static_cast<float>(x.imag())}; }
  static std::complex<double> widened(Type x) { return {x.real(), x.imag()}; }
};

/// Returns the magnitude, or the larger one of the parts' magnitudes: scales and steps need no more.
double size_of_number(double x) { return std::abs(x); }
double size_of_number(std::complex<double> x) { return std::max(std::abs(x.real()), std::abs(x.imag())); }
bool is_number(double x) { return std::isfinite(x); }
bool is_number(std::complex<double> x) { return std::isfinite(x.real()) && std::isfinite(x.imag()); }

/// Returns 2^−e for a magnitude in [2^e, 2^(e + 1)), or 1 for 0. Both it and its inverse are numbers.
double scale_of(double magnitude) {
  constexpr int most = 1000;
  return magnitude == 0 ? 1 : std::ldexp(1.0, -std::clamp(std::ilogb(magnitude), -most, most));
}

/// The powers of two that bring the largest element of each row, and then of each column, to [1, 2).
struct Scales {
  std::vector<double> rows, cols;
};

template <class T>
double largest_of(std::span<const T> numbers, const char* name, Index row) {
  double largest = 0;
  bool is_finite = true;
  for (const T number : numbers) {
    largest = std::max(largest, size_of_number(number));
    is_finite = is_finite && is_number(number);
  }
  if (!is_finite) throw NotRefined(std::string(name) + " has NaN or Inf in row " + std::to_string(row));
  return largest;
}

template <class T>
Scales scales_of(const Matrix<T>& a) {
  Scales scales{std::vector<double>(static_cast<std::size_t>(a.rows())),
                std::vector<double>(static_cast<std::size_t>(a.cols()))};
  for (Index i = 0; i < a.rows(); ++i) {
    const std::span<const T> row = a.row(i);
    const double scale = scales.rows[static_cast<std::size_t>(i)] = scale_of(largest_of(row, "a", i));
    for (std::size_t j = 0; j < row.size(); ++j)
      scales.cols[j] = std::max(scales.cols[j], size_of_number(row[j] * scale));
  }
  std::ranges::transform(scales.cols, scales.cols.begin(), scale_of);
  return scales;
}

template <class T, class Small = typename Narrow<T>::Type>
Matrix<Small> narrowed(const Matrix<T>& a, const Scales& scales) {
  auto narrow = Matrix<Small>::uninitialized(a.rows(), a.cols());
  for (Index i = 0; i < a.rows(); ++i) {
    const std::span<const T> row = a.row(i);
    const std::span<Small> to = narrow.row(i);
    for (std::size_t j = 0; j < row.size(); ++j)
      to[j] = Narrow<T>::of(row[j] * scales.rows[static_cast<std::size_t>(i)] * scales.cols[j]);
  }
  return narrow;
}

/// Factors that solve many times: the upper triangle is kept as the lower one that it is when rows and columns are
/// counted from the last, as the contract defines its systems.
template <class Small>
class KeptFactors {
 public:
  KeptFactors(const Matrix<Small>& a, const SolveOptions& options)
      : factors_(a, options), turned_(a.rows(), a.cols()), options_(options) {
    if (factors_.is_singular()) throw NotRefined("a pivot of the factors is 0");
    const Index n = a.rows();
    for (Index i = 0; i < n; ++i)
      for (Index k = 0; k <= i; ++k) turned_(i, k) = factors_.packed()(n - 1 - i, n - 1 - k);
  }

  /// Solves in x's place.
  void solve(Matrix<Small>& x) const {
    const std::span<const Index> pivots = factors_.pivots();
    for (std::size_t j = 0; j < pivots.size(); ++j)
      if (const auto row = static_cast<Index>(j); pivots[j] != row) swap_rows(x, row, pivots[j]);
    solve_forward(factors_.packed(), Diagonal::Unit, x);
    turn_round(x);
    solve_forward(turned_, Diagonal::Stored, x);
    turn_round(x);
  }

 private:
  static void swap_rows(Matrix<Small>& x, Index i, Index other) { std::ranges::swap_ranges(x.row(i), x.row(other)); }
  static void turn_round(Matrix<Small>& x) {
    for (Index i = 0; i < x.rows() / 2; ++i) swap_rows(x, i, x.rows() - 1 - i);
  }
  void solve_forward(const Matrix<Small>& t, Diagonal diagonal, Matrix<Small>& x) const {
    detail::triangular_solve(detail::triangular_call("solve", Side::Left, Triangle::Lower, diagonal, t, x), options_);
  }

  Lu<Small> factors_;
  Matrix<Small> turned_;
  SolveOptions options_;
};

/// A right-hand side on its way. It does not depend on the others.
struct Column {
  bool is_done = false;
  double size = 0;     ///< the largest element of the scaled solution
  double step = 0;     ///< and of its last correction
  double residual = 1; ///< 1 over the scale of the residual that is being solved for
};

template <class T>
class Refinement {
  using Small = typename Narrow<T>::Type;

 public:
  Refinement(const Matrix<T>& a, const Matrix<T>& b, const SolveOptions& options)
      : a_(a),
        b_(b),
        products_(options),
        scales_(scales_of(a)),
        factors_(narrowed(a, scales_), options),
        x_(a.rows(), b.cols()),
        columns_(static_cast<std::size_t>(b.cols())) {
    for (Index i = 0; i < b.rows(); ++i) largest_of(b.row(i), "b", i);
  }

  Matrix<T> run() && {
    for (int step = 0; step < most_steps && !is_done(); ++step) {
      Matrix<Small> y = scaled_residual(step == 0);
      factors_.solve(y);
      add(std::as_const(y));
    }
    return std::move(x_);
  }

 private:
  bool is_done() const {
    return std::ranges::all_of(columns_, [](const Column& column) { return column.is_done; });
  }

  /// Returns the residual of each column, with its rows scaled as A's, and divided by a power of two.
  Matrix<Small> scaled_residual(bool is_first) {
    Matrix<T> r(b_.view());
    const Index n = r.rows(), count = r.cols();
    if (!is_first)
      products_.multiply(-1, n, count, n, {{a_.data(), a_.ld()}}, {{std::as_const(x_).data(), x_.ld()}}, 1,
                         {r.data(), r.ld()});
    std::vector<double> largest(columns_.size());
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < count; ++j) {
        r(i, j) *= scales_.rows[static_cast<std::size_t>(i)];
        largest[static_cast<std::size_t>(j)] =
            std::max(largest[static_cast<std::size_t>(j)], size_of_number(std::as_const(r)(i, j)));
      }
    auto narrow = Matrix<Small>::uninitialized(n, count);
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      Column& column = columns_[j];
      column.is_done = column.is_done || largest[j] == 0;
      const double scale = column.is_done ? 0 : scale_of(largest[j]);
      column.residual = column.is_done ? 0 : 1 / scale;
      for (Index i = 0; i < n; ++i)
        narrow(i, static_cast<Index>(j)) = Narrow<T>::of(std::as_const(r)(i, static_cast<Index>(j)) * scale);
    }
    return narrow;
  }

  /// Adds the corrections, and finds which columns gain no more.
  void add(const Matrix<Small>& y) {
    std::vector<Column> now(columns_.size());
    for (Index i = 0; i < x_.rows(); ++i)
      for (std::size_t j = 0; j < columns_.size(); ++j) {
        if (columns_[j].is_done) continue;
        const T correction = Narrow<T>::widened(y(i, static_cast<Index>(j))) * columns_[j].residual;
        if (!is_number(correction)) throw NotRefined("a correction is NaN or Inf");
        const double scale = scales_.cols[static_cast<std::size_t>(i)];
        T& x = x_(i, static_cast<Index>(j));
        x += correction * scale;
        now[j].step = std::max(now[j].step, size_of_number(correction));
        now[j].size = std::max(now[j].size, size_of_number(x / scale));
      }
    constexpr double u = 0x1p-53;
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      Column& column = columns_[j];
      if (column.is_done) continue;
      const bool is_first = column.size == 0;
      column.is_done = now[j].step <= u * now[j].size || (!is_first && now[j].step > column.step / 2);
      column.step = now[j].step;
      column.size = now[j].size;
    }
  }

  const Matrix<T>&a_, &b_;
  const Products<T> products_;
  const Scales scales_;
  const KeptFactors<Small> factors_;
  Matrix<T> x_;
  std::vector<Column> columns_;
};

template <class T>
Matrix<T> refined_and_certified(const Matrix<T>& a, const Matrix<T>& b, const SolveOptions& options) {
  if (a.rows() == 0 || b.cols() == 0) return Matrix<T>(a.cols(), b.cols());
  SolveOptions of_factors = options;
  of_factors.refine = false;
  return enter("solve", of_factors, [&] {
    Matrix<T> x = Refinement<T>(a, b, of_factors).run();
    if (const SolveCertificate answer = check_solve(a, x, b, {.threads = options.threads}); !answer.right())
      throw NotRefined("what they lead to solves a system that differs by " +
                       detail::general_text(answer.by_elements.most, 3) + " of its elements, where " +
                       detail::general_text(answer.limit, 3) + " is the limit");
    return x;
  });
}

} // namespace
} // namespace linear_algebra

Matrix<double> detail::solve_refined(const Matrix<double>& a, const Matrix<double>& b, const SolveOptions& options) {
  return linear_algebra::refined_and_certified(a, b, options);
}
Matrix<std::complex<double>> detail::solve_refined(const Matrix<std::complex<double>>& a,
                                                   const Matrix<std::complex<double>>& b, const SolveOptions& options) {
  return linear_algebra::refined_and_certified(a, b, options);
}

void detail::expect_no_refinement(const char* function, const SolveOptions& options) {
  if (options.refine) throw InvalidArgument(std::string(function) + ": refine is an option of solve() alone");
}

} // namespace tessera
