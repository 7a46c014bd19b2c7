#pragma once

/// Limits that the child sets for itself before it opens the judged library.

#include <array>
#include <cstddef>

#include "gemm_judge/channel.hpp"

namespace tessera::judge {

/// Makes the process write no core file, and no file of more than 64 MiB.
void confine();

/// Lets the process take at most `bytes` more of address space; 0: no limit. It is not for CUDA, whose driver reserves
/// address space for all memory of the host and the devices. It has no effect under AddressSanitizer, which reserves
/// address space too.
void limit_memory(std::size_t bytes);

/// Installs a handler of SIGSEGV and SIGBUS that writes the fault's distance from the nearest operand into the header.
void report_faults(SharedHeader& header);
/// Tells that handler where the operands A, B and C are, and their sizes in bytes.
void watch_operands(const std::array<const void*, 3>& data, const std::array<std::size_t, 3>& bytes);

} // namespace tessera::judge
