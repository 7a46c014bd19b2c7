#pragma once

/// The result of arrays on a device: a matrix in the device's memory, or a batch of them, which other libraries take
/// through DLPack.

#include <Python.h>

#include <memory>
#include <mutex>
#include <vector>

#include <tessera/executor.hpp>

#include "array.hpp"
#include "core/executor/executor_memory.hpp"

namespace tessera::python {

/// Memory of an executor, and the streams of other libraries that were allowed to read it.
class DeviceMemory {
 public:
  /// Allocates the memory. Throws OutOfMemory.
  DeviceMemory(Executor& executor, std::size_t bytes);
  /// Frees the memory. Work of the executor that uses this memory again waits for those streams. The GIL need not be
  /// held, because consumers free their capsules in any thread.
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  Executor& executor() const { return executor_; }
  void* data() const { return memory_.data(); }
  /// Orders work that is enqueued in `stream` from now on after the work in the executor's queue. The host does not
  /// wait.
  void show_to(void* stream);

 private:
  Executor& executor_;
  tessera::detail::ExecutorMemory memory_;
  std::mutex mutex_;
  std::vector<void*> readers_;
};

/// A matrix in such memory, or an array of another number of dimensions, row-major and without gaps.
class DeviceArray {
 public:
  DeviceArray(Executor& executor, Element type, Index rows, Index cols)
      : DeviceArray(executor, type, std::vector<Index>{rows, cols}) {}
  DeviceArray(Executor& executor, Element type, std::vector<Index> shape);

  Element type() const { return type_; }
  const std::vector<Index>& shape() const { return shape_; }
  /// Returns the array as a matrix: its last dimension, and all others as rows.
  Index cols() const { return shape_.empty() ? 1 : shape_.back(); }
  Index rows() const;
  void* data() const { return memory_->data(); }
  int device() const { return memory_->executor().capabilities().device_index; }

  /// Implements the array API's __dlpack__ and returns a new reference to a capsule. `stream` is the consumer's stream,
  /// with the protocol's numbers: None or 1 is the legacy default stream, 2 the thread's default stream, -1 no stream,
  /// and any other number a cudaStream_t.
  PyObject* dlpack(PyObject* stream, PyObject* max_version, PyObject* dl_device, PyObject* copy) const;
  /// Copies the array and returns a new reference to a numpy.ndarray.
  PyObject* numpy() const;

 private:
  Element type_;
  std::vector<Index> shape_;
  std::shared_ptr<DeviceMemory> memory_;
};

/// Returns a new reference to numpy.empty((rows, cols), type). Throws OutOfMemory, and TypeError for bfloat16, which
/// NumPy does not have.
PyObject* empty_numpy(Element type, Index rows, Index cols);

/// Returns the cudaStream_t of a stream's number in the argument `name`.
void* parse_stream(PyObject* stream, const char* name);

} // namespace tessera::python
