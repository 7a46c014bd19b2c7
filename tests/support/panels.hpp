#pragma once

/// The steps of factorisations (panel.hpp) in plain loops, for a device of the tests.

#include <algorithm>
#include <cmath>

#include <tessera/backend/panel.hpp>
#include <tessera/status.hpp>

#include "reflection_loops.hpp"
#include "system_loops.hpp"

namespace tessera::test {

template <class T>
class PanelLoops {
 public:
  explicit PanelLoops(const PanelCall& call) : call_(call) {}

  void run() const {
    switch (call_.op) {
      case PanelOp::Cholesky:
        return cholesky();
      case PanelOp::Lu:
        return lu();
      case PanelOp::SolveColumns:
        return solve();
      case PanelOp::ExchangeRows:
        return exchange();
      case PanelOp::Reverse:
        return for_elements([&](Index i, Index j) {
          const Index col = call_.keep_columns ? j : call_.cols - 1 - j;
          a(i, j) = static_cast<const T*>(call_.x)[(call_.rows - 1 - i) * call_.ldx + col];
        });
      case PanelOp::ClearUpper:
        return for_elements([&](Index i, Index j) {
          if (j > i) a(i, j) = 0;
        });
      case PanelOp::ColumnSums:
        std::fill(call_.sums, call_.sums + call_.cols, 0.0);
        return for_elements([&](Index i, Index j) {
          const T number = call_.symmetric && i < j ? a(j, i) : a(i, j);
          call_.sums[j] += std::abs(static_cast<double>(static_cast<T>(call_.scale) * number));
        });
      case PanelOp::Reflections:
        return ReflectionLoops<T>(call_).factor();
      case PanelOp::ReflectionVectors:
        return ReflectionLoops<T>(call_).take_vectors();
      case PanelOp::ReflectionTriangle:
        return ReflectionLoops<T>(call_).make_triangle();
      case PanelOp::ClearLower:
        return for_elements([&](Index i, Index j) {
          if (j < i) a(i, j) = 0;
        });
      case PanelOp::SmallSystems:
        return SystemLoops<T>(call_).run();
    }
  }

 private:
  T& a(Index i, Index j) const { return static_cast<T*>(call_.a)[i * call_.lda + j]; }
  T& s(Index i, Index j) const { return static_cast<T*>(call_.s)[i * call_.lds + j]; }
  T t(Index i, Index j) const { return static_cast<const T*>(call_.t)[i * call_.ldt + j]; }

  template <class Visit>
  void for_elements(const Visit& visit) const {
    for (Index i = 0; i < call_.rows; ++i)
      for (Index j = 0; j < call_.cols; ++j) visit(i, j);
  }
  void fail(Index row) const {
    if (*call_.failed < 0) *call_.failed = call_.first + row;
  }

  void cholesky() const {
    for (Index j = 0; j < call_.cols; ++j)
      for (Index i = j; i < call_.rows; ++i) {
        T sum = s(i, j);
        for (Index k = 0; k < j; ++k) sum = std::fma(a(i, k), a(j, k), sum);
        const T rest = a(i, j) - sum;
        if (i == j && !(rest > 0)) fail(j);
        a(i, j) = i == j ? std::sqrt(rest) : rest / a(j, j);
      }
  }

  void lu() const {
    for (Index j = 0; j < call_.cols; ++j) {
      Index pivot = j;
      for (Index i = j; i < call_.rows; ++i) {
        a(i, j) -= s(i, j);
        const T size = std::abs(a(i, j)), best = std::abs(a(pivot, j));
        if (size > best || (std::isnan(size) && !std::isnan(best))) pivot = i;
      }
      call_.numbers[j] = call_.first + pivot;
      for (Index c = 0; c < call_.cols; ++c) {
        std::swap(a(j, c), a(pivot, c));
        std::swap(s(j, c), s(pivot, c));
      }
      if (a(j, j) == 0) fail(j);
      for (Index c = j + 1; c < call_.cols; ++c) {
        a(j, c) -= s(j, c);
      }
      for (Index i = j + 1; i < call_.rows; ++i) {
        if (a(j, j) != 0) a(i, j) /= a(j, j);
        for (Index c = j + 1; c < call_.cols; ++c) s(i, c) = std::fma(a(i, j), a(j, c), s(i, c));
      }
    }
  }

  void solve() const {
    for (Index c = 0; c < call_.cols; ++c)
      for (Index i = 0; i < call_.rows; ++i) {
        T sum = s(i, c);
        for (Index k = 0; k < i; ++k) sum = std::fma(t(i, k), a(k, c), sum);
        a(i, c) -= sum;
        if (!call_.has_unit_diagonal) a(i, c) /= t(i, i);
      }
  }

  void exchange() const {
    for (Index i = 0; i < call_.count; ++i)
      for (Index c = 0; c < call_.cols; ++c)
        if (c < call_.kept_begin || c >= call_.kept_end) std::swap(a(i, c), a(call_.numbers[i] - call_.first, c));
  }

  const PanelCall& call_;
};

inline Status run_panel_loops(const PanelCall& call) {
  if (call.op == PanelOp::SmallSystems && std::max(call.rows, call.cols) > most_rows_of_systems)
    return {StatusCode::Rejected, "the loops take no systems as large as these"};
  if (call.type == DType::F32)
    PanelLoops<float>(call).run();
  else
    PanelLoops<double>(call).run();
  return {};
}

} // namespace tessera::test
