#pragma once

/// One launch of a kernel in SPIR-V: the functor's bytes, the scratch memory, and five numbers.

#include <array>
#include <span>
#include <vector>

#include <tessera/types.hpp>

#include "opencl/queue/command_queue.hpp"

namespace tessera::opencl {

class SpirvKernel {
 public:
  using Numbers = std::array<Index, 5>;

  SpirvKernel(Queue& queue, Program& program) : queue_(command_queue(queue)), program_(program) {}

  /// Enqueues the kernel with `wanted` work-items, rounded up to whole groups. `functor` is as the kernel takes it, a
  /// multiple of 8 bytes; the blocks of this device's memory that its words point into are made known to the driver.
  Status run(const char* name, std::span<const std::byte> functor, void* scratch, const Numbers& numbers,
             std::array<std::size_t, 2> wanted, std::array<std::size_t, 2> group);

 private:
  Status give_arguments(cl_kernel kernel, std::span<const std::byte> functor, void* scratch, const Numbers& numbers);

  CommandQueue& queue_;
  Program& program_;
};

} // namespace tessera::opencl
