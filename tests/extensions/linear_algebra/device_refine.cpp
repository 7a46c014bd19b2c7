/// Tests of a refined solution that a device computes, and of the steps that scale a matrix there.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/backend/panel.hpp>

#include "core/tools/recorder.hpp"
#include "device_steps.hpp"
#include "systems.hpp"

namespace tessera::test {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

/// Numbers in the device's memory.
template <class T>
class Numbers {
 public:
  explicit Numbers(const std::vector<T>& from) : count_(from.size()) {
    throw_if_failed(device().allocate(bytes(), memory_));
    throw_if_failed(device().copy_in(device().default_queue(), memory_, bytes(), from.data(), bytes(), bytes(), 1));
  }
  ~Numbers() { device().free(memory_); }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;

  T* get() const { return static_cast<T*>(memory_); }
  std::vector<T> read() const {
    std::vector<T> to(count_);
    throw_if_failed(device().copy_out(device().default_queue(), to.data(), bytes(), memory_, bytes(), bytes(), 1));
    return to;
  }

 private:
  std::size_t bytes() const { return count_ * sizeof(T); }
  std::size_t count_;
  void* memory_ = nullptr;
};

template <class T>
Index differences(const std::vector<T>& x, const std::vector<T>& y) {
  Index count = 0;
  for (std::size_t i = 0; i < x.size(); ++i) count += !same_bits(x[i], y[i]);
  return count;
}

void run(const PanelCall& call) { throw_if_failed(device().panel(device().default_queue(), call)); }

void enlarge(double& largest, double x) {
  if (std::abs(x) > largest || std::isnan(x)) largest = std::abs(x);
}

/// Compares the steps with loops, for a matrix whose rows lie `ld` numbers apart.
void expect_steps(Index rows, Index cols, Index ld, std::vector<double> x) {
  const auto at = [&](Index i, Index j) { return x[static_cast<std::size_t>(i * ld + j)]; };
  const auto sized = [](Index count) { return static_cast<std::size_t>(count); };
  std::vector<double> of_rows(sized(rows)), least(sized(rows), infinite), of_columns(sized(cols)),
      row_scales(sized(rows)), column_scales(sized(cols)), magnitudes(x.size(), -1);
  std::vector<float> narrow(x.size(), -1);
  for (std::size_t i = 0; i < row_scales.size(); ++i) row_scales[i] = std::ldexp(1, static_cast<int>(i % 40) - 20);
  for (std::size_t j = 0; j < column_scales.size(); ++j) column_scales[j] = std::ldexp(1, static_cast<int>(j % 7) - 3);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) {
      const double number = at(i, j), scaled = number * row_scales[sized(i)];
      enlarge(of_rows[sized(i)], number);
      enlarge(of_columns[sized(j)], scaled);
      if (std::abs(number) > 0) least[sized(i)] = std::min(least[sized(i)], std::abs(number));
      narrow[sized(i * ld + j)] = static_cast<float>(scaled * column_scales[sized(j)]);
      magnitudes[sized(i * ld + j)] = std::abs(number);
    }
  const Numbers matrix(x), to_rows(row_scales), to_least(row_scales), to_columns(column_scales), of_row(row_scales),
      of_column(column_scales), to_magnitudes(std::vector<double>(x.size(), -1));
  const Numbers to_narrow(std::vector<float>(x.size(), -1));
  PanelCall call{.op = PanelOp::LargestOfRows,
                 .type = DType::F64,
                 .rows = rows,
                 .cols = cols,
                 .a = to_narrow.get(),
                 .lda = ld,
                 .x = matrix.get(),
                 .ldx = ld,
                 .row_scales = of_row.get(),
                 .column_scales = of_column.get(),
                 .largest = to_rows.get(),
                 .least = to_least.get()};
  run(call);
  call.op = PanelOp::LargestOfColumns;
  call.largest = to_columns.get();
  run(call);
  call.op = PanelOp::Narrow;
  run(call);
  call.op = PanelOp::Magnitudes;
  call.a = to_magnitudes.get();
  run(call);
  BOOST_TEST(differences(to_rows.read(), of_rows) == 0);
  BOOST_TEST(differences(to_least.read(), least) == 0);
  BOOST_TEST(differences(to_columns.read(), of_columns) == 0);
  BOOST_TEST(differences(to_narrow.read(), narrow) == 0);
  BOOST_TEST(differences(to_magnitudes.read(), magnitudes) == 0);
}

} // namespace

BOOST_AUTO_TEST_SUITE(device_refine)

BOOST_AUTO_TEST_CASE(steps_of_scaling) {
  if (!keeps_all()) return;
  for (const auto& [rows, cols, ld] :
       {std::array<Index, 3>{1, 1, 1}, {3, 5, 9}, {129, 255, 260}, {40, 2049, 2049}, {600, 33, 40}})
    BOOST_TEST_CONTEXT(rows << "×" << cols) {
      const Matrix<double> random = Matrix<double>::random(rows, ld, Seed{41}, -1.0, 1.0);
      std::vector<double> x;
      for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < ld; ++j) x.push_back(std::ldexp(random(i, j), static_cast<int>((i * 7 + j) % 90) - 45));
      expect_steps(rows, cols, ld, x);
      const auto count = static_cast<std::size_t>(cols);
      x[0] = nan;
      x[count - 1] = -0.0;
      x[count / 2] = std::numeric_limits<double>::denorm_min();
      expect_steps(rows, cols, ld, x);
      x[count - 1] = -infinite;
      std::fill(x.end() - ld, x.end(), 0.0);
      expect_steps(rows, cols, ld, x);
    }
}

/// The matrix comes to the device once and stays, and the steps are there.
BOOST_AUTO_TEST_CASE(the_device_refines) {
  if (!keeps_all()) return;
  const Index n = 300;
  const auto a = dominant<double>(n, Seed{42}), b = Matrix<double>::random(n, 3, Seed{43});
  SolveOptions options = tested(), by_formulas = formulas;
  options.refine = by_formulas.refine = true;
  Recorder recorder;
  const auto x = solve(a, b, options);
  const auto steps = recorder.of(tools::Kind::Panel);
  const auto count = [&](const char* name) {
    return std::ranges::count_if(steps, [&](const auto& step) { return step.name == name; });
  };
  for (const char* name : {"largest_of_rows", "largest_of_columns", "narrow", "magnitudes"})
    BOOST_TEST(count(name) == 2); // its begin and its end
  BOOST_TEST(count("lu_panel") == 2 * 5);
  BOOST_TEST(differing(solve(a, b, options), x) == 0);
  BOOST_TEST(differing(solve(a, b, by_formulas), x) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
