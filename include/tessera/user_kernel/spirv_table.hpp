#pragma once

/// What crosses the boundary between a program and its plug-in with device code in SPIR-V, which OpenCL's devices
/// compile when a program first runs a functor. The plug-in holds data alone: it launches nothing.
///
/// The plug-in exports one C function, which returns data that is valid until the process ends:
///
///     extern "C" const tessera::SpirvTable* tessera_user_kernels_spirv() noexcept;
///
/// TESSERA_CUDA_KERNELS(Saxpy, Square) in a .cu defines it. libtessera checks struct_size, abi_version and build_tag
/// before it reads anything else, as it does with the table of CUDA's form (<tessera/user_kernel/table.hpp>).

#include <cstddef>
#include <cstdint>

#include <tessera/types.hpp>
#include <tessera/user_kernel/table.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// This number is raised whenever a type of this header, a kernel's arguments, a view or the order of a reduction
/// changes.
inline constexpr std::uint32_t spirv_table_abi = 1;

/// The names of the kernels of one operation; null: the functor has no call operator for it.
struct SpirvKernels {
  const char* run = nullptr;       ///< calls the functor; of a reduction, leaves the results of chunks
  const char* fold = nullptr;      ///< of a reduction: combines the results of chunks
  bool fold_takes_functor = false; ///< else `fold` gets 8 zero bytes in place of the functor
};

/// The names of the kernels of a scan; null: the functor is no Scan.
struct SpirvScan {
  const char* totals = nullptr;     ///< the totals of the chunks
  const char* level = nullptr;      ///< scans the totals of a level
  const char* add_before = nullptr; ///< adds to a level's totals what is before their chunk
  const char* elements = nullptr;   ///< scans the elements
};

/// One functor of the table.
struct SpirvFunctor {
  static constexpr int operations = 5; ///< KernelOp::ForEach … KernelOp::Reduce
  const char* name;                    ///< the functor's name
  std::uint32_t size;                  ///< its bytes when the plug-in was compiled
  std::uint32_t alignment;             ///< its alignment when the plug-in was compiled
  std::uint32_t value_size;            ///< bytes of what one index contributes to its own reduction or scan; 0: nothing
  std::uint32_t argument_bytes;        ///< the functor's bytes as kernels take them: a multiple of 8
  SpirvKernels kernels[operations][2]; ///< by KernelOp, and by the number of indices less 1
  SpirvScan scan;                      ///< of a Scan
};

/// The description of a plug-in.
struct SpirvTable {
  std::uint32_t struct_size;    ///< sizeof(SpirvTable) when the plug-in was compiled
  std::uint32_t abi_version;    ///< spirv_table_abi when the plug-in was compiled
  const char* build_tag;        ///< TESSERA_BUILD_TAG when the plug-in was compiled
  const SpirvFunctor* functors; ///< the functors
  std::size_t count;            ///< their number
  const void* code;             ///< the module of SPIR-V
  std::size_t code_bytes;       ///< its bytes
  const char* probe;            ///< the kernel that shows how the device rounds (detail::RoundingProbe)
};

using SpirvTableFunction = const SpirvTable* (*)(); ///< The type of tessera_user_kernels_spirv().
/// The name of the function that a plug-in exports.
inline constexpr const char* spirv_table_function_name = "tessera_user_kernels_spirv";

namespace detail {

inline constexpr int spirv_lanes = 32;           ///< work-items that have a chunk, as dimension 0 of a group
inline constexpr int spirv_reduction_chunks = 4; ///< chunks of a group of a reduction, as its dimension 1
inline constexpr int spirv_scan_chunks = 2;      ///< chunks of a group of a scan; each takes 8.25 KiB in double

/// The arguments of the kernel that shows how a device rounds: for element e of `count`, three numbers x, y and z in
/// rounding_probe_inputs arrays of `count` floats at the beginning of the scratch memory, and after them an array for
/// each of the results x / y, √x, fma(x, y, z), x·y + z in two roundings, and x·2⁻¹⁰⁰·2⁻⁴⁰ (mostly subnormal).
inline constexpr int rounding_probe_inputs = 3, rounding_probe_results = 5;

} // namespace detail
} // namespace tessera

#include <tessera/detail/macros_on.hpp>
