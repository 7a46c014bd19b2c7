#pragma once

/// Any two-dimensional array that Python knows, seen where it is: never copied here.
///
/// Host arrays come through the buffer protocol, which NumPy answers fastest, others through DLPack. An array on a CUDA
/// device is asked for through DLPack with the stream that will read it, and its owner orders that stream behind the
/// work that makes the array.

#include <Python.h>

#include <optional>
#include <variant>

#include <tessera/types.hpp>

#include "dlpack.hpp"

namespace tessera::python {

/// Arrays that say they are on a CUDA device are operands of this backend.
inline constexpr Backend backend_of_cuda_arrays = Backend::Cuda;

/// What an array is made of: numbers of a type, or complex numbers of two such parts, the real one first.
struct Element {
  DType part = DType::F32;
  bool is_complex = false;

  Element(DType of, bool complex = false) : part(of), is_complex(complex) {}
  bool operator==(const Element&) const = default;
  std::size_t bytes() const { return size_of(part) * (is_complex ? 2 : 1); }
};

/// As NumPy and others call it: "float32".
const char* dtype_name(Element element);

/// Holds the array's memory for as long as it lives. Made and destroyed with the GIL.
class Array {
 public:
  /// `name`: the argument's, for messages. Throws TypeError (no array, another element type) and InvalidArgument (not
  /// two dimensions, a device that Tessera does not know).
  /// A vector is a matrix of one row.
  enum class Rank { Matrix, VectorOrMatrix };
  Array(PyObject* object, const char* name, Rank rank = Rank::Matrix);
  ~Array();
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  const char* name = "";
  char* data = nullptr;
  Element type = DType::F32;
  Index rows = 0;
  Index cols = 0;
  Index row_stride = 0; ///< bytes, any sign
  Index col_stride = 0;
  bool read_only = false;
  bool on_cuda = false;
  int device = 0; ///< the CUDA device's number

  Index element() const { return static_cast<Index>(type.bytes()); } ///< bytes

 private:
  bool from_buffer(PyObject* object, std::optional<Element> as = std::nullopt);
  bool from_bits(PyObject* object);
  void from_dlpack(PyObject* object);
  void take(PyObject* capsule, PyObject* object);
  void read(const dlpack::Tensor& tensor, PyObject* object);
  void check_rank(int dimensions) const;
  template <class Size>
  void set_shape(int dimensions, const Size* sizes, const Size* strides, Index unit);

  Rank rank_ = Rank::Matrix;
  std::variant<std::monostate, Py_buffer, dlpack::Managed*, dlpack::ManagedVersioned*> held_;
};

} // namespace tessera::python
