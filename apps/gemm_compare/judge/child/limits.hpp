#pragma once

/// What the child imposes on itself before it opens the judged library.

#include <array>
#include <cstddef>

#include "judge/channel.hpp"

namespace tessera::judge {

/// Dies with the parent, leaves no core file, and fills no disk.
void confine();

/// Lets the process grow by at most this much address space. Not for CUDA: its driver reserves address space for
/// all memory of host and devices. Without effect under AddressSanitizer, for the same reason.
void limit_memory(std::size_t bytes);

/// From now on, a segmentation fault leaves its distance from the nearest operand in the header.
void report_faults(SharedHeader& header);
/// Where the operands are now.
void watch_operands(const std::array<const void*, 3>& data, const std::array<std::size_t, 3>& bytes);

} // namespace tessera::judge
