#pragma once

/// What crosses the boundary between a program and the plug-in with its device code. Both are compiled from this
/// header.
///
/// The plug-in exports one C function, which returns constant data:
///
///     extern "C" const tessera::KernelTable* tessera_user_kernels() noexcept;
///
/// TESSERA_CUDA_KERNELS(Saxpy, Square) in a .cu defines it. libtessera checks struct_size, abi_version and build_tag
/// before it reads anything else, as it does with the plug-in of a backend (see <tessera/backend/plugin.hpp>).

#include <cstddef>
#include <cstdint>

#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// This number is raised whenever a type of this header, a view or the order of a reduction changes.
inline constexpr std::uint32_t kernel_table_abi = 2;

/// What is done with a functor.
enum class KernelOp : int {
  ForEach = 0, ///< it is called for each index
  Sum = 1,     ///< its values are added
  Min = 2,     ///< the smallest value and its place
  Max = 3,     ///< the largest value and its place
  Reduce = 4,  ///< the functor is a Reduction
  Scan = 5,    ///< the functor is a Scan
};

/// The arguments of a launch.
struct KernelLaunch {
  KernelOp op = KernelOp::ForEach; ///< what is done
  int dimensions = 1;              ///< the number of indices: 1 or 2
  Index rows = 0;                  ///< rows of the index space; 1 where there is one index
  Index cols = 0;                  ///< columns of the index space
  const void* functor = nullptr;   ///< the functor, in host memory
  void* scratch = nullptr;         ///< device memory of kernel_scratch() bytes
  void* stream = nullptr;          ///< the queue's cudaStream_t
  int device = 0;                  ///< the device's number
};

/// One functor of the table.
struct KernelEntry {
  const char* name;         ///< the functor's name
  std::uint32_t size;       ///< its bytes when the plug-in was compiled
  std::uint32_t alignment;  ///< its alignment when the plug-in was compiled
  std::uint32_t value_size; ///< bytes of what one index contributes to a reduction or a scan; 0: nothing
  /// Enqueues the work. Returns 0, kernel_not_offered, or an error of the device's runtime.
  int (*launch)(const KernelLaunch& launch) noexcept;
};

/// What launch() returns where the functor has no call operator for the operation.
inline constexpr int kernel_not_offered = -1;

/// The description of a plug-in. All of it is constant and valid until the process ends.
struct KernelTable {
  std::uint32_t struct_size;               ///< sizeof(KernelTable) when the plug-in was compiled
  std::uint32_t abi_version;               ///< kernel_table_abi when the plug-in was compiled
  const char* build_tag;                   ///< TESSERA_BUILD_TAG when the plug-in was compiled
  const KernelEntry* entries;              ///< the functors
  std::size_t count;                       ///< their number
  const char* (*error_text)(int) noexcept; ///< what an error of launch() means
};

using KernelTableFunction = const KernelTable* (*)(); ///< The type of tessera_user_kernels().
/// The name of the function that a plug-in exports.
inline constexpr const char* kernel_table_function_name = "tessera_user_kernels";

namespace detail {

/// The levels of a reduction or a scan of `count` values, of which a chunk of 1024 gives one to the next level. Level 0
/// is what the chunks of the values themselves give.
struct KernelLevels {
  static constexpr int most = 7; ///< 1024⁷ is more than 2⁶³
  int levels = 0;
  Index count[most] = {};
  std::size_t values_at[most] = {}; ///< where the level's values begin in the scratch memory, in bytes
  std::size_t bytes = 0;
};

/// Lays the scratch memory out; `value` is the bytes of a value. The result of a reduction is the last level's value.
constexpr KernelLevels kernel_levels(Index count, std::size_t value) noexcept {
  KernelLevels all;
  do {
    count = count / 1024 + (count % 1024 != 0 ? 1 : 0);
    all.count[all.levels++] = count;
  } while (count > 1);
  for (int level = 0; level < all.levels; ++level) {
    all.values_at[level] = all.bytes;
    all.bytes += (static_cast<std::size_t>(all.count[level]) * value + 63) / 64 * 64;
  }
  return all;
}

} // namespace detail
} // namespace tessera

#include <tessera/detail/macros_on.hpp>
