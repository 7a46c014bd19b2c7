#include "device_system.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include <tessera/linear_algebra/solve.hpp>

#include "extensions/linear_algebra/device/choice.hpp"
#include "extensions/linear_algebra/device/steps.hpp"
#include "extensions/linear_algebra/device/system.hpp"

namespace tessera::linear_algebra {
namespace {

/// Memory of the host from which the device copies by itself.
class PinnedMemory {
 public:
  PinnedMemory(Executor& executor, Index bytes) : executor_(executor) {
    throw_if_failed(executor.allocate_host(static_cast<std::size_t>(bytes), data_));
    std::memset(data_, 0, static_cast<std::size_t>(bytes));
  }
  ~PinnedMemory() { executor_.free_host(data_); }
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;

  char* get() const { return static_cast<char*>(data_); }

 private:
  Executor& executor_;
  void* data_ = nullptr;
};

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
        r_memory_(steps_.array(1, n_ * count)),
        y_memory_(narrow_steps_.array(1, n_ * count)),
        lower_(narrow_steps_, {Side::Left, Triangle::Lower, Op::None, Diagonal::Unit}, n_, count),
        upper_(narrow_steps_, {Side::Left, Triangle::Upper, Op::None, Diagonal::Stored}, n_, count),
        host_memory_(executor, n_ * count * (2 * steps_.element() + narrow_steps_.element())),
        factors_(narrow_steps_.place(square_memory_, n_)),
        x_there_{x_memory_.as<char>(), count, steps_.element()},
        r_there_{r_memory_.as<char>(), count, steps_.element()},
        y_there_{y_memory_.as<char>(), count, narrow_steps_.element()} {
    x_ = {reinterpret_cast<double*>(host_memory_.get()), count};
    r_ = {x_.at(n_, 0), count};
    y_ = {reinterpret_cast<float*>(r_.at(n_, 0)), count};
    scale();
  }

  void factor() override {
    std::vector<Index> pivots(static_cast<std::size_t>(n_));
    bool begins = false;
    if (device::Elimination(narrow_steps_, n_, n_, factors_, math_).run(pivots, begins) >= 0)
      throw NotRefined("a pivot of the factors is 0");
    place_rows(pivots);
  }

  void solve() override {
    write(y_, y_there_);
    bool begins = false; // nothing of the caller's is written
    lower_.solve(factors_, y_there_, begins);
    upper_.solve(factors_, y_there_, begins);
    read(y_there_, y_);
  }

  void subtract_product() override {
    write(x_, x_there_);
    write(r_, r_there_);
    steps_.product(true, n_, count_, n_, a_, x_there_, Op::None, r_there_);
    read(r_there_, r_);
  }

  Matrix<double> multiply_magnitudes(const Matrix<double>& z) override {
    const device::Place magnitudes = steps_.place(square_memory_, n_);
    steps_.panel({.op = PanelOp::Magnitudes,
                  .rows = n_,
                  .cols = n_,
                  .a = magnitudes.data,
                  .lda = magnitudes.ld,
                  .x = a_.data,
                  .ldx = a_.ld});
    for (Index i = 0; i < n_; ++i) std::ranges::copy(z.row(i), x_.at(i, 0));
    write(x_, x_there_);
    steps_.product(false, n_, count_, n_, magnitudes, x_there_, Op::None, r_there_);
    read(r_there_, x_);
    auto sums = Matrix<double>::uninitialized(n_, count_);
    const Block<double> to{sums.data(), sums.ld()};
    for (Index i = 0; i < n_; ++i) std::copy_n(x_.at(i, 0), count_, to.at(i, 0));
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

  /// Copy memory without gaps between rows: a copy of many short rows takes long.
  template <class N>
  void write(Block<N> from, device::Place to) const {
    steps_.write(reinterpret_cast<N*>(to.data), std::span<const N>(from.data, static_cast<std::size_t>(n_ * count_)));
  }
  template <class N>
  void read(device::Place from, Block<N> to) const {
    steps_.read(std::span<N>(to.data, static_cast<std::size_t>(n_ * count_)), reinterpret_cast<const N*>(from.data));
  }

  device::Steps steps_, narrow_steps_;
  detail::DeviceHold hold_;
  Index n_, count_;
  Math math_;
  device::Place a_;
  device::DeviceArray square_memory_; ///< of the factors, and of the magnitudes afterwards
  device::DeviceArray x_memory_, r_memory_, y_memory_;
  device::System lower_, upper_;
  PinnedMemory host_memory_;
  device::Place factors_, x_there_, r_there_, y_there_;
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
