/// Systems of f64, or of complex numbers of it, that are solved with factors in f32 and refined: the factors are half
/// the work, and residuals in f64 bring the solution to f64's precision. The result is certified before it is returned.

#include <algorithm>
#include <cmath>
#include <complex>
#include <string>
#include <utility>
#include <vector>

#include <tessera/linear_algebra/solve.hpp>

#include "certificate.hpp"
#include "device_system.hpp"
#include "extensions/linear_algebra/enter.hpp"
#include "extensions/linear_algebra/factor.hpp"
#include "host_system.hpp"

namespace tessera {

NotRefined::NotRefined(const std::string& why)
    : InvalidArgument("solve: with refine, factors in f32 do not lead to a solution of this system: " + why +
                      "; solve it without refine") {}
NotRefined::~NotRefined() = default;

namespace linear_algebra {
namespace {

constexpr int most_steps = 30;

/// The same numbers in f32.
float narrow_of(double x) { return static_cast<float>(x); }
double widened(float x) { return x; }
std::complex<float> narrow_of(std::complex<double> x) {
  return {static_cast<float>(x.real()), static_cast<float>(x.imag())};
}
std::complex<double> widened(std::complex<float> x) { return {x.real(), x.imag()}; }

/// Returns the magnitude, or the larger one of the parts' magnitudes: scales and steps need no more.
double size_of_number(double x) { return std::abs(x); }
double size_of_number(std::complex<double> x) { return std::max(std::abs(x.real()), std::abs(x.imag())); }
bool is_number(double x) { return std::isfinite(x); }
bool is_number(std::complex<double> x) { return std::isfinite(x.real()) && std::isfinite(x.imag()); }

template <class T>
void expect_numbers_in(const Matrix<T>& b) {
  std::vector<double> largest(static_cast<std::size_t>(b.rows()));
  for (Index i = 0; i < b.rows(); ++i) {
    const bool is_finite = std::ranges::all_of(b.row(i), [](T x) { return is_number(x); });
    largest[static_cast<std::size_t>(i)] = is_finite ? 0 : HUGE_VAL;
  }
  expect_numbers("b", largest);
}

/// A right-hand side on its way. It does not depend on the others.
struct Column {
  bool is_done = false;
  double size = 0;     ///< the largest element of the scaled solution
  double step = 0;     ///< and of its last correction
  double residual = 1; ///< 1 over the scale of the residual that is being solved for
};

template <class T>
class Refinement {
  using Small = Narrow<T>;

 public:
  Refinement(RefinedSystem<T>& system, const Matrix<T>& b)
      : system_(system),
        scales_(system.scales()),
        b_(b),
        x_(b.rows(), b.cols()),
        columns_(static_cast<std::size_t>(b.cols())) {}

  Matrix<T> run() && {
    for (int step = 0; step < most_steps && !is_done(); ++step) {
      Matrix<Small> y = scaled_residual(step == 0);
      system_.solve(y);
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
    if (!is_first) system_.subtract_product(std::as_const(x_), r);
    std::vector<double> largest(columns_.size());
    for (Index i = 0; i < n; ++i) {
      const std::span<T> row = r.row(i);
      for (std::size_t j = 0; j < row.size(); ++j) {
        row[j] *= scales_.rows[static_cast<std::size_t>(i)];
        largest[j] = std::max(largest[j], size_of_number(row[j]));
      }
    }
    std::vector<double> scales(columns_.size());
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      Column& column = columns_[j];
      column.is_done = column.is_done || largest[j] == 0;
      scales[j] = column.is_done ? 0 : scale_of(largest[j]);
      column.residual = column.is_done ? 0 : 1 / scales[j];
    }
    auto narrow = Matrix<Small>::uninitialized(n, count);
    for (Index i = 0; i < n; ++i) {
      const std::span<const T> row = std::as_const(r).row(i);
      const std::span<Small> to = narrow.row(i);
      for (std::size_t j = 0; j < row.size(); ++j) to[j] = narrow_of(row[j] * scales[j]);
    }
    return narrow;
  }

  /// Adds the corrections, and finds which columns gain no more.
  void add(const Matrix<Small>& y) {
    std::vector<Column> now(columns_.size());
    for (Index i = 0; i < x_.rows(); ++i) {
      const std::span<const Small> corrections = y.row(i);
      const std::span<T> x = x_.row(i);
      const double scale = scales_.cols[static_cast<std::size_t>(i)];
      for (std::size_t j = 0; j < columns_.size(); ++j) {
        if (columns_[j].is_done) continue;
        const T correction = widened(corrections[j]) * columns_[j].residual;
        if (!is_number(correction)) throw NotRefined("a correction is NaN or Inf");
        x[j] += correction * scale;
        now[j].step = std::max(now[j].step, size_of_number(correction));
        now[j].size = std::max(now[j].size, size_of_number(x[j] / scale));
      }
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

  RefinedSystem<T>& system_;
  const Scales& scales_;
  const Matrix<T>& b_;
  Matrix<T> x_;
  std::vector<Column> columns_;
};

template <class T>
Matrix<T> solution_of(RefinedSystem<T>& system, const Matrix<T>& b) {
  expect_numbers_in(b);
  system.factor();
  Matrix<T> x = Refinement<T>(system, b).run();
  certify(system, std::as_const(x), b);
  return x;
}

template <class T>
Matrix<T> refined_and_certified(const Matrix<T>& a, const Matrix<T>& b, const SolveOptions& options) {
  if (!may_factor_in(options.math) || (is_complex<T> && options.math != Math::Strict))
    throw InvalidArgument("solve: math = " + std::string(to_string(options.math)) + ", and the factors of " +
                          (is_complex<T> ? "complex numbers are strict ones alone; leave math as it is"
                                         : "real numbers are strict, emulated_fp16x3 or scaled_fp16; name one of "
                                           "these"));
  if (a.rows() == 0 || b.cols() == 0) return Matrix<T>(a.cols(), b.cols());
  const SolveOptions plain{.backend = options.backend, .threads = options.threads};
  return enter("solve", plain, [&] {
    if constexpr (!is_complex<T>)
      if (auto x = with_refined_system(a, b.cols(), plain, options.math,
                                       [&](RefinedSystem<T>& system) { return solution_of(system, b); }))
        return *std::move(x);
    HostSystem<T> system(a, plain, options.math);
    return solution_of<T>(system, b);
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
  if (options.math != Math::Strict)
    throw InvalidArgument(std::string(function) + ": math = " + std::string(to_string(options.math)) +
                          ", which is an option of solve() with refine alone; leave it as it is");
}

} // namespace tessera
