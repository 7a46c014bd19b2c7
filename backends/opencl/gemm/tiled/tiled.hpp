#pragma once

/// The products that the tiled kernel computes: one, or a batch of one shape in one launch.

#include <tessera/executor.hpp>

namespace tessera::opencl {

/// A batch of products whose operands lie at equal distances, in elements.
struct BatchSteps {
  Index count = 1;
  Index a = 0, b = 0, c = 0;
};

/// Enqueues the product, or the batch whose first product is `call`.
Status run_tiled(Queue& queue, const GemmCall& call, const BatchSteps& steps);

} // namespace tessera::opencl
