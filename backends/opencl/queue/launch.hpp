#pragma once

/// A launch of one kernel: its arguments in order, then its work.
///
///     return Launch(queue, {"fill.cl", source::fill_cl}, "-D REAL=float", "fill")
///         .value<cl_long>(rows)
///         .operand(z, sizeof(float))   // two arguments: __global float* z, long z_at
///         .run({cols, rows}, {64, 4});
///
/// The first failure stays and is what run() returns.

#include <array>
#include <string>
#include <vector>

#include <tessera/executor.hpp>

#include "command_queue.hpp"

namespace tessera::opencl {

/// Sets the arguments `index` and `index` + 1 of a kernel to the block that the pointer is in, and to the number of
/// elements of `element` bytes from the block's beginning to the pointer. A null pointer is given as null and 0.
Status set_operand(const DeviceMemory& memory, cl_kernel kernel, cl_uint index, const void* pointer,
                   std::size_t element);

class Launch {
 public:
  Launch(Queue& queue, const Source& source, const std::string& options, const char* name);
  /// A launch of a kernel whose program the caller has.
  Launch(Queue& queue, Program& program, const char* name);
  ~Launch();
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  /// Adds a pointer into the executor's memory and its distance from the block's beginning. Where the pointer is null,
  /// the kernel gets another operand, which it must not read: NVIDIA's driver refuses a null argument whose place held
  /// a pointer to shared virtual memory before.
  Launch& operand(const void* pointer, std::size_t element);
  /// Adds a number of a type of OpenCL.
  template <class T>
  Launch& value(T number) {
    return argument(sizeof number, &number);
  }
  /// Adds local memory.
  Launch& local(std::size_t bytes) { return argument(bytes, nullptr); }

  /// Enqueues the kernel with `wanted` work-items, rounded up to whole groups: a kernel checks its bounds. The size of
  /// a group is always the caller's, because some drivers compile a kernel anew for each.
  Status run_3d(std::array<std::size_t, 3> wanted, std::array<std::size_t, 3> group);
  Status run(std::array<std::size_t, 2> wanted, std::array<std::size_t, 2> group) {
    return run_3d({wanted[0], wanted[1], 1}, {group[0], group[1], 1});
  }

 private:
  Launch& argument(std::size_t bytes, const void* value);

  CommandQueue& queue_;
  const char* name_;
  Program* program_ = nullptr;
  cl_kernel kernel_ = nullptr;
  cl_uint next_ = 0;
  const void* any_ = nullptr;   ///< the first operand that is there
  std::vector<cl_uint> absent_; ///< the places of operands that are null
  Status status_;
};

} // namespace tessera::opencl
