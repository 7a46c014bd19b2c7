#include "spirv_kernel.hpp"

#include <algorithm>
#include <cstring>

#include "opencl/device/status.hpp"

namespace tessera::opencl {
namespace {

/// The blocks of shared virtual memory that the functor's words point into. A number that looks like such an address
/// does no harm.
std::vector<void*> blocks_of(const DeviceMemory& memory, std::span<const std::byte> functor) {
  std::vector<void*> blocks;
  for (std::size_t at = 0; at + sizeof(void*) <= functor.size(); at += sizeof(void*)) {
    void* address = nullptr;
    std::memcpy(&address, functor.data() + at, sizeof address);
    Place place;
    if (address == nullptr || !memory.holds(address, place) || place.shared == nullptr) continue;
    if (std::find(blocks.begin(), blocks.end(), place.shared) == blocks.end()) blocks.push_back(place.shared);
  }
  return blocks;
}

} // namespace

Status SpirvKernel::give_arguments(cl_kernel kernel, std::span<const std::byte> functor, void* scratch,
                                   const Numbers& numbers) {
  cl_uint next = 0;
  cl_int error = cl().SetKernelArg(kernel, next++, functor.size(), functor.data());
  if (error == CL_SUCCESS) error = cl().SetKernelArgSVMPointer(kernel, next++, scratch);
  for (const Index number : numbers)
    if (error == CL_SUCCESS) error = cl().SetKernelArg(kernel, next++, sizeof number, &number);
  const std::vector<void*> blocks = blocks_of(queue_.memory(), functor);
  if (error == CL_SUCCESS && !blocks.empty())
    error = cl().SetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, blocks.size() * sizeof(void*), blocks.data());
  return check(error, "giving a functor's kernel its arguments");
}

Status SpirvKernel::run(const char* name, std::span<const std::byte> functor, void* scratch, const Numbers& numbers,
                        std::array<std::size_t, 2> wanted, std::array<std::size_t, 2> group) {
  cl_kernel kernel = nullptr;
  if (Status status = program_.take(name, kernel); !status.ok()) return status;
  Status status = give_arguments(kernel, functor, scratch, numbers);
  for (std::size_t d = 0; d < wanted.size(); ++d) wanted[d] = (wanted[d] + group[d] - 1) / group[d] * group[d];
  if (status.ok())
    status = check(
        cl().EnqueueNDRangeKernel(queue_.get(), kernel, 2, nullptr, wanted.data(), group.data(), 0, nullptr, nullptr),
        name);
  program_.give_back(name, kernel);
  return status.ok() ? check(cl().Flush(queue_.get()), "starting a queue's work") : status;
}

} // namespace tessera::opencl
