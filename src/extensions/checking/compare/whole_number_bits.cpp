#include "whole_number_bits.hpp"

#include <atomic>
#include <cmath>

#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/int8_units_contract.hpp>

#include "core/base/thread_team.hpp"
#include "reference/fma_clones.hpp"

namespace tessera::compare {
namespace {

using detail::int8::ContractLines;

/// Computes row `row` of C from line `line` of op(A).
TESSERA_FMA_CLONES void add_up_row(const GemmOperands<double>& x, Index row, const ContractLines& a, Index line,
                                   const ContractLines& b, double* bits) {
  for (Index j = 0; j < x.n; ++j) {
    bits[j] = x.alpha * detail::int8::contract_sum(a, line, b, j);
    if (x.beta != 0) bits[j] = std::fma(x.beta, x.c[row * x.ldc + j], bits[j]);
  }
}

} // namespace

std::vector<double> whole_number_bits(const GemmCall& call, const std::vector<Index>& rows, int threads) {
  const GemmOperands<double> x(call);
  std::vector<double> bits(rows.size() * static_cast<std::size_t>(x.n));
  if (x.alpha == 0 || x.k == 0) { // by the contract, A and B are not read
    for (std::size_t r = 0; r < rows.size(); ++r)
      for (Index j = 0; j < x.n; ++j)
        if (x.beta != 0)
          bits[r * static_cast<std::size_t>(x.n) + static_cast<std::size_t>(j)] = x.beta * x.c[rows[r] * x.ldc + j];
    return bits;
  }
  const ContractLines a = detail::int8::rows_of(x, rows), b = detail::int8::columns_of(x);
  std::atomic<std::size_t> next = 0;
  detail::parallel_for(static_cast<std::size_t>(std::max(threads, 1)), threads, [&](std::size_t) {
    const detail::ContractArithmetic contract;
    for (std::size_t r = next++; r < rows.size(); r = next++)
      add_up_row(x, rows[r], a, static_cast<Index>(r), b, bits.data() + r * static_cast<std::size_t>(x.n));
  });
  return bits;
}

} // namespace tessera::compare
