#include "device.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <new>
#include <string_view>

#include "status.hpp"

namespace tessera::opencl {
namespace {

constexpr const char* device_variable = "TESSERA_OPENCL_DEVICE";

Status unavailable(std::string why) { return Status::failure(StatusCode::Unavailable, std::move(why)); }

/// Returns a fact of a fixed size, or zero where the device does not know it.
template <class T>
T fact(cl_device_id device, cl_device_info what) {
  T value{};
  return cl().GetDeviceInfo(device, what, sizeof value, &value, nullptr) == CL_SUCCESS ? value : T{};
}

/// Returns a text that `read` (clGetDeviceInfo or clGetPlatformInfo) gives, without the spaces around it.
template <class Id, class Read>
std::string text(Read read, Id id, cl_uint what) {
  std::size_t bytes = 0;
  if (read(id, what, 0, nullptr, &bytes) != CL_SUCCESS || bytes == 0) return {};
  std::string value(bytes, '\0');
  if (read(id, what, bytes, value.data(), nullptr) != CL_SUCCESS) return {};
  value.resize(std::min(value.size(), value.find('\0')));
  const std::size_t first = value.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return value.substr(first, value.find_last_not_of(' ') - first + 1);
}

/// Finds the function that makes a program of SPIR-V: OpenCL 2.1's, or before it an extension's, which has the same
/// arguments.
decltype(&::clCreateProgramWithIL) find_create_with_il(cl_platform_id platform, cl_device_id id) {
  const bool is_extension =
      text(cl().GetDeviceInfo, id, CL_DEVICE_EXTENSIONS).find("cl_khr_il_program") != std::string::npos;
  const std::string version = text(cl().GetPlatformInfo, platform, CL_PLATFORM_VERSION);
  const bool is_old = version.starts_with("OpenCL 1.") || version.starts_with("OpenCL 2.0");
  if (!is_old) return cl().CreateProgramWithIL;
  if (!is_extension || cl().GetExtensionFunctionAddressForPlatform == nullptr) return nullptr;
  return reinterpret_cast<decltype(&::clCreateProgramWithIL)>(
      cl().GetExtensionFunctionAddressForPlatform(platform, "clCreateProgramWithILKHR"));
}

Device describe(cl_platform_id platform, cl_device_id id, int index) {
  Device device;
  device.platform = platform;
  device.id = id;
  device.index = index;
  device.name = text(cl().GetDeviceInfo, id, CL_DEVICE_NAME);
  device.platform_name = text(cl().GetPlatformInfo, platform, CL_PLATFORM_NAME);
  device.versions = text(cl().GetPlatformInfo, platform, CL_PLATFORM_VERSION) + '\n' +
                    text(cl().GetDeviceInfo, id, CL_DEVICE_VERSION) + '\n' +
                    text(cl().GetDeviceInfo, id, CL_DRIVER_VERSION);
  device.type = fact<cl_device_type>(id, CL_DEVICE_TYPE);
  device.f32 = fact<cl_device_fp_config>(id, CL_DEVICE_SINGLE_FP_CONFIG);
  device.f64 = fact<cl_device_fp_config>(id, CL_DEVICE_DOUBLE_FP_CONFIG);
  device.has_f64 = device.f64 != 0;
  device.divides_exactly = (device.f32 & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
  const bool has_functions =
      cl().SVMAlloc != nullptr && cl().SVMFree != nullptr && cl().SetKernelArgSVMPointer != nullptr;
  device.has_svm = has_functions && (fact<cl_device_svm_capabilities>(id, CL_DEVICE_SVM_CAPABILITIES) &
                                     CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) != 0;
  device.shares_memory = fact<cl_bool>(id, CL_DEVICE_HOST_UNIFIED_MEMORY) != CL_FALSE;
  device.memory_bytes = fact<cl_ulong>(id, CL_DEVICE_GLOBAL_MEM_SIZE);
  device.most_bytes = fact<cl_ulong>(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  device.local_bytes = fact<cl_ulong>(id, CL_DEVICE_LOCAL_MEM_SIZE);
  device.compute_units = std::max(1, static_cast<int>(fact<cl_uint>(id, CL_DEVICE_MAX_COMPUTE_UNITS)));
  device.f32_vector = std::max(1, static_cast<int>(fact<cl_uint>(id, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT)));
  device.f64_vector = std::max(1, static_cast<int>(fact<cl_uint>(id, CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE)));
  device.most_work_items = fact<std::size_t>(id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  device.most_argument_bytes = fact<std::size_t>(id, CL_DEVICE_MAX_PARAMETER_SIZE);
  device.il_versions = text(cl().GetDeviceInfo, id, CL_DEVICE_IL_VERSION);
  device.create_with_il = find_create_with_il(platform, id);
  return device;
}

/// Lists the platforms in the order of their names, because loaders have no order that stays.
Status list_platforms(std::vector<std::pair<std::string, cl_platform_id>>& platforms) {
  cl_uint count = 0;
  const cl_int error = cl().GetPlatformIDs(0, nullptr, &count);
  if (count == 0)
    return unavailable("OpenCL's loader shows no platform (" + name_of(error) +
                       "); install the driver of the device (for processors, Debian: pocl-opencl-icd), or look into "
                       "/etc/OpenCL/vendors, where each driver has a file .icd with the name of its library");
  std::vector<cl_platform_id> ids(count);
  if (Status status = check(cl().GetPlatformIDs(count, ids.data(), nullptr), "listing OpenCL's platforms");
      !status.ok())
    return status;
  for (const cl_platform_id id : ids) platforms.emplace_back(text(cl().GetPlatformInfo, id, CL_PLATFORM_NAME), id);
  std::stable_sort(platforms.begin(), platforms.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  return {};
}

Status list_devices(std::vector<Device>& devices) {
  if (Status status = open_loader(); !status.ok()) return status;
  std::vector<std::pair<std::string, cl_platform_id>> platforms;
  if (Status status = list_platforms(platforms); !status.ok()) return status;
  std::string names;
  for (const auto& [name, platform] : platforms) {
    cl_uint count = 0;
    names += (names.empty() ? "'" : ", '") + name + "'";
    if (cl().GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS || count == 0) continue;
    std::vector<cl_device_id> ids(count);
    if (cl().GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr) != CL_SUCCESS) continue;
    for (const cl_device_id id : ids) devices.push_back(describe(platform, id, static_cast<int>(devices.size())));
  }
  if (!devices.empty()) return {};
  return unavailable("OpenCL's platforms show no device (" + names +
                     "); clinfo says what each of them sees (in a container, start it with access to the device)");
}

std::string which(const Device& device) {
  return "device " + std::to_string(device.index) + " (" + device.name + ", " + device.platform_name + ")";
}

std::string what_there_is(const std::vector<Device>& devices) {
  std::string all = "OpenCL shows ";
  for (const Device& device : devices) all += (device.index == 0 ? "" : ", ") + which(device);
  return all;
}

/// Returns why the device cannot be used at all, or an empty text.
std::string why_unusable(const Device& device) {
  if (fact<cl_bool>(device.id, CL_DEVICE_AVAILABLE) == CL_FALSE) return "its driver says that it is not available";
  if (fact<cl_bool>(device.id, CL_DEVICE_COMPILER_AVAILABLE) == CL_FALSE)
    return "its driver has no compiler for OpenCL C; install the full driver";
  if (fact<cl_bool>(device.id, CL_DEVICE_ENDIAN_LITTLE) == CL_FALSE) return "its numbers are big-endian";
  if (fact<cl_uint>(device.id, CL_DEVICE_ADDRESS_BITS) != 64) return "its addresses do not have 64 bits";
  const std::string version = text(cl().GetDeviceInfo, device.id, CL_DEVICE_VERSION);
  if (version.starts_with("OpenCL 1.0") || version.starts_with("OpenCL 1.1"))
    return "its driver is of " + version + ", and Tessera needs OpenCL 1.2; update it";
  return {};
}

Status choose_named(const std::vector<Device>& devices, int number, const std::string& named_by, Device& device) {
  if (number < 0 || number >= static_cast<int>(devices.size()))
    return unavailable(named_by + " = " + std::to_string(number) + " names no device; " + what_there_is(devices));
  device = devices[static_cast<std::size_t>(number)];
  const std::string why = why_unusable(device);
  return why.empty() ? Status{} : unavailable(named_by + " names " + which(device) + ", but " + why);
}

/// Chooses the device that the variable names by its number, or by a part of its name.
Status choose_by_word(const std::vector<Device>& devices, std::string_view word, Device& device) {
  int number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc{} && end == word.data() + word.size())
    return choose_named(devices, number, device_variable, device);
  for (const Device& candidate : devices)
    if (candidate.name.find(word) != std::string::npos)
      return choose_named(devices, candidate.index, device_variable, device);
  return {StatusCode::InvalidArgument, std::string(device_variable) + " = '" + std::string(word) +
                                           "' is neither the number of a device nor a part of one's name; " +
                                           what_there_is(devices)};
}

/// Chooses the first usable GPU, else the first usable device of another type.
Status choose_first(const std::vector<Device>& devices, Device& device) {
  std::string reasons;
  for (const bool of_gpus : {true, false})
    for (const Device& candidate : devices) {
      if (((candidate.type & CL_DEVICE_TYPE_GPU) != 0) != of_gpus) continue;
      device = candidate;
      const std::string why = why_unusable(candidate);
      if (why.empty()) return {};
      reasons += (reasons.empty() ? "" : "; ") + which(candidate) + ": " + why;
    }
  return unavailable("no OpenCL device can be used: " + reasons);
}

} // namespace

Status choose_device(int wanted, Device& device) noexcept try {
  std::vector<Device> devices;
  if (Status status = list_devices(devices); !status.ok()) return status;
  if (wanted >= 0) return choose_named(devices, wanted, "ExecutorOptions.device", device);
  const char* const word = std::getenv(device_variable);
  if (word != nullptr && *word != '\0') return choose_by_word(devices, word, device);
  return choose_first(devices, device);
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

Status read_capabilities(const Device& device, Backend backend, Capabilities& capabilities) noexcept try {
  capabilities.backend = backend;
  capabilities.device = device.name;
  capabilities.device_index = device.index;
  capabilities.host_memory = false;
  capabilities.memory_bytes = device.memory_bytes;
  capabilities.multiprocessors = device.compute_units;
  capabilities.l2_bytes = fact<cl_ulong>(device.id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
  capabilities.shared_memory_per_block = device.local_bytes;
  capabilities.driver = device.platform_name + ", " + text(cl().GetDeviceInfo, device.id, CL_DEVICE_VERSION) +
                        ", driver " + text(cl().GetDeviceInfo, device.id, CL_DRIVER_VERSION);
  return {};
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

std::string why_not_strict(const Device& device, DType type) {
  const bool wide = type == DType::F64;
  const char* const word = wide ? "f64" : "f32";
  if (wide && !device.has_f64)
    return which(device) + " has no f64 (cl_khr_fp64); use f32, or another device or backend";
  const cl_device_fp_config config = wide ? device.f64 : device.f32;
  if ((config & CL_FP_DENORM) != 0) return {};
  return which(device) + " has no subnormal numbers in " + word +
         ", which strict products need; use another device or backend";
}

} // namespace tessera::opencl
