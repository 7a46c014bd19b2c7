#pragma once

/// Kernels of the program's own, on every backend: a functor is compiled once for the host and once for the device, and
/// runs on the executor that the program chooses at run time, with the same bits.
///
///     // terms.hpp: seen by the host's compiler, by nvcc, and by clang, which makes SPIR-V for OpenCL
///     #include <tessera/user_kernel/user_kernel.hpp>
///     struct Saxpy {
///       static constexpr char name[] = "saxpy";
///       tessera::In<float> x;
///       tessera::InOut<float> y;
///       float a;
///       TESSERA_FN void operator()(Index i, Index j) const { y(i, j) = tessera::fma(a, x(i, j), y(i, j)); }
///     };
///     // terms.cu: all that the devices' compilers see
///     #include "terms.hpp"
///     TESSERA_CUDA_KERNELS(Saxpy)
///     // main.cpp
///     for_each(e, y.rows(), y.cols(), Saxpy{read(x, e), update(y, e), 2});
///     // CMakeLists.txt
///     tessera_add_kernels(program terms.cu)
///
/// view.hpp has views, functor.hpp what a functor must be, make_view.hpp and run.hpp what a program calls, order.hpp
/// the order of reductions and scans, and math.hpp the functions whose bits are equal on host and device.
/// docs/user_kernels.md is the guide.

#include <tessera/user_kernel/functor.hpp>
#include <tessera/user_kernel/math.hpp>
#include <tessera/user_kernel/view.hpp>

#if defined(__CUDACC__)
#include <tessera/user_kernel/cuda_kernels.cuh>
#elif defined(TESSERA_SPIRV_KERNELS)
#include <tessera/user_kernel/spirv_kernels.cuh>
#elif defined(TESSERA_SPIRV_FILE)
#include <tessera/user_kernel/spirv_module.hpp>
#else
#include <tessera/user_kernel/make_view.hpp>
#include <tessera/user_kernel/run.hpp>
#endif
