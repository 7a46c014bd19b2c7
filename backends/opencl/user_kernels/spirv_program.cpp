#include "spirv_program.hpp"

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "opencl/memory/copies.hpp"
#include "opencl/queue/scratch.hpp"
#include "spirv_kernel.hpp"

namespace tessera::opencl {
namespace {

constexpr std::size_t probe_elements = 4096;

Status unavailable(const Device& device, const std::string& why) {
  return Status::failure(StatusCode::Unavailable, device.name + " (" + device.platform_name + ") " + why);
}

/// Does the code need f64? Its capabilities are its first instructions.
bool needs_f64(const SpirvTable& table) {
  constexpr std::size_t header_words = 5;
  constexpr std::uint32_t op_capability = 17, capability_float64 = 10, low_half = 0xFFFF;
  const auto word = [&](std::size_t at) {
    std::uint32_t value = 0;
    std::memcpy(&value, static_cast<const char*>(table.code) + at * sizeof value, sizeof value);
    return value;
  };
  const std::size_t words = table.code_bytes / sizeof(std::uint32_t);
  for (std::size_t at = header_words; at + 1 < words && (word(at) & low_half) == op_capability; at += 2)
    if (word(at + 1) == capability_float64) return true;
  return false;
}

/// Element e of the probe's operands: numbers with all digits and exponents from −64 to 63.
float known_number(std::size_t e) {
  const auto mixed = static_cast<std::uint64_t>(e + 1) * 0x9E3779B97F4A7C15u;
  constexpr unsigned digits = 23, bias = 127;
  const auto exponent = static_cast<std::uint32_t>(bias - 64 + (mixed >> 57));
  const std::uint32_t bits = exponent << digits | static_cast<std::uint32_t>(mixed >> 20 & ((1u << digits) - 1));
  return __builtin_bit_cast(float, bits);
}

/// The results of the host, as detail::rounding_probe_results says.
std::vector<float> known_results(const std::vector<float>& in) {
  std::vector<float> all(detail::rounding_probe_results * probe_elements);
  for (std::size_t e = 0; e < probe_elements; ++e) {
    const float x = in[e], y = in[probe_elements + e], z = in[2 * probe_elements + e];
    all[e] = x / y;
    all[probe_elements + e] = std::sqrt(x);
    all[2 * probe_elements + e] = std::fma(x, y, z);
    all[3 * probe_elements + e] = x * y + z;
    all[4 * probe_elements + e] = x * 0x1p-100f * 0x1p-40f;
  }
  return all;
}

/// Compares what the device computes with what the host does.
Status compare_rounding(Queue& queue, const SpirvTable& table, Program& program) {
  const Device& device = command_queue(queue).context().device();
  if (const std::string why = why_not_strict(device, DType::F32); !why.empty())
    return Status::failure(StatusCode::Unavailable, why);
  std::vector<float> in(detail::rounding_probe_inputs * probe_elements);
  for (std::size_t e = 0; e < in.size(); ++e) in[e] = known_number(e);
  const std::vector<float> expected = known_results(in);
  std::vector<float> computed(expected.size());
  Scratch on_device;
  if (Status s = on_device.allocate(queue, (in.size() + computed.size()) * sizeof(float)); !s.ok()) return s;
  const cl_command_queue commands = command_queue(queue).get();
  const DeviceMemory& memory = command_queue(queue).memory();
  const auto row = [](const std::vector<float>& x) {
    return CopyShape{x.size() * sizeof(float), x.size() * sizeof(float), x.size() * sizeof(float), 1};
  };
  const std::byte nothing[8] = {};
  if (Status s = copy_in(memory, commands, on_device.data(), in.data(), row(in), true); !s.ok()) return s;
  if (Status s = SpirvKernel(queue, program)
                     .run(table.probe, nothing, on_device.data(), {static_cast<Index>(probe_elements)},
                          {probe_elements, 1}, {spirv_group, 1});
      !s.ok())
    return s;
  if (Status s = copy_out(memory, commands, computed.data(), on_device.as<float>() + in.size(), row(computed), true);
      !s.ok())
    return s;
  constexpr const char* what[detail::rounding_probe_results] = {"quotients", "square roots", "fused multiply-adds",
                                                                "products and sums", "subnormal products"};
  for (std::size_t result = 0; result < detail::rounding_probe_results; ++result) {
    std::size_t differing = 0;
    for (std::size_t e = result * probe_elements; e < (result + 1) * probe_elements; ++e)
      differing += std::memcmp(&computed[e], &expected[e], sizeof(float)) != 0 ? 1 : 0;
    if (differing != 0)
      return unavailable(device, "rounds " + std::to_string(differing) + " of " + std::to_string(probe_elements) +
                                     " known " + what[result] +
                                     " in f32 otherwise than this processor, so that a functor would have other bits; "
                                     "update its driver, or use another device or backend");
  }
  return {};
}

} // namespace

Status takes_spirv(const Device& device) {
  if (device.il_versions.find("SPIR-V") == std::string::npos)
    return unavailable(device, "takes no SPIR-V, in which functors are compiled (its CL_DEVICE_IL_VERSION is '" +
                                   device.il_versions +
                                   "'); use a driver that does (for processors Intel's, pip install intel-opencl-rt), "
                                   "or another device or backend");
  if (device.create_with_il == nullptr || cl().SetKernelExecInfo == nullptr)
    return unavailable(device,
                       "takes SPIR-V, but its platform or OpenCL's loader has no clCreateProgramWithIL; update "
                       "the driver and the loader (Debian: ocl-icd-libopencl1)");
  if (!device.has_svm)
    return unavailable(device,
                       "gives no shared virtual memory, which a functor's views need (TESSERA_OPENCL_SVM=none "
                       "takes it away); use another device or backend");
  if (device.most_work_items < spirv_group)
    return unavailable(device, "has work-groups of " + std::to_string(device.most_work_items) +
                                   " work-items, and functors need " + std::to_string(spirv_group) +
                                   "; use another device or backend");
  return {};
}

Status spirv_program(Queue& queue, const SpirvTable& table, Program*& program) {
  Context& context = command_queue(queue).context();
  if (!context.device().has_f64 && needs_f64(table))
    return unavailable(context.device(),
                       "has no f64 (cl_khr_fp64), which functors of this program's plug-in use; list "
                       "functors in f32 in a program of their own, or use another device");
  if (Status status = context.program(Il{"the program's functors", table.code, table.code_bytes}, program);
      !status.ok())
    return status;
  return context.rounds([&] { return compare_rounding(queue, table, *program); });
}

} // namespace tessera::opencl
