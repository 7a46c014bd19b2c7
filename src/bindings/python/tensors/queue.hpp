#pragma once

/// The queues in which products of PyTorch's tensors run on a GPU.

#include <tessera/executor.hpp>

#include "tensor.hpp"

namespace tessera::python {

/// Returns the executor of the GPU that the tensor is on. Throws BackendUnavailable, and InvalidArgument for a GPU
/// that Tessera does not use.
Executor& executor_of(const TensorView& tensor);

/// Enqueues work after what PyTorch's stream holds now and before what the stream gets later; the host does not wait.
/// The work goes into the stream itself, by a queue that adopts it (Executor::adopt_stream()).
///
/// Each capture of a stream (a CUDA graph) has a queue of its own, which nothing else uses: a queue's kernels keep
/// words in device memory, and a graph may run beside other work. Queues of captures stay for as long as the process,
/// because a graph's end is not known. What they allocate during the capture belongs to the graph, which PyTorch
/// instantiates with cudaGraphInstantiateFlagAutoFreeOnLaunch. The GIL must not be held.
void enqueue_in_stream(Executor& executor, void* stream, Status (*work)(void* context, Queue& queue), void* context);

template <class Work>
void enqueue_in_stream(Executor& executor, void* stream, Work& work) {
  enqueue_in_stream(
      executor, stream, [](void* context, Queue& queue) { return (*static_cast<Work*>(context))(queue); }, &work);
}

} // namespace tessera::python
