#include "matrix_unit_sums.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include <tessera/detail/matrix_unit_contract.hpp>

#include "matrix_unit_packing.hpp"
#include "reference/fma_clones.hpp"

namespace tessera::host {
namespace {

namespace hopper = detail::hopper;
using namespace matrix_units;

/// The arrays of a call, in its scratch memory.
struct Arrays {
  alignas(64) float a_numbers[most_matrix_unit_rows * packed_k], a_powers[most_matrix_unit_rows * packed_k];
  alignas(64) float b_numbers[packed_k * width], b_powers[packed_k * width];
  alignas(64) float chains[most_matrix_unit_rows * most_matrix_unit_columns],
      carried[most_matrix_unit_rows * most_matrix_unit_columns];
  alignas(64) float b_factors[width], a_factors[most_matrix_unit_rows];
  alignas(64) std::uint8_t a_kinds[most_matrix_unit_rows * packed_steps], b_kinds[packed_steps];
  std::uint8_t a_unfit[most_matrix_unit_rows],
      b_unfit[most_matrix_unit_columns]; ///< rows and columns that the mode cannot split
};

/// The block of C that a call computes: sum r·ld + q is the sum of row rows[r] and column first_col + q.
struct Block {
  const GemmCall& call;
  std::span<const Index> rows;
  Index first_col, cols;
  float* sums;
  Index ld;

