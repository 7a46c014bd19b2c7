#include "device_array.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "array.hpp"
#include "errors.hpp"
#include "words.hpp"

namespace tessera::python {
namespace {

/// The content of a capsule: the memory, and the shape that the tensor points to.
template <class Managed>
struct Export {
  Managed managed;
  std::shared_ptr<DeviceMemory> memory;
  std::vector<std::int64_t> shape, strides;
};

template <class Managed>
void destroy_unused(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, Managed::capsule) == 0) return; // the consumer has taken the content over
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, Managed::capsule));
  managed->deleter(managed);
}

template <class Managed>
PyObject* export_as(const DeviceArray& array, const std::shared_ptr<DeviceMemory>& memory) {
  auto content = std::make_unique<Export<Managed>>();
  content->shape.assign(array.shape().begin(), array.shape().end());
  content->strides.resize(content->shape.size());
  std::int64_t step = 1;
  for (std::size_t i = content->shape.size(); i-- > 0; step *= std::max<std::int64_t>(content->shape[i], 1))
    content->strides[i] = step;
  content->managed.context = content.get();
  content->managed.deleter = [](Managed* self) { delete static_cast<Export<Managed>*>(self->context); };
  dlpack::Tensor& tensor = content->managed.tensor;
  tensor.data = memory->data();
  tensor.device = {dlpack::DeviceType::Cuda, array.device()};
  tensor.ndim = static_cast<std::int32_t>(content->shape.size());
  tensor.dtype = dlpack::data_type(array.type());
  tensor.shape = content->shape.data();
  tensor.strides = content->strides.data();
  content->memory = memory;
  PyObject* capsule = checked(PyCapsule_New(&content->managed, Managed::capsule, destroy_unused<Managed>));
  static_cast<void>(content.release());
  return capsule;
}

/// Does the consumer know DLPack 1?
bool takes_versions(PyObject* max_version) {
  if (max_version == Py_None) return false;
  if (!PyTuple_Check(max_version) || PyTuple_Size(max_version) != 2)
    throw TypeError("max_version must be None or a pair of numbers, not " + type_name(max_version));
  const long major = python_call<&PyLong_AsLong>(PyTuple_GetItem(max_version, 0));
  if (PyErr_Occurred()) throw PythonError{};
  return major >= 1;
}

void check_same_device(PyObject* dl_device, int device) {
  if (dl_device == Py_None) return;
  int type = 0, id = 0;
  if (!PyTuple_Check(dl_device) || !PyArg_ParseTuple(dl_device, "ii", &type, &id)) {
    PyErr_Clear();
    throw TypeError("dl_device must be None or a pair of numbers, not " + type_name(dl_device));
  }
  if (type != static_cast<int>(dlpack::DeviceType::Cuda) || id != device)
    throw BufferError("dl_device = (" + std::to_string(type) + ", " + std::to_string(id) +
                      "), but this array is on CUDA device " + std::to_string(device) +
                      " and is not copied by an export; use numpy() for a copy in host memory");
}

} // namespace

DeviceMemory::DeviceMemory(Executor& executor, std::size_t bytes) : executor_(executor), memory_(executor) {
  throw_if_failed(memory_.allocate(std::max<std::size_t>(bytes, 1)));
}

DeviceMemory::~DeviceMemory() {
  // A stream that no longer exists has no work left.
  for (void* stream : readers_) static_cast<void>(executor_.default_queue().start_after(stream));
}

void DeviceMemory::show_to(void* stream) {
  const std::lock_guard lock(mutex_);
  if (std::find(readers_.begin(), readers_.end(), stream) == readers_.end()) readers_.push_back(stream);
  throw_if_failed(executor_.default_queue().finish_before(stream));
}

DeviceArray::DeviceArray(Executor& executor, Element type, std::vector<Index> shape)
    : type_(type), shape_(std::move(shape)) {
  memory_ = std::make_shared<DeviceMemory>(executor, static_cast<std::size_t>(rows() * cols()) * type.bytes());
}

Index DeviceArray::rows() const {
  Index rows = 1;
  for (std::size_t i = 0; i + 1 < shape_.size(); ++i) rows *= shape_[i];
  return rows;
}

