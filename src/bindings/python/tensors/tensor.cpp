#include "tensor.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <string>

namespace tessera::python {
namespace {

TensorLibrary& library() {
  static TensorLibrary the_library;
  return the_library;
}

/// The name of an attribute that every call looks up, and methods of torch.Tensor, which are found once.
struct TensorNames {
  PyObject* requires_grad = checked(PyUnicode_InternFromString("requires_grad"));
  PyObject* current_level = checked(PyUnicode_InternFromString("_current_level"));
  PyObject* is_conj = method("is_conj");
  PyObject* is_neg = method("is_neg");

  static PyObject* method(const char* name) {
    return checked(python_call<&PyObject_GetAttrString>(PyTuple_GetItem(library().types, 0), name));
  }
};
const TensorNames& tensor_names() {
  static const TensorNames all;
  return all;
}

bool is_true(PyObject* stolen) {
  if (stolen == Py_False || stolen == Py_True) {
    Py_DECREF(stolen);
    return stolen == Py_True;
  }
  const Reference value(checked(stolen));
  const int truth = python_call<&PyObject_IsTrue>(value.get());
  if (truth < 0) throw PythonError{};
  return truth != 0;
}

/// Calls a function with one argument. (PyObject_CallOneArg is not in CPython's stable ABI.)
PyObject* call_with(PyObject* function, PyObject* argument) {
  return python_call<&PyObject_Vectorcall>(function, &argument, std::size_t{1}, nullptr);
}

bool is_plain_type(PyObject* object) {
  const Py_ssize_t count = PyTuple_Size(library().types);
  for (Py_ssize_t i = 0; i < count; ++i)
    if (reinterpret_cast<PyObject*>(Py_TYPE(object)) == PyTuple_GetItem(library().types, i)) return true;
  return false;
}

std::int64_t number_at(PyObject* tuple, Py_ssize_t i) {
  const long long number = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
  if (number == -1 && PyErr_Occurred()) throw PythonError{};
  return number;
}

/// Makes a torch.Tensor of a tensor.
PyObject* wrapped(const TensorMaker& maker, void* tensor) {
  const Reference capsule(checked(PyCapsule_New(tensor, nullptr, nullptr)));
  return checked(call_with(maker.wrap, capsule.get()));
}

/// Tries whether `wrap` takes the capsule's tensor over, as its name in PyTorch says, or refers to it once more, as it
/// does in every version that was seen. The memory is in use once or twice then.
bool takes_over(const TensorMaker& maker) {
  const std::int64_t one = 1;
  void* tensor = nullptr;
  if (maker.empty_strided(1, &one, &one, Element(DType::F32).torch(), 0, 0, &tensor) != 0)
    throw OutOfMemory("PyTorch has no memory for a tensor of one element");
  const Reference python(wrapped(maker, tensor));
  const Reference uses(checked(python_call<&PyObject_CallMethod>(python.get(), "_use_count", nullptr)));
  const bool gone = python_call<&PyLong_AsLong>(uses.get()) == 1;
  if (!gone) maker.destroy(tensor);
  return gone;
}

std::string shape_of(const std::int64_t* sizes, int dimensions) {
  std::string words;
  for (int i = 0; i < dimensions; ++i) words += (i == 0 ? "" : "×") + std::to_string(sizes[i]);
  return words;
}

/// Looks a function up in a library that is loaded. Returns false, and makes the pointer null, if it is not there.
template <class Function>
bool find(void* library, Function& function, const char* name) {
  function = library != nullptr ? reinterpret_cast<Function>(dlsym(library, name)) : nullptr;
  return function != nullptr;
}

std::optional<TensorMaker> find_maker(void* library, PyObject* wrap) {
  TensorMaker maker{};
  if (wrap == Py_None || !find(library, maker.empty_strided, "aoti_torch_empty_strided") ||
      !find(library, maker.data, "aoti_torch_get_data_ptr") ||
      !find(library, maker.destroy, "aoti_torch_delete_tensor_object"))
    return std::nullopt;
  maker.wrap = Py_NewRef(wrap);
  maker.wrap_takes_over = takes_over(maker);
  return maker;
}

} // namespace

bool use_tensor_library(PyObject* capsule, const char* path, PyObject* wrap, PyObject* types, PyObject* unusual,
                        PyObject* is_grad_enabled, PyObject* transforms, PyObject* forward_mode) {
  using dlpack::ExchangeApi;
  TensorLibrary& known = library();
  known.types = Py_NewRef(types);
  known.unusual = Py_NewRef(unusual);
  known.is_grad_enabled = Py_NewRef(is_grad_enabled);
  known.transforms = Py_NewRef(transforms);
  known.forward_mode = Py_NewRef(forward_mode);
  known.api = nullptr;
  known.maker.reset();
  void* const library_of_torch = dlopen(path, RTLD_NOW | RTLD_NOLOAD); // it is loaded already, if it is there
  find(library_of_torch, known.grad_mode, "aoti_torch_grad_mode_is_enabled");
  if (capsule == Py_None || PyCapsule_IsValid(capsule, ExchangeApi::capsule) == 0) return false;
  const auto* api = static_cast<const ExchangeApi*>(PyCapsule_GetPointer(capsule, ExchangeApi::capsule));
  while (api != nullptr && api->major != 1) api = api->earlier;
  if (api == nullptr || api->borrow == nullptr) return false;
  known.api = api;
  known.maker = find_maker(library_of_torch, wrap);
  return known.maker.has_value();
}

Call kind_of_call(std::initializer_list<PyObject*> objects) {
  const TensorLibrary& known = library();
  for (PyObject* object : objects)
    if (object != Py_None && !is_plain_type(object)) return Call::Other;
  const Py_ssize_t count = PyTuple_Size(known.unusual);
  for (Py_ssize_t i = 0; i < count; ++i)
    if (is_true(python_call<&PyObject_CallNoArgs>(PyTuple_GetItem(known.unusual, i)))) return Call::Other;
  const Reference level(checked(python_call<&PyObject_GetAttr>(known.forward_mode, tensor_names().current_level)));
  if (python_call<&PyLong_AsLong>(level.get()) >= 0) return Call::Other;
  const bool grad =
      known.grad_mode ? known.grad_mode() : is_true(python_call<&PyObject_CallNoArgs>(known.is_grad_enabled));
  if (!grad) return Call::Plain;
  const bool recorded = std::any_of(objects.begin(), objects.end(), [](PyObject* object) {
    return object != Py_None && is_true(python_call<&PyObject_GetAttr>(object, tensor_names().requires_grad));
  });
  if (!recorded) return Call::Plain;
  return is_true(python_call<&PyObject_CallNoArgs>(known.transforms)) ? Call::Other : Call::Recorded;
}

bool TensorView::is_as_it_looks(PyObject* object) const {
  if (is_true(call_with(tensor_names().is_neg, object))) return false;
  return !type_.is_complex || !is_true(call_with(tensor_names().is_conj, object));
}

bool TensorView::read_tuple(PyObject* tuple, int limit) {
  const Py_ssize_t length = PyTuple_Size(tuple);
  const auto dimensions = static_cast<std::int32_t>((length - 5) / 2);
  if (length != 5 + 2 * dimensions || dimensions < 1 || dimensions > limit) return false;
  tensor_.data = reinterpret_cast<void*>(static_cast<std::uintptr_t>(number_at(tuple, 0)));
  tensor_.dtype = {static_cast<dlpack::TypeCode>(number_at(tuple, 1)), static_cast<std::uint8_t>(number_at(tuple, 2)),
                   1};
  tensor_.device = {static_cast<dlpack::DeviceType>(number_at(tuple, 3)),
                    static_cast<std::int32_t>(number_at(tuple, 4))};
  tensor_.ndim = dimensions;
  for (Py_ssize_t i = 0; i < 2 * dimensions; ++i) numbers_[static_cast<std::size_t>(i)] = number_at(tuple, 5 + i);
  tensor_.shape = numbers_.data();
  tensor_.strides = numbers_.data() + dimensions;
  return true;
}

bool TensorView::read(PyObject* object, int limit) {
  const bool by_tuple = PyTuple_Check(object) != 0;
  if (by_tuple) {
    if (!read_tuple(object, limit)) return false;
  } else {
    const dlpack::ExchangeApi* api = library().api;
    if (api == nullptr || !is_plain_type(object)) return false;
    if (api->borrow(object, &tensor_) != 0) {
      PyErr_Clear();
      return false;
    }
  }
  const auto kind = tensor_.device.type;
  if (kind != dlpack::DeviceType::Cpu && kind != dlpack::DeviceType::CudaHost && kind != dlpack::DeviceType::Cuda)
    return false;
  if (!on_cuda()) tensor_.device = {dlpack::DeviceType::Cpu, 0}; // pinned memory is the host's
  if (!parse_dtype(tensor_.dtype, type_) || dimensions() < 1 || dimensions() > limit) return false;
  const bool empty = std::any_of(tensor_.shape, tensor_.shape + tensor_.ndim, [](auto size) { return size == 0; });
  if (tensor_.data == nullptr && !empty) return false;
  if (empty) close_gaps();
  return by_tuple || is_as_it_looks(object);
}

Array TensorView::matrix(const char* name) const {
  dlpack::Tensor first = tensor_;
  std::int64_t sizes[2] = {1, tensor_.shape[tensor_.ndim - 1]};
  std::int64_t strides[2] = {sizes[1], tensor_.strides[tensor_.ndim - 1]};
  if (has_matrices()) {
    sizes[0] = tensor_.shape[tensor_.ndim - 2];
    strides[0] = tensor_.strides[tensor_.ndim - 2];
  }
  first.ndim = 2;
  first.shape = sizes;
  first.strides = strides;
  return {first, type_, name};
}

bool TensorView::transpose() {
  if (dimensions() != 2) return false;
  numbers_ = {cols(), rows(), stride(1), stride(0)};
  tensor_.shape = numbers_.data();
  tensor_.strides = numbers_.data() + 2;
  return true;
}

bool TensorView::flatten() {
  if (dimensions() == 2) return false;
  Index all = 1, distance = cols();
  for (int i = dimensions() - 2; i >= 0; --i) {
    if (size(i) == 1) continue;
    if (all == 1) distance = stride(i);
    if (stride(i) != all * distance) return false;
    all *= size(i);
  }
  numbers_ = {all, cols(), distance, stride(dimensions() - 1)};
  tensor_.ndim = 2;
  tensor_.shape = numbers_.data();
  tensor_.strides = numbers_.data() + 2;
  return true;
}

void TensorView::place(const TensorView& like, Element type, const Index* sizes, int dimensions, void* data) {
  type_ = type;
  tensor_ = {data, like.device(), dimensions, {}, numbers_.data(), numbers_.data() + dimensions, 0};
  std::copy_n(sizes, dimensions, numbers_.begin());
  close_gaps();
}

void TensorView::close_gaps() {
  std::array<std::int64_t, most> sizes{};
  std::copy_n(tensor_.shape, tensor_.ndim, sizes.begin());
  std::int64_t step = 1;
  for (auto i = static_cast<std::size_t>(tensor_.ndim); i-- > 0;) {
    numbers_[i] = sizes[i];
    numbers_[static_cast<std::size_t>(tensor_.ndim) + i] = step;
    step *= std::max<std::int64_t>(sizes[i], 1);
  }
  tensor_.shape = numbers_.data();
  tensor_.strides = numbers_.data() + tensor_.ndim;
}

bool NewTensor::possible() { return library().api != nullptr && library().maker; }

NewTensor::NewTensor(const TensorView& like, Element type, const Index* sizes, int dimensions) {
  const TensorMaker& maker = *library().maker;
  view_.place(like, type, sizes, dimensions, nullptr);
  void* data = nullptr;
  std::int64_t shape[TensorView::most] = {}, strides[TensorView::most] = {};
  for (int i = 0; i < dimensions; ++i) {
    shape[i] = sizes[i];
    strides[i] = view_.stride(i);
  }
  const std::int32_t device_type = like.on_cuda() ? 1 : 0; // c10::DeviceType
  if (maker.empty_strided(dimensions, shape, strides, type.torch(), device_type, like.device().id, &tensor_) != 0 ||
      maker.data(tensor_, &data) != 0)
    throw OutOfMemory("PyTorch has no memory for a result of " + shape_of(shape, dimensions) + " elements of " +
                      dtype_name(type));
  view_.place(like, type, sizes, dimensions, data);
}

NewTensor::~NewTensor() {
  if (tensor_ != nullptr) library().maker->destroy(tensor_);
}

PyObject* NewTensor::release() {
  PyObject* const result = wrapped(*library().maker, tensor_);
  if (!library().maker->wrap_takes_over) library().maker->destroy(tensor_);
  tensor_ = nullptr;
  return result;
}

void* current_stream(const TensorView& tensor) {
  constexpr std::uintptr_t legacy_default = 1; // as in cudaStreamLegacy; PyTorch's default stream is null
  void* stream = nullptr;
  if (library().api->current_stream(tensor.device().type, tensor.device().id, &stream) != 0) throw PythonError{};
  return stream != nullptr ? stream : reinterpret_cast<void*>(legacy_default);
}

} // namespace tessera::python
