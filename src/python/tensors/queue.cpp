#include "queue.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <tessera/backend.hpp>

namespace tessera::python {
namespace {

struct StreamWork {
  std::mutex mutex; // One thread at a time may use a queue, and start_after() … finish_before() belong together.
  std::unique_ptr<Queue> queue;
};

StreamWork& work_of(void* stream) {
  static std::mutex& mutex = *new std::mutex;
  static auto& all = *new std::map<void*, StreamWork>; // never freed: the driver may be gone when the process ends
  const std::lock_guard lock(mutex);
  return all[stream];
}

} // namespace

Executor& executor_of(const TensorView& tensor) {
  Executor& cuda = executor(backend_of_cuda_arrays);
  const int ours = cuda.capabilities().device_index, its = tensor.device().id;
  if (ours != its)
    throw InvalidArgument("the tensors are on CUDA device " + std::to_string(its) + ", but Tessera uses CUDA device " +
                          std::to_string(ours) +
                          "; copy them there, or start with TESSERA_CUDA_DEVICE=" + std::to_string(its));
  return cuda;
}

void enqueue_in_stream(Executor& executor, void* stream, Status (*work)(void* context, Queue& queue), void* context) {
  StreamWork& own = work_of(stream);
  const std::lock_guard lock(own.mutex);
  if (!own.queue) throw_if_failed(executor.create_queue(own.queue));
  throw_if_failed(own.queue->start_after(stream));
  const Status status = work(context, *own.queue);
  const Status ordered = own.queue->finish_before(stream); // also after a failure: a capture must be joined again
  throw_if_failed(status);
  throw_if_failed(ordered);
}

} // namespace tessera::python
