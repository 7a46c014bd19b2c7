#pragma once

/// The device's side of user_kernel.hpp: the table of a plug-in, and TESSERA_CUDA_KERNELS, which defines it. All work
/// is enqueued; nothing here waits for the device. Only nvcc reads this file.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <tessera/backend/build_tag.hpp>
#include <tessera/detail/user_kernel/cuda_loop.cuh>
#include <tessera/detail/user_kernel/cuda_reduce.cuh>
#include <tessera/detail/user_kernel/cuda_scan.cuh>
#include <tessera/user_kernel/functor.hpp>
#include <tessera/user_kernel/table.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail {

template <int dimensions, class F>
int launch_functor(const KernelLaunch& launch, const F& f) {
  using T = ReturnOf<F, dimensions>;
  if constexpr (!is_callable<F, dimensions>) {
    return kernel_not_offered;
  } else if constexpr (std::is_void_v<T>) {
    return launch.op == KernelOp::ForEach ? launch_for_each<dimensions>(launch, f) : kernel_not_offered;
  } else if constexpr (is_reducible<T>) {
    switch (launch.op) {
      case KernelOp::Sum:
        return launch_reduction<dimensions>(launch, f, SumRule<T>{});
      case KernelOp::Min:
        return launch_reduction<dimensions>(launch, f, ExtremumRule<T, false>{});
      case KernelOp::Max:
        return launch_reduction<dimensions>(launch, f, ExtremumRule<T, true>{});
      default:
        return kernel_not_offered;
    }
  } else {
    return kernel_not_offered;
  }
}

template <int dimensions, class F, class Combine>
int launch_functor(const KernelLaunch& launch, const Reduction<F, Combine>& reduction) {
  if constexpr (is_callable<F, dimensions>)
    return launch.op == KernelOp::Reduce
               ? launch_reduction<dimensions>(launch, reduction.f, CombineRule<Combine>{reduction.combine})
               : kernel_not_offered;
  else
    return kernel_not_offered;
}

template <int dimensions, class T>
int launch_functor(const KernelLaunch& launch, const Scan<T>& scan) {
  if constexpr (dimensions == 1)
    return launch.op == KernelOp::Scan ? launch_scan(launch, scan) : kernel_not_offered;
  else
    return kernel_not_offered;
}

template <class F>
int launch_on_device(const KernelLaunch& launch) noexcept {
  if (const cudaError_t error = cudaSetDevice(launch.device); error != cudaSuccess) return static_cast<int>(error);
  const F& f = *static_cast<const F*>(launch.functor);
  return launch.dimensions == 1 ? launch_functor<1>(launch, f) : launch_functor<2>(launch, f);
}

/// The bytes of what an index contributes to a reduction by a rule of the functor's own; 0: a sum or an extremum, whose
/// bytes the operation says.
template <class F>
inline constexpr std::uint32_t value_size_of = 0;
template <class F, class Combine>
inline constexpr std::uint32_t value_size_of<Reduction<F, Combine>> = sizeof(typename CombineRule<Combine>::Value);
template <class T>
inline constexpr std::uint32_t value_size_of<Scan<T>> = sizeof(T);

template <class F>
constexpr KernelEntry entry_of() {
  require_functor<F>();
  return {F::name, sizeof(F), alignof(F), value_size_of<F>, &launch_on_device<F>};
}

inline const char* error_text(int error) noexcept { return cudaGetErrorString(static_cast<cudaError_t>(error)); }

/// The table of these functors.
template <class... Fs>
const KernelTable* table_of_functors() noexcept {
  static constexpr KernelEntry entries[] = {entry_of<Fs>()...};
  static constexpr KernelTable table{sizeof(KernelTable), kernel_table_abi, TESSERA_BUILD_TAG, entries,
                                     sizeof...(Fs),       &error_text};
  return &table;
}

} // namespace tessera::detail

/// Defines the function that the plug-in of a program exports, with these functors. A .cu has it once, at the end.
#define TESSERA_CUDA_KERNELS(...)                                                                                 \
  extern "C" __attribute__((visibility("default"))) const tessera::KernelTable* tessera_user_kernels() noexcept { \
    return tessera::detail::table_of_functors<__VA_ARGS__>();                                                     \
  }

#include <tessera/detail/macros_on.hpp>
