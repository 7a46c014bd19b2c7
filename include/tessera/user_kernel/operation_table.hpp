#pragma once

/// What crosses the boundary between gemm_compare and a library of operations (operation.hpp). Both are compiled from
/// this header.
///
/// The library exports one C function, which returns constant data:
///
///     extern "C" const tessera::OperationTable* tessera_operations() noexcept;
///
/// TESSERA_OPERATIONS(Heat, Blur) defines it. libtessera checks struct_size, abi_version and build_tag before it reads
/// anything else, as it does with the plug-in of a backend (see <tessera/backend/plugin.hpp>).

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <tessera/backend/plugin.hpp>
#include <tessera/executor.hpp>
#include <tessera/status.hpp>
#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// Operations call executors as plug-ins do, so the number is theirs. It is raised whenever a type of this header, a
/// view or an executor changes.
inline constexpr std::uint32_t operation_table_abi = plugin_abi_version;

/// The sizes that an operation is raced at. One with one size has n alone, one with two has m and n; the others are 1.
struct OperationSizes {
  Index m = 1; ///< the first of two or three sizes
  Index n = 1; ///< the only size, or the second one
  Index k = 1; ///< the third size
};

/// The shape of an array. A vector of n elements is 1×n.
struct ArrayShape {
  Index rows = 0; ///< number of rows
  Index cols = 0; ///< number of columns
};

/// What an operation does with an array. The values are the ones of views.
enum class ArrayAccess : int {
  Read = 0,    ///< it reads elements and writes none: In
  Written = 1, ///< it writes every element and reads none: Out
  Updated = 2, ///< it reads and writes: InOut
};

/// One array of an operation.
struct OperationArray {
  DType type = DType::F32;                ///< type of its elements
  ArrayAccess access = ArrayAccess::Read; ///< what the operation does with it
};

/// Where an array's elements are, in memory that the executor reaches.
struct ArrayPlace {
  void* data = nullptr; ///< the first element
  Index rows = 0;       ///< number of rows
  Index cols = 0;       ///< number of columns
  Index ld = 0;         ///< elements from one row to the next
};

/// The kinds of numbers that an operation returns.
enum class NumberKind : int {
  F32 = 0, ///< float
  F64 = 1, ///< double
  I64 = 2, ///< std::int64_t
};

/// A number that an operation returns.
struct OperationNumber {
  NumberKind kind = NumberKind::F64; ///< what the bits are
  std::uint64_t bits = 0;            ///< the number's bits, the lowest first
};

/// What an operation returns: nothing, a number, or the value, row and column of an extremum.
struct OperationValue {
  std::size_t count = 0;      ///< how many of the numbers there are
  OperationNumber numbers[3]; ///< the numbers
};

/// The arguments of a run.
struct OperationLaunch {
  Executor& executor;       ///< where it runs
  Queue& queue;             ///< a queue of the executor
  OperationSizes sizes;     ///< the sizes of this run
  int threads;              ///< threads of a processor; 0: as many as the executor was made with
  const ArrayPlace* arrays; ///< as many as the operation has, in their order
  OperationValue& value;    ///< takes what the operation returns
};

/// One operation of the table.
struct OperationEntry {
  const char* name;             ///< for the command line: letters, digits and _ - . +
  const char* summary;          ///< one line about it
  int sizes;                    ///< number of sizes: 1 to 3
  DType type;                   ///< of the first array; tells operations of one name apart
  const OperationArray* arrays; ///< the arrays, in the order of run()'s parameters
  std::size_t count;            ///< their number
  double flops;                 ///< floating-point operations of an index; there are m·n·k indices
  double bytes;                 ///< bytes that an index moves; negative: each array is moved once, an updated one twice
  int ulps;                     ///< how far a result may be from the reference's; 0: its bits are the same
  /// Returns why the sizes do not suit; null if they do, or if the operation takes all sizes (the pointer is null).
  const char* (*reject)(const OperationSizes& sizes) noexcept;
  /// Gives the shapes of all arrays.
  void (*shapes)(const OperationSizes& sizes, ArrayShape* shapes) noexcept;
  /// Runs it. On a device it may return when the work is enqueued. What is thrown becomes a Status.
  Status (*run)(const OperationLaunch& launch) noexcept;
};

/// The description of a library of operations. All of it is constant and valid until the process ends.
struct OperationTable {
  std::uint32_t struct_size;            ///< sizeof(OperationTable) when the library was compiled
  std::uint32_t abi_version;            ///< operation_table_abi when the library was compiled
  const char* build_tag;                ///< TESSERA_BUILD_TAG when the library was compiled
  const OperationEntry* entries;        ///< the operations
  std::size_t count;                    ///< their number
  const char* bound_to = &library_mark; ///< the mark of the libtessera that the library was bound to; see PluginInfo
};

using OperationTableFunction = const OperationTable* (*)(); ///< The type of tessera_operations().
/// The name of the function that a library of operations exports.
inline constexpr const char* operation_table_function_name = "tessera_operations";

/// Loads a library of operations, which stays loaded until the process ends, and returns its operations. Throws IoError
/// where there is no such file, InvalidArgument, with the reason, where it is no library of operations or was built
/// against another version, and OutOfMemory.
TESSERA_API std::span<const OperationEntry> load_operations(const std::string& file);

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
