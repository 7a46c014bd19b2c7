#pragma once

/// Callbacks for tools that watch what the library does: profilers, tracers, tests.
///
///     void begin(const tools::Operation& operation, void*) noexcept { std::puts(operation.name); }
///     const tools::ToolId id = tools::register_tool({.name = "printer", .begin = begin});
///     gemm(a, b);                        // prints the name of the kernel that computes the product
///     tools::unregister_tool(id);
///
/// A tool hears of the work of every executor, of plug-ins from outside too: products, batches, element-wise
/// operations, reductions, copies, allocations and frees of an executor's memory. Work that is refused before it begins
/// is not reported. A tool may also be a shared library that TESSERA_TOOLS names. docs/tools.md has a whole tool, and
/// the rules of TESSERA_TOOLS and TESSERA_PROFILE. Cost without a tool: the load of one pointer and a branch for each
/// operation.
///
/// Source: Kokkos Tools, whose begin and end callbacks are tied by an id as well; the ranges of NVTX.

#include <cstddef>
#include <cstdint>

#include <tessera/detail/export.hpp>
#include <tessera/detail/forward.hpp>
#include <tessera/status.hpp>
#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera::tools {

/// What an operation does. New kinds are added at the end.
enum class Kind : int {
  Product = 0,     ///< one kernel of a ladder computes C := alpha·op(A)·op(B) + beta·C, with its epilogue
  Batch = 1,       ///< many products in one call
  ElementWise = 2, ///< an element-wise operation, a random fill, or an epilogue in a pass of its own
  Reduction = 3,   ///< a reduction to one number
  CopyIn = 4,      ///< from host memory to the executor's
  CopyOut = 5,     ///< from the executor's memory to the host's
  CopyWithin = 6,  ///< from one place of the executor's memory to another, or from another executor of its kind
  Allocate = 7,    ///< of the executor's memory, or of host memory for its copies
  Free = 8,        ///< of such memory
  Verify = 9,      ///< a product that verifies itself: among its parts are the product, and the repairs
  Repair = 10,     ///< such a product, found wrong, is computed again
  Panel = 11,      ///< a step of a factorisation that is no product, on a device
};

/// The bit of a kind in Tool::kinds.
constexpr std::uint32_t bit_of(Kind kind) noexcept { return std::uint32_t{1} << static_cast<int>(kind); }
/// The bits of all kinds, of later versions too.
inline constexpr std::uint32_t every_kind = ~std::uint32_t{0};

/// One operation, as a tool sees it at its begin and at its end. Pointers are valid during the callback. Later versions
/// add members at the end; `struct_size` says which are there.
struct Operation {
  std::uint32_t struct_size = sizeof(Operation); ///< bytes of this structure in the libtessera that calls
  Kind kind = Kind::Product;                     ///< what the operation does
  std::uint64_t id = 0;                          ///< ties its end to its begin; positive, and never used twice
  std::uint64_t parent = 0;     ///< the operation of this thread within which it runs, among its parts; 0: none
  const char* name = "";        ///< the kernel's name, or a word: "axpby", "random", "epilogue", "batch", "copy", …
  const char* backend = "";     ///< the backend's word
  const char* device = "";      ///< the processor's or GPU's own name
  int device_index = 0;         ///< the GPU's number; 0 on a processor
  DType type = DType::F32;      ///< type of the operands; F32 where the operation knows only bytes
  DType result = DType::F32;    ///< type of the results
  Math math = Math::Strict;     ///< how a product may round
  Index m = 0;                  ///< rows of C or of the elements, or rows that are copied
  Index n = 0;                  ///< columns of C or of the elements
  Index k = 0;                  ///< columns of op(A); 0 where there is no product
  Index count = 1;              ///< products in a batch, whose m, n and k are the first group's
  std::uint64_t bytes = 0;      ///< the least that must be read and written, or the size of an allocation
  double operations = 0;        ///< floating-point operations of products, two for a multiply-add; else 0
  const void* memory = nullptr; ///< what is freed, or, at the end of an allocation, what was allocated
  Executor* executor = nullptr; ///< the executor that does it
  Queue* queue = nullptr;       ///< the queue that it is enqueued in; null for allocations and frees
};

/// A tool: its callbacks, of which one may be null. They are called by the threads that do the work, by several at
/// once.
///
/// Callbacks are noexcept by their type: one that throws ends the program (std::terminate), because an exception must
/// not pass through the work of a plug-in. A callback may use the library: what it does there is not reported to any
/// tool. The one thing that it must not use is the matrix whose elements are being copied or whose memory is being
/// allocated or freed, because a matrix is locked meanwhile. It returns soon, because the work waits for it.
struct Tool {
  std::uint32_t struct_size = sizeof(Tool); ///< bytes of this structure when the tool was compiled
  const char* name = nullptr;               ///< for messages; it must outlive the tool
  std::uint32_t kinds = every_kind;         ///< the bits of the kinds that it wants to see
  /// Called before an operation begins.
  void (*begin)(const Operation& operation, void* data) noexcept = nullptr;
  /// Called when the operation's call returns, with Ok or the kind of its failure. On an executor of the host the work
  /// is then done. On a device it is enqueued; the device's time between begin and end is known to events that the tool
  /// records in operation.queue.
  void (*end)(const Operation& operation, StatusCode outcome, void* data) noexcept = nullptr;
  /// Called once: when the tool is unregistered, or else when the program ends through exit().
  void (*finish)(void* data) noexcept = nullptr;
  void* data = nullptr; ///< handed to the callbacks; the tool's own
};

/// Names a registered tool. Positive.
using ToolId = std::uint64_t;

/// Registers a tool, whose structure is copied. It hears of operations that begin from now on, in all threads. What a
/// registration takes is freed after the tool was unregistered and the operations have ended that were under way then.
///
/// Throws InvalidArgument if struct_size is not one of this version or of an earlier one, if name or kinds or both
/// callbacks are missing, or if a tool with the same callbacks and data is registered already.
TESSERA_API ToolId register_tool(const Tool& tool);

/// Removes a tool. When it returns, none of the tool's callbacks is running or will be called, so that its data may be
/// freed; but if it is called from a callback, it does not wait for callbacks that other threads are in. Operations
/// that have begun have no end for this tool. Throws InvalidArgument if no tool has this id.
TESSERA_API void unregister_tool(ToolId id);

/// The function that the library of a tool exports: `extern "C" const tessera::tools::Tool* tessera_tool() noexcept`.
/// It returns constant data that is valid until the process ends; the library is never unloaded.
using ToolEntry = const Tool* (*)() noexcept;
/// The name of that function.
inline constexpr const char* tool_entry_name = "tessera_tool";

} // namespace tessera::tools

#include <tessera/detail/macros_on.hpp>
