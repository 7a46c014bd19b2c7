/// An OpenCL loader with one fault, which FAULTY_OPENCL names. Functions that are not here are the real loader's, which
/// this library needs, so that dlsym() finds them.

#define CL_TARGET_OPENCL_VERSION 210
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

namespace {

bool has(std::string_view fault) {
  const char* const chosen = std::getenv("FAULTY_OPENCL");
  return chosen != nullptr && chosen == fault;
}

/// The real loader's function.
template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// Programs made of a binary that were not built yet.
std::mutex mutex;
std::set<cl_program> binaries;

template <class T>
void give(T value, void* to) {
  if (to != nullptr) *static_cast<T*>(to) = value;
}

/// Faults that begin with "spirv_" are of a device that says that it takes SPIR-V.
bool says_spirv() {
  const char* const chosen = std::getenv("FAULTY_OPENCL");
  return chosen != nullptr && std::string_view(chosen).starts_with("spirv_");
}

/// Answers a question for a text, as OpenCL's functions do.
cl_int give_text(std::string_view text, std::size_t bytes, void* value, std::size_t* size) {
  give<std::size_t>(text.size() + 1, size);
  if (value == nullptr) return CL_SUCCESS;
  if (bytes < text.size() + 1) return CL_INVALID_VALUE;
  std::memcpy(value, text.data(), text.size());
  static_cast<char*>(value)[text.size()] = '\0';
  return CL_SUCCESS;
}

} // namespace

extern "C" {

/// How many programs were made of a source, and how many a device took as a binary.
__attribute__((visibility("default"))) std::atomic<int> faulty_sources = 0, faulty_binaries = 0;

__attribute__((visibility("default"))) cl_int clGetPlatformIDs(cl_uint count, cl_platform_id* ids, cl_uint* found) {
  if (!has("no_platform")) return real<decltype(clGetPlatformIDs)>("clGetPlatformIDs")(count, ids, found);
  if (found != nullptr) *found = 0;
  return -1001; // CL_PLATFORM_NOT_FOUND_KHR
}

__attribute__((visibility("default"))) cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type,
                                                             cl_uint count, cl_device_id* ids, cl_uint* found) {
  if (has("no_device")) return CL_DEVICE_NOT_FOUND;
  return real<decltype(clGetDeviceIDs)>("clGetDeviceIDs")(platform, type, count, ids, found);
}

__attribute__((visibility("default"))) cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what,
                                                              std::size_t bytes, void* value, std::size_t* size) {
  if (what == CL_DEVICE_IL_VERSION && has("no_spirv")) return give_text("", bytes, value, size);
  if (what == CL_DEVICE_IL_VERSION && says_spirv()) return give_text("SPIR-V_1.0", bytes, value, size);
  if (what == CL_DEVICE_EXTENSIONS && has("spirv_by_extension"))
    return give_text("cl_khr_fp64 cl_khr_il_program", bytes, value, size);
  const cl_int error = real<decltype(clGetDeviceInfo)>("clGetDeviceInfo")(device, what, bytes, value, size);
  if (error != CL_SUCCESS || value == nullptr) return error;
  if (what == CL_DEVICE_COMPILER_AVAILABLE && has("no_compiler")) give<cl_bool>(CL_FALSE, value);
  if (what == CL_DEVICE_AVAILABLE && has("not_available")) give<cl_bool>(CL_FALSE, value);
  if (what == CL_DEVICE_DOUBLE_FP_CONFIG && (has("no_f64") || has("spirv_no_f64"))) give<cl_device_fp_config>(0, value);
  if (what == CL_DEVICE_SINGLE_FP_CONFIG && has("no_subnormals"))
    give<cl_device_fp_config>(CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN, value);
  if (what == CL_DEVICE_MAX_MEM_ALLOC_SIZE && has("small_allocations")) give<cl_ulong>(cl_ulong{1} << 20, value);
  if (what == CL_DEVICE_LOCAL_MEM_SIZE && has("little_local_memory")) give<cl_ulong>(1024, value);
  if (what == CL_DEVICE_TYPE && has("all_processors")) give<cl_device_type>(CL_DEVICE_TYPE_CPU, value);
  if (what == CL_DEVICE_TYPE && (has("all_gpus") || has("spills") || has("few_registers")))
    give<cl_device_type>(CL_DEVICE_TYPE_GPU, value);
  return error;
}

__attribute__((visibility("default"))) cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info what,
                                                                std::size_t bytes, void* value, std::size_t* size) {
  if (what == CL_PLATFORM_VERSION && (has("spirv_too_old") || has("spirv_by_extension")))
    return give_text("OpenCL 1.2 faulty", bytes, value, size);
  return real<decltype(clGetPlatformInfo)>("clGetPlatformInfo")(platform, what, bytes, value, size);
}

/// A device whose "SPIR-V" is OpenCL C, so that functors run on every device. With `spirv_refused` it is the driver's
/// own function.
__attribute__((visibility("default"))) cl_program clCreateProgramWithIL(cl_context context, const void* code,
                                                                        std::size_t bytes, cl_int* error) {
  if (!says_spirv() || has("spirv_refused"))
    return real<decltype(clCreateProgramWithIL)>("clCreateProgramWithIL")(context, code, bytes, error);
  const char* text = static_cast<const char*>(code);
  return real<decltype(clCreateProgramWithSource)>("clCreateProgramWithSource")(context, 1, &text, &bytes, error);
}

