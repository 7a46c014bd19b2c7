#pragma once

/// A matrix in a device's memory that other libraries take through DLPack: the result of a product of such arrays.

#include <Python.h>

#include <memory>
#include <mutex>
#include <vector>

#include <tessera/executor.hpp>

#include "array.hpp"
#include "matrix/executor_memory.hpp"

namespace tessera::python {

/// Memory of an executor, and the streams of others that were let read it.
class DeviceMemory {
 public:
  /// Throws OutOfMemory.
  DeviceMemory(Executor& executor, std::size_t bytes);
  /// What the executor makes of the memory next waits for those streams. Needs no GIL: consumers free where they like.
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  Executor& executor() const { return executor_; }
  void* data() const { return memory_.data(); }
  /// Work in the stream from now on sees what the executor's queue has been given to do, without waiting here.
  void show_to(void* stream);

 private:
  Executor& executor_;
  tessera::detail::ExecutorMemory memory_;
  std::mutex mutex_;
  std::vector<void*> readers_;
};

/// Row-major, without gaps.
class DeviceArray {
 public:
  DeviceArray(Executor& executor, Element type, Index rows, Index cols);

  Element type() const { return type_; }
  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  void* data() const { return memory_->data(); }
  int device() const { return memory_->executor().capabilities().device_index; }

  /// The array API's __dlpack__; a new reference to a capsule. The consumer's stream as the protocol numbers them: None
  /// or 1 the legacy default stream, 2 the thread's, -1 none, otherwise a cudaStream_t.
  PyObject* dlpack(PyObject* stream, PyObject* max_version, PyObject* dl_device, PyObject* copy) const;
  /// A copy as a numpy.ndarray; a new reference.
  PyObject* numpy() const;

 private:
  Element type_;
  Index rows_, cols_;
  std::shared_ptr<DeviceMemory> memory_;
};

/// numpy.empty((rows, cols), type); a new reference. Throws OutOfMemory, and TypeError for bfloat16, which
/// NumPy does not have.
PyObject* empty_numpy(Element type, Index rows, Index cols);

/// A stream's number in an argument called `name` as a cudaStream_t.
void* parse_stream(PyObject* stream, const char* name);

} // namespace tessera::python
