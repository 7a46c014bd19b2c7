#include "device_system.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <tessera/linear_algebra/solve.hpp>

#include "extensions/linear_algebra/device/choice.hpp"
#include "extensions/linear_algebra/device/matrices.hpp"
#include "extensions/linear_algebra/device/steps.hpp"

namespace tessera::linear_algebra {
namespace {

class DeviceSystem final : public RefinedSystem<double> {
 public:
  DeviceSystem(Executor& executor, const detail::Operand& a, Index count, Math math)
      : steps_(executor, DType::F64),
        narrow_steps_(executor, DType::F32),
        hold_(a, executor),
        n_(a.rows),
        count_(count),
        math_(math),
        a_(steps_.place(hold_.read())),
        square_memory_(steps_.array(n_, n_)),
        x_memory_(steps_.array(1, n_ * count)),
        sums_memory_(steps_.array(1, n_ * count)),
        y_memory_(narrow_steps_.array(1, n_ * count)),
        numbers_(steps_.numbers(n_)),
        factors_(narrow_steps_.place(square_memory_, n_)),
        x_{x_memory_.as<char>(), count, steps_.element()},
        sums_{sums_memory_.as<char>(), count, steps_.element()},
        y_{y_memory_.as<char>(), count, narrow_steps_.element()} {
    scale();
  }

  void factor() override {
    std::vector<Index> pivots(static_cast<std::size_t>(n_));
    bool begins = false;
    if (device::Elimination(narrow_steps_, n_, n_, factors_, math_).run(pivots, begins) >= 0)
      throw NotRefined("a pivot of the factors is 0");
    steps_.write(numbers_.as<Index>(), std::span<const Index>(pivots));
  }

  void solve(Matrix<float>& y) override {
    write(std::as_const(y), y_);
    narrow_steps_.panel({.op = PanelOp::ExchangeRows,
                         .rows = n_,
                         .cols = count_,
                         .a = y_.data,
                         .lda = y_.ld,
                         .numbers = numbers_.as<Index>(),
                         .count = n_});
    solve(Triangle::Lower, Diagonal::Unit);
    solve(Triangle::Upper, Diagonal::Stored);
    read(y_, y);
  }

  void subtract_product(const Matrix<double>& x, Matrix<double>& r) override {
    write(x, x_);
    write(std::as_const(r), sums_);
    steps_.product(true, n_, count_, n_, a_, x_, Op::None, sums_);
    read(sums_, r);
  }

  Matrix<double> multiply_magnitudes(const Matrix<double>& x) override {
    const device::Place magnitudes = steps_.place(square_memory_, n_);
    steps_.panel({.op = PanelOp::Magnitudes,
                  .rows = n_,
                  .cols = n_,
                  .a = magnitudes.data,
                  .lda = magnitudes.ld,
                  .x = a_.data,
                  .ldx = a_.ld});
    write(x, x_);
    steps_.product(false, n_, count_, n_, magnitudes, x_, Op::None, sums_);
    auto sums = Matrix<double>::uninitialized(n_, count_);
    read(sums_, sums);
    return sums;
  }

 private:
  /// Finds the scales, and becomes the matrix of f32 that is to be factored.
  void scale() {
    const auto n = static_cast<std::size_t>(n_);
    std::vector<double> largest(n);
    scales_.least.resize(n);
    const device::DeviceArray memory = steps_.array(4, n_);
    const device::Place lines = steps_.place(memory, n_);
    const auto line = [&](Index i) { return reinterpret_cast<double*>(lines.at(i, 0).data); };
    double *const of_rows = line(0), *const others = line(1), *const row_scales = line(2), *const col_scales = line(3);
    PanelCall call{.op = PanelOp::LargestOfRows,
                   .rows = n_,
                   .cols = n_,
                   .x = a_.data,
                   .ldx = a_.ld,
                   .row_scales = row_scales,
                   .column_scales = col_scales,
                   .largest = of_rows,
                   .least = others};
    steps_.panel(call);
    steps_.read(std::span(largest), of_rows);
    steps_.read(std::span(scales_.least), others);
    expect_numbers("a", largest);
    scales_.rows = scales_of(largest);
    steps_.write(row_scales, std::span<const double>(scales_.rows));
    call.op = PanelOp::LargestOfColumns;
    call.largest = others;
    steps_.panel(call);
    steps_.read(std::span(largest), others);
    scales_.cols = scales_of(largest);
    steps_.write(col_scales, std::span<const double>(scales_.cols));
    call.op = PanelOp::Narrow;
    call.a = factors_.data;
    call.lda = factors_.ld;
    steps_.panel(call);
  }

  /// Copy a matrix of n rows by way of memory without gaps: a copy of many short rows takes long.
  template <class N>
  void write(const Matrix<N>& from, device::Place to) const {
    std::vector<N> numbers(static_cast<std::size_t>(n_ * count_));
    for (Index i = 0; i < n_; ++i) std::ranges::copy(from.row(i), numbers.begin() + i * count_);
    steps_.write(reinterpret_cast<N*>(to.data), std::span<const N>(numbers));
  }
  template <class N>
  void read(device::Place from, Matrix<N>& to) const {
    std::vector<N> numbers(static_cast<std::size_t>(n_ * count_));
    steps_.read(std::span(numbers), reinterpret_cast<const N*>(from.data));
    for (Index i = 0; i < n_; ++i) std::copy_n(numbers.begin() + i * count_, count_, to.row(i).begin());
  }

  void solve(Triangle triangle, Diagonal diagonal) const {
    device::solve_there(narrow_steps_, {Side::Left, triangle, Op::None, diagonal}, n_, count_, factors_, y_);
  }

  device::Steps steps_, narrow_steps_;
  detail::DeviceHold hold_;
  Index n_, count_;
  Math math_;
  device::Place a_;
  device::DeviceArray square_memory_; ///< of the factors, and of the magnitudes afterwards
  device::DeviceArray x_memory_, sums_memory_, y_memory_, numbers_;
  device::Place factors_, x_, sums_, y_;
};

} // namespace

std::optional<Matrix<double>> with_refined_system(const Matrix<double>& a, Index count, const SolveOptions& options,
                                                  Math math,
                                                  const std::function<Matrix<double>(RefinedSystem<double>&)>& solve) {
  const detail::Operand matrix = a.operand();
  Executor* const executor = device::device_of(options, {matrix.rows, matrix.rows, matrix.rows}, {&matrix});
  if (executor == nullptr) return std::nullopt;
  return device::unless_refused({&matrix}, [&](bool&) { // nothing of the caller's is written
    DeviceSystem system(*executor, matrix, count, math);
    return solve(system);
  });
}

} // namespace tessera::linear_algebra