__attribute__((visibility("default"))) void* clGetExtensionFunctionAddressForPlatform(cl_platform_id platform,
                                                                                      const char* name) {
  if (has("spirv_by_extension") && std::string_view(name) == "clCreateProgramWithILKHR")
    return reinterpret_cast<void*>(&clCreateProgramWithIL);
  return real<decltype(clGetExtensionFunctionAddressForPlatform)>("clGetExtensionFunctionAddressForPlatform")(platform,
                                                                                                              name);
}

/// A device that rounds a multiply-add twice.
__attribute__((visibility("default"))) cl_program clCreateProgramWithSource(cl_context context, cl_uint count,
                                                                            const char** texts,
                                                                            const std::size_t* lengths, cl_int* error) {
  ++faulty_sources;
  std::string all = has("other_bits") ? "#undef fma\n#define fma(a, b, c) ((a) * (b) + (c))\n" : "";
  for (cl_uint i = 0; i < count; ++i) all.append(texts[i], lengths[i]);
  const char* text = all.c_str();
  const std::size_t length = all.size();
  return real<decltype(clCreateProgramWithSource)>("clCreateProgramWithSource")(context, 1, &text, &length, error);
}

__attribute__((visibility("default"))) cl_int clBuildProgram(cl_program program, cl_uint count,
                                                             const cl_device_id* devices, const char* options,
                                                             void(CL_CALLBACK* notify)(cl_program, void*),
                                                             void* context) {
  if (has("compiler_fails")) return CL_BUILD_PROGRAM_FAILURE;
  if (const std::lock_guard lock(mutex); binaries.contains(program)) {
    binaries.erase(program);
    if (has("binary_fails")) return CL_BUILD_PROGRAM_FAILURE;
    ++faulty_binaries;
  }
  return real<decltype(clBuildProgram)>("clBuildProgram")(program, count, devices, options, notify, context);
}

__attribute__((visibility("default"))) cl_program clCreateProgramWithBinary(cl_context context, cl_uint count,
                                                                            const cl_device_id* devices,
                                                                            const std::size_t* lengths,
                                                                            const unsigned char** texts, cl_int* taken,
                                                                            cl_int* error) {
  if (has("binary_refused")) {
    give<cl_int>(CL_INVALID_BINARY, taken);
    give<cl_int>(CL_INVALID_BINARY, error);
    return nullptr;
  }
  const cl_program program = real<decltype(clCreateProgramWithBinary)>("clCreateProgramWithBinary")(
      context, count, devices, lengths, texts, taken, error);
  const std::lock_guard lock(mutex);
  binaries.insert(program);
  return program;
}

__attribute__((visibility("default"))) cl_int clGetProgramInfo(cl_program program, cl_program_info what,
                                                               std::size_t bytes, void* value, std::size_t* size) {
  if (what == CL_PROGRAM_BINARY_SIZES && has("no_binary")) {
    give<std::size_t>(0, value);
    return CL_SUCCESS;
  }
  return real<decltype(clGetProgramInfo)>("clGetProgramInfo")(program, what, bytes, value, size);
}

/// A device that is lost as it gets a kernel.
__attribute__((visibility("default"))) cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
                                                                     cl_uint dimensions, const std::size_t* offset,
                                                                     const std::size_t* global,
                                                                     const std::size_t* local, cl_uint count,
                                                                     const cl_event* events, cl_event* event) {
  if (has("lost_at_launch")) return CL_DEVICE_NOT_AVAILABLE;
  return real<decltype(clEnqueueNDRangeKernel)>("clEnqueueNDRangeKernel")(queue, kernel, dimensions, offset, global,
                                                                          local, count, events, event);
}

/// A device that is lost in the midst of its work, which its queue says.
__attribute__((visibility("default"))) cl_int clFinish(cl_command_queue queue) {
  const cl_int error = real<decltype(clFinish)>("clFinish")(queue);
  return has("lost_at_work") ? CL_OUT_OF_RESOURCES : error;
}

/// A device whose compiler keeps variables of every kernel in memory, or that has registers for small groups alone.
__attribute__((visibility("default"))) cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                                                       cl_kernel_work_group_info what,
                                                                       std::size_t bytes, void* value,
                                                                       std::size_t* size) {
  const cl_int error =
      real<decltype(clGetKernelWorkGroupInfo)>("clGetKernelWorkGroupInfo")(kernel, device, what, bytes, value, size);
  if (error != CL_SUCCESS || value == nullptr) return error;
  // A GPU keeps in registers what PoCL keeps on its stack.
  if (what == CL_KERNEL_PRIVATE_MEM_SIZE && has("all_gpus")) give<cl_ulong>(0, value);
  if (what == CL_KERNEL_PRIVATE_MEM_SIZE && has("spills")) give<cl_ulong>(512, value);
  if (what == CL_KERNEL_WORK_GROUP_SIZE && has("few_registers")) give<std::size_t>(64, value);
  return error;
}

/// A device that is lost before a result is read.
__attribute__((visibility("default"))) cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool waits,
                                                                  std::size_t offset, std::size_t bytes, void* to,
                                                                  cl_uint count, const cl_event* events,
                                                                  cl_event* event) {
  if (has("lost_at_copy")) return CL_DEVICE_NOT_AVAILABLE;
  return real<decltype(clEnqueueReadBuffer)>("clEnqueueReadBuffer")(queue, buffer, waits, offset, bytes, to, count,
                                                                    events, event);
}
}
