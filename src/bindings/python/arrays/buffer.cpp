#include "buffer.hpp"

#include <algorithm>
#include <string>

#include "bindings/python/errors.hpp"

namespace tessera::python {

Buffer::~Buffer() {
  if (view_.obj != nullptr) python_call<&PyBuffer_Release>(&view_);
}

bool Buffer::take(PyObject* object, const char* name) {
  if (python_call<&PyObject_GetBuffer>(object, &view_, PyBUF_RECORDS_RO) != 0) {
    view_.obj = nullptr;
    return false;
  }
  sizes_ = view_.shape;
  strides_ = view_.strides;
  if (sizes_ == nullptr) make_sizes(name);
  check(name);
  if (strides_ == nullptr) make_strides(name);
  return true;
}

namespace {

[[noreturn]] void refuse_buffer(const char* name, const std::string& why) {
  throw InvalidArgument(std::string(name) + " exports a buffer " + why);
}

} // namespace

void Buffer::check(const char* name) {
  if (view_.suboffsets != nullptr)
    refuse_buffer(name, "with suboffsets, whose elements lie behind pointers; pass a copy, which numpy.array makes");
  if (view_.ndim < 0 || view_.itemsize < 1)
    refuse_buffer(name, "of " + std::to_string(view_.ndim) + " dimensions with elements of " +
                            std::to_string(view_.itemsize) + " bytes");
  for (int i = 0; i < view_.ndim; ++i)
    if (sizes_[i] < 0) refuse_buffer(name, "with a dimension of " + std::to_string(sizes_[i]) + " elements");
}

/// A buffer without a shape has one dimension, or none.
void Buffer::make_sizes(const char* name) {
  if (view_.ndim > 1) refuse_buffer(name, "of " + std::to_string(view_.ndim) + " dimensions without their sizes");
  own_sizes_[0] = view_.itemsize > 0 ? view_.len / view_.itemsize : 0;
  sizes_ = own_sizes_.data();
}

/// The elements of a buffer without strides lie side by side in C order.
void Buffer::make_strides(const char* name) {
  strides_ = own_strides_.data();
  if (view_.ndim > most) return; // no argument has so many dimensions
  Py_ssize_t step = view_.itemsize;
  for (int i = view_.ndim - 1; i >= 0; --i) {
    own_strides_[static_cast<std::size_t>(i)] = step;
    if (__builtin_mul_overflow(step, std::max<Py_ssize_t>(sizes_[i], 1), &step))
      refuse_buffer(name, "whose sizes overflow the address space");
  }
}

} // namespace tessera::python
