#include "queue.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <tessera/backend.hpp>
#include <tessera/detail/found_once.hpp>

namespace tessera::python {
namespace {

/// The queue for a stream of PyTorch's. While the stream is captured, a queue of its own does the work, because memory
/// that a queue keeps for later would be the graph's.
struct StreamWork {
  std::mutex mutex; // One thread at a time may use a queue, and start_after() … finish_before() belong together.
  std::unique_ptr<Queue> queue;
};

/// Returns the number of the capture that the stream is part of, or 0. The driver is asked, which is loaded by now; the
/// module does not link to it.
std::uint64_t capture_of(void* stream) {
  using Ask = int (*)(void* stream, int* status, std::uint64_t* id, void* graph, void* nodes, void* count);
  static constinit detail::FoundOnce<const Ask> found;
  const Ask ask = found.get([] {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    return std::make_unique<const Ask>(driver ? reinterpret_cast<Ask>(dlsym(driver, "cuStreamGetCaptureInfo_v2"))
                                              : nullptr);
  });
  constexpr int not_captured = 0;
  int status = not_captured;
  std::uint64_t id = 0;
  const bool asked = ask != nullptr && ask(stream, &status, &id, nullptr, nullptr, nullptr) == 0;
  return asked && status != not_captured ? id : 0;
}

StreamWork& work_of(void* stream, std::uint64_t capture) {
  using Key = std::pair<void*, std::uint64_t>;
  static std::mutex& mutex = *new std::mutex;
  static auto& all = *new std::map<Key, StreamWork>; // never freed: the driver may be gone when the process ends
  const std::lock_guard lock(mutex);
  return all[Key{stream, capture}];
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
  const std::uint64_t capture = capture_of(stream);
  StreamWork& own = work_of(stream, capture);
  const std::lock_guard lock(own.mutex);
  if (capture == 0) {
    if (!own.queue) throw_if_failed(executor.adopt_stream(stream, own.queue));
    return throw_if_failed(work(context, *own.queue));
  }
  if (!own.queue) throw_if_failed(executor.create_queue(own.queue));
  throw_if_failed(own.queue->start_after(stream));
  const Status status = work(context, *own.queue);
  const Status ordered = own.queue->finish_before(stream); // also after a failure: a capture must be joined again
  throw_if_failed(status);
  throw_if_failed(ordered);
}

} // namespace tessera::python
