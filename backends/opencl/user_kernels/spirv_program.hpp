#pragma once

/// The program of a plug-in's SPIR-V on a device, and whether the device can run it with the contract's bits.

#include <tessera/user_kernel/spirv_table.hpp>

#include "opencl/queue/command_queue.hpp"

namespace tessera::opencl {

/// The largest work-group of kernels in SPIR-V.
inline constexpr std::size_t spirv_group = 256;

/// Says why a device takes no SPIR-V, or that it does (Unavailable or Ok).
Status takes_spirv(const Device& device);

/// Returns the program of a table, which is compiled at its first use on the device. Unavailable where the code needs
/// f64 and the device has none, or where the device rounds otherwise than the host: at its first program, kernels whose
/// results are known find that out.
Status spirv_program(Queue& queue, const SpirvTable& table, Program*& program);

} // namespace tessera::opencl
