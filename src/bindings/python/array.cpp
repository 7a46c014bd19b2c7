#include "array.hpp"

#include <algorithm>
#include <string>

#include <tessera/backend.hpp>

#include "arrays/cuda_interface.hpp"
#include "arrays/plain.hpp"
#include "errors.hpp"

namespace tessera::python {
namespace {

using dlpack::DataType;
using dlpack::DeviceType;

/// Returns the name of the element type that the object reports.
std::string element_name(PyObject* object, const std::string& otherwise) {
  const Reference dtype(python_call<&PyObject_GetAttrString>(object, "dtype"));
  const Reference text(dtype ? python_call<&PyObject_Str>(dtype.get()) : nullptr);
  const char* word = text ? PyUnicode_AsUTF8AndSize(text.get(), nullptr) : nullptr;
  PyErr_Clear();
  return word ? word : otherwise;
}

[[noreturn]] void unsupported(const char* name, PyObject* object, const std::string& otherwise) {
  throw TypeError(std::string(name) + " holds elements of type " + element_name(object, otherwise) +
                  ", but products are of " + element_names("and", true) + "; convert it, e.g. with astype");
}

[[noreturn]] void swapped(const char* name, PyObject* object, const std::string& format) {
  throw TypeError(std::string(name) + " holds elements of type " + element_name(object, format) +
                  ", whose bytes are in the other order than this machine's; convert it, e.g. with "
                  "astype(dtype.newbyteorder('='))");
}

[[noreturn]] void no_array(const char* name, PyObject* object) {
  throw TypeError(std::string(name) + " must be an array (of NumPy, or anything with __dlpack__), not " +
                  type_name(object) + "; numpy.asarray makes one of lists");
}

/// Are the elements ones that a product takes, except for the order of their bytes?
bool is_swapped(const char* format) {
  Element type = DType::F32;
  return (*format == '<' || *format == '>' || *format == '!') && parse_format(format + 1, type);
}

std::string text_of(const DataType& dtype) {
  constexpr const char* codes[] = {"int", "uint", "float", "?", "bfloat", "complex", "bool"};
  const auto code = static_cast<std::size_t>(dtype.code);
  return (code < std::size(codes) ? codes[code] : "?") + std::to_string(dtype.bits);
}

/// The attribute names that every call looks up. They are interned once.
PyObject* interned(const char* word) { return checked(PyUnicode_InternFromString(word)); }

struct Words {
  PyObject* dlpack = interned("__dlpack__");
  PyObject* device = interned("__dlpack_device__");
  PyObject* none = checked(PyTuple_New(0));
};
const Words& words() {
  static const Words all;
  return all;
}

Reference keywords(PyObject* stream, bool with_version) {
  Reference all(checked(PyDict_New()));
  if (stream != nullptr && PyDict_SetItemString(all.get(), "stream", stream) != 0) throw PythonError{};
  if (with_version) {
    const Reference version(checked(Py_BuildValue("(ii)", 1, 0)));
    if (PyDict_SetItemString(all.get(), "max_version", version.get()) != 0) throw PythonError{};
  }
  return all;
}

/// Calls object.__dlpack__(). Producers from before DLPack 1.0 do not know the argument max_version.
Reference call_dlpack(PyObject* object, PyObject* stream) {
  const Reference method(checked(python_call<&PyObject_GetAttr>(object, words().dlpack)));
  Reference capsule(python_call<&PyObject_Call>(method.get(), words().none, keywords(stream, true).get()));
  if (capsule || !PyErr_ExceptionMatches(PyExc_TypeError)) return Reference(checked(capsule.release()));
  PyErr_Clear();
  return Reference(checked(python_call<&PyObject_Call>(method.get(), words().none, keywords(stream, false).get())));
}

dlpack::Device device_of(PyObject* object, const char* name) {
  const Reference method(checked(python_call<&PyObject_GetAttr>(object, words().device)));
  const Reference pair(checked(python_call<&PyObject_CallNoArgs>(method.get())));
  if (!PyTuple_Check(pair.get()) || PyTuple_Size(pair.get()) != 2)
    throw TypeError(std::string(name) + ".__dlpack_device__() must return two numbers");
  const long type = python_call<&PyLong_AsLong>(PyTuple_GetItem(pair.get(), 0)); // some libraries return an enumeration
  const long id = python_call<&PyLong_AsLong>(PyTuple_GetItem(pair.get(), 1));
  if (PyErr_Occurred()) throw PythonError{};
  return {static_cast<DeviceType>(type), static_cast<std::int32_t>(id)};
}

bool is_cuda(DeviceType type) { return type == DeviceType::Cuda || type == DeviceType::CudaManaged; }

void check_device(DeviceType type, const char* name) {
  if (is_cuda(type) || type == DeviceType::Cpu || type == DeviceType::CudaHost) return;
  throw InvalidArgument(std::string(name) + " is on a device of DLPack's type " +
                        std::to_string(static_cast<int>(type)) +
                        ", but Tessera computes on the CPU (1) and on CUDA devices (2); copy it to one of those");
}

} // namespace

Array::Array(PyObject* object, const char* its_name, Rank rank) : name(its_name), rank_(rank) {
  expect_plain(object, its_name);
  if (PyObject_CheckBuffer(object) != 0 && from_buffer(object)) return;
  PyErr_Clear();
  if (python_call<&PyObject_HasAttr>(object, words().dlpack) != 0 &&
      python_call<&PyObject_HasAttr>(object, words().device) != 0)
    from_dlpack(object);
  else if (has_cuda_interface(object))
    from_cuda_interface(object);
  else
    no_array(name, object);
}

Array::Array(const dlpack::Tensor& matrix, Element its_type, const char* its_name)
    : name(its_name),
      data(static_cast<char*>(matrix.data) + matrix.byte_offset),
      type(its_type),
      on_cuda(is_cuda(matrix.device.type)),
      device(matrix.device.id) {
  set_shape(matrix.ndim, matrix.shape, matrix.strides, element());
}

Array::Array(const Buffer& stack, PyObject* object, const char* its_name)
    : name(its_name), data(static_cast<char*>(stack.data())), read_only(stack.read_only()) {
  read_elements(stack, object);
  set_shape(2, stack.sizes() + 1, stack.strides() + 1, 1);
}

Array::~Array() {
  try { // a library's deleter may run code of Python
    if (auto* managed = std::get_if<dlpack::Managed*>(&held_); managed && (*managed)->deleter)
      (*managed)->deleter(*managed);
    if (auto* managed = std::get_if<dlpack::ManagedVersioned*>(&held_); managed && (*managed)->deleter)
      (*managed)->deleter(*managed);
  } catch (abi::__forced_unwind&) {
    stay_until_the_end();
  }
}

void Array::expect_writable() const {
  if (read_only) throw InvalidArgument(std::string(name) + " is read-only; pass an array that may be written");
  if (is_copy)
    throw InvalidArgument(std::string(name) +
                          " exports a copy of its elements by DLPack, as it says itself, in which the result would be "
                          "lost; pass an array that exports its own memory");
}

void Array::check_rank(int dimensions) const {
  const bool are_sides = rank_ == Rank::RightSides || rank_ == Rank::BatchOfSides;
  const bool may_be_vector = rank_ == Rank::VectorOrMatrix || are_sides;
  const bool may_be_batch = rank_ == Rank::Systems || rank_ == Rank::BatchOfSides;
  if (dimensions == 2 || (may_be_vector && dimensions == 1) || (may_be_batch && dimensions > 2)) return;
  const char* const need = rank_ == Rank::System || rank_ == Rank::Systems
                               ? "the matrix of a linear system has 2, and a batch of them has more"
                           : are_sides ? "right-hand sides are a vector, a matrix or a batch of matrices"
                                       : "a product is of matrices, which have 2";
  throw InvalidArgument(std::string(name) + " has " + std::to_string(dimensions) + " dimensions, but " + need +
                        "; reshape it");
}

/// Sets the shape. `strides` count units of `unit` bytes; null: the elements are row-major without gaps.
template <class Size>
void Array::set_shape(int dimensions, const Size* sizes, const Size* strides, Index unit) {
  check_rank(dimensions);
  is_vector = dimensions == 1;
  const int last = dimensions - 1, before = std::max(0, dimensions - 2);
  rows = is_vector ? 1 : sizes[last - 1];
  cols = sizes[last];
  col_stride = unit * (strides ? strides[last] : 1);
  row_stride = is_vector ? cols * col_stride : unit * (strides ? strides[last - 1] : cols);
  batch.resize(static_cast<std::size_t>(before));
  Index step = unit * rows * cols; // without gaps
  for (int i = before; i-- > 0; step *= sizes[i])
    batch[static_cast<std::size_t>(i)] = {sizes[i], strides ? unit * strides[i] : step};
}

/// Takes the object's buffer. Returns false, with Python's exception set, if the object exports none.
bool Array::from_buffer(PyObject* object, std::optional<Element> as) {
  Buffer& buffer = held_.emplace<Buffer>();
  if (!buffer.take(object, name)) {
    held_ = std::monostate{};
    return false;
  }
  read_elements(buffer, object, as);
  set_shape(buffer.dimensions(), buffer.sizes(), buffer.strides(), 1);
  data = static_cast<char*>(buffer.data());
  read_only = buffer.read_only();
  return true;
}

/// Reads the type of the elements, unless the caller knows it.
void Array::read_elements(const Buffer& buffer, PyObject* object, std::optional<Element> as) {
  if (as)
    type = *as;
  else if (!parse_format(buffer.format(), type))
    (is_swapped(buffer.format()) ? swapped : unsupported)(name, object, std::string("'") + buffer.format() + "'");
  if (buffer.element() != element())
    throw InvalidArgument(std::string(name) + " exports a buffer of " + dtype_name(type) + " with elements of " +
                          std::to_string(buffer.element()) + " bytes, but those have " + std::to_string(element()));
}

/// Takes an array of a type of ml_dtypes, such as bfloat16. No protocol exports it, but NumPy exports its memory as an
/// array of integers.
bool Array::from_bits(PyObject* object) {
  const std::optional<Element> found = find_element(element_name(object, ""));
  if (!found || is_of_numpy(*found)) return false;
  const Reference bits(
      python_call<&PyObject_CallMethod>(object, "view", "s", ("uint" + std::to_string(8 * found->bytes())).c_str()));
  const bool seen = bits && from_buffer(bits.get(), *found);
  PyErr_Clear();
  return seen;
}

void Array::from_dlpack(PyObject* object) {
  const dlpack::Device place = device_of(object, name);
  check_device(place.type, name);
  Reference stream;
  if (is_cuda(place.type)) // the stream that will read the array
    stream = Reference(checked(PyLong_FromVoidPtr(executor(backend_of_cuda_arrays).default_queue().native())));
  Reference capsule;
  try {
    capsule = call_dlpack(object, stream.get());
  } catch (const PythonError&) {
    // NumPy exports such elements by neither protocol. The refusal of another library is passed on to the caller.
    if (!PyErr_ExceptionMatches(PyExc_BufferError) || PyObject_CheckBuffer(object) == 0) throw;
    PyErr_Clear();
    if (from_bits(object)) return;
    unsupported(name, object, "unknown");
  }
  take(capsule.get(), object);
}

void Array::from_cuda_interface(PyObject* object) {
  const CudaInterface found = read_cuda_interface(object, name);
  Executor& cuda = executor(backend_of_cuda_arrays);
  if (found.stream != nullptr) throw_if_failed(cuda.default_queue().start_after(found.stream));
  data = static_cast<char*>(found.data);
  type = found.type;
  read_only = found.read_only;
  on_cuda = true;
  device = device_of_address(found.data, cuda.capabilities().device_index);
  set_shape(static_cast<int>(found.sizes.size()), found.sizes.data(), found.strides.data(), 1);
}

/// Takes over the capsule's content, which this object deletes from now on, and renames the capsule as DLPack requires.
void Array::take(PyObject* capsule, PyObject* object) {
  using dlpack::Managed;
  using dlpack::ManagedVersioned;
  if (PyCapsule_IsValid(capsule, ManagedVersioned::capsule) != 0) {
    auto* managed = static_cast<ManagedVersioned*>(PyCapsule_GetPointer(capsule, ManagedVersioned::capsule));
    if (managed->major != 1)
      throw InvalidArgument(std::string(name) + " is exported as DLPack " + std::to_string(managed->major) + "." +
                            std::to_string(managed->minor) + ", but Tessera reads versions up to 1");
    read(managed->tensor, object);
    read_only = (managed->flags & ManagedVersioned::read_only) != 0;
    is_copy = (managed->flags & ManagedVersioned::is_copied) != 0;
    if (PyCapsule_SetName(capsule, ManagedVersioned::used_capsule) != 0) throw PythonError{};
    held_ = managed;
  } else if (PyCapsule_IsValid(capsule, Managed::capsule) != 0) {
    auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, Managed::capsule));
    read(managed->tensor, object);
    if (PyCapsule_SetName(capsule, Managed::used_capsule) != 0) throw PythonError{};
    held_ = managed;
  } else {
    throw TypeError(std::string(name) + ".__dlpack__() returned no DLPack capsule, but " + type_name(capsule));
  }
}

void Array::read(const dlpack::Tensor& tensor, PyObject* object) {
  if (!parse_dtype(tensor.dtype, type)) unsupported(name, object, text_of(tensor.dtype));
  check_device(tensor.device.type, name);
  data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  set_shape(tensor.ndim, tensor.shape, tensor.strides, element());
  on_cuda = is_cuda(tensor.device.type);
  device = tensor.device.id;
}

} // namespace tessera::python
