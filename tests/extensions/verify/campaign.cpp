/// Plants faults in products that verify themselves, and multiplies hard matrices without any: for people to run.
///
///     tessera_verify_campaign --faults 10000 --sound 10000 --largest 300
///
/// A fault must be found if it moves one element by more than docs/health.md promises; others may be. Where it is
/// found, the repaired product must have the bits of a sound one; where it is not, the product is the faulty one. No
/// sound product may raise an alarm. The exit status is 1 where any of that fails. CTest runs a short version.

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <tessera/backend.hpp>
#include <tessera/complex.hpp>
#include <tessera/gemm.hpp>
#include <tessera/half.hpp>
#include <tessera/linear_algebra/complex_matrix.hpp>

#include "extensions/certificate/counts.hpp"
#include "planted.hpp"

namespace {

using namespace tessera;
using test::Dice;
using test::equal_bits;
using test::Fault;
using test::FaultKind;

/// Faults of one kind.
struct Tally {
  Index planted = 0; ///< that changed a bit of C
  Index without = 0; ///< that changed none: a flipped bit of an operand that rounding swallows
  Index must = 0;    ///< that the theorem says are found
  Index missed = 0;  ///< of these
  Index others = 0;  ///< below the bound
  Index found = 0;   ///< of these
  Index unlike = 0;  ///< repaired products with other bits than a sound one
};

constexpr std::array kind_names{"none",          "bits of C",       "NaN in C",       "zeros in C",
                                "exchange in C", "A as it is read", "B as it is read"};
constexpr int planted_kinds = 6;

template <class T>
struct Problem {
  Index m, n, k;
  bool flip_a, flip_b;
  Scalar<T> alpha, beta;
  Matrix<T> a, b, before;

