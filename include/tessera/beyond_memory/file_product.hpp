#pragma once

/// Products of matrices in .npy files that need not fit into memory.
///
///     FileProductReport report = gemm_files({.a = "a.npy", .b = "b.npy", .out = "c.npy",
///                                            .memory_limit = std::size_t{4} << 30});
///
/// The result has the bits of the product in memory (docs/contract.md), whatever the limit, the blocks and the
/// executors are. At most memory_limit bytes of host memory are allocated. A product that was stopped goes on where it
/// was when the same call is made again. docs/large_files.md has the plan, the formula of memory and traffic, and the
/// files beside the output.
///
/// Errors: IoError for a file that is missing, no .npy file, truncated, cannot be read or written, or that was changed
/// while it was read; and for an output that another program is computing. InvalidArgument for shapes and types that do
/// not fit, for an output that is A or B, and for arguments that differ from the journal's. OutOfMemory for a limit
/// that is too small. KernelRejected, BackendUnavailable and DeviceError as in gemm(). After an error the output's old
/// contents are as they were.
///
/// Source: Toledo, A survey of out-of-core algorithms in numerical linear algebra, 1999: C is stationary.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <tessera/backend.hpp>
#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// How far a product of files has come.
struct FileProductProgress {
  Index blocks = 0;                ///< blocks of C
  Index blocks_done = 0;           ///< blocks that are on the disk, from an earlier call too
  double operations = 0;           ///< floating-point operations that this call does
  double operations_done = 0;      ///< floating-point operations that this call has done
  std::uint64_t bytes_read = 0;    ///< bytes that were read from the files of A, B and C
  std::uint64_t bytes_written = 0; ///< bytes of C that were written
};

/// C := alpha·op(A)·op(B) + beta·C, from files to a file.
struct FileProduct {
  std::filesystem::path a;            ///< the file of A
  std::filesystem::path b;            ///< the file of B, whose elements have A's type
  std::filesystem::path out;          ///< the file to write; it may be `c`, but neither `a` nor `b`
  std::size_t memory_limit = 0;       ///< bytes of host memory to take at most; must be given
  Op op_a = Op::None;                 ///< how A is read
  Op op_b = Op::None;                 ///< how B is read
  double alpha = 1.0;                 ///< factor of the product, exact in the type that elements are computed in
  double beta = 0.0;                  ///< factor of C as it was; 0: `c` is not read
  std::filesystem::path c = {};       ///< the file of C as it was, for beta ≠ 0; its elements have the result's type
  std::optional<DType> result = {};   ///< the type of the result, if it is not A's; see is_result_of()
  std::vector<Executor*> executors{}; ///< they compute blocks, each one its own; empty: the best executor
  Math math = Math::Strict;           ///< how the product may round
  std::string kernel = {};            ///< a kernel of every executor's ladder; empty: the best one that takes the call
  int threads = 0;                    ///< threads of the host for each executor; 0: default_threads()
  bool start_over = false;            ///< discard an unfinished product instead of going on with it
  /// Is called now and then, by one thread at a time, though not always by one thread. It must not throw.
  std::function<void(const FileProductProgress&)> progress = {};
  /// A request to stop, from any thread, ends the product after the slices at hand; see FileProductReport::stopped.
  std::stop_token stop = {};
};

/// What a product of files is going to do.
struct FileProductPlan {
  DType type = DType::F32;          ///< type of A and B
  DType result = DType::F32;        ///< type of C
  Index m = 0;                      ///< rows of C
  Index n = 0;                      ///< columns of C
  Index k = 0;                      ///< columns of op(A) and rows of op(B)
  Index block_m = 0;                ///< rows of a block of C
  Index block_n = 0;                ///< columns of a block of C
  Index blocks = 0;                 ///< number of blocks
  Index blocks_done = 0;            ///< blocks that an earlier call has left on the disk
  Index depth_a = 0;                ///< k of A that are read at once
  Index depth_b = 0;                ///< k of B that are read at once
  std::size_t planned_bytes = 0;    ///< host memory that the product takes
  std::uint64_t bytes_to_read = 0;  ///< by the formula of docs/large_files.md, for the blocks that are missing
  std::uint64_t bytes_to_write = 0; ///< for the blocks that are missing
};

/// What a product of files has done.
struct FileProductReport {
  FileProductPlan plan;            ///< what was going to be done
  std::size_t allocated_bytes = 0; ///< buffers that were allocated; at most plan.planned_bytes
  std::uint64_t bytes_read = 0;    ///< bytes that were read from the files of A, B and C
  std::uint64_t bytes_written = 0; ///< bytes of C that were written
  bool stopped = false;            ///< FileProduct::stop ended it: `out` is as it was, and the same call goes on
  double seconds = 0;              ///< the time of all of it
  double seconds_reading = 0;      ///< time in which executors waited for slices, added up over the executors
  double seconds_writing = 0;      ///< time in which executors waited for the writer, added up over the executors
};

/// Returns what gemm_files() would do, and checks all that it checks. Nothing is written.
TESSERA_API FileProductPlan plan_files(const FileProduct& product);

/// Computes the product.
TESSERA_API FileProductReport gemm_files(const FileProduct& product);

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
