/// Systems of f64, or of complex numbers of it, that are solved with factors in f32 and refined: the factors are half
/// the work, and residuals in f64 bring the solution to f64's precision. The result is certified before it is returned.

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <complex>
#include <mutex>
#include <span>
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
  double size = 0;    ///< the largest element of the scaled solution
  double step = 0;    ///< and of its last correction
  double scale = 0;   ///< of the residual that is being solved for
  double unscale = 0; ///< its inverse
};

template <class T>
class Refinement {
 public:
  Refinement(RefinedSystem<T>& system, const Matrix<T>& b, const SolveOptions& options)
      : system_(system),
        products_(options),
        scales_(system.scales()),
        n_(b.rows()),
        b_{b.data(), b.ld()},
        columns_(static_cast<std::size_t>(b.cols())) {}

  /// Makes the system's x the solution.
  void run() {
    for (int step = 0; step < most_steps && !is_done(); ++step) {
      take_residual(step == 0);
      system_.solve();
      add();
    }
  }

 private:
  bool is_done() const {
    return std::ranges::all_of(columns_, [](const Column& column) { return column.is_done; });
  }

  /// Calls visit(i, first, largest) for each row and some columns from `first` on, as many as `largest` has numbers, on
  /// the host's threads. Returns what the numbers become at most, which are 0 before.
  template <class Visit>
  std::vector<double> largest_of_rows(const Visit& visit) const {
    constexpr std::size_t columns_at_once = 16;
    constexpr Index rows_of_thread = 512;
    std::vector<double> all(columns_.size());
    std::mutex mutex;
    for (std::size_t first = 0; first < all.size(); first += columns_at_once)
      products_.in_parts(n_, rows_of_thread, [&](Index begin, Index end) {
        std::array<double, columns_at_once> memory{};
        const std::span<double> largest(memory.data(), std::min(columns_at_once, all.size() - first));
        for (Index i = begin; i < end; ++i) visit(i, static_cast<Index>(first), largest);
        const std::lock_guard lock(mutex);
        for (std::size_t j = 0; j < largest.size(); ++j) all[first + j] = std::max(all[first + j], largest[j]);
      });
    return all;
  }
  Column& column(Index first, std::size_t j) { return columns_[static_cast<std::size_t>(first) + j]; }

  /// Makes y the residual of each column, with its rows scaled as A's, and divided by a power of two.
  void take_residual(bool is_first) {
    const Block<T> r = system_.r();
    largest_of_rows([&](Index i, Index first, std::span<double> some) {
      std::copy_n(b_.at(i, first), some.size(), r.at(i, first));
    });
    if (!is_first) system_.subtract_product();
    const std::vector<double> sizes = largest_of_rows([&](Index i, Index first, std::span<double> largest) {
      T* const row = r.at(i, first);
      for (std::size_t j = 0; j < largest.size(); ++j) {
        row[j] *= scales_.rows[static_cast<std::size_t>(i)];
        largest[j] = std::max(largest[j], size_of_number(row[j]));
      }
    });
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      Column& one = columns_[j];
      one.is_done = one.is_done || sizes[j] == 0;
      one.scale = one.is_done ? 0 : scale_of(sizes[j]);
      one.unscale = one.is_done ? 0 : 1 / one.scale;
    }
    const Block<Narrow<T>> y = system_.y();
    largest_of_rows([&](Index i, Index first, std::span<double> some) {
      Narrow<T>* const to = y.at(system_.places()[static_cast<std::size_t>(i)], first);
      for (std::size_t j = 0; j < some.size(); ++j) to[j] = narrow_of(r.at(i, first)[j] * column(first, j).scale);
    });
  }

  /// Adds the corrections, and finds which columns gain no more.
  void add() {
    const Block<Narrow<T>> y = system_.y();
    const Block<T> solution = system_.x();
    std::atomic<bool> all_are_numbers = true;
    const std::vector<double> steps = largest_of_rows([&](Index i, Index first, std::span<double> largest) {
      const double scale = scales_.cols[static_cast<std::size_t>(i)];
      T* const x = solution.at(i, first);
      for (std::size_t j = 0; j < largest.size(); ++j) {
        const Column& one = column(first, j);
        if (one.is_done) continue;
        const T correction = widened(y.at(i, first)[j]) * one.unscale;
        if (!is_number(correction)) all_are_numbers = false;
        x[j] += correction * scale;
        largest[j] = std::max(largest[j], size_of_number(correction));
      }
    });
    if (!all_are_numbers) throw NotRefined("a correction is NaN or Inf");
    const std::vector<double> sizes = largest_of_rows([&](Index i, Index first, std::span<double> largest) {
      const double unscale = 1 / scales_.cols[static_cast<std::size_t>(i)]; // a power of two as well
      const T* const x = solution.at(i, first);
      for (std::size_t j = 0; j < largest.size(); ++j)
        largest[j] = std::max(largest[j], size_of_number(x[j] * unscale));
    });
    constexpr double u = 0x1p-53;
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      Column& one = columns_[j];
      if (one.is_done) continue;
      const bool is_first = one.size == 0;
      one.is_done = steps[j] <= u * sizes[j] || (!is_first && steps[j] > one.step / 2);
      one.step = steps[j];
      one.size = sizes[j];
    }
  }

  RefinedSystem<T>& system_;
  Products<T> products_; ///< has the host's threads
  const Scales& scales_;
  Index n_;
  Block<const T> b_;
  std::vector<Column> columns_;
};

template <class T>
Matrix<T> solution_of(RefinedSystem<T>& system, const Matrix<T>& b, const SolveOptions& options) {
  expect_numbers_in(b);
  system.factor();
  Refinement<T>(system, b, options).run();
  auto x = Matrix<T>::uninitialized(b.rows(), b.cols());
  const Block<T> to{x.data(), x.ld()};
  for (Index i = 0; i < b.rows(); ++i) std::copy_n(system.x().at(i, 0), b.cols(), to.at(i, 0));
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
                                       [&](RefinedSystem<T>& system) { return solution_of(system, b, plain); }))
        return *std::move(x);
    HostSystem<T> system(a, b.cols(), plain, options.math);
    return solution_of<T>(system, b, plain);
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
