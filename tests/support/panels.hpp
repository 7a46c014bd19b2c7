#pragma once

/// The steps of factorisations (panel.hpp) in plain loops, for a device of the tests.

#include <algorithm>
#include <cmath>
#include <complex>
#include <concepts>
#include <limits>

#include <tessera/backend/kernel.hpp>
#include <tessera/backend/panel.hpp>
#include <tessera/status.hpp>

#include "panel_numbers.hpp"
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
        return solve(
            call_.cols, call_.rows, [&](Index line, Index i) -> T& { return a(i, line); },
            [&](Index line, Index i) { return s(i, line); },
            [](T of_triangle, T x, T sum) { return go_on(of_triangle, x, sum); });
      case PanelOp::SolveTriangle:
        return solve_triangle();
      case PanelOp::ExchangeRows:
        return exchange();
      case PanelOp::GatherRows:
        return for_elements(
            [&](Index i, Index j) { a(i, j) = static_cast<const T*>(call_.x)[call_.numbers[i] * call_.ldx + j]; });
      case PanelOp::Reverse:
        return for_elements([&](Index i, Index j) {
          const Index col = call_.keep_columns ? j : call_.cols - 1 - j;
          const Index row = call_.keep_rows ? i : call_.rows - 1 - i;
          a(i, j) = static_cast<const T*>(call_.x)[row * call_.ldx + col];
        });
      case PanelOp::ClearUpper:
        return for_elements([&](Index i, Index j) {
          if (j > i) a(i, j) = 0;
        });
      case PanelOp::ColumnSums:
        std::fill(call_.sums, call_.sums + call_.cols, 0.0);
        return for_elements([&](Index i, Index j) {
          const T number = call_.symmetric && i < j ? a(j, i) : a(i, j);
          const T counted = call_.symmetric && i == j ? T(std::real(number)) : number;
          call_.sums[j] += size_in_double(static_cast<PanelPart<T>>(call_.scale) * counted);
        });
      case PanelOp::Reflections:
      case PanelOp::ReflectionVectors:
      case PanelOp::ReflectionTriangle:
        return reflect();
      case PanelOp::IntoPlanes:
        if constexpr (is_complex_number<T>) return ReflectionLoops<T>(call_).into_planes();
        return;
      case PanelOp::FromPlanes:
        if constexpr (is_complex_number<T>) return ReflectionLoops<T>(call_).from_planes();
        return;
      case PanelOp::SolveRows:
        return solve(
            call_.rows, call_.cols, [&](Index line, Index i) -> T& { return a(line, i); },
            [&](Index line, Index i) { return s(line, i); },
            [](T of_triangle, T x, T sum) { return go_on(x, of_triangle, sum); });
      case PanelOp::ClearLower:
        return for_elements([&](Index i, Index j) {
          if (j < i) a(i, j) = 0;
        });
      case PanelOp::LargestOfRows:
      case PanelOp::LargestOfColumns:
      case PanelOp::Narrow:
      case PanelOp::Magnitudes:
        if constexpr (std::same_as<T, double>) return scale();
        return;
      case PanelOp::TriangleAlone:
        return for_elements([&](Index i, Index j) {
          const bool is_inside = call_.is_upper ? j >= i : j <= i;
          a(i, j) = i == j && call_.has_unit_diagonal ? T(1) : is_inside ? x(i, j) : T(0);
        });
      case PanelOp::TriangleTerms:
        return correct_terms();
      case PanelOp::LeastMagnitude:
        call_.least[0] = std::numeric_limits<double>::infinity();
        return for_elements([&](Index i, Index j) {
          for (const auto part : {std::real(x(i, j)), std::imag(x(i, j))})
            if (std::abs(part) > 0) call_.least[0] = std::min(call_.least[0], static_cast<double>(std::abs(part)));
        });
      case PanelOp::SmallSystems:
        return SystemLoops<T>(call_).run();
    }
  }

 private:
  T& a(Index i, Index j) const { return static_cast<T*>(call_.a)[i * call_.lda + j]; }
  T& s(Index i, Index j) const { return static_cast<T*>(call_.s)[i * call_.lds + j]; }
  T x(Index i, Index j) const { return static_cast<const T*>(call_.x)[i * call_.ldx + j]; }
  T t(Index i, Index j) const { return static_cast<const T*>(call_.t)[i * call_.ldt + j]; }

  template <class Visit>
  void for_elements(const Visit& visit) const {
    for (Index i = 0; i < call_.rows; ++i)
      for (Index j = 0; j < call_.cols; ++j) visit(i, j);
  }
  void fail(Index row) const {
    if (*call_.failed < 0) *call_.failed = call_.first + row;
  }

  /// May a chain of products be −0?
  bool may_lose_signs() const {
    using P = PanelPart<T>;
    if (call_.is_upper) return false;
    const double of_triangle = call_.has_unit_diagonal ? std::min(call_.least[0], 1.0) : call_.least[0];
    constexpr int exponent = std::numeric_limits<P>::min_exponent + std::numeric_limits<P>::digits + 1;
    return of_triangle * call_.least[1] < std::ldexp(1.0, exponent);
  }
  /// May zeros have changed this number of a chain?
  bool is_suspect(PanelPart<T> z) const { return std::isnan(z) || (z == 0 && may_lose_signs()); }
  bool is_suspect_number(T z) const {
    return is_suspect(std::real(z)) || (is_complex_number<T> && is_suspect(std::imag(z)));
  }
  void correct_terms() const {
    const Index n = call_.is_on_right ? call_.cols : call_.rows;
    const auto m = [&](Index i, Index k) {
      const T number = static_cast<const T*>(call_.t)[i * call_.ldt + k * call_.t_step];
      return call_.conjugates ? conjugate(number) : number;
    };
    for_elements([&](Index row, Index col) {
      if (!is_suspect_number(a(row, col))) return;
      const Index i = call_.is_on_right ? col : row;
      T sum = 0;
      for (Index k = call_.is_upper ? i : 0; k < (call_.is_upper ? n : i + 1); ++k) {
        const T number = call_.is_on_right ? x(row, k) : x(k, col);
        if (k == i && call_.has_unit_diagonal)
          sum += number;
        else
          sum = call_.is_on_right ? go_on(number, m(i, k), sum) : go_on(m(i, k), number, sum);
      }
      a(row, col) = sum;
    });
  }

  static void enlarge(double& largest, double magnitude) {
    if (magnitude > largest || std::isnan(magnitude)) largest = magnitude;
  }
  void scale() const {
    if (call_.op == PanelOp::LargestOfRows) return largest_of_rows();
    if (call_.op == PanelOp::LargestOfColumns) std::fill(call_.largest, call_.largest + call_.cols, 0.0);
    for_elements([&](Index i, Index j) {
      if (call_.op == PanelOp::Magnitudes)
        a(i, j) = std::abs(x(i, j));
      else if (call_.op == PanelOp::LargestOfColumns)
        enlarge(call_.largest[j], std::abs(x(i, j) * call_.row_scales[i]));
      else
        static_cast<float*>(call_.a)[i * call_.lda + j] =
            static_cast<float>(x(i, j) * call_.row_scales[i] * call_.column_scales[j]);
    });
  }
  void largest_of_rows() const {
    std::fill(call_.largest, call_.largest + call_.rows, 0.0);
    std::fill(call_.least, call_.least + call_.rows, std::numeric_limits<double>::infinity());
    for_elements([&](Index i, Index j) {
      const double magnitude = std::abs(x(i, j));
      enlarge(call_.largest[i], magnitude);
      if (magnitude > 0) call_.least[i] = std::min(call_.least[i], magnitude);
    });
  }

  void reflect() const {
    const ReflectionLoops<T> loops(call_);
    if (call_.op == PanelOp::Reflections) return loops.factor();
    if (call_.op == PanelOp::ReflectionVectors) return loops.take_vectors();
    loops.make_triangle();
  }

  void cholesky() const {
    for (Index j = 0; j < call_.cols; ++j)
      for (Index i = j; i < call_.rows; ++i) {
        T sum = s(i, j);
        for (Index k = 0; k < j; ++k) sum = go_on(a(i, k), conjugate(a(j, k)), sum);
        const T rest = a(i, j) - sum;
        if (i == j && !(std::real(rest) > 0)) fail(j);
        a(i, j) = i == j ? T(std::sqrt(std::real(rest))) : rest / std::real(a(j, j));
      }
  }

  void lu() const {
    for (Index j = 0; j < call_.cols; ++j) {
      Index pivot = j;
      for (Index i = j; i < call_.rows; ++i) {
        a(i, j) -= s(i, j);
        const PanelPart<T> size = pivot_size(a(i, j)), best = pivot_size(a(pivot, j));
        if (size > best || (std::isnan(size) && !std::isnan(best))) pivot = i;
      }
      call_.numbers[j] = call_.first + pivot;
      for (Index c = 0; c < call_.cols; ++c) {
        std::swap(a(j, c), a(pivot, c));
        std::swap(s(j, c), s(pivot, c));
      }
      const bool divides = a(j, j) != T(0);
      if (!divides) fail(j);
      for (Index c = j + 1; c < call_.cols; ++c) {
        a(j, c) -= s(j, c);
      }
      for (Index i = j + 1; i < call_.rows; ++i) {
        if (divides) a(i, j) = quotient(a(i, j), a(j, j));
        for (Index c = j + 1; c < call_.cols; ++c) s(i, c) = go_on(a(i, j), a(j, c), s(i, c));
      }
    }
  }

  /// Solves for each line of unknowns; x and sums give number i of a line.
  template <class Number, class Sums, class Term>
  void solve(Index lines, Index size, const Number& x, const Sums& sums, const Term& term) const {
    for (Index line = 0; line < lines; ++line)
      for (Index i = 0; i < size; ++i) {
        T sum = sums(line, i);
        for (Index k = 0; k < i; ++k) sum = term(t(i, k), x(line, k), sum);
        x(line, i) -= sum;
        if (!call_.has_unit_diagonal) x(line, i) = quotient(x(line, i), t(i, i));
      }
  }

  void solve_triangle() const {
    constexpr Index segment = is_complex_number<T> ? canonical_segment / 2 : canonical_segment;
    const auto t = [&](Index i, Index k) { return static_cast<const T*>(call_.t)[i * call_.ldt + k * call_.t_step]; };
    const auto x = [&](Index i, Index c) -> T& { return static_cast<T*>(call_.a)[i * call_.lda + c * call_.a_step]; };
    for (Index c = 0; c < call_.cols; ++c)
      for (Index i = 0; i < call_.rows; ++i) {
        T sum = 0;
        for (Index k = 0; k < i; ++k) {
          sum = go_on(t(i, k), x(k, c), sum);
          if ((k + 1) % segment != 0) continue;
          x(i, c) -= sum;
          sum = 0;
        }
        if (i % segment != 0) x(i, c) -= sum;
        if (!call_.has_unit_diagonal) x(i, c) = quotient(x(i, c), t(i, i));
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
  if (call.op == PanelOp::SmallSystems && call.systems->task != SystemsTask::Copy &&
      std::max(call.rows, call.cols) > most_rows_of_systems)
    return {StatusCode::Rejected, "the loops take no systems as large as these"};
  const bool is_narrow = call.type == DType::F32;
  if (call.is_complex)
    is_narrow ? PanelLoops<std::complex<float>>(call).run() : PanelLoops<std::complex<double>>(call).run();
  else
    is_narrow ? PanelLoops<float>(call).run() : PanelLoops<double>(call).run();
  return {};
}

} // namespace tessera::test
