#include "random_range.hpp"

#include <cmath>
#include <limits>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/number_text.hpp>
#include <tessera/half.hpp>
#include <tessera/random.hpp>

namespace tessera {
namespace {

/// The farthest that Distribution::Normal, a sum of twelve uniform numbers, is from its mean, in deviations.
constexpr double most_deviations = 6;

std::string text(double number) { return detail::general_text(number, 9); }

/// Says which argument the type does not hold; empty if it holds both.
template <class T>
std::string beyond_type(double low, double high) {
  const auto largest = static_cast<double>(std::numeric_limits<T>::max());
  for (const auto& [name, value] : {std::pair{"low", low}, std::pair{"high", high}})
    if (std::abs(value) > largest)
      return std::string(name) + " is beyond the range of " + std::string(to_string(dtype_of<T>)) +
             ", whose largest number is " + text(largest);
  return {};
}

/// The limits of Uniform and Integers are computed in Scalar<T>; the numbers between them are rounded to T.
template <class T>
std::string problem_of_limits(double low, double high, bool with_high) {
  if (std::string why = beyond_type<T>(low, high); !why.empty() || low == high) return why;
  const auto from = static_cast<Scalar<T>>(low), to = static_cast<Scalar<T>>(high);
  const T nearest = static_cast<T>(from);
  const T least = static_cast<Scalar<T>>(nearest) < from ? neighbour(nearest, true) : nearest; // not below low
  const auto first = static_cast<Scalar<T>>(least);
  if (with_high ? first <= to : first < to) return {};
  return "no number of " + std::string(to_string(dtype_of<T>)) + " is at least low and " +
         (with_high ? "at most" : "below") + " high";
}

template <class T>
std::string problem_of_normal(double mean, double deviation) {
  const auto largest = static_cast<double>(std::numeric_limits<T>::max());
  if (std::abs(mean) <= largest && std::abs(deviation) <= (largest - std::abs(mean)) / most_deviations) return {};
  return "numbers up to " + text(most_deviations) +
         " deviations (high) from the mean (low) are drawn, and the largest "
         "number of " +
         std::string(to_string(dtype_of<T>)) + " is " + text(largest);
}

std::string problem_of_wide(DType type, double low, double high) {
  const double largest = element_type(type).largest_exponent;
  if (low >= 1 - largest && high <= largest) return {};
  return "exponents of " + std::string(to_string(type)) + " are " + text(1 - largest) + " … " + text(largest);
}

std::string problem_of(const RandomCall& call) {
  const double low = call.low, high = call.high;
  if (!std::isfinite(low) || !std::isfinite(high)) return "not finite";
  if (call.distribution == Distribution::Special)
    return low < 0 || high < 0 || low + high > 1 ? "shares of special values that are not in 0 … 1" : "";
  const auto of_type = [&](auto&& problem) {
    return visit(call.type, [&]<class T>(std::type_identity<T> type) { return problem(type); });
  };
  if (call.distribution == Distribution::Normal)
    return of_type([&]<class T>(std::type_identity<T>) { return problem_of_normal<T>(low, high); });
  if (low > high) return "low is above high";
  if (call.distribution == Distribution::Uniform)
    return of_type([&]<class T>(std::type_identity<T>) { return problem_of_limits<T>(low, high, false); });
  if (low != std::floor(low) || high != std::floor(high)) return "integers between limits that are not whole";
  if (call.distribution == Distribution::Wide) return problem_of_wide(call.type, low, high);
  if (high - low >= 0x1p32) return "more than 2^32 different integers";
  return of_type([&]<class T>(std::type_identity<T>) { return problem_of_limits<T>(low, high, true); });
}

} // namespace

Status check_random(const RandomCall& call) noexcept try {
  const std::string problem = problem_of(call);
  if (problem.empty()) return {};
  return {StatusCode::InvalidArgument,
          "random: " + problem + ": low = " + text(call.low) + ", high = " + text(call.high)};
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

} // namespace tessera
