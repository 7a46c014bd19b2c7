#include "comparison.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include <tessera/half.hpp>

#include "race/result.hpp"

namespace tessera::compare_app {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// The steps from one number to another: units in the last place, or the difference of whole numbers.
std::uint64_t distance(float x, float y) { return ulp_distance(x, y); }
std::uint64_t distance(double x, double y) { return ulp_distance(x, y); }
template <class T>
requires std::is_integral_v<T> std::uint64_t distance(T x, T y) {
  return x < y ? static_cast<std::uint64_t>(y) - static_cast<std::uint64_t>(x)
               : static_cast<std::uint64_t>(x) - static_cast<std::uint64_t>(y);
}
/// Sign and magnitude order 16-bit numbers as they order wider ones.
template <class T>
requires(sizeof(T) == 2) std::uint64_t distance(T x, T y) {
  const auto place = [](T z) {
    const int bits = std::bit_cast<std::uint16_t>(z);
    return bits < 0x8000 ? 0x8000 + bits : 0x10000 - bits;
  };
  return static_cast<std::uint64_t>(std::abs(place(x) - place(y)));
}

template <class T>
double as_double(T x) {
  if constexpr (sizeof(T) == 2)
    return static_cast<double>(static_cast<float>(x));
  else
    return static_cast<double>(x);
}

template <class T>
bool same_bits(const T& x, const T& y) {
  return std::memcmp(&x, &y, sizeof(T)) == 0;
}

/// Gathers the differences of all results.
class Findings {
 public:
  explicit Findings(int ulps) : ulps_(ulps) {
    for (double GemmError::*of_products :
         {&GemmError::normwise, &GemmError::componentwise, &GemmError::row_column, &GemmError::norm_product})
      error_.*of_products = unknown;
  }

  void add_rows(Index rows) { error_.rows = error_.rows_compared += rows; }

  /// Adds one element. `place` says which one it is, as a text; it is called where the element is the worst one so far.
  template <class T, class Place>
  void add(T expected, T found, Index row, Index col, bool unwritten, Place&& place) {
    ++elements_;
    const double x = as_double(expected), y = as_double(found);
    if (same_bits(expected, found) || (std::isnan(x) && std::isnan(y))) {
      error_.ulps.add(0);
      return;
    }
    ++error_.differing_bits;
    double over = infinite, relative = infinite;
    if (std::isfinite(x) && std::isfinite(y)) {
      const std::uint64_t steps = distance(expected, found);
      error_.ulps.add(steps);
      const double off = std::abs(y - x);
      relative = off == 0 ? 0 : off / std::abs(x);
      error_.total_abs += off;
      error_.max_abs = std::max(error_.max_abs, off);
      if (ulps_ > 0) over = static_cast<double>(steps) / ulps_;
    } else {
      error_.ulps.add_infinite();
      ++error_.misplaced;
      error_.total_abs = error_.max_abs = infinite;
    }
    error_.max_rel = std::max(error_.max_rel, relative);
    relative_sum_ += relative;
    if (over <= error_.max_over_bound) return;
    error_.max_over_bound = over;
    error_.worst_row = row;
    error_.worst_col = col;
    if (over <= 1) return;
    constexpr int digits = sizeof(T) <= sizeof(float) ? std::numeric_limits<float>::max_digits10
                                                      : std::numeric_limits<double>::max_digits10;
    worst_ = unwritten ? fmt::format("{} is not written", place())
                       : fmt::format("{} is {:.{}g} instead of {:.{}g}", place(), y, digits, x, digits);
  }

  OperationFindings finish() {
    error_.mean_rel = elements_ > 0 ? relative_sum_ / static_cast<double>(elements_) : 0;
    if (worst_.empty()) return {error_, {}};
    return {error_, fmt::format("{} {} from the reference backend's: {}", error_.differing_bits,
                                error_.differing_bits == 1 ? "result differs" : "results differ", worst_)};
  }

 private:
  const int ulps_;
  GemmError error_;
  Index elements_ = 0;
  double relative_sum_ = 0;
  std::string worst_;
};

template <class T>
void add_array(Findings& findings, const Stored& x, std::size_t array, const std::byte* expected,
               const std::byte* found) {
  std::array<unsigned char, sizeof(T)> blank;
  blank.fill(blank_of_race);
  const auto at = [&](const std::byte* elements, Index i, Index j) {
    T element;
    std::memcpy(&element, elements + static_cast<std::size_t>(i * x.ld + j) * sizeof(T), sizeof(T));
    return element;
  };
  findings.add_rows(x.rows);
  for (Index i = 0; i < x.rows; ++i)
    for (Index j = 0; j < x.cols; ++j) {
      const T element = at(found, i, j);
      findings.add(at(expected, i, j), element, i, j, same_bits(element, std::bit_cast<T>(blank)),
                   [&] { return fmt::format("({}, {}) of array {}", i, j, array + 1); });
    }
}

void add_number(Findings& findings, const OperationNumber& expected, const OperationNumber& found, std::size_t number) {
  static constexpr std::array names{"the number that it returns", "the row that it returns",
                                    "the column that it returns"};
  const auto name = [&] { return std::string(names[number]); };
  const auto col = static_cast<Index>(number);
  if (expected.kind == NumberKind::F32)
    findings.add(std::bit_cast<float>(static_cast<std::uint32_t>(expected.bits)),
                 std::bit_cast<float>(static_cast<std::uint32_t>(found.bits)), 0, col, false, name);
  else if (expected.kind == NumberKind::F64)
    findings.add(std::bit_cast<double>(expected.bits), std::bit_cast<double>(found.bits), 0, col, false, name);
  else
    findings.add(static_cast<std::int64_t>(expected.bits), static_cast<std::int64_t>(found.bits), 0, col, false, name);
}

} // namespace

OperationResults OperationResults::of(const OperationArrays& arrays, std::size_t set, Executor& executor,
                                      const OperationValue& value) {
  OperationResults results{{}, value};
  for (std::size_t a = 0; a < arrays.entry().count; ++a)
    results.arrays.push_back(arrays.entry().arrays[a].access == ArrayAccess::Read ? std::vector<std::byte>()
                                                                                  : arrays.copy_out(set, a, executor));
  return results;
}

OperationFindings compare_results(const OperationArrays& layout, const OperationResults& expected,
                                  const OperationResults& found) {
  const OperationEntry& entry = layout.entry();
  Findings findings(entry.ulps);
  for (std::size_t a = 0; a < entry.count; ++a) {
    if (entry.arrays[a].access == ArrayAccess::Read) continue;
    const Stored& x = layout.stored(a);
    const auto add = [&]<class T>(std::type_identity<T>) {
      add_array<T>(findings, x, a, expected.arrays[a].data(), found.arrays[a].data());
    };
    if (x.type == DType::I32)
      add(std::type_identity<std::int32_t>());
    else
      visit(x.type, add);
  }
  if (expected.value.count > 0) findings.add_rows(1);
  for (std::size_t n = 0; n < expected.value.count; ++n)
    add_number(findings, expected.value.numbers[n], found.value.numbers[n], n);
  return findings.finish();
}

} // namespace tessera::compare_app
