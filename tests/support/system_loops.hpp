#pragma once

/// Batches of small systems (small_systems.hpp) in plain loops, for a device of the tests.

#include <algorithm>
#include <cmath>
#include <vector>

#include <tessera/backend/panel.hpp>
#include <tessera/backend/small_systems.hpp>

#include "panel_numbers.hpp"

namespace tessera::test {

/// The most rows and columns that the loops take, so that tests meet a device that rejects larger ones.
inline constexpr Index most_rows_of_systems = 100;

template <class T>
class SystemLoops {
 public:
  explicit SystemLoops(const PanelCall& call) : x_(*call.systems), m_(call.rows), n_(call.cols) {}

  void run() const {
    for (Index i = 0; i < x_.count; ++i) x_.task == SystemsTask::Copy ? copy(i) : one(i);
  }

 private:
  using Numbers = std::vector<T>;

  bool is_positive() const {
    return x_.task == SystemsTask::Cholesky || x_.task == SystemsTask::CholeskySolve ||
           x_.task == SystemsTask::SolvePositive;
  }
  T& a(Index i, Index row, Index col) const {
    T* const first = static_cast<T*>(x_.all_a != nullptr ? x_.all_a[i] : static_cast<T*>(x_.a) + i * x_.stride_a);
    return is_positive() && x_.is_upper ? first[col * x_.lda + row] : first[row * x_.lda + col];
  }
  T& b(Index i, Index row, Index col) const {
    T* const first = static_cast<T*>(x_.all_b != nullptr ? x_.all_b[i] : static_cast<T*>(x_.b) + i * x_.stride_b);
    return first[row * x_.ldb + col];
  }
  Index end_of_row(Index row) const { return is_positive() ? row + 1 : n_; }
  T conjugate_if(bool is_wanted, T x) const { return is_wanted ? T(conjugate(x)) : x; }

  void copy(Index i) const {
    const T* const first =
        static_cast<const T*>(x_.all_a != nullptr ? x_.all_a[i] : static_cast<T*>(x_.a) + i * x_.stride_a);
    for (Index row = 0; row < m_; ++row)
      for (Index col = 0; col < n_; ++col)
        b(i, row, col) =
            x_.clears_upper && col > row ? T(0) : conjugate_if(x_.is_conjugated, first[row * x_.lda + col * x_.step_a]);
  }

  void one(Index i) const {
    Numbers f(static_cast<std::size_t>(m_ * n_));
    for (Index row = 0; row < m_; ++row)
      for (Index col = 0; col < end_of_row(row); ++col)
        at(f, row, col) = conjugate_if(x_.task == SystemsTask::SolvePositive && x_.is_upper, a(i, row, col));
    std::vector<Index> pivots(static_cast<std::size_t>(std::min(m_, n_)));
    const bool has_factors = x_.task == SystemsTask::LuSolve || x_.task == SystemsTask::CholeskySolve;
    if (has_factors) {
      if (x_.task == SystemsTask::LuSolve) std::copy_n(x_.pivots + i * x_.pivot_stride, n_, pivots.begin());
    } else {
      x_.info[i] = is_positive() ? factor_positive(f) : factor(f, pivots);
    }
    if (x_.task == SystemsTask::Lu) std::ranges::copy(pivots, x_.pivots + i * x_.pivot_stride);
    if (x_.task == SystemsTask::Lu || (x_.task == SystemsTask::Cholesky && x_.info[i] == 0)) {
      for (Index row = 0; row < m_; ++row)
        for (Index col = 0; col < end_of_row(row); ++col) a(i, row, col) = at(f, row, col);
    }
    if (x_.task == SystemsTask::Lu || x_.task == SystemsTask::Cholesky || (!has_factors && x_.info[i] != 0)) return;
    for (Index col = 0; col < x_.columns; ++col) {
      Numbers y(static_cast<std::size_t>(n_));
      for (Index row = 0; row < n_; ++row)
        at(y, row) = x_.task == SystemsTask::Inverse ? T(row == col ? 1 : 0) : b(i, row, col);
      solve(f, pivots, y);
      for (Index row = 0; row < n_; ++row) b(i, row, col) = at(y, row);
    }
  }
  T& at(Numbers& f, Index row, Index col) const { return f[static_cast<std::size_t>(row * n_ + col)]; }
  static T& at(Numbers& y, Index row) { return y[static_cast<std::size_t>(row)]; }

