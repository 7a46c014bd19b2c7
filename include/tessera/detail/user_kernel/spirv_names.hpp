#pragma once

/// The kernels of device code in SPIR-V, and their names. Both compilations of a .cu read this file: the one for the
/// device defines the kernels, and the one for the host finds their names, which the C++ ABI gives them.
///
/// All kernels take the same arguments: the functor's bytes, the scratch memory, and five whole numbers.
///
/// Source: the Itanium C++ ABI's mangling; a type's typeid has the greatest part of the name.

#include <cstddef>
#include <cstdint>

#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

#if defined(TESSERA_SPIRV_KERNELS)
#define TESSERA_SPIRV_WORK __attribute__((device)) static
#else
#define TESSERA_SPIRV_WORK static
#endif

namespace tessera::detail {

/// A functor as a kernel takes it: bytes, because a kernel's argument has no pointers within.
template <std::size_t words, std::size_t alignment>
struct alignas(alignment) SpirvBytes {
  std::uint64_t word[words];
};
template <class F>
inline constexpr std::size_t spirv_alignment = alignof(F) > 8 ? alignof(F) : 8;
template <class F>
struct alignas(spirv_alignment<F>) SpirvPadded {
  F value;
};
template <class F>
using SpirvBytesOf = SpirvBytes<sizeof(SpirvPadded<F>) / 8, spirv_alignment<F>>;

/// for_each: calls the functor for the index of the work-item. The numbers: rows, cols.
template <class F, int dimensions>
struct SpirvForEach {
  using Functor = F;
  TESSERA_SPIRV_WORK void work(const F& functor, void*, Index rows, Index cols, Index, Index, Index);
};
/// A reduction, of which `op` is the KernelOp: leaves the results of chunks in the scratch memory. The numbers: how
/// many values, cols, 32 / cols, 32 % cols, and where the results begin, in bytes.
template <class F, int dimensions, int op>
struct SpirvReduce {
  using Functor = F;
  TESSERA_SPIRV_WORK void work(const F& functor, void* scratch, Index count, Index cols, Index row_step, Index col_step,
                               Index results_at);
};
/// Stands for a functor of a sum or an extremum of values of T, whose rule needs nothing of the functor.
template <class T, int op>
struct SpirvPlain {
  std::uint64_t nothing;
};
/// Combines the results of chunks. R is a Reduction or a SpirvPlain. The numbers: how many results, where they are, and
/// where the results of their chunks go.
template <class R>
struct SpirvFold {
  using Functor = R;
  TESSERA_SPIRV_WORK void work(const R& functor, void* scratch, Index count, Index values_at, Index results_at, Index,
                               Index);
};
/// The four kernels of a scan. The numbers: how many values, and two places in the scratch memory.
template <class S>
struct SpirvScanTotals {
  using Functor = S;
  TESSERA_SPIRV_WORK void work(const S& functor, void* scratch, Index count, Index totals_at, Index, Index, Index);
};
template <class S>
struct SpirvScanLevel {
  using Functor = S;
  TESSERA_SPIRV_WORK void work(const S& functor, void* scratch, Index count, Index values_at, Index totals_at, Index,
                               Index);
};
template <class S>
struct SpirvAddBefore {
  using Functor = S;
  TESSERA_SPIRV_WORK void work(const S& functor, void* scratch, Index count, Index values_at, Index before_at, Index,
                               Index);
};
/// Of the numbers the third says whether there is anything before the chunks.
template <class S>
struct SpirvScanElements {
  using Functor = S;
  TESSERA_SPIRV_WORK void work(const S& functor, void* scratch, Index count, Index before_at, Index has_before, Index,
                               Index);
};
/// Shows how the device rounds; spirv_table.hpp has the arrays. The number: how many elements.
template <class T>
struct RoundingProbe {
  using Functor = T;
  TESSERA_SPIRV_WORK void work(const T& functor, void* scratch, Index count, Index, Index, Index, Index);
};

/// The kernel of some work, which is one of the structs above.
template <class Work>
struct SpirvKernel {
  using Bytes = SpirvBytesOf<typename Work::Functor>;
#if defined(TESSERA_SPIRV_KERNELS)
  __attribute__((global)) static void run(Bytes bytes, void* scratch, Index a, Index b, Index c, Index d, Index e) {
    Work::work(__builtin_bit_cast(SpirvPadded<typename Work::Functor>, bytes).value, scratch, a, b, c, d, e);
  }
#endif
};

} // namespace tessera::detail

#include <tessera/detail/macros_on.hpp>
