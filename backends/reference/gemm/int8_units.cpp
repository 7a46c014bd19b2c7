/// int8_units: the contract of Math::Int8Units, written down as code.
///
/// Rows of op(A) and columns of op(B) become whole numbers, whose products are added in integers of 128 bits, so that
/// there are no residues to put together. The kernel is serial and slow; the kernels of other backends compute the same
/// bits by int8 units.

#include <cmath>
#include <cstddef>
#include <new>
#include <vector>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/int8_units.hpp>

#include "finish_row.hpp"
#include "ladder.hpp"
#include "reference/fma_clones.hpp"

namespace tessera::reference {
namespace {

namespace int8 = detail::int8;

/// The rows of op(A), or the columns of op(B), one after another, and what they become.
struct Lines {
  Index k;
  std::vector<double> elements;
  std::vector<std::int64_t> numbers; ///< whole numbers
  std::vector<std::int64_t> sizes;
  std::vector<int8::Line> facts;

  Lines(Index count, Index length, const char* what)
      : k(length), elements(sized_vector<double>(static_cast<std::size_t>(count * length), what)) {}

  std::span<const double> line(Index i) const { return of(elements, i); }
  std::span<const std::int64_t> numbers_of(Index i) const { return of(numbers, i); }
  std::span<const std::int64_t> sizes_of(Index i) const { return of(sizes, i); }

  /// Makes whole numbers of the elements. Lines that do not fit keep zeros.
  void cut(int bits) {
    const auto length = static_cast<std::size_t>(k);
    numbers = sized_vector<std::int64_t>(elements.size(), "whole numbers");
    sizes = sized_vector<std::int64_t>(elements.size(), "sizes of whole numbers");
    for (std::size_t first = 0; first < elements.size(); first += length) {
      const int8::Line& line = facts.emplace_back(int8::describe(&elements[first], 1, k));
      if (!line.fits()) continue;
      const double unit = int8::power_of_two(bits - line.exponent);
      const double size_unit = int8::power_of_two(int8::size_bits - line.exponent);
      for (std::size_t p = first; p < first + length; ++p) {
        numbers[p] = static_cast<std::int64_t>(std::nearbyint(elements[p] * unit));
        sizes[p] = static_cast<std::int64_t>(std::abs(elements[p]) * size_unit);
      }
    }
  }

 private:
  template <class T>
  std::span<const T> of(const std::vector<T>& all, Index i) const {
    return std::span(all).subspan(static_cast<std::size_t>(i * k), static_cast<std::size_t>(k));
  }
};

/// Returns the strict sum of two lines.
TESSERA_FMA_CLONES double strict_sum(std::span<const double> a, std::span<const double> b) {
  double total = 0;
  constexpr auto segment = static_cast<std::size_t>(canonical_segment);
  for (std::size_t first = 0; first < a.size(); first += segment) {
    double sum = 0;
    for (std::size_t p = first; p < std::min(first + segment, a.size()); ++p) sum = std::fma(a[p], b[p], sum);
    total = first == 0 ? sum : total + sum;
  }
  return total;
}

double sum_of(const Lines& a, Index i, const Lines& b, Index j) {
  if (int8::is_strict(a.k)) return strict_sum(a.line(i), b.line(j));
  const int bits = int8::whole_number_bits(a.k);
  const auto sizes_a = a.sizes_of(i), sizes_b = b.sizes_of(j);
  std::int64_t sizes = 0;
  for (std::size_t p = 0; p < sizes_a.size(); ++p) sizes += sizes_a[p] * sizes_b[p];
  const int8::Line &row = a.facts[static_cast<std::size_t>(i)], &column = b.facts[static_cast<std::size_t>(j)];
  if (!int8::is_certain(row, column, sizes, bits)) return strict_sum(a.line(i), b.line(j));
  const auto x = a.numbers_of(i), y = b.numbers_of(j);
  int8::Wide sum = 0;
  for (std::size_t p = 0; p < x.size(); ++p) sum += int8::Wide{x[p]} * y[p];
  return int8::rounded(sum, row.exponent + column.exponent - 2 * bits);
}

TESSERA_FMA_CLONES void finish(const GemmOperands<double>& x, const Epilogue& epilogue, Index i, double* sums) {
  host::finish_row(x.alpha, x.beta, epilogue, i, 0, x.n, sums, x.c + i * x.ldc);
}

Status run(const GemmKernel&, Executor&, Queue&, const GemmCall& call) noexcept try {
  const GemmOperands<double> x(call);
  Lines a(x.m, x.k, "a copy of op(A)"), b(x.n, x.k, "a copy of op(B)");
  for (Index i = 0; i < x.m; ++i)
    for (Index p = 0; p < x.k; ++p) a.elements[static_cast<std::size_t>(i * x.k + p)] = x.at_a(i, p);
  for (Index j = 0; j < x.n; ++j)
    for (Index p = 0; p < x.k; ++p) b.elements[static_cast<std::size_t>(j * x.k + p)] = x.at_b(p, j);
  if (!int8::is_strict(x.k)) {
    a.cut(int8::whole_number_bits(x.k));
    b.cut(int8::whole_number_bits(x.k));
  }
  auto sums = sized_vector<double>(static_cast<std::size_t>(x.n), "the sums of a row");
  for (Index i = 0; i < x.m; ++i) {
    for (Index j = 0; j < x.n; ++j) sums[static_cast<std::size_t>(j)] = sum_of(a, i, b, j);
    finish(x, call.epilogue, i, sums.data());
  }
  return {};
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

} // namespace

const GemmKernel int8_units_f64{.name = "int8_units",
                                .summary = "the contract of int8_units as code: exact sums in 128 bits, serial",
                                .source = "Ozaki, Uchino and Imamura 2025 (Ozaki scheme II)",
                                .type = DType::F64,
                                .math = Math::Int8Units,
                                .summation = Summation::WholeNumbers,
                                .run = run,
                                .epilogue = true};

} // namespace tessera::reference
