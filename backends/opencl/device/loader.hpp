#pragma once

/// The functions of the ICD loader libOpenCL.so.1, which is opened when a device is first asked for. The plug-in links
/// neither the loader nor a vendor's library. The table holds OpenCL 1.2; the functions that came
/// later, for shared virtual memory and for SPIR-V, are null where the loader lacks them.

#define CL_TARGET_OPENCL_VERSION 210
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <tessera/status.hpp>

/// The functions that every loader has.
#define TESSERA_OPENCL_FUNCTIONS(F) \
  F(BuildProgram)                   \
  F(CreateBuffer)                   \
  F(CreateCommandQueue)             \
  F(CreateContext)                  \
  F(CreateKernel)                   \
  F(CreateProgramWithBinary)        \
  F(CreateProgramWithSource)        \
  F(EnqueueBarrierWithWaitList)     \
  F(EnqueueCopyBuffer)              \
  F(EnqueueCopyBufferRect)          \
  F(EnqueueMapBuffer)               \
  F(EnqueueMarkerWithWaitList)      \
  F(EnqueueNDRangeKernel)           \
  F(EnqueueReadBuffer)              \
  F(EnqueueReadBufferRect)          \
  F(EnqueueUnmapMemObject)          \
  F(EnqueueWriteBuffer)             \
  F(EnqueueWriteBufferRect)         \
  F(Finish)                         \
  F(Flush)                          \
  F(GetDeviceIDs)                   \
  F(GetDeviceInfo)                  \
  F(GetEventInfo)                   \
  F(GetEventProfilingInfo)          \
  F(GetKernelWorkGroupInfo)         \
  F(GetPlatformIDs)                 \
  F(GetPlatformInfo)                \
  F(GetProgramBuildInfo)            \
  F(GetProgramInfo)                 \
  F(ReleaseCommandQueue)            \
  F(ReleaseContext)                 \
  F(ReleaseEvent)                   \
  F(ReleaseKernel)                  \
  F(ReleaseMemObject)               \
  F(ReleaseProgram)                 \
  F(RetainEvent)                    \
  F(SetKernelArg)                   \
  F(WaitForEvents)

/// The functions of OpenCL 2.0 and 2.1.
#define TESSERA_OPENCL_LATER_FUNCTIONS(F)   \
  F(CreateProgramWithIL)                    \
  F(GetExtensionFunctionAddressForPlatform) \
  F(SVMAlloc)                               \
  F(SVMFree)                                \
  F(SetKernelArgSVMPointer)                 \
  F(SetKernelExecInfo)

namespace tessera::opencl {

/// cl().GetDeviceInfo(…) is clGetDeviceInfo(…).
struct Functions {
#define TESSERA_OPENCL_MEMBER(name) decltype(&::cl##name) name = nullptr;
  TESSERA_OPENCL_FUNCTIONS(TESSERA_OPENCL_MEMBER)
  TESSERA_OPENCL_LATER_FUNCTIONS(TESSERA_OPENCL_MEMBER)
#undef TESSERA_OPENCL_MEMBER
};

/// Opens the loader, once in a process: the one that TESSERA_OPENCL_LIBRARY names, else libOpenCL.so.1. Fails with
/// Unavailable and what to do, also in a process that was forked from one that had opened it.
Status open_loader();

/// Returns the functions. Precondition: open_loader() has succeeded.
const Functions& cl() noexcept;

} // namespace tessera::opencl
