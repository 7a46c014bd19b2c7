#pragma once

/// The device's side of user_kernel.hpp in SPIR-V: TESSERA_CUDA_KERNELS, which makes the kernels of the functors that
/// it lists. The plug-in's table is made of the same list by the host's compiler (spirv_module.hpp). Only the
/// compilation for SPIR-V reads this file.

#include <type_traits>

#include <tessera/detail/user_kernel/spirv_device.cuh>
#include <tessera/detail/user_kernel/spirv_reduce.cuh>
#include <tessera/detail/user_kernel/spirv_scan.cuh>
#include <tessera/user_kernel/functor.hpp>
#include <tessera/user_kernel/math.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail {

template <class T>
TESSERA_DEVICE void RoundingProbe<T>::work(const T&, void* scratch, Index count, Index, Index, Index, Index) {
  const Index e = global_id(0);
  if (e >= count) return;
  float* const at = static_cast<float*>(scratch) + e;
  const float x = at[0], y = at[count], z = at[2 * count];
  at[3 * count] = x / y;
  at[4 * count] = tessera::sqrt(x);
  at[5 * count] = tessera::fma(x, y, z);
  at[6 * count] = x * y + z;
  at[7 * count] = x * 0x1p-100f * 0x1p-40f;
}

/// Mentions a kernel, so that it is compiled.
template <class Work>
void make_kernel() {
  [[maybe_unused]] auto* const kernel = &SpirvKernel<Work>::run;
}

template <class F, int dimensions, KernelOp op>
void make_plain_reduction() {
  using T = ReturnOf<F, dimensions>;
  make_kernel<SpirvReduce<F, dimensions, static_cast<int>(op)>>();
  make_kernel<SpirvFold<SpirvPlain<T, static_cast<int>(op)>>>();
}
template <class F, int dimensions>
void make_kernels_of() {
  if constexpr (is_callable<F, dimensions>) {
    if constexpr (std::is_void_v<ReturnOf<F, dimensions>>) {
      make_kernel<SpirvForEach<F, dimensions>>();
    } else if constexpr (is_reducible<ReturnOf<F, dimensions>>) {
      make_plain_reduction<F, dimensions, KernelOp::Sum>();
      make_plain_reduction<F, dimensions, KernelOp::Min>();
      make_plain_reduction<F, dimensions, KernelOp::Max>();
    }
  }
}

/// Makes the kernels of a functor.
template <class F>
struct KernelsOf {
  static void make() {
    require_functor<F>();
    make_kernels_of<F, 1>();
    make_kernels_of<F, 2>();
  }
};
template <class F, class Combine>
struct KernelsOf<Reduction<F, Combine>> {
  using R = Reduction<F, Combine>;
  static void make() {
    constexpr int op = static_cast<int>(KernelOp::Reduce);
    if constexpr (is_callable<F, 1>) make_kernel<SpirvReduce<R, 1, op>>();
    if constexpr (is_callable<F, 2>) make_kernel<SpirvReduce<R, 2, op>>();
    make_kernel<SpirvFold<R>>();
  }
};
template <class T>
struct KernelsOf<Scan<T>> {
  static void make() {
    make_kernel<SpirvScanTotals<Scan<T>>>();
    make_kernel<SpirvScanLevel<Scan<T>>>();
    make_kernel<SpirvAddBefore<Scan<T>>>();
    make_kernel<SpirvScanElements<Scan<T>>>();
  }
};

template <class... Fs>
void make_kernels() {
  make_kernel<RoundingProbe<float>>();
  (KernelsOf<Fs>::make(), ...);
}

} // namespace tessera::detail

/// Makes the kernels of these functors. A .cu has it once, at the end.
#define TESSERA_CUDA_KERNELS(...) \
  void tessera_user_kernels_in_spirv() { tessera::detail::make_kernels<__VA_ARGS__>(); }

#include <tessera/detail/macros_on.hpp>
