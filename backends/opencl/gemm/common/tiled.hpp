#pragma once

/// The products that the tiled kernels compute: one, or a batch of one shape in one launch.

#include <tessera/executor.hpp>

namespace tessera::opencl {

/// A batch of products whose operands lie at equal distances, in elements.
struct BatchSteps {
  Index count = 1;
  Index a = 0, b = 0, c = 0;
};

/// Enqueues the product, or the batch whose first product is `call`, in the form for the queue's device.
Status run_for_device(Queue& queue, const GemmCall& call, const BatchSteps& steps);

/// Enqueues the product, or the batch whose first product is `call`, in the form for processors: register tiles, and
/// operands that are packed where that pays.
Status run_in_registers(Queue& queue, const GemmCall& call, const BatchSteps& steps);

/// Enqueues the product, or the batch whose first product is `call`, in the form for GPUs: tiles that work-groups stage
/// in local memory, of packed panels where that pays. Rejected where the device's work-groups or its local memory are
/// too small.
Status run_in_local_memory(Queue& queue, const GemmCall& call, const BatchSteps& steps);

} // namespace tessera::opencl