PyObject* DeviceArray::dlpack(PyObject* stream, PyObject* max_version, PyObject* dl_device, PyObject* copy) const {
  check_same_device(dl_device, device());
  if (copy == Py_True) throw BufferError("copy=True: exports are never copies; copy what the import gives");
  const bool versioned = takes_versions(max_version);
  if (void* reader = parse_stream(stream, "stream")) memory_->show_to(reader);
  return versioned ? export_as<dlpack::ManagedVersioned>(*this, memory_) : export_as<dlpack::Managed>(*this, memory_);
}

PyObject* DeviceArray::numpy() const {
  Reference copy(empty_numpy(type_, rows(), cols()));
  if (rows() > 0 && cols() > 0) {
    const Array target(copy.get(), "copy");
    const std::size_t pitch = static_cast<std::size_t>(cols()) * type_.bytes();
    Executor& executor = memory_->executor();
    const WithoutGil others_run;
    throw_if_failed(executor.copy_out(executor.default_queue(), target.data, pitch, data(), pitch, pitch,
                                      static_cast<std::size_t>(rows())));
  }
  if (shape_.size() == 2) return copy.release();
  const Reference shape(checked(PyTuple_New(static_cast<Py_ssize_t>(shape_.size()))));
  for (std::size_t i = 0; i < shape_.size(); ++i)
    PyTuple_SetItem(shape.get(), static_cast<Py_ssize_t>(i), checked(PyLong_FromLongLong(shape_[i])));
  return checked(python_call<&PyObject_CallMethod>(copy.get(), "reshape", "O", shape.get()));
}

void* parse_stream(PyObject* stream, const char* name) {
  constexpr std::intptr_t legacy_default = 1; // as in cudaStreamLegacy; 2 is cudaStreamPerThread
  if (stream == Py_None) return reinterpret_cast<void*>(legacy_default);
  bool fits = false;
  const long long number = parse_whole_number(stream, name, "None or the number of a CUDA stream", fits);
  if (!fits)
    throw InvalidArgument(std::string(name) +
                          " is a number of more than 64 bits, which no CUDA stream has; pass the "
                          "number that its library gives");
  if (number == -1) return nullptr;
  if (number <= 0)
    throw InvalidArgument(std::string(name) + " = " + std::to_string(number) +
                          " is no CUDA stream: 1 is the legacy default stream, 2 the thread's, -1 none");
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(number));
}

PyObject* empty_numpy(Element type, Index rows, Index cols) {
  struct NumPy {
    Reference module{checked(python_call<&PyImport_ImportModule>("numpy"))};
    PyObject* empty = checked(python_call<&PyObject_GetAttrString>(module.get(), "empty"));
    std::vector<PyObject*> dtypes = std::vector<PyObject*>(element_count()); ///< null until asked for

    PyObject* of(Element element) {
      PyObject*& dtype = dtypes[place_of(element)];
      if (dtype == nullptr)
        dtype = checked(python_call<&PyObject_CallMethod>(module.get(), "dtype", "s", dtype_name(element)));
      return dtype;
    }
  };
  static NumPy& numpy = *new NumPy; // NumPy cannot be unloaded
  if (!is_of_numpy(type))
    throw TypeError(std::string("NumPy has no ") + dtype_name(type) +
                    "; take the result with torch.from_dlpack or the like");
  const Reference shape(checked(PyTuple_New(2)));
  PyTuple_SetItem(shape.get(), 0, checked(PyLong_FromLongLong(rows)));
  PyTuple_SetItem(shape.get(), 1, checked(PyLong_FromLongLong(cols)));
  PyObject* array = python_call<&PyObject_CallFunctionObjArgs>(numpy.empty, shape.get(), numpy.of(type), nullptr);
  if (array == nullptr && PyErr_ExceptionMatches(PyExc_MemoryError)) {
    PyErr_Clear();
    throw OutOfMemory("out of host memory: a " + std::to_string(rows) + "×" + std::to_string(cols) + " result of " +
                      dtype_name(type) + " cannot be allocated");
  }
  return checked(array);
}

} // namespace tessera::python
