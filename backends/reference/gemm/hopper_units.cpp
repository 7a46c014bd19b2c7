/// hopper_units: the contract of the modes of matrix units for Hopper's, written down as code.
///
/// Each element of C is computed on its own by matrix_unit_contract.hpp, from a model of the matrix units. The kernel
/// is serial and slow; the kernels of the other host backends compute the same bits with vectors.

#include <new>
#include <type_traits>
#include <vector>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/matrix_unit_contract.hpp>
#include <tessera/half.hpp>

#include "finish_row.hpp"
#include "ladder.hpp"

namespace tessera::reference {
namespace {

namespace hopper = detail::hopper;

template <class T, class R>
void multiply(const GemmOperands<T, R>& x, Math math, const Epilogue& epilogue) {
  const auto k = static_cast<std::size_t>(x.k);
  auto columns = sized_vector<float>(static_cast<std::size_t>(x.n) * k, "a copy of op(B)");
  auto row = sized_vector<float>(k, "a row of op(A)");
  auto sums = sized_vector<float>(static_cast<std::size_t>(x.n), "the sums of a row");
  for (Index j = 0; j < x.n; ++j)
    for (Index p = 0; p < x.k; ++p)
      columns[static_cast<std::size_t>(j * x.k + p)] = hopper::seen_by_matrix_units(x.at_b(p, j), math);
  for (Index i = 0; i < x.m; ++i) {
    for (Index p = 0; p < x.k; ++p) row[static_cast<std::size_t>(p)] = hopper::seen_by_matrix_units(x.at_a(i, p), math);
    for (std::size_t j = 0; j < sums.size(); ++j)
      sums[j] = hopper::contract_sum(row, {columns.data() + j * k, k}, math);
    host::finish_row(x.alpha, x.beta, epilogue, i, 0, x.n, sums.data(), x.c + i * x.ldc);
  }
}

template <class T>
Status run(const GemmKernel&, Executor&, Queue&, const GemmCall& call) noexcept try {
  visit(call.result, [&]<class R>(std::type_identity<R>) {
    if constexpr (ResultOf<R, T>) multiply(GemmOperands<T, R>(call), call.math, call.epilogue);
  });
  return {};
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

template <class T, Math math>
constexpr GemmKernel rung{.name = "hopper_units",
                          .summary = "the contract of matrix units as code: a model of Hopper's, serial",
                          .source = "Xie et al. 2025 (MMA-Sim)",
                          .type = dtype_of<T>,
                          .math = math,
                          .summation = Summation::HopperUnits,
                          .accumulator = Accumulator::Truncating,
                          .run = run<T>,
                          .epilogue = true,
                          .narrows = true};

} // namespace

const GemmKernel hopper_units_tf32 = rung<float, Math::Tf32>;
const GemmKernel hopper_units_f16 = rung<f16, Math::Fp16>;
const GemmKernel hopper_units_bf16 = rung<bf16, Math::Bf16>;
const GemmKernel hopper_units_f32_as_bf16 = rung<float, Math::Bf16>;
const GemmKernel hopper_units_f32_as_f16 = rung<float, Math::Fp16>;
const GemmKernel hopper_units_fp16x3 = rung<float, Math::EmulatedFp16x3>;
const GemmKernel hopper_units_scaled_fp16 = rung<float, Math::ScaledFp16>;
const GemmKernel hopper_units_bf16x6 = rung<float, Math::EmulatedBf16x6>;

} // namespace tessera::reference