  MatrixView<const T> op_a() const { return flip_a ? a.transposed() : a.view(); }
  MatrixView<const T> op_b() const { return flip_b ? b.transposed() : b.view(); }
  Matrix<T> multiply(const GemmOptions& options) const {
    Matrix<T> c = before;
    gemm(alpha, op_a(), op_b(), beta, c, options);
    return c;
  }
};

Index size_of_dice(Dice& dice, Index largest) {
  return static_cast<Index>(std::exp(dice.between(0, std::log(static_cast<double>(largest)))));
}

/// Hard data: uniform, magnitudes over many powers of two, sums that cancel, and NaN, Inf, subnormal and huge numbers.
template <class T>
Matrix<T> filled(Dice& dice, Index rows, Index cols, int data) {
  const Seed seed{static_cast<std::uint64_t>(dice.below(Index{1} << 40))};
  const auto scalar = [](double x) { return static_cast<Scalar<T>>(x); };
  constexpr bool f16_exponents = std::is_same_v<T, f16>;
  if (data == 1)
    return Matrix<T>::random(rows, cols, seed, Distribution::Wide, scalar(f16_exponents ? -12 : -30),
                             scalar(f16_exponents ? 4 : 30));
  if (data == 2) { // each second column is nearly the negative of the one before it
    Matrix<T> x = Matrix<T>::random(rows, cols, seed);
    for (Index i = 0; i < rows; ++i)
      for (Index j = 1; j < cols; j += 2)
        x(i, j) = static_cast<T>(-static_cast<Scalar<T>>(x(i, j - 1)) * scalar(1 + 0x1p-9));
    return x;
  }
  if (data == 3) {
    const double often = dice.below(2) == 0 ? 0.001 : 0.05;
    return Matrix<T>::random(rows, cols, seed, Distribution::Special, scalar(often), scalar(often));
  }
  return Matrix<T>::random(rows, cols, seed);
}

template <class T>
Problem<T> problem_of(Dice& dice, Index largest, int data) {
  const Index m = size_of_dice(dice, largest), n = size_of_dice(dice, largest);
  Index k = size_of_dice(dice, largest);
  if (dice.below(6) == 0) k += 1500; // more than one segment
  const bool flip_a = dice.below(2) == 0, flip_b = dice.below(2) == 0;
  const auto factor = [&] { return static_cast<Scalar<T>>(-1 + static_cast<double>(dice.below(9)) / 4); };
  Problem<T> x{m, n, k, flip_a, flip_b, factor(), dice.below(2) == 0 ? Scalar<T>{0} : factor(), {}, {}, {}};
  x.a = flip_a ? filled<T>(dice, k, m, data) : filled<T>(dice, m, k, data);
  x.b = flip_b ? filled<T>(dice, n, k, data == 2 ? 0 : data) : filled<T>(dice, k, n, data == 2 ? 0 : data);
  x.before = filled<T>(dice, m, n, data == 3 ? 3 : 0);
  return x;
}

/// Says whether docs/health.md promises that this difference is found: an element of a row is off by more than 2·w, and
/// by more than 1.25 times all other errors of the row beside that. The w here is computed from whole rows of B, which
/// is more than a group's.
template <class T>
bool must_be_found(const Problem<T>& x, const Matrix<T>& right, const Matrix<T>& faulty) {
  constexpr double u = sizeof(T) == 8 ? 0x1p-53 : 0x1p-24;
  const auto b = x.op_b();
  const auto a = x.op_a();
  std::vector<double> row_of_b(static_cast<std::size_t>(x.k));
  for (Index p = 0; p < x.k; ++p)
    for (Index j = 0; j < x.n; ++j)
      row_of_b[static_cast<std::size_t>(p)] += 1.25 * std::abs(static_cast<double>(b(p, j)));
  for (Index i = 0; i < x.m; ++i) {
    double largest = 0, sum = 0;
    for (Index j = 0; j < x.n; ++j) {
      const double off = std::abs(static_cast<double>(faulty(i, j)) - static_cast<double>(right(i, j)));
      if (!(off < std::numeric_limits<double>::infinity())) return true;
      largest = std::max(largest, off);
      sum += off;
    }
    double terms = 0, old = 0;
    for (Index p = 0; p < x.k; ++p)
      terms += std::abs(static_cast<double>(a(i, p))) * row_of_b[static_cast<std::size_t>(p)];
    if (x.beta != 0)
      for (Index j = 0; j < x.n; ++j) old += 1.25 * std::abs(static_cast<double>(x.before(i, j)));
    const double steps = static_cast<double>(std::min<Index>(x.k, 1024) + x.k / 1024) + 256;
    const double w =
        steps * u * (std::abs(static_cast<double>(x.alpha)) * terms + std::abs(static_cast<double>(x.beta)) * old) +
        1e-30;
    if (largest > 2 * w + 1.25 * (sum - largest)) return true;
  }
  return false;
}

template <class T>
void plant(Dice& dice, Index largest, test::SetFault set, std::array<Tally, kind_names.size()>& tallies) {
  const Problem<T> x = problem_of<T>(dice, largest, 0);
  if (x.alpha == 0) return; // no kernel runs
  Fault fault;
  fault.kind = static_cast<FaultKind>(1 + dice.below(planted_kinds));
  fault.row = dice.below(1 << 20);
  fault.col = dice.below(1 << 20);
  fault.count = dice.below(3) == 0 ? 1 + dice.below(32) : 1;
  fault.bit = static_cast<int>(dice.below(8 * static_cast<Index>(sizeof(T))));
  GemmOptions options{.backend = parse_backend("faulty")};
  const Matrix<T> right = x.multiply(options);
  set(fault);
  const Matrix<T> faulty = x.multiply(options);
  Tally& tally = tallies[static_cast<std::size_t>(fault.kind)];
  if (equal_bits(right, faulty)) {
    ++tally.without;
    return;
  }
  ++tally.planted;
  const bool must = must_be_found(x, right, faulty);
  set(fault);
  options.verify = Verify::Repair;
  const std::uint64_t before = verify_counts().wrong;
  const Matrix<T> repaired = x.multiply(options);
  const bool found = verify_counts().wrong > before;
  ++(must ? tally.must : tally.others);
  if (must && !found) ++tally.missed;
  if (!must && found) ++tally.found;
  if (!equal_bits(repaired, found ? right : faulty)) ++tally.unlike;
}

struct Sound {
  Index products = 0, alarms = 0;
};

template <class T>
Matrix<std::complex<T>> complex_filled(Dice& dice, Index rows, Index cols, int data) {
  const Matrix<T> re = filled<T>(dice, rows, cols, data), im = filled<T>(dice, rows, cols, data);
  Matrix<std::complex<T>> x(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) x(i, j) = {re(i, j), im(i, j)};
  return x;
}

/// Have all numbers equal bits, where every NaN is as good as another one?
template <class T>
bool equal_numbers(const Matrix<std::complex<T>>& x, const Matrix<std::complex<T>>& y) {
  const auto differ = [](T a, T b) { return std::memcmp(&a, &b, sizeof a) != 0 && !(std::isnan(a) && std::isnan(b)); };
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j)
      if (differ(x(i, j).real(), y(i, j).real()) || differ(x(i, j).imag(), y(i, j).imag())) return false;
  return true;
}

/// A verified product must raise no alarm and have the bits of one that is not verified.
template <class T>
void multiply_complex_soundly(Dice& dice, Index largest, Sound& sound) {
  using Number = std::complex<T>;
  const int data = static_cast<int>(dice.below(4));
  const Index m = size_of_dice(dice, largest), n = size_of_dice(dice, largest);
  const Index k = size_of_dice(dice, largest) + (dice.below(6) == 0 ? 1500 : 0);
  const auto op = [&] { return static_cast<Op>(dice.below(3)); };
  const auto factor = [&] {
    const auto part = [&] { return static_cast<T>(-1 + static_cast<double>(dice.below(9)) / 4); };
    return dice.below(2) == 0 ? Number(part(), 0) : Number(part(), part());
  };
  const Op op_a = op(), op_b = op();
  const Number alpha = factor(), beta = dice.below(2) == 0 ? Number(0) : factor();
  const auto a = complex_filled<T>(dice, op_a == Op::None ? m : k, op_a == Op::None ? k : m, data);
  const auto b = complex_filled<T>(dice, op_b == Op::None ? k : n, op_b == Op::None ? n : k, data == 2 ? 0 : data);
  const auto before = complex_filled<T>(dice, m, n, data == 3 ? 3 : 0);
  const auto multiply = [&](Verify verify) {
    Matrix<Number> c = before;
    gemm(op_a, op_b, m, n, k, alpha, a.data(), a.ld(), b.data(), b.ld(), beta, c.data(), c.ld(),
         GemmOptions{.backend = Backend::OpenMP, .verify = verify});
    return c;
  };
  ++sound.products;
  try {
    if (equal_numbers(multiply(Verify::Detect), multiply(Verify::None))) return;
    fmt::print("other bits: ");
  } catch (const DataCorruption& alarm) {
    fmt::print("alarm, {}: ", alarm.what());
  }
  ++sound.alarms;
  fmt::print("complex {} {}x{}x{} data {}\n", to_string(dtype_of<T>), m, n, k, data);
}

