#include "device_place.hpp"

#include <tessera/backend.hpp>

#include "bindings/python/errors.hpp"

namespace tessera::python {

std::string place_of(const Array& array) {
  return array.on_cuda ? "on CUDA device " + std::to_string(array.device) : "in host memory";
}

void expect_same_place(const Array& x, const Array& y) {
  if (x.on_cuda != y.on_cuda || x.device != y.device)
    throw InvalidArgument(std::string(x.name) + " is " + place_of(x) + ", " + y.name + " " + place_of(y) +
                          "; bring them to one place, for nothing is moved unasked");
}

Executor& executor_of(const Array& array, Backend named) {
  const std::string name = array.name;
  if (named != Backend::Auto && named != backend_of_cuda_arrays)
    throw InvalidArgument(
        name + " is " + place_of(array) + ", but backend " + std::string(to_string(named)) +
        (memory_of(named) == Memory::Host ? " computes in host memory" : " computes in memory of another kind") +
        "; copy it there, or take backend '" + std::string(to_string(backend_of_cuda_arrays)) + "'");
  Executor& cuda = executor(backend_of_cuda_arrays);
  const int ours = cuda.capabilities().device_index;
  if (ours != array.device)
    throw InvalidArgument(name + " is " + place_of(array) + ", but Tessera uses CUDA device " + std::to_string(ours) +
                          "; copy it there, or start with TESSERA_CUDA_DEVICE=" + std::to_string(array.device));
  return cuda;
}

} // namespace tessera::python
