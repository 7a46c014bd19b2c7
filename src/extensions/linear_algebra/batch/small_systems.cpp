#include "small_systems.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "extensions/linear_algebra/transpose.hpp"

namespace tessera::linear_algebra {
namespace {

/// Right-hand sides that are solved at once, which stay in cache.
constexpr Index columns_at_once = 8;

/// Rows of lanes lie an odd number of vectors apart, so that a column's are not all in one set of the cache.
Index odd_distance(Index n) { return n | 1; }

} // namespace

template <class T>
LaneGroup<T>::LaneGroup(const Systems<T>& systems)
    : systems_(systems),
      matrix_memory_(systems.m * odd_distance(systems.n) * lane_count<T>),
      x_memory_(systems.n * std::min(systems.columns, columns_at_once) * lane_count<T>),
      a_{reinterpret_cast<Part<T>*>(matrix_memory_.get()), odd_distance(systems.n)},
      x_{reinterpret_cast<Part<T>*>(x_memory_.get()), std::min(systems.columns, columns_at_once)},
      pivots_(static_cast<std::size_t>(std::min(systems.m, systems.n) * lane_count<T>)),
      rows_(static_cast<std::size_t>(systems.n * lane_count<T>)) {}

/// Can whole squares of numbers be transposed between the caller's rows and the lanes?
template <class T>
bool LaneGroup<T>::has_even_rows(const Members<T>& members, const View& view, const std::int32_t* rows) const {
  return !is_complex<T> && !view.is_transposed && rows == nullptr && members.all == nullptr && count_ == lane_count<T>;
}

/// Copies to all lanes; the ones after the last system repeat it, so that their numbers are ordinary ones. Row i of
/// lane l is the caller's row rows[i·lane_count + l], where `rows` is given.
template <class T>
void LaneGroup<T>::load(const Members<T>& from, Index column, const View& view, const Lanes<T>& to,
                        const std::int32_t* rows) const {
  constexpr Index lanes = lane_count<T>, parts = Number<T>::parts;
  const Index of_row = view.is_transposed ? 1 : from.ld, of_column = view.is_transposed ? from.ld : 1;
  const bool is_even = has_even_rows(from, view, rows);
  const T* matrices[lanes];
  for (Index l = 0; l < lanes; ++l) matrices[l] = from.at(first_ + std::min(l, count_ - 1)) + column;
  for (Index i = 0; i < view.rows; ++i) {
    const Index end = view.lower_alone ? i + 1 : view.cols;
    if constexpr (!is_complex<T>)
      if (is_even) {
        transpose_block(lanes, end, matrices[0] + i * of_row, from.stride, to.at(i, 0), lanes);
        continue;
      }
    for (Index l = 0; l < lanes; ++l) {
      const Index row = rows != nullptr ? rows[i * lanes + l] : i;
      const auto* x = reinterpret_cast<const Part<T>*>(matrices[l] + row * of_row);
      Part<T>* y = to.at(i, 0) + l;
      for (Index j = 0; j < end; ++j, x += of_column * parts, y += lane_step<T>) {
        y[0] = x[0];
        if constexpr (is_complex<T>) y[lanes] = view.conjugate ? -x[1] : x[1];
      }
    }
  }
}

/// Copies back what load() copied.
template <class T>
void LaneGroup<T>::store(const Lanes<T>& from, const View& view, const Members<T>& to, Index column,
                         const std::int32_t* rows, bool spare_failed) const {
  constexpr Index lanes = lane_count<T>, parts = Number<T>::parts;
  const Index of_row = view.is_transposed ? 1 : to.ld, of_column = view.is_transposed ? to.ld : 1;
  const bool spares = spare_failed && std::any_of(info_, info_ + count_, [](Index one) { return one != 0; });
  const bool is_even = has_even_rows(to, view, rows) && !spares;
  T* matrices[lanes];
  for (Index l = 0; l < count_; ++l) matrices[l] = to.at(first_ + l) + column;
  for (Index i = 0; i < view.rows; ++i) {
    const Index end = view.lower_alone ? i + 1 : view.cols;
    if constexpr (!is_complex<T>)
      if (is_even) {
        transpose_block(end, lanes, from.at(i, 0), lanes, matrices[0] + i * of_row, to.stride);
        continue;
      }
    for (Index l = 0; l < count_; ++l) {
      if (spares && info_[l] != 0) continue;
      const Index row = rows != nullptr ? rows[i * lanes + l] : i;
      auto* y = reinterpret_cast<Part<T>*>(matrices[l] + row * of_row);
      const Part<T>* x = from.at(i, 0) + l;
      for (Index j = 0; j < end; ++j, y += of_column * parts, x += lane_step<T>)
        for (Index p = 0; p < parts; ++p) y[p] = x[p * lanes];
    }
  }
}

/// Loads the lower triangle, or the upper one as its transpose.
template <class T>
void LaneGroup<T>::load_factor(bool conjugate) {
  const bool is_upper = systems_.triangle == Triangle::Upper;
  load(systems_.a, 0, {systems_.n, systems_.n, is_upper, conjugate && is_upper, true}, a_, nullptr);
}

template <class T>
void LaneGroup<T>::factor() {
  load(systems_.a, 0, {.rows = systems_.m, .cols = systems_.n}, a_, nullptr);
  factor_lanes(systems_.m, systems_.n, a_, pivots_.data(), info_);
}

template <class T>
void LaneGroup<T>::factor_positive(bool conjugate) {
  load_factor(conjugate);
  factor_positive_lanes(systems_.n, a_, info_);
}

/// Takes the caller's pivots.
template <class T>
void LaneGroup<T>::take_pivots() {
  constexpr Index lanes = lane_count<T>;
  for (Index l = 0; l < lanes; ++l) {
    const Index* const given = systems_.pivots + (first_ + std::min(l, count_ - 1)) * systems_.pivot_stride;
    for (Index j = 0; j < systems_.n; ++j)
      pivots_[static_cast<std::size_t>(j * lanes + l)] = static_cast<std::int32_t>(given[j]);
  }
}

/// Finds the row of B that each row of P·B is.
template <class T>
void LaneGroup<T>::find_rows() {
  constexpr Index lanes = lane_count<T>;
  for (Index i = 0; i < systems_.n; ++i) std::fill_n(rows_.begin() + i * lanes, lanes, static_cast<std::int32_t>(i));
  for (Index j = 0; j < systems_.n; ++j)
    for (Index l = 0; l < lanes; ++l) {
      const Index other = pivots_[static_cast<std::size_t>(j * lanes + l)];
      std::swap(rows_[static_cast<std::size_t>(j * lanes + l)], rows_[static_cast<std::size_t>(other * lanes + l)]);
    }
}

template <class T>
void LaneGroup<T>::report() const {
  if (systems_.info != nullptr) std::copy_n(info_, count_, systems_.info + first_);
}

template <class T>
void LaneGroup<T>::solve_lu(Index columns, const Lanes<T>& x) const {
  const Index n = systems_.n;
  const Lanes<T> last = x.upside_down(n), turned = a_.turned_round(n);
  if (systems_.op == Op::None) {
    solve_lanes<T>({n, a_, true}, columns, x);
    return solve_lanes<T>({n, turned}, columns, last);
  }
  const bool conjugate = systems_.op == Op::ConjugateTranspose;
  solve_lanes<T>({n, a_.transposed(), false, conjugate}, columns, x);
  solve_lanes<T>({n, turned.transposed(), true, conjugate}, columns, last);
}

/// Solves with the lower triangle T or its conjugate, and then with the transpose, which the other one of the two is.
template <class T>
void LaneGroup<T>::solve_positive(Index columns, const Lanes<T>& x, bool conjugate_first) const {
  const Index n = systems_.n;
  solve_lanes<T>({n, a_, false, conjugate_first}, columns, x);
  solve_lanes<T>({n, a_.transposed().turned_round(n), false, !conjugate_first}, columns, x.upside_down(n));
}

template <class T>
void LaneGroup<T>::solve_all_columns() {
  constexpr Index lanes = lane_count<T>;
  const BatchTask task = systems_.task;
  const bool by_lu = task == BatchTask::LuSolve || task == BatchTask::Solve || task == BatchTask::Inverse;
  const bool is_turned = by_lu && systems_.op != Op::None;
  const bool spare_failed = task != BatchTask::LuSolve && task != BatchTask::CholeskySolve;
  const std::int32_t* const rows = by_lu ? rows_.data() : nullptr;
  for (Index first = 0; first < systems_.columns; first += columns_at_once) {
    const View view{.rows = systems_.n, .cols = std::min(columns_at_once, systems_.columns - first)};
    if (task == BatchTask::Inverse) {
      for (Index i = 0; i < systems_.n; ++i)
        for (Index j = 0; j < view.cols; ++j) {
          std::fill_n(x_.at(i, j), lane_step<T>, Part<T>(0));
          for (Index l = 0; l < lanes; ++l) x_.at(i, j)[l] = rows[i * lanes + l] == first + j ? Part<T>(1) : Part<T>(0);
        }
    } else {
      load(systems_.b, first, view, x_, is_turned ? nullptr : rows);
    }
    if (by_lu)
      solve_lu(view.cols, x_);
    else
      solve_positive(view.cols, x_, task == BatchTask::CholeskySolve && systems_.triangle == Triangle::Upper);
    store(x_, view, systems_.b, first, is_turned ? rows : nullptr, spare_failed);
  }
}

template <class T>
void LaneGroup<T>::compute(Index first, Index count) {
  constexpr Index lanes = lane_count<T>;
  first_ = first;
  count_ = count;
  switch (systems_.task) {
    case BatchTask::Lu:
      factor();
      store(a_, {.rows = systems_.m, .cols = systems_.n}, systems_.a, 0, nullptr, false);
      for (Index l = 0; l < count; ++l)
        for (Index j = 0; j < systems_.pivot_stride; ++j)
          systems_.pivots[(first + l) * systems_.pivot_stride + j] = pivots_[static_cast<std::size_t>(j * lanes + l)];
      return report();
    case BatchTask::Cholesky:
      factor_positive(false);
      store(a_, {systems_.n, systems_.n, systems_.triangle == Triangle::Upper, false, true}, systems_.a, 0, nullptr,
            true);
      return report();
    case BatchTask::LuSolve:
      load(systems_.a, 0, {.rows = systems_.n, .cols = systems_.n}, a_, nullptr);
      take_pivots();
      find_rows();
      return solve_all_columns();
    case BatchTask::CholeskySolve:
      load_factor(false);
      return solve_all_columns();
    case BatchTask::SolvePositive:
      factor_positive(true);
      report();
      return solve_all_columns();
    case BatchTask::Solve:
    case BatchTask::Inverse:
      factor();
      report();
      find_rows();
      return solve_all_columns();
    case BatchTask::Copy: // of device memory alone
      return;
  }
}

template class LaneGroup<float>;
template class LaneGroup<double>;
template class LaneGroup<std::complex<float>>;
template class LaneGroup<std::complex<double>>;

} // namespace tessera::linear_algebra
