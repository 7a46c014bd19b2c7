#include "command_queue.hpp"

#include <new>

#include <tessera/detail/floating_point.hpp>

#include "opencl/device/status.hpp"

namespace tessera::opencl {
namespace {

/// Makes later work in `second` wait for the work that is in `first` now.
Status order(cl_command_queue first, cl_command_queue second) noexcept {
  cl_event event = nullptr;
  if (Status status = check(cl().EnqueueMarkerWithWaitList(first, 0, nullptr, &event), "marking a point in a queue");
      !status.ok())
    return status;
  Status status = check(cl().Flush(first), "starting a queue's work");
  if (status.ok())
    status = check(cl().EnqueueBarrierWithWaitList(second, 1, &event, nullptr), "letting a queue wait for another one");
  static_cast<void>(cl().ReleaseEvent(event));
  return status;
}

} // namespace

Status CommandQueue::create(DeviceMemory& memory, std::unique_ptr<CommandQueue>& queue) noexcept {
  Context& context = memory.context();
  cl_int error = CL_SUCCESS;
  const cl_command_queue made =
      cl().CreateCommandQueue(context.get(), context.device().id, CL_QUEUE_PROFILING_ENABLE, &error);
  if (Status status = check(error, "making a queue"); !status.ok()) return status;
  queue.reset(new (std::nothrow) CommandQueue(memory, made));
  if (queue != nullptr) return memory.add(made);
  static_cast<void>(cl().ReleaseCommandQueue(made));
  return {StatusCode::OutOfMemory, {}};
}

CommandQueue::~CommandQueue() {
  const detail::ContractArithmetic contract;
  static_cast<void>(cl().Finish(queue_));
  memory_.remove(queue_);
  static_cast<void>(cl().ReleaseCommandQueue(queue_));
}

Status CommandQueue::synchronize() noexcept {
  const detail::ContractArithmetic contract;
  return check(cl().Finish(queue_), "waiting for a queue's work");
}

Status CommandQueue::start_after(void* stream) noexcept {
  const detail::ContractArithmetic contract;
  return order(static_cast<cl_command_queue>(stream), queue_);
}

Status CommandQueue::finish_before(void* stream) noexcept {
  const detail::ContractArithmetic contract;
  return order(queue_, static_cast<cl_command_queue>(stream));
}

Status CommandQueue::wait(Event& event) noexcept {
  const detail::ContractArithmetic contract;
  const auto* const recorded = dynamic_cast<const MarkerEvent*>(&event);
  if (recorded == nullptr || &recorded->context() != &context()) return event.synchronize();
  const cl_event mark = recorded->get();
  if (mark == nullptr) return {};
  return check(cl().EnqueueBarrierWithWaitList(queue_, 1, &mark, nullptr), "letting a queue wait for an event");
}

MarkerEvent::~MarkerEvent() {
  const detail::ContractArithmetic contract;
  if (event_ != nullptr) static_cast<void>(cl().ReleaseEvent(event_));
}

Status MarkerEvent::record(Queue& queue) noexcept {
  const detail::ContractArithmetic contract;
  const cl_command_queue given = command_queue(queue).get();
  cl_event mark = nullptr;
  if (Status status = check(cl().EnqueueMarkerWithWaitList(given, 0, nullptr, &mark), "recording an event");
      !status.ok())
    return status;
  if (event_ != nullptr) static_cast<void>(cl().ReleaseEvent(event_));
  event_ = mark;
  return check(cl().Flush(given), "starting a queue's work"); // else another queue could wait for ever
}

Status MarkerEvent::synchronize() noexcept {
  const detail::ContractArithmetic contract;
  return event_ == nullptr ? Status{} : check(cl().WaitForEvents(1, &event_), "waiting for an event");
}

Status MarkerEvent::seconds_since(const Event& start, double& seconds) noexcept {
  const detail::ContractArithmetic contract;
  if (Status status = synchronize(); !status.ok()) return status;
  cl_ulong times[2] = {};
  const cl_event marks[2] = {static_cast<const MarkerEvent&>(start).event_, event_};
  for (int i = 0; i < 2; ++i)
    if (Status status =
            check(cl().GetEventProfilingInfo(marks[i], CL_PROFILING_COMMAND_END, sizeof times[i], &times[i], nullptr),
                  "reading the time of an event");
        !status.ok())
      return status;
  seconds = static_cast<double>(static_cast<cl_long>(times[1] - times[0])) * 1e-9;
  return {};
}

} // namespace tessera::opencl
