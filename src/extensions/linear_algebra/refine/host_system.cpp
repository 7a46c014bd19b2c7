#include "host_system.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <tessera/linear_algebra/solve.hpp>

#include "extensions/linear_algebra/factor.hpp"
#include "extensions/linear_algebra/host_numbers.hpp"

namespace tessera::linear_algebra {
namespace {

constexpr Index rows_of_part = 16; ///< of a thread, at least
constexpr Index columns_of_part = 256;

/// The largest magnitude of a row of numbers, NaN where there is NaN or Inf; and the least one but 0, Inf where there
/// is none. Eight at a time, so that the comparisons do not wait for each other.
struct RowRange {
  RowRange(const double* row, Index count) {
    constexpr Index lanes = 8;
    constexpr double none = std::numeric_limits<double>::infinity();
    std::array<double, lanes> most{}, few{}, zeros{};
    few.fill(none);
    const auto add = [&](Index lane, double x) {
      const auto l = static_cast<std::size_t>(lane);
      const double magnitude = std::abs(x), but_0 = magnitude == 0 ? none : magnitude;
      most[l] = magnitude > most[l] ? magnitude : most[l];
      few[l] = but_0 < few[l] ? but_0 : few[l];
      zeros[l] += x * 0;
    };
    Index k = 0;
    for (; k + lanes <= count; k += lanes)
      for (Index lane = 0; lane < lanes; ++lane) add(lane, row[k + lane]);
    for (; k < count; ++k) add(0, row[k]);
    largest = *std::ranges::max_element(most);
    least = *std::ranges::min_element(few);
    for (const double zero : zeros) largest += zero;
  }
  double largest = 0, least = 0;
};

} // namespace

template <class T>
HostSystem<T>::HostSystem(const Matrix<T>& a, Index count, const SolveOptions& options, Math math)
    : n_(a.rows()),
      a_{a.data(), a.ld()},
      solution_(n_, count),
      residual_(Matrix<T>::uninitialized(n_, count)),
      unknowns_(Matrix<Small>::uninitialized(n_, count)),
      options_(options),
      math_(math),
      products_(options) {
  this->x_ = {solution_.data(), solution_.ld()};
  this->r_ = {residual_.data(), residual_.ld()};
  this->y_ = {unknowns_.data(), unknowns_.ld()};
  constexpr Index each = Number<T>::parts;
  Scales& scales = this->scales_;
  const auto n = static_cast<std::size_t>(n_);
  std::vector<double> largest(n);
  scales.least.resize(n);
  products_.in_parts(n_, rows_of_part, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const RowRange range(parts(i), each * n_);
      largest[static_cast<std::size_t>(i)] = range.largest;
      scales.least[static_cast<std::size_t>(i)] = range.least;
    }
  });
  expect_numbers("a", largest);
  scales.rows = scales_of(largest);
  std::vector<double> of_parts(n * each);
  products_.in_parts(each * n_, columns_of_part, [&](Index begin, Index end) {
    for (Index i = 0; i < n_; ++i) {
      const double scale = scales.rows[static_cast<std::size_t>(i)];
      const double* const row = parts(i);
      for (Index j = begin; j < end; ++j) {
        double& most = of_parts[static_cast<std::size_t>(j)];
        const double magnitude = std::abs(row[j] * scale);
        most = magnitude > most ? magnitude : most;
      }
    }
  });
  scales.cols.resize(n);
  for (std::size_t j = 0; j < n; ++j)
    scales.cols[j] = scale_of(std::max(of_parts[each * j], of_parts[each * j + each - 1]));
}

template <class T>
Matrix<Narrow<T>> HostSystem<T>::narrowed() const {
  constexpr Index each = Number<T>::parts;
  auto narrow = Matrix<Small>::uninitialized(n_, n_);
  const Block<Small> to{narrow.data(), narrow.ld()};
  const Scales& scales = this->scales_;
  products_.in_parts(n_, rows_of_part, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const double scale = scales.rows[static_cast<std::size_t>(i)];
      const double* const from = parts(i);
      auto* const numbers = reinterpret_cast<float*>(to.at(i, 0));
      for (Index j = 0; j < n_; ++j)
        for (Index part = each * j; part < each * (j + 1); ++part)
          numbers[part] = static_cast<float>(from[part] * scale * scales.cols[static_cast<std::size_t>(j)]);
    }
  });
  return narrow;
}

template <class T>
void HostSystem<T>::factor() {
  std::vector<Index> pivots(static_cast<std::size_t>(n_));
  Factors& factors = factors_.emplace(Factors{narrowed(), Matrix<Small>()});
  if (factor_lu_in_mode<Small>(math_, n_, {factors.packed.data(), factors.packed.ld()}, pivots, options_) >= 0)
    throw NotRefined("a pivot of the factors is 0");
  this->place_rows(pivots);
  factors.turned = Matrix<Small>::uninitialized(n_, n_);
  const Block<const Small> u{std::as_const(factors.packed).data(), factors.packed.ld()};
  const Block<Small> to{factors.turned.data(), factors.turned.ld()};
  products_.in_parts(n_, rows_of_part, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Small* const row = u.at(n_ - 1 - i, 0);
      for (Index k = 0; k <= i; ++k) *to.at(i, k) = row[n_ - 1 - k];
    }
  });
}

template <class T>
void HostSystem<T>::solve() {
  const auto solve_lower = [&](const Matrix<Small>& t, Diagonal diagonal) {
    detail::triangular_solve(detail::triangular_call("solve", Side::Left, Triangle::Lower, diagonal, t, unknowns_),
                             options_);
  };
  const auto turn_round = [&] {
    for (Index i = 0; i < n_ / 2; ++i) std::ranges::swap_ranges(unknowns_.row(i), unknowns_.row(n_ - 1 - i));
  };
  solve_lower(factors_->packed, Diagonal::Unit);
  turn_round();
  solve_lower(factors_->turned, Diagonal::Stored);
  turn_round();
}

template <class T>
void HostSystem<T>::subtract_product() {
  const Block<T> x = this->x();
  products_.multiply(T(-1), n_, solution_.cols(), n_, {a_}, {x}, T(1), this->r());
}

template <class T>
Matrix<double> HostSystem<T>::multiply_magnitudes(const Matrix<double>& z) {
  factors_.reset();
  constexpr Index most_rows = 256; // their magnitudes stay in the cache
  const Index width = Number<T>::parts * n_;
  const Products<double> products(options_);
  const HostNumbers<double> memory(std::min(most_rows, n_) * width);
  const Block<double> strip{memory.get(), width};
  auto sums = Matrix<double>::uninitialized(n_, z.cols());
  const Block<double> to{sums.data(), sums.ld()};
  for (Index first = 0; first < n_; first += most_rows) {
    const Index rows = std::min(most_rows, n_ - first);
    products.in_parts(rows, rows_of_part, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i)
        std::transform(parts(first + i), parts(first + i) + width, strip.at(i, 0),
                       [](double number) { return std::abs(number); });
    });
    products.multiply(1, rows, z.cols(), width, {strip}, {{z.data(), z.ld()}}, 0, to.from(first, 0));
  }
  return sums;
}

template class HostSystem<double>;
template class HostSystem<std::complex<double>>;

} // namespace tessera::linear_algebra