  Index strips() const { return (cols + width - 1) / width; }
  /// Calls f(s, j, cols) for each strip: its number, its first column, and the number of its columns.
  void for_strips(auto f) const {
    for (Index s = 0; s < strips(); ++s) f(s, first_col + s * width, std::min(width, cols - s * width));
  }
  /// Adds the sums of a segment of k, whose rows have a multiple of `width` elements each. The first segment's are
  /// taken as they are.
  void add_segment(const float* segment, bool first) const {
    for (std::size_t r = 0; r < rows.size(); ++r, segment += strips() * width)
      for (Index q = 0; q < cols; ++q) {
        float& sum = sums[static_cast<Index>(r) * ld + q];
        sum = first ? segment[q] : sum + segment[q];
      }
  }
};

/// The sums of the modes that do not split operands.
void whole_sums(const Block& x, Arrays& arrays) {
  const GemmCall& call = x.call;
  const hopper::OperandFormat& format = hopper::format_of(call.math);
  const Index length = detail::matrix_unit_segment_length(call.k);
  const Packed b{arrays.b_numbers, arrays.b_powers, arrays.b_kinds};
  std::array<StepPair, most_pairs> pairs;
  for (std::uint8_t s = 0; s < most_pairs; ++s) pairs[s] = {s, s};
  std::array<RowOfStrip, most_matrix_unit_rows> row;
  const std::size_t count_of_rows = x.rows.size();
  for (Index start = 0; start < call.k; start += length) {
    const Index end = std::min(start + length, call.k);
    std::fill_n(arrays.chains, static_cast<Index>(count_of_rows) * x.strips() * width, 0.0f);
    for (Index first = start; first < end; first += packed_k) {
      const Index count = std::min(packed_k, end - first), steps = (count + format.step - 1) / format.step;
      for (std::size_t r = 0; r < count_of_rows; ++r) {
        row[r].a = {arrays.a_numbers + r * packed_k, arrays.a_powers + r * packed_k, arrays.a_kinds + r * packed_steps};
        pack_row(call, x.rows[r], first, count, row[r].a);
      }
      x.for_strips([&](Index s, Index j, Index cols) {
        pack_strip(call, first, count, j, cols, b);
        for (std::size_t r = 0; r < count_of_rows; ++r)
          row[r].chains = arrays.chains + (static_cast<Index>(r) * x.strips() + s) * width;
        extend_chains(std::span(row).first(count_of_rows), b, std::span(pairs).first(static_cast<std::size_t>(steps)),
                      format);
      });
    }
    x.add_segment(arrays.chains, start == 0);
  }
}

/// Extends chains of a strip by fused multiply-adds: element p of the row is at a[p·step].
TESSERA_FMA_CLONES void extend_strict(const float* a, Index step, const float* b, Index count, float* chains) {
  std::array<float, width> chain;
  std::copy_n(chains, width, chain.begin());
  for (Index p = 0; p < count; ++p)
    for (std::size_t q = 0; q < width; ++q)
      chain[q] = std::fma(a[p * step], b[p * width + static_cast<Index>(q)], chain[q]);
  std::copy_n(chain.begin(), width, chains);
}

/// The sums of Math::Strict, of operands of f32.
void strict_sums(const Block& x, Arrays& arrays) {
  static_assert(canonical_segment % packed_k == 0);
  const GemmOperands<float> operands(x.call);
  const Index step = operands.op_a == Op::None ? 1 : operands.lda, k = x.call.k;
  for (Index start = 0; start < k; start += canonical_segment) {
    const Index end = std::min(start + canonical_segment, k);
    std::fill_n(arrays.chains, static_cast<Index>(x.rows.size()) * x.strips() * width, 0.0f);
    for (Index first = start; first < end; first += packed_k) {
      const Index count = std::min(packed_k, end - first);
      x.for_strips([&](Index s, Index j, Index cols) {
        copy_strip(x.call, first, count, j, cols, arrays.b_numbers);
        for (std::size_t r = 0; r < x.rows.size(); ++r)
          extend_strict(&operands.at_a(x.rows[r], first), step, arrays.b_numbers, count,
                        arrays.chains + (static_cast<Index>(r) * x.strips() + s) * width);
      });
    }
    x.add_segment(arrays.chains, start == 0);
  }
}

/// Replaces the sums of the rows and columns that the mode cannot split by the strict ones.
void make_unfit_strict(const Block& x, Arrays& arrays) {
  for (std::size_t r = 0; r < x.rows.size(); ++r)
    if (arrays.a_unfit[r] != 0)
      strict_sums({x.call, x.rows.subspan(r, 1), x.first_col, x.cols, x.sums + static_cast<Index>(r) * x.ld, x.ld},
                  arrays);
  for (Index q = 0; q < x.cols; ++q)
    if (arrays.b_unfit[q] != 0) strict_sums({x.call, x.rows, x.first_col + q, 1, x.sums + q, x.ld}, arrays);
}

/// Adds a row's chains in a strip to what is carried of them.
TESSERA_FMA_CLONES void carry(const float* chains, float* carried) {
  for (Index q = 0; q < width; ++q) carried[q] += chains[q];
}
/// Does so where chunks have scales, which the factors undo.
TESSERA_FMA_CLONES void carry_scaled(const float* chains, float row_factor, const float* factors, float* carried) {
  if (row_factor >= 0x1p-78f && row_factor <= 0x1p89f) // then a sum times the factor is exact
    for (Index q = 0; q < width; ++q) carried[q] = std::fma(chains[q] * row_factor, factors[q], carried[q]);
  else
    for (Index q = 0; q < width; ++q) carried[q] = hopper::add_scaled(carried[q], chains[q], row_factor, factors[q]);
}

/// Returns the pairs of packed steps of whole chains, in the order in which an emulated mode adds their products.
std::array<StepPair, most_pairs> pairs_of(const hopper::Emulation& how) {
  std::array<StepPair, most_pairs> pairs{};
  std::size_t next = 0;
  const auto steps = static_cast<int>(how.chain_k / how.format.step);
  for (int s = 0; s < steps; ++s)
    for (const hopper::TermProduct& product : how.order())
      pairs[next++] = {static_cast<std::uint8_t>(product.a * steps + s),
                       static_cast<std::uint8_t>(product.b * steps + s)};
  return pairs;
}

/// The sums of the emulated modes.
void emulated_sums(const Block& x, Arrays& arrays) {
  const GemmCall& call = x.call;
  const hopper::Emulation& how = hopper::emulation_of(call.math);
  if (call.k <= how.strict_k) return strict_sums(x, arrays);
  const auto pairs = pairs_of(how);
  const Index length = detail::emulated_segment_chunks(call.k) * detail::emulated_chunk;
  const Packed b{arrays.b_numbers, arrays.b_powers, arrays.b_kinds};
  const std::size_t count_of_rows = x.rows.size();
  std::array<RowOfStrip, most_matrix_unit_rows> row;
  for (std::size_t r = 0; r < count_of_rows; ++r)
    row[r] = {{arrays.a_numbers + r * packed_k, arrays.a_powers + r * packed_k, arrays.a_kinds + r * packed_steps},
              arrays.chains + r * width};
  std::fill_n(arrays.a_unfit, most_matrix_unit_rows, std::uint8_t{0});
  std::fill_n(arrays.b_unfit, most_matrix_unit_columns, std::uint8_t{0});
  for (Index start = 0; start < call.k; start += length) {
    const Index end = std::min(start + length, call.k);
    std::fill_n(arrays.carried, static_cast<Index>(count_of_rows) * x.strips() * width, 0.0f);
    for (Index first = start; first < end; first += how.chain_k) {
      const Index count = std::min(how.chain_k, end - first), steps = (count + how.format.step - 1) / how.format.step;
      for (std::size_t r = 0; r < count_of_rows; ++r)
        split_row(call, x.rows[r], first, count, row[r].a, {arrays.a_factors + r, arrays.a_unfit + r});
      x.for_strips([&](Index s, Index j, Index cols) {
        split_strip(call, first, count, j, cols, b, {arrays.b_factors, arrays.b_unfit + s * width});
        std::fill_n(arrays.chains, static_cast<Index>(count_of_rows) * width, 0.0f);
        extend_chains(std::span(row).first(count_of_rows), b,
                      std::span(pairs).first(static_cast<std::size_t>(steps * how.count)), how.format);
        for (std::size_t r = 0; r < count_of_rows; ++r) {
          float* const carried = arrays.carried + (static_cast<Index>(r) * x.strips() + s) * width;
          if (how.scaled)
            carry_scaled(row[r].chains, arrays.a_factors[r], arrays.b_factors, carried);
          else
            carry(row[r].chains, carried);
        }
      });
    }
    x.add_segment(arrays.carried, start == 0);
  }
  make_unfit_strict(x, arrays);
}

} // namespace

std::size_t matrix_unit_scratch_bytes() noexcept { return sizeof(Arrays); }

void matrix_unit_sums(const GemmCall& call, std::span<const Index> rows, Index first_col, Index cols, float* sums,
                      Index ld, void* scratch) noexcept {
  Arrays& arrays = *static_cast<Arrays*>(scratch);
  (hopper::is_emulated(call.math) ? emulated_sums : whole_sums)({call, rows, first_col, cols, sums, ld}, arrays);
}

} // namespace tessera::host
