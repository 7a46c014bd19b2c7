#include "fresh_data.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tessera/half.hpp>

#include "elements.hpp"

namespace tessera::judge {
namespace {

constexpr Index fewest_elements = 64, usual_rows = 4;

/// Returns the largest relative error of an operand that the mode rounds.
double rounding_of_operands(Math math) {
  switch (math) {
    case Math::Tf32:
      return 0x1p-10; // Hopper's matrix units cut it off
    case Math::Bf16:
      return 0x1p-8;
    case Math::Fp16:
    case Math::ScaledFp16:
      return 0x1p-11;
    case Math::EmulatedFp16x3:
      return 0x1p-20;
    case Math::EmulatedBf16x6:
      return 0x1p-22;
    default:
      return 0;
  }
}

/// Root mean squares of the numbers that decide how large errors are.
struct Sizes {
  double term = 0;   ///< of one alpha·a·b
  double before = 0; ///< of beta·C before the product
  double result = 0; ///< of C
};

/// Returns the largest root mean square of an honest kernel's errors. One chain of k additions has the largest errors:
/// its partial sums grow as the square root, and each is rounded. Matrix units cut off where they add, so that errors
/// have a direction and grow faster. The factors leave room for chance.
double largest_typical_error(const GemmCall& call, Math math, const Sizes& sizes) {
  const auto k = static_cast<double>(call.k);
  const bool narrow = is_16_bit(call.type);
  const double unit = call.type == DType::F64 ? 0x1p-53 : 0x1p-24;
  const bool on_matrix_units = narrow || rounding_of_operands(math) > 0;
  const double additions = unit * sizes.term * (k / std::sqrt(6.0) + std::sqrt(k));
  const double cut_off = on_matrix_units ? unit * sizes.term * k * std::sqrt(k) / 4 : 0;
  const double operands = rounding_of_operands(math) * sizes.term * std::sqrt(k);
  const double last = unit * (sizes.result + sizes.before);
  const double narrowing = narrow ? std::ldexp(sizes.result, -element_type(call.type).digits) : 0;
  return 4 * (additions + cut_off + operands + last) + 2 * narrowing;
}

template <class T>
std::vector<Wide<T>> exact_row(const GemmOperands<T>& x, Index i) {
  const auto width = static_cast<std::size_t>(x.n);
  std::vector<Wide<T>> row(width);
  const auto a = [&](Index p) { return static_cast<Wide<T>>(x.at_a(i, p)); };
  if (x.op_b == Op::None) {
    for (Index p = 0; p < x.k; ++p)
      for (Index j = 0; j < x.n; ++j) row[static_cast<std::size_t>(j)] += a(p) * static_cast<Wide<T>>(x.at_b(p, j));
  } else {
    for (Index j = 0; j < x.n; ++j)
      for (Index p = 0; p < x.k; ++p) row[static_cast<std::size_t>(j)] += a(p) * static_cast<Wide<T>>(x.at_b(p, j));
  }
  for (Index j = 0; j < x.n; ++j) {
    Wide<T>& element = row[static_cast<std::size_t>(j)];
    element *= static_cast<Wide<T>>(x.alpha);
    if (x.beta != 0) element += static_cast<Wide<T>>(x.beta) * static_cast<Wide<T>>(x.c[i * x.ldc + j]);
  }
  return row;
}

/// A mode of less precision that would explain such an error; "" if none does.
std::string cheaper_mode(const GemmCall& call, double error, const Sizes& sizes) {
  if (call.type != DType::F32) return {};
  for (const auto& [math, name] : {std::pair{Math::Fp16, "f16"}, {Math::Tf32, "tf32"}, {Math::Bf16, "bf16"}})
    if (rounding_of_operands(math) > rounding_of_operands(call.math) &&
        error <= largest_typical_error(call, math, sizes))
      return fmt::format(", as operands of {} make them", name);
  return {};
}

template <class T>
std::string untypical_errors_as(const GemmCall& placed, const T* found, const Spread& spread, std::mt19937_64& random) {
  const GemmOperands<T> x(placed);
  const Index rows = std::min(x.m, std::max(usual_rows, (fewest_elements + x.n - 1) / x.n));
  if (rows * x.n < fewest_elements) return {};
  const double largest_result =
      std::abs(placed.alpha) * spread.a * spread.b * static_cast<double>(x.k) + std::abs(placed.beta) * spread.c;
  if (!(largest_result < static_cast<double>(std::numeric_limits<T>::max()))) return {}; // it may be Inf, rightly
  double errors = 0, results = 0;
  for (const Index i : some_of(x.m, rows, random)) {
    const auto exact = exact_row(x, i);
    for (Index j = 0; j < x.n; ++j) {
      const Wide<T> right = exact[static_cast<std::size_t>(j)];
      const auto error = static_cast<double>(static_cast<Wide<T>>(found[i * x.ldc + j]) - right);
      errors += error * error;
      results += static_cast<double>(right * right);
    }
  }
  const auto mean = [&](double sum) { return std::sqrt(sum / static_cast<double>(rows * x.n)); };
  const Sizes sizes{std::abs(placed.alpha) * spread.a * spread.b / 3, std::abs(placed.beta) * spread.c / std::sqrt(3.0),
                    mean(results)};
  const double largest =
      largest_typical_error(placed, placed.math, sizes) + static_cast<double>(std::numeric_limits<T>::denorm_min());
  if (mean(errors) <= largest) return {};
  return fmt::format(
      "the errors of C have a root mean square of {:.3g} with new data, where those of {}{} have {:.3g} "
      "at most{}",
      mean(errors), to_string(placed.type),
      rounding_of_operands(placed.math) > 0 ? fmt::format(" in mode {}", to_string(placed.math)) : std::string(),
      largest, cheaper_mode(placed, mean(errors), sizes));
}

} // namespace

bool is_full_precision(const GemmCall& call) {
  const bool is_real = call.type == DType::F32 || call.type == DType::F64;
  return is_real && rounding_of_operands(call.math) == 0 && call.math != Math::Strassen;
}

std::mt19937_64 unpredictable() {
  std::random_device system;
  std::array<std::uint32_t, 16> bits{};
  std::generate(bits.begin(), bits.end(), std::ref(system));
  std::seed_seq seed(bits.begin(), bits.end());
  return std::mt19937_64(seed);
}

std::vector<Index> some_of(Index count, Index chosen, std::mt19937_64& random) {
  std::vector<Index> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), Index{0});
  std::vector<Index> some;
  std::sample(all.begin(), all.end(), std::back_inserter(some), chosen, random);
  return some;
}

Spread random_spread(const GemmCall& call, std::mt19937_64& random) {
  const auto is_moderate = [](double factor) { return std::abs(factor) < 0x1p20; };
  const bool full = !is_16_bit(call.type) && rounding_of_operands(call.math) == 0 && is_moderate(call.alpha) &&
                    is_moderate(call.beta);
  std::uniform_int_distribution<int> exponents(full ? -30 : 0, full ? 30 : 0);
  Spread spread{std::ldexp(1.0, exponents(random)), std::ldexp(1.0, exponents(random))};
  spread.c = spread.a * spread.b * std::sqrt(static_cast<double>(call.k));
  return spread;
}

std::string untypical_errors(const GemmCall& placed, const void* found, const Spread& spread, std::mt19937_64& random) {
  if (placed.math == Math::Strassen) return {};
  return visit(placed.type, [&]<class T>(std::type_identity<T>) {
    return untypical_errors_as(placed, static_cast<const T*>(found), spread, random);
  });
}

} // namespace tessera::judge
