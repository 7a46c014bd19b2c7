#include "buffer.hpp"

#include <algorithm>
#include <string>

#include "python/errors.hpp"

namespace tessera::python {

Buffer::~Buffer() {
  if (view_.obj != nullptr) python_call<&PyBuffer_Release>(&view_);
}

bool Buffer::take(PyObject* object, const char* name) {
  if (python_call<&PyObject_GetBuffer>(object, &view_, PyBUF_RECORDS_RO) != 0) {
    view_.obj = nullptr;
    return false;
  }
  set_sizes(name);
  return true;
}

/// Elements of a buffer without strides lie side by side in C order, and one without a shape has one dimension.
void Buffer::set_sizes(const char* name) {
  const auto refuse = [&](const std::string& why) {
    throw InvalidArgument(std::string(name) + " exports a buffer " + why);
  };
  const auto text = [](auto number) { return std::to_string(number); };
  if (view_.suboffsets != nullptr)
    refuse("with suboffsets, whose elements lie behind pointers; pass a copy, which numpy.array makes");
  if (view_.ndim < 0 || view_.itemsize < 1)
    refuse("of " + text(view_.ndim) + " dimensions with elements of " + text(view_.itemsize) + " bytes");
  if (view_.shape == nullptr) {
    if (view_.ndim > 1) refuse("of " + text(view_.ndim) + " dimensions without their sizes");
    if (view_.ndim == 1) sizes_[0] = view_.len / view_.itemsize;
  } else {
    std::copy_n(view_.shape, std::min(view_.ndim, most), sizes_.begin());
  }
  for (const Py_ssize_t size : sizes_)
    if (size < 0) refuse("with a dimension of " + text(size) + " elements");
  if (view_.strides != nullptr) {
    std::copy_n(view_.strides, std::min(view_.ndim, most), strides_.begin());
    return;
  }
  if (view_.ndim > most) return; // no argument has so many dimensions
  Py_ssize_t step = view_.itemsize;
  for (int i = view_.ndim - 1; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    strides_[at] = step;
    if (__builtin_mul_overflow(step, std::max<Py_ssize_t>(sizes_[at], 1), &step))
      refuse("whose sizes overflow the address space");
  }
}

} // namespace tessera::python
