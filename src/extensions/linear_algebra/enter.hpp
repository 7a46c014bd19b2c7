#pragma once

/// How every function of linear algebra is entered from outside.

#include <complex>
#include <new>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/number_type.hpp>
#include <tessera/detail/uncancelled.hpp>
#include <tessera/linear_algebra/options.hpp>

namespace tessera::linear_algebra {

/// Returns work(), in the contract's floating-point state and without cancellation. Throws InvalidArgument where the
/// caller of `function` asks to refine, and OutOfMemory where work() has no memory.
template <class Work>
auto enter(const char* function, const SolveOptions& options, const Work& work) {
  detail::expect_no_refinement(function, options);
  try {
    const detail::Uncancelled whole;
    const detail::ContractArithmetic contract;
    return work();
  } catch (const std::bad_alloc& error) {
    throw_out_of_memory(error);
  }
}

/// Returns work(T()) for the type of numbers.
template <class Work>
auto with_number(detail::NumberType type, const Work& work) {
  const bool is_narrow = type.part == DType::F32;
  if (type.is_complex) return is_narrow ? work(std::complex<float>()) : work(std::complex<double>());
  return is_narrow ? work(float()) : work(double());
}

} // namespace tessera::linear_algebra
