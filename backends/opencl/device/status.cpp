#include "status.hpp"

#include <new>
#include <string>

namespace tessera::opencl {

std::string name_of(cl_int code) {
#define TESSERA_OPENCL_NAME(name) \
  case name:                      \
    return #name;
  switch (code) {
    TESSERA_OPENCL_NAME(CL_DEVICE_NOT_FOUND)
    TESSERA_OPENCL_NAME(CL_DEVICE_NOT_AVAILABLE)
    TESSERA_OPENCL_NAME(CL_COMPILER_NOT_AVAILABLE)
    TESSERA_OPENCL_NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE)
    TESSERA_OPENCL_NAME(CL_OUT_OF_RESOURCES)
    TESSERA_OPENCL_NAME(CL_OUT_OF_HOST_MEMORY)
    TESSERA_OPENCL_NAME(CL_PROFILING_INFO_NOT_AVAILABLE)
    TESSERA_OPENCL_NAME(CL_MEM_COPY_OVERLAP)
    TESSERA_OPENCL_NAME(CL_BUILD_PROGRAM_FAILURE)
    TESSERA_OPENCL_NAME(CL_MAP_FAILURE)
    TESSERA_OPENCL_NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
    TESSERA_OPENCL_NAME(CL_INVALID_VALUE)
    TESSERA_OPENCL_NAME(CL_INVALID_PLATFORM)
    TESSERA_OPENCL_NAME(CL_INVALID_DEVICE)
    TESSERA_OPENCL_NAME(CL_INVALID_CONTEXT)
    TESSERA_OPENCL_NAME(CL_INVALID_QUEUE_PROPERTIES)
    TESSERA_OPENCL_NAME(CL_INVALID_COMMAND_QUEUE)
    TESSERA_OPENCL_NAME(CL_INVALID_HOST_PTR)
    TESSERA_OPENCL_NAME(CL_INVALID_MEM_OBJECT)
    TESSERA_OPENCL_NAME(CL_INVALID_BINARY)
    TESSERA_OPENCL_NAME(CL_INVALID_BUILD_OPTIONS)
    TESSERA_OPENCL_NAME(CL_INVALID_PROGRAM)
    TESSERA_OPENCL_NAME(CL_INVALID_PROGRAM_EXECUTABLE)
    TESSERA_OPENCL_NAME(CL_INVALID_KERNEL_NAME)
    TESSERA_OPENCL_NAME(CL_INVALID_KERNEL)
    TESSERA_OPENCL_NAME(CL_INVALID_ARG_INDEX)
    TESSERA_OPENCL_NAME(CL_INVALID_ARG_VALUE)
    TESSERA_OPENCL_NAME(CL_INVALID_ARG_SIZE)
    TESSERA_OPENCL_NAME(CL_INVALID_KERNEL_ARGS)
    TESSERA_OPENCL_NAME(CL_INVALID_WORK_DIMENSION)
    TESSERA_OPENCL_NAME(CL_INVALID_WORK_GROUP_SIZE)
    TESSERA_OPENCL_NAME(CL_INVALID_WORK_ITEM_SIZE)
    TESSERA_OPENCL_NAME(CL_INVALID_EVENT_WAIT_LIST)
    TESSERA_OPENCL_NAME(CL_INVALID_EVENT)
    TESSERA_OPENCL_NAME(CL_INVALID_OPERATION)
    TESSERA_OPENCL_NAME(CL_INVALID_BUFFER_SIZE)
    TESSERA_OPENCL_NAME(CL_INVALID_GLOBAL_WORK_SIZE)
    case -1001: // of the extension cl_khr_icd
      return "CL_PLATFORM_NOT_FOUND_KHR";
    default:
      return "OpenCL's error " + std::to_string(code);
  }
#undef TESSERA_OPENCL_NAME
}

namespace {

/// What can be done about an error of the device, or an empty text.
const char* advice(cl_int code) {
  switch (code) {
    case CL_DEVICE_NOT_AVAILABLE:
      return "; the device is lost to this process: end it, look into the system's log (dmesg) for what the driver "
             "says, and start it again";
    case CL_OUT_OF_RESOURCES: // also NVIDIA's for a kernel that was stopped
    case CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST:
    case CL_INVALID_COMMAND_QUEUE: // of a context that is lost
      return "; the device lacks something that the work needs, or its driver has stopped the work (a GPU with a "
             "display stops long kernels): try a smaller product, and where that fails too, the device is lost to this "
             "process: start it again, and look into the system's log (dmesg)";
    default:
      return "";
  }
}

} // namespace

Status check(cl_int code, const char* what) noexcept try {
  if (code == CL_SUCCESS) return {};
  const std::string why = std::string(what) + ": " + name_of(code);
  if (code == CL_MEM_OBJECT_ALLOCATION_FAILURE) return {StatusCode::OutOfMemory, "out of device memory: " + why};
  if (code == CL_OUT_OF_HOST_MEMORY) return {StatusCode::OutOfMemory, "out of host memory: " + why};
  return {StatusCode::DeviceError, why + advice(code)};
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

} // namespace tessera::opencl
