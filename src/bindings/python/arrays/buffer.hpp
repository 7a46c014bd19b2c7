#pragma once

/// The memory that an object exports by the buffer protocol (PEP 3118). The protocol lets exporters leave the shape,
/// the strides and the format out; here they are always there.

#include <Python.h>

#include <array>

namespace tessera::python {

/// A buffer, which it gives back when it is destroyed. The GIL must be held where it is taken and destroyed.
class Buffer {
 public:
  static constexpr int most = 3; ///< dimensions whose sizes and strides are known

  Buffer() { view_.obj = nullptr; }
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  /// Takes the object's buffer, read-only if it has no other one. Returns false, with Python's exception set, if the
  /// object exports none, for example because buffers cannot hold its elements. Throws InvalidArgument, which names the
  /// argument, for memory behind pointers (suboffsets), and for sizes that contradict one another.
  bool take(PyObject* object, const char* name);

  void* data() const { return view_.buf; }
  int dimensions() const { return view_.ndim; }
  /// Elements along each dimension; of the first `most` dimensions.
  const Py_ssize_t* sizes() const { return sizes_; }
  /// Bytes from one element to the next along each dimension.
  const Py_ssize_t* strides() const { return strides_; }
  Py_ssize_t element() const { return view_.itemsize; } ///< bytes of an element
  /// The element's type in the words of the module struct.
  const char* format() const { return view_.format != nullptr ? view_.format : "B"; }
  bool read_only() const { return view_.readonly != 0; }

 private:
  void check(const char* name);
  void make_sizes(const char* name);
  void make_strides(const char* name);

  Py_buffer view_; ///< not initialised before it is taken, because that would take a part of a small product's time
  const Py_ssize_t *sizes_ = nullptr, *strides_ = nullptr;
  std::array<Py_ssize_t, most> own_sizes_, own_strides_; ///< where the exporter leaves them out
};

} // namespace tessera::python