  Index factor(Numbers& f, std::vector<Index>& pivots) const {
    Index info = 0;
    for (Index j = 0; j < std::min(m_, n_); ++j) {
      Index pivot = j;
      for (Index i = j; i < m_; ++i) {
        at(f, i, j) -= sum(f, i, j, j);
        const PanelPart<T> size = pivot_size(at(f, i, j)), best = pivot_size(at(f, pivot, j));
        if (size > best || (std::isnan(size) && !std::isnan(best))) pivot = i;
      }
      pivots[static_cast<std::size_t>(j)] = pivot;
      for (Index c = 0; c < n_; ++c) std::swap(at(f, j, c), at(f, pivot, c));
      const T divisor = at(f, j, j);
      if (divisor == T(0) && info == 0) info = j + 1;
      for (Index i = j + 1; i < m_ && divisor != T(0); ++i) at(f, i, j) = quotient(at(f, i, j), divisor);
      for (Index c = j + 1; c < n_; ++c) at(f, j, c) -= sum(f, j, c, j);
    }
    return info;
  }
  T sum(Numbers& f, Index i, Index j, Index terms) const {
    T s = 0;
    for (Index k = 0; k < terms; ++k) s = go_on(at(f, i, k), at(f, k, j), s);
    return s;
  }
  Index factor_positive(Numbers& f) const {
    for (Index j = 0; j < n_; ++j)
      for (Index i = j; i < n_; ++i) {
        T s = 0;
        for (Index k = 0; k < j; ++k) s = go_on(at(f, i, k), T(conjugate(at(f, j, k))), s);
        const T rest = at(f, i, j) - s;
        if (i == j && !(std::real(rest) > 0)) return j + 1;
        at(f, i, j) = i == j ? T(std::sqrt(std::real(rest))) : T(rest / std::real(at(f, j, j)));
      }
    return 0;
  }

  void solve(Numbers& f, const std::vector<Index>& pivots, Numbers& y) const {
    const bool conjugates_direct = x_.task == SystemsTask::CholeskySolve && x_.is_upper,
               conjugates_turned = is_positive() ? !conjugates_direct : x_.is_conjugated;
    const auto direct = [&](Index i, Index k) { return conjugate_if(conjugates_direct, at(f, i, k)); };
    const auto turned = [&](Index i, Index k) { return conjugate_if(conjugates_turned, at(f, k, i)); };
    const auto exchange = [&](Index j) { std::swap(at(y, j), at(y, pivots[static_cast<std::size_t>(j)])); };
    if (is_positive()) {
      ascend(direct, false, y);
      descend(turned, false, y);
    } else if (x_.task == SystemsTask::LuSolve && x_.is_transposed) {
      ascend(turned, false, y);
      descend(turned, true, y);
      for (Index j = n_; j-- > 0;) exchange(j);
    } else {
      for (Index j = 0; j < n_; ++j) exchange(j);
      ascend(direct, true, y);
      descend(direct, false, y);
    }
  }
  template <class Number>
  void ascend(const Number& t, bool has_unit_diagonal, Numbers& y) const {
    for (Index i = 0; i < n_; ++i) {
      T s = 0;
      for (Index k = 0; k < i; ++k) s = go_on(t(i, k), at(y, k), s);
      at(y, i) -= s;
      if (!has_unit_diagonal) at(y, i) = quotient(at(y, i), t(i, i));
    }
  }
  template <class Number>
  void descend(const Number& t, bool has_unit_diagonal, Numbers& y) const {
    for (Index i = n_; i-- > 0;) {
      T s = 0;
      for (Index k = n_ - 1; k > i; --k) s = go_on(t(i, k), at(y, k), s);
      at(y, i) -= s;
      if (!has_unit_diagonal) at(y, i) = quotient(at(y, i), t(i, i));
    }
  }

  const SystemsCall& x_;
  Index m_, n_;
};

} // namespace tessera::test
