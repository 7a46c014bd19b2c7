#pragma once

/// BabelStream's loops as a programmer of CUDA writes them, and CUB's sum: the peers of the library's loops. Every call
/// of CUDA is checked; a failure is a std::runtime_error.
///
/// Source: BabelStream's CUDA version, for the first pass of dot; CCCL.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <span>

#include <tessera/types.hpp>

namespace handwritten {

using tessera::Index;

enum class Loop { Copy, Mul, Add, Triad };

/// c = a, c = scalar·a, c = a + b, c = a + scalar·b; n is even, and all pointers are aligned to 16 bytes.
struct Vectors {
  const double* a;
  const double* b;
  double* c;
  double scalar;
  Index n;
};

/// One way to write a loop.
struct Variant {
  const char* name;
  void (*run)(Loop, const Vectors&, cudaStream_t);
};

/// Returns the ways: 8 or 16 bytes an access, one or several independent accesses a thread.
std::span<const Variant> variants();

/// Launches the plain copy of n elements, and nothing else.
inline void launch_copy(const Vectors& vectors, cudaStream_t stream) {
  variants().front().run(Loop::Copy, vectors, stream);
}

/// A reduction with memory that it allocates once. The result is on the host when run() returns.
class Reducer {
 public:
  Reducer() = default;
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;
  virtual ~Reducer() = default;
  virtual double run(const double* a, const double* b, cudaStream_t stream) = 0;
};

/// Returns Σ a·b of n elements: each block leaves a partial sum, and the host adds them. `wide`: 16 bytes an access.
std::unique_ptr<Reducer> make_dot(Index n, bool wide);
/// Returns Σ a of n elements by cub::DeviceReduce::Sum, whose result is the same in every run on one device.
std::unique_ptr<Reducer> make_cub_sum(Index n);

} // namespace handwritten
