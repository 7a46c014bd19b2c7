#pragma once

/// The CUDA array interface (__cuda_array_interface__, version 3), for arrays on a CUDA device that know no DLPack.

#include <Python.h>

#include <vector>

#include <tessera/types.hpp>

#include "element.hpp"

namespace tessera::python {

/// What such an array says of itself.
struct CudaInterface {
  void* data = nullptr;
  bool read_only = false;
  Element type = DType::F32;
  std::vector<Index> sizes;
  std::vector<Index> strides; ///< in bytes
  void* stream = nullptr;     ///< work in it may still write the array; null: there is none
};

/// Has the object such an interface?
bool has_cuda_interface(PyObject* object);
/// Reads it. `name` is the argument's name, for messages. Throws TypeError for masks, for elements of another type and
/// for what is no interface.
CudaInterface read_cuda_interface(PyObject* object, const char* name);

/// Returns the number of the device whose memory the address is in. The driver is asked; without one, the address is
/// taken as `otherwise`'s.
int device_of_address(const void* address, int otherwise);

} // namespace tessera::python
