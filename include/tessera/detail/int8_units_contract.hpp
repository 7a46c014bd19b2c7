#pragma once

/// The sums that docs/contract.md promises for Math::Int8Units, as code for any machine: whole numbers are multiplied
/// and added in integers of 128 bits, so that there are no residues to put together.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <tessera/backend/kernel.hpp>
#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/int8_units.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail::int8 {

/// Rows of op(A) or columns of op(B), one after another, and the whole numbers that they become.
class ContractLines {
 public:
  /// Takes the elements of lines of length k, which is not 0. Throws HostMemoryShort.
  ContractLines(std::vector<double> elements, Index k) : elements_(std::move(elements)), k_(k) {
    if (is_strict(k)) return;
    numbers_ = sized_vector<std::int64_t>(elements_.size(), "whole numbers");
    sizes_ = sized_vector<std::int64_t>(elements_.size(), "the sizes of elements");
    facts_ = sized_vector<Line>(elements_.size() / static_cast<std::size_t>(k), "what is known of lines");
    const auto length = static_cast<std::size_t>(k);
    const int bits = whole_number_bits(k);
    for (std::size_t first = 0; first < elements_.size(); first += length) {
      Line& line = facts_[first / length];
      line = describe(&elements_[first], 1, k);
      if (!line.fits()) continue;
      const double unit = power_of_two(bits - line.exponent), size_unit = power_of_two(size_bits - line.exponent);
      for (std::size_t p = first; p < first + length; ++p) {
        numbers_[p] = static_cast<std::int64_t>(std::nearbyint(elements_[p] * unit));
        sizes_[p] = static_cast<std::int64_t>(std::abs(elements_[p]) * size_unit);
      }
    }
  }

  Index k() const noexcept { return k_; }
  std::span<const double> elements(Index i) const noexcept { return of(elements_, i); }
  std::span<const std::int64_t> numbers(Index i) const noexcept { return of(numbers_, i); }
  std::span<const std::int64_t> sizes(Index i) const noexcept { return of(sizes_, i); }
  const Line& facts(Index i) const noexcept { return facts_[static_cast<std::size_t>(i)]; }

 private:
  template <class T>
  std::span<const T> of(const std::vector<T>& all, Index i) const noexcept {
    return std::span(all).subspan(static_cast<std::size_t>(i * k_), static_cast<std::size_t>(k_));
  }

  std::vector<double> elements_;
  Index k_;
  std::vector<std::int64_t> numbers_, sizes_;
  std::vector<Line> facts_;
};

/// Returns these rows of op(A). Throws HostMemoryShort.
inline ContractLines rows_of(const GemmOperands<double>& x, std::span<const Index> rows) {
  auto elements = sized_vector<double>(rows.size() * static_cast<std::size_t>(x.k), "a copy of op(A)");
  std::size_t next = 0;
  for (const Index row : rows)
    for (Index p = 0; p < x.k; ++p) elements[next++] = x.at_a(row, p);
  return {std::move(elements), x.k};
}

/// Returns all columns of op(B). Throws HostMemoryShort.
inline ContractLines columns_of(const GemmOperands<double>& x) {
  auto elements = sized_vector<double>(static_cast<std::size_t>(x.n * x.k), "a copy of op(B)");
  std::size_t next = 0;
  for (Index j = 0; j < x.n; ++j)
    for (Index p = 0; p < x.k; ++p) elements[next++] = x.at_b(p, j);
  return {std::move(elements), x.k};
}

/// Returns the strict sum of a row and a column: a chain of fused multiply-adds for each segment of 1024 k. It is
/// always inlined, so that a caller that is compiled for FMA has this loop compiled for it.
[[gnu::always_inline]] inline double strict_sum(std::span<const double> a, std::span<const double> b) noexcept {
  constexpr auto segment = static_cast<std::size_t>(canonical_segment);
  double total = 0;
  for (std::size_t first = 0; first < a.size(); first += segment) {
    double sum = 0;
    for (std::size_t p = first; p < std::min(first + segment, a.size()); ++p) sum = std::fma(a[p], b[p], sum);
    total = first == 0 ? sum : total + sum;
  }
  return total;
}

/// Returns the sum of row i of op(A) and column j of op(B).
[[gnu::always_inline]] inline double contract_sum(const ContractLines& a, Index i, const ContractLines& b,
                                                  Index j) noexcept {
  if (is_strict(a.k())) return strict_sum(a.elements(i), b.elements(j));
  const auto sizes_a = a.sizes(i), sizes_b = b.sizes(j);
  std::int64_t sizes = 0;
  for (std::size_t p = 0; p < sizes_a.size(); ++p) sizes += sizes_a[p] * sizes_b[p];
  const int bits = whole_number_bits(a.k());
  if (!is_certain(a.facts(i), b.facts(j), sizes, bits)) return strict_sum(a.elements(i), b.elements(j));
  const auto x = a.numbers(i), y = b.numbers(j);
  Wide sum = 0;
  for (std::size_t p = 0; p < x.size(); ++p) sum += Wide{x[p]} * y[p];
  return rounded(sum, a.facts(i).exponent + b.facts(j).exponent - 2 * bits);
}

} // namespace tessera::detail::int8

#include <tessera/detail/macros_on.hpp>
