#include <tessera/checking/grade.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>

#include <tessera/detail/floating_point.hpp>
#include <tessera/status.hpp>

namespace tessera {
namespace {

bool grows_at_most_linearly(std::span<const SizeErrors> sizes, double SizeErrors::*error) {
  const bool small = std::all_of(sizes.begin(), sizes.end(), [&](const SizeErrors& size) {
    return size.*error <= 2 * (static_cast<double>(size.n) + 2); // NaN fails
  });
  return small && growth_slope(sizes, error) <= steepest;
}

} // namespace

std::string_view to_string(Grade grade) {
  static constexpr std::array<std::string_view, 4> names{"A", "B", "C", "none"};
  return names.at(static_cast<std::size_t>(grade));
}

double growth_slope(std::span<const SizeErrors> sizes, double SizeErrors::*error) {
  const detail::ContractArithmetic contract;
  double count = 0, sum_x = 0, sum_y = 0;
  const auto each = [&](const auto& body) {
    for (const SizeErrors& size : sizes)
      if (size.*error != 0) body(std::log(static_cast<double>(size.n)), std::log(size.*error));
  };
  each([&](double x, double y) {
    ++count;
    sum_x += x;
    sum_y += y;
  });
  double xx = 0, xy = 0;
  each([&](double x, double y) {
    xx += (x - sum_x / count) * (x - sum_x / count);
    xy += (x - sum_x / count) * (y - sum_y / count);
  });
  return xx > 0 ? xy / xx : 0;
}

Grading grade_growth(std::span<const SizeErrors> sizes) {
  const detail::ContractArithmetic contract;
  std::set<Index> different;
  for (const SizeErrors& size : sizes) {
    if (size.n <= 0) throw InvalidArgument("grade: a size of " + std::to_string(size.n) + " is not positive");
    different.insert(size.n);
  }
  if (different.size() < least_sizes)
    throw InvalidArgument("grade: " + std::to_string(different.size()) + " different sizes; a slope needs at least " +
                          std::to_string(least_sizes));
  constexpr std::array criteria{std::pair{Grade::A, &SizeErrors::componentwise},
                                std::pair{Grade::B, &SizeErrors::row_column},
                                std::pair{Grade::C, &SizeErrors::norm_product}};
  for (const auto& [grade, error] : criteria)
    if (grows_at_most_linearly(sizes, error)) return {grade, growth_slope(sizes, error)};
  return {Grade::None, growth_slope(sizes, &SizeErrors::componentwise)};
}

} // namespace tessera
