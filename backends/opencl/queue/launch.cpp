#include "launch.hpp"

#include "opencl/device/status.hpp"

namespace tessera::opencl {

Status set_operand(const DeviceMemory& memory, cl_kernel kernel, cl_uint index, const void* pointer,
                   std::size_t element) {
  Place place;
  if (pointer != nullptr)
    if (Status status = memory.find(pointer, place); !status.ok()) return status;
  if (place.offset % element != 0)
    return {StatusCode::InvalidArgument, "an operand begins " + std::to_string(place.offset) +
                                             " bytes after its block, which is no multiple of an element's " +
                                             std::to_string(element) + " bytes; align it to its elements"};
  const cl_int error = place.shared != nullptr ? cl().SetKernelArgSVMPointer(kernel, index, place.shared)
                                               : cl().SetKernelArg(kernel, index, sizeof(cl_mem), &place.buffer);
  if (Status status = check(error, "giving a kernel an operand"); !status.ok()) return status;
  const auto offset = static_cast<cl_long>(place.offset / element);
  return check(cl().SetKernelArg(kernel, index + 1, sizeof offset, &offset), "giving a kernel an operand's place");
}

Launch::Launch(Queue& queue, const Source& source, const std::string& options, const char* name)
    : queue_(command_queue(queue)), name_(name) {
  status_ = queue_.context().program(source, options, program_);
  if (status_.ok()) status_ = program_->take(name, kernel_);
}

Launch::Launch(Queue& queue, Program& program, const char* name)
    : queue_(command_queue(queue)), name_(name), program_(&program) {
  status_ = program_->take(name, kernel_);
}

Launch::~Launch() {
  if (kernel_ != nullptr) program_->give_back(name_, kernel_);
}

Launch& Launch::operand(const void* pointer, std::size_t element) {
  if (pointer == nullptr) {
    absent_.push_back(next_);
  } else {
    if (any_ == nullptr) any_ = pointer;
    if (status_.ok()) status_ = set_operand(queue_.memory(), kernel_, next_, pointer, element);
  }
  next_ += 2;
  return *this;
}

Launch& Launch::argument(std::size_t bytes, const void* value) {
  if (status_.ok()) status_ = check(cl().SetKernelArg(kernel_, next_, bytes, value), name_);
  ++next_;
  return *this;
}

Status Launch::run_3d(std::array<std::size_t, 3> wanted, std::array<std::size_t, 3> group) {
  for (const cl_uint index : absent_)
    if (status_.ok()) status_ = set_operand(queue_.memory(), kernel_, index, any_, 1);
  if (!status_.ok()) return status_;
  for (std::size_t d = 0; d < wanted.size(); ++d) wanted[d] = (wanted[d] + group[d] - 1) / group[d] * group[d];
  if (Status status = check(cl().EnqueueNDRangeKernel(queue_.get(), kernel_, 3, nullptr, wanted.data(), group.data(), 0,
                                                      nullptr, nullptr),
                            name_);
      !status.ok()) {
    if (status.code == StatusCode::DeviceError) status.why = "launch of " + status.why;
    return status;
  }
  return check(cl().Flush(queue_.get()), "starting a queue's work");
}

} // namespace tessera::opencl
