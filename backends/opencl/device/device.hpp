#pragma once

/// The devices that OpenCL's loader shows, and the one that an executor uses.

#include <string>
#include <vector>

#include <tessera/executor.hpp>

#include "loader.hpp"

namespace tessera::opencl {

/// What kernels and memory need to know of a device.
struct Device {
  cl_platform_id platform = nullptr;
  cl_device_id id = nullptr;
  int index = 0; ///< among all devices of all platforms
  std::string name;
  std::string platform_name;
  std::string versions; ///< of platform, device and driver
  cl_device_type type = 0;
  bool has_f64 = false;
  bool has_svm = false; ///< coarse-grained shared virtual memory, and the loader has its functions; and they are wanted
  bool shares_memory = false;   ///< host and device have one memory
  bool keeps_programs = true;   ///< compiled programs are kept between processes
  bool divides_exactly = false; ///< f32 divisions are rounded correctly under an option of the compiler
  std::string il_versions;      ///< the intermediate languages that it compiles ("SPIR-V_1.0 SPIR-V_1.1")
  decltype(&::clCreateProgramWithIL) create_with_il = nullptr; ///< null: it compiles none, or the loader is too old
  std::size_t memory_bytes = 0;
  std::size_t memory_limit = 0; ///< most bytes to allocate, which the environment sets; 0: the device's memory
  std::size_t most_bytes = 0;   ///< of one allocation
  std::size_t local_bytes = 0;
  std::size_t most_work_items = 0;     ///< of a work-group
  std::size_t most_argument_bytes = 0; ///< of all arguments of a kernel
  int compute_units = 1;
  int f32_vector = 1, f64_vector = 1; ///< elements of the device's own vectors
  cl_device_fp_config f32 = 0, f64 = 0;
};

/// Chooses the device number `wanted`. If `wanted` is −1, chooses the device that TESSERA_OPENCL_DEVICE names by its
/// number or by a part of its name, or, if the variable is unset, the first usable GPU, else the first usable other
/// device. Fails with the reason: there is no loader, platform or device, no such device, or it cannot be used.
Status choose_device(int wanted, Device& device) noexcept;

/// Describes the device for programs.
Status read_capabilities(const Device& device, Backend backend, Capabilities& capabilities) noexcept;

/// Says why a device cannot compute strict products of the type, by its own description; empty if it can. CL_FP_FMA is
/// not asked for: fma() is rounded correctly on every device (OpenCL C, "Relative error as ULPs"), with the flag or
/// without, as on Intel's runtime for processors.
std::string why_not_strict(const Device& device, DType type);

} // namespace tessera::opencl
