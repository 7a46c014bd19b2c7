#pragma once

/// Tensors of PyTorch as products read and write them, without a link to PyTorch, whose C++ interface changes with each
/// release. From PyTorch 2.10 on its table of C functions (dlpack::ExchangeApi) gives and makes tensors; for earlier
/// versions tessera/torch describes each tensor by a tuple.

#include <Python.h>

#include <array>
#include <initializer_list>
#include <optional>

#include "bindings/python/array.hpp"
#include "bindings/python/dlpack.hpp"
#include "bindings/python/errors.hpp"

namespace tessera::python {

/// Functions of PyTorch's stable C interface (torch/csrc/inductor/aoti_torch/c/shim.h), which make tensors. They return
/// 0 on success.
struct TensorMaker {
  int (*empty_strided)(std::int64_t dimensions, const std::int64_t* sizes, const std::int64_t* strides,
                       std::int32_t dtype, std::int32_t device_type, std::int32_t device_index, void** tensor);
  int (*data)(void* tensor, void** data);
  int (*destroy)(void* tensor);
  PyObject* wrap;       ///< makes a torch.Tensor of a capsule with the tensor
  bool wrap_takes_over; ///< the capsule's tensor then is gone; else it is another reference, to be destroyed
};

/// What tessera/torch says once about the installed PyTorch.
struct TensorLibrary {
  const dlpack::ExchangeApi* api = nullptr; ///< null: PyTorch has none, and tensors come as tuples
  std::optional<TensorMaker> maker;         ///< none: tessera/torch makes the results
  PyObject* types = nullptr;                ///< a tuple of the classes whose objects are plain tensors
  PyObject* unusual = nullptr;              ///< functions; one that returns a true value asks for the dispatcher
  PyObject* is_grad_enabled = nullptr;      ///< torch.is_grad_enabled
  bool (*grad_mode)() = nullptr;            ///< torch.is_grad_enabled as a C function, or null
  PyObject* transforms = nullptr;           ///< says whether functorch transforms what records gradients
  PyObject* forward_mode = nullptr;         ///< torch.autograd.forward_ad, whose _current_level is −1 outside of it
};

/// Remembers the library. `capsule` is torch.Tensor's __dlpack_c_exchange_api__ or None, `path` the file of
/// libtorch_cpu, `wrap` a function of torch._C._aoti or None. Returns whether tensors and results can be taken without
/// tuples.
bool use_tensor_library(PyObject* capsule, const char* path, PyObject* wrap, PyObject* types, PyObject* unusual,
                        PyObject* is_grad_enabled, PyObject* transforms, PyObject* forward_mode);

/// What PyTorch has to see of a call.
enum class Call {
  Plain,    ///< nothing: plain tensors that record no gradient, outside of autocast, tracing, functorch and modes
  Recorded, ///< only autograd, because an argument requires a gradient
  Other     ///< PyTorch's dispatcher
};

/// Says what a call with these arguments is. Objects that are None do not matter.
Call kind_of_call(std::initializer_list<PyObject*> objects);

/// A tensor: a vector, a matrix, a stack of matrices, or rows in any number of dimensions.
class TensorView {
 public:
  static constexpr int most = 6; ///< dimensions that are read

  /// Reads a tensor, or a tuple (address, DLPack's type code, bits, kind of device, number of device, sizes, strides).
  /// Returns false, without an exception, for what is neither or cannot be read: sparse or meta tensors, other types,
  /// more dimensions than `limit`, conjugate and negative views, and memory that is not there.
  bool read(PyObject* object, int limit = 3);
  TensorView() = default;
  TensorView(const TensorView&) = delete;
  TensorView& operator=(const TensorView&) = delete;

  Element type() const { return type_; }
  int dimensions() const { return tensor_.ndim; }
  Index size(int dimension) const { return tensor_.shape[dimension]; }
  Index stride(int dimension) const { return tensor_.strides[dimension]; }
  const dlpack::Device& device() const { return tensor_.device; }
  bool on_cuda() const { return tensor_.device.type == dlpack::DeviceType::Cuda; }
  void* data() const { return static_cast<char*>(tensor_.data) + tensor_.byte_offset; }
  bool same_place(const TensorView& other) const {
    return device().type == other.device().type && device().id == other.device().id;
  }

  /// Returns the tensor's matrix, or the first one of a stack, or a vector as a matrix of one row.
  Array matrix(const char* name) const;
  /// Is it a matrix or a stack? Then rows(), cols() and count() are known.
  bool has_matrices() const { return dimensions() >= 2; }
  Index rows() const { return size(dimensions() - 2); }
  Index cols() const { return size(dimensions() - 1); }
  Index count() const { return dimensions() == 3 ? size(0) : 1; }
  Index step() const { return dimensions() == 3 ? stride(0) : 0; } ///< elements from one matrix to the next

  /// Makes a tensor of more than two dimensions, whose rows lie at equal distances, one matrix of all rows, and a
  /// vector a matrix of one row. Returns false for a matrix, and for other distances.
  bool flatten();
  /// Makes a matrix its transpose. Returns false for what is no matrix.
  bool transpose();
  /// Makes the view one of new memory in the place of `like`, without gaps.
  void place(const TensorView& like, Element type, const Index* sizes, int dimensions, void* data);

 private:
  bool read_tuple(PyObject* tuple, int limit);
  bool is_as_it_looks(PyObject* object) const;
  /// Gives the tensor the strides of one without gaps. One without elements may have any strides, which say nothing.
  void close_gaps();

  dlpack::Tensor tensor_;
  Element type_ = DType::F32;
  std::array<std::int64_t, std::size_t{2} * most> numbers_{}; ///< sizes and strides of a tuple or of new memory
};

/// A new tensor of PyTorch, without gaps, on the way to Python.
class NewTensor {
 public:
  /// Says whether results can be made at all.
  static bool possible();
  /// Allocates the memory by PyTorch's allocator. Throws OutOfMemory.
  NewTensor(const TensorView& like, Element type, const Index* sizes, int dimensions);
  ~NewTensor();
  NewTensor(const NewTensor&) = delete;
  NewTensor& operator=(const NewTensor&) = delete;

  TensorView& view() { return view_; }
  /// Returns a new reference to the torch.Tensor.
  PyObject* release();

 private:
  void* tensor_ = nullptr;
  TensorView view_;
};

/// Returns PyTorch's current stream on the tensor's device as start_after() takes it.
void* current_stream(const TensorView& tensor);

} // namespace tessera::python
