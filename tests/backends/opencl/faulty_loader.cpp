/// An OpenCL loader with one fault, which FAULTY_OPENCL names. Functions that are not here are the real loader's, which
/// this library needs, so that dlsym() finds them.

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <dlfcn.h>

#include <cstdlib>
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

template <class T>
void give(T value, void* to) {
  if (to != nullptr) *static_cast<T*>(to) = value;
}

} // namespace

extern "C" {

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
  const cl_int error = real<decltype(clGetDeviceInfo)>("clGetDeviceInfo")(device, what, bytes, value, size);
  if (error != CL_SUCCESS || value == nullptr) return error;
  if (what == CL_DEVICE_COMPILER_AVAILABLE && has("no_compiler")) give<cl_bool>(CL_FALSE, value);
  if (what == CL_DEVICE_AVAILABLE && has("not_available")) give<cl_bool>(CL_FALSE, value);
  if (what == CL_DEVICE_DOUBLE_FP_CONFIG && has("no_f64")) give<cl_device_fp_config>(0, value);
  if (what == CL_DEVICE_SINGLE_FP_CONFIG && has("no_subnormals"))
    give<cl_device_fp_config>(CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN, value);
  if (what == CL_DEVICE_TYPE && has("all_processors")) give<cl_device_type>(CL_DEVICE_TYPE_CPU, value);
  if (what == CL_DEVICE_TYPE && has("all_gpus")) give<cl_device_type>(CL_DEVICE_TYPE_GPU, value);
  return error;
}

/// A device that rounds a multiply-add twice.
__attribute__((visibility("default"))) cl_program clCreateProgramWithSource(cl_context context, cl_uint count,
                                                                            const char** texts,
                                                                            const std::size_t* lengths, cl_int* error) {
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
  return real<decltype(clBuildProgram)>("clBuildProgram")(program, count, devices, options, notify, context);
}
}
