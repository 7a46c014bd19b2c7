#pragma once

/// The plug-in's side of device code in SPIR-V, as the host's compiler sees it: TESSERA_CUDA_KERNELS defines the table
/// of the functors that it lists, and takes the module of SPIR-V, the file TESSERA_SPIRV_FILE, into the plug-in.
/// cmake/tessera_spirv.sh makes the file of the same .cu before (spirv_kernels.cuh).

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <typeinfo>

#include <tessera/backend/build_tag.hpp>
#include <tessera/detail/user_kernel/spirv_names.hpp>
#include <tessera/user_kernel/functor.hpp>
#include <tessera/user_kernel/math.hpp>
#include <tessera/user_kernel/order.hpp>
#include <tessera/user_kernel/spirv_table.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail {

/// Returns the name of the kernel of some work, SpirvKernel<Work>::run, which is kept until the process ends.
template <class Work>
const char* spirv_name() {
  static const std::string name = [] {
    using Kernel = SpirvKernel<Work>;
    using Bytes = typename Kernel::Bytes;
    std::string type = typeid(Kernel).name(); // N7tessera6detail11SpirvKernelI…EE, in which S0_ is tessera::detail
    type.pop_back();
    return "_Z" + type + "3runENS0_10SpirvBytesILm" + std::to_string(sizeof(Bytes) / sizeof(std::uint64_t)) + "ELm" +
           std::to_string(alignof(Bytes)) + "EEEPvlllll";
  }();
  return name.c_str();
}

/// The entry of a functor, without the kernels.
template <class F>
SpirvFunctor spirv_entry(std::uint32_t value_size) {
  require_functor<F>();
  SpirvFunctor entry{};
  entry.name = F::name;
  entry.size = sizeof(F);
  entry.alignment = alignof(F);
  entry.value_size = value_size;
  entry.argument_bytes = sizeof(SpirvBytesOf<F>);
  return entry;
}

template <class F, int dimensions, KernelOp op>
void add_plain_reduction(SpirvFunctor& entry) {
  constexpr int number = static_cast<int>(op);
  using Plain = SpirvPlain<ReturnOf<F, dimensions>, number>;
  entry.kernels[number][dimensions - 1] = {spirv_name<SpirvReduce<F, dimensions, number>>(),
                                           spirv_name<SpirvFold<Plain>>(), false};
}
template <class F, int dimensions>
void add_kernels_of(SpirvFunctor& entry) {
  if constexpr (is_callable<F, dimensions>) {
    if constexpr (std::is_void_v<ReturnOf<F, dimensions>>) {
      entry.kernels[static_cast<int>(KernelOp::ForEach)][dimensions - 1] = {spirv_name<SpirvForEach<F, dimensions>>(),
                                                                            nullptr, false};
    } else if constexpr (is_reducible<ReturnOf<F, dimensions>>) {
      add_plain_reduction<F, dimensions, KernelOp::Sum>(entry);
      add_plain_reduction<F, dimensions, KernelOp::Min>(entry);
      add_plain_reduction<F, dimensions, KernelOp::Max>(entry);
    }
  }
}

/// Makes the entry of a functor.
template <class F>
struct SpirvEntryOf {
  static SpirvFunctor make() {
    SpirvFunctor entry = spirv_entry<F>(0);
    add_kernels_of<F, 1>(entry);
    add_kernels_of<F, 2>(entry);
    return entry;
  }
};
template <class F, class Combine>
struct SpirvEntryOf<Reduction<F, Combine>> {
  using R = Reduction<F, Combine>;
  static SpirvFunctor make() {
    constexpr int op = static_cast<int>(KernelOp::Reduce);
    SpirvFunctor entry = spirv_entry<R>(sizeof(typename CombineRule<Combine>::Value));
    if constexpr (is_callable<F, 1>)
      entry.kernels[op][0] = {spirv_name<SpirvReduce<R, 1, op>>(), spirv_name<SpirvFold<R>>(), true};
    if constexpr (is_callable<F, 2>)
      entry.kernels[op][1] = {spirv_name<SpirvReduce<R, 2, op>>(), spirv_name<SpirvFold<R>>(), true};
    return entry;
  }
};
template <class T>
struct SpirvEntryOf<Scan<T>> {
  using S = Scan<T>;
  static SpirvFunctor make() {
    SpirvFunctor entry = spirv_entry<S>(sizeof(T));
    entry.scan = {spirv_name<SpirvScanTotals<S>>(), spirv_name<SpirvScanLevel<S>>(), spirv_name<SpirvAddBefore<S>>(),
                  spirv_name<SpirvScanElements<S>>()};
    return entry;
  }
};

/// The table of these functors. It is made once and kept until the process ends.
template <class... Fs>
const SpirvTable* spirv_table_of(const char* code, const char* code_end) noexcept {
  static const std::array<SpirvFunctor, sizeof...(Fs)> functors{SpirvEntryOf<Fs>::make()...};
  static const SpirvTable table{sizeof(SpirvTable),
                                spirv_table_abi,
                                TESSERA_BUILD_TAG,
                                functors.data(),
                                functors.size(),
                                code,
                                static_cast<std::size_t>(code_end - code),
                                spirv_name<RoundingProbe<float>>()};
  return &table;
}

} // namespace tessera::detail

/// Defines the function that the plug-in of a program exports, with these functors. A .cu has it once, at the end.
#define TESSERA_CUDA_KERNELS(...)                                                                                      \
  extern "C" __attribute__((visibility("hidden"))) const char tessera_spirv_begin[], tessera_spirv_end[];              \
  asm(".pushsection .rodata\n.balign 8\n"                                                                              \
      ".globl tessera_spirv_begin\n.hidden tessera_spirv_begin\ntessera_spirv_begin:\n"                                \
      ".incbin \"" TESSERA_SPIRV_FILE                                                                                  \
      "\"\n"                                                                                                           \
      ".globl tessera_spirv_end\n.hidden tessera_spirv_end\ntessera_spirv_end:\n.byte 0\n.popsection");                \
  extern "C" __attribute__((visibility("default"))) const tessera::SpirvTable* tessera_user_kernels_spirv() noexcept { \
    return tessera::detail::spirv_table_of<__VA_ARGS__>(tessera_spirv_begin, tessera_spirv_end);                       \
  }

#include <tessera/detail/macros_on.hpp>
