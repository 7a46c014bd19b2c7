/// int8_units: the contract of Math::Int8Units, written down as code.
///
/// Each element of C is computed on its own by int8_units_contract.hpp, by integers of 128 bits. The kernel is serial
/// and slow; the kernels of other backends compute the same bits by int8 units.

#include <cstddef>
#include <new>
#include <numeric>
#include <vector>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/int8_units_contract.hpp>

#include "finish_row.hpp"
#include "ladder.hpp"
#include "reference/fma_clones.hpp"

namespace tessera::reference {
namespace {

namespace int8 = detail::int8;

/// Returns the sums of row i of C.
TESSERA_FMA_CLONES void add_up(const int8::ContractLines& a, Index i, const int8::ContractLines& b,
                               std::vector<double>& sums) {
  for (std::size_t j = 0; j < sums.size(); ++j) sums[j] = int8::contract_sum(a, i, b, static_cast<Index>(j));
}

TESSERA_FMA_CLONES void finish(const GemmOperands<double>& x, const Epilogue& epilogue, Index i, double* sums) {
  host::finish_row(x.alpha, x.beta, epilogue, i, 0, x.n, sums, x.c + i * x.ldc);
}

Status run(const GemmKernel&, Executor&, Queue&, const GemmCall& call) noexcept try {
  const GemmOperands<double> x(call);
  auto rows = sized_vector<Index>(static_cast<std::size_t>(x.m), "the numbers of the rows");
  std::iota(rows.begin(), rows.end(), Index{0});
  const int8::ContractLines a = int8::rows_of(x, rows), b = int8::columns_of(x);
  auto sums = sized_vector<double>(static_cast<std::size_t>(x.n), "the sums of a row");
  for (Index i = 0; i < x.m; ++i) {
    add_up(a, i, b, sums);
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
