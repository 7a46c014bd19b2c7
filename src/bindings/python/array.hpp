#pragma once

/// A view of any two-dimensional array of Python, or of a batch of them, without a copy.
///
/// Host arrays are read through the buffer protocol (arrays/buffer.hpp), which is the fastest one for NumPy, other
/// arrays through DLPack. For an array on a CUDA device DLPack gets the stream that will read it, and the array's
/// library orders that stream after the work that computes the array. Where the object has no DLPack, it may have the
/// CUDA array interface (arrays/cuda_interface.hpp).

#include <Python.h>

#include <optional>
#include <variant>
#include <vector>

#include <tessera/types.hpp>

#include "arrays/buffer.hpp"
#include "arrays/element.hpp"
#include "dlpack.hpp"

namespace tessera::python {

/// Arrays that say they are on a CUDA device are operands of this backend.
inline constexpr Backend backend_of_cuda_arrays = Backend::Cuda;

/// An array. The object keeps the array's memory alive. The GIL must be held where it is made and destroyed.
class Array {
 public:
  /// `name` is the argument's name, for messages. A vector becomes a matrix of one row if the rank allows vectors.
  /// Throws TypeError (no array, another element type, a class that gives its elements a meaning of its own; see
  /// arrays/plain.hpp) and InvalidArgument (not two dimensions, an unknown kind of device).
  enum class Rank {
    Matrix,         ///< of a product
    VectorOrMatrix, ///< of a product
    System,         ///< the matrix of a linear system
    RightSides,     ///< a vector or a matrix that a linear system has at its right
    Systems,        ///< one such matrix or a batch of them
    BatchOfSides,   ///< right-hand sides, or a batch of matrices of them
  };
  /// A dimension before the last two.
  struct Axis {
    Index size, stride; ///< bytes
  };
  Array(PyObject* object, const char* name, Rank rank = Rank::Matrix);
  /// A view of a matrix that the caller keeps alive. The type must be one of DType's.
  Array(const dlpack::Tensor& matrix, Element type, const char* name);
  /// A view of the first matrix of a buffer of three dimensions, which the caller keeps alive. `object` exports it, for
  /// messages. Throws TypeError for another element type.
  Array(const Buffer& stack, PyObject* object, const char* name);
  ~Array();
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  const char* name = "";
  char* data = nullptr;
  Element type = DType::F32;
  Index rows = 0;
  Index cols = 0;
  Index row_stride = 0; ///< bytes from row to row; may be negative or zero
  Index col_stride = 0;
  std::vector<Axis> batch; ///< the dimensions before these, if the rank allows them
  bool is_vector = false;  ///< it has one dimension, and is shown as a matrix of one row
  bool read_only = false;
  bool is_copy = false; ///< the object exported a copy of its elements, as it said itself
  bool on_cuda = false;
  int device = 0; ///< number of the CUDA device

  Index element() const { return static_cast<Index>(type.bytes()); } ///< bytes of an element
  /// Throws InvalidArgument if a result that is written into the array would not reach the caller's own.
  void expect_writable() const;

 private:
  bool from_buffer(PyObject* object, std::optional<Element> as = std::nullopt);
  void read_elements(const Buffer& buffer, PyObject* object, std::optional<Element> as = std::nullopt);
  bool from_bits(PyObject* object);
  void from_dlpack(PyObject* object);
  void from_cuda_interface(PyObject* object);
  void take(PyObject* capsule, PyObject* object);
  void read(const dlpack::Tensor& tensor, PyObject* object);
  void check_rank(int dimensions) const;
  template <class Size>
  void set_shape(int dimensions, const Size* sizes, const Size* strides, Index unit);

  Rank rank_ = Rank::Matrix;
  std::variant<std::monostate, Buffer, dlpack::Managed*, dlpack::ManagedVersioned*> held_;
};

} // namespace tessera::python