template <class T>
void multiply_soundly(Dice& dice, Index largest, Math math, Sound& sound) {
  const int data = static_cast<int>(dice.below(4));
  const Problem<T> x = problem_of<T>(dice, largest, data);
  const bool of_units = sizeof(T) == 4 && math != Math::Strict && math != Math::Compensated && math != Math::Strassen;
  const GemmOptions options{
      .backend = Backend::OpenMP, .math = math, .kernel = of_units ? "hopper_units" : "", .verify = Verify::Detect};
  ++sound.products;
  try {
    static_cast<void>(x.multiply(options));
  } catch (const DataCorruption& alarm) {
    ++sound.alarms;
    fmt::print("alarm: {} {} {}x{}x{} data {}: {}\n", to_string(dtype_of<T>), to_string(math), x.m, x.n, x.k, data,
               alarm.what());
  }
}

} // namespace

int main(int argc, char** argv) try {
  CLI::App app("Plants faults in products that verify themselves", "tessera_verify_campaign");
  Index faults = 10000, products = 10000, largest = 300;
  std::uint64_t seed = 1;
  app.add_option("--faults", faults, "Faults to plant");
  app.add_option("--sound", products, "Products of hard data without a fault");
  app.add_option("--largest", largest, "The largest m, n and k");
  app.add_option("--seed", seed, "Decides the faults and the data");
  CLI11_PARSE(app, argc, argv);

  std::array<Tally, kind_names.size()> tallies{};
  static_cast<void>(executor(parse_backend("faulty")));
  const test::SetFault set = test::fault_setter(FAULTY_PLUGIN);
  Dice dice(seed);
  for (Index i = 0; i < faults; ++i)
    i % 2 == 0 ? plant<float>(dice, largest, set, tallies) : plant<double>(dice, largest, set, tallies);
  bool good = true;
  fmt::print("{:16} {:>8} {:>8} {:>8} {:>8} {:>10} {:>8}\n", "fault", "changed", "must", "missed", "smaller",
             "found too", "unlike");
  for (std::size_t kind = 1; kind < tallies.size(); ++kind) {
    const Tally& x = tallies[kind];
    fmt::print("{:16} {:8} {:8} {:8} {:8} {:10} {:8}\n", kind_names[kind], x.planted, x.must, x.missed, x.others,
               x.found, x.unlike);
    good = good && x.missed == 0 && x.unlike == 0;
  }
  for (const Math math : {Math::Strict, Math::Tf32, Math::Bf16, Math::Fp16, Math::EmulatedFp16x3, Math::EmulatedBf16x6,
                          Math::ScaledFp16, Math::Compensated, Math::Strassen, Math::Int8Units}) {
    Sound f32, f64, f16s, bf16s;
    for (Index i = 0; i < (products + 7) / 8; ++i) {
      const bool of_f64 = math == Math::Int8Units;
      if (!of_f64) multiply_soundly<float>(dice, largest, math, f32);
      if (of_f64 || math == Math::Strict || math == Math::Compensated || math == Math::Strassen)
        multiply_soundly<double>(dice, largest, math, f64);
      if (math != Math::Strict) continue;
      multiply_soundly<f16>(dice, largest, math, f16s);
      multiply_soundly<bf16>(dice, largest, math, bf16s);
    }
    const Index all = f32.products + f64.products + f16s.products + bf16s.products;
    const Index alarms = f32.alarms + f64.alarms + f16s.alarms + bf16s.alarms;
    fmt::print("sound, {:16} {:8} products, {} alarms\n", to_string(math), all, alarms);
    good = good && alarms == 0;
  }
  Sound complex;
  for (Index i = 0; i < (products + 3) / 4; ++i)
    i % 2 == 0 ? multiply_complex_soundly<float>(dice, largest, complex)
               : multiply_complex_soundly<double>(dice, largest, complex);
  fmt::print("sound, {:16} {:8} products, {} alarms\n", "complex strict", complex.products, complex.alarms);
  good = good && complex.alarms == 0;
  return good ? 0 : 1;
} catch (const std::exception& error) {
  fmt::print(stderr, "tessera_verify_campaign: {}\n", error.what());
  return 2;
}
