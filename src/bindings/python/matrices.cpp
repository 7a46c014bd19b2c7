#include "matrices.hpp"

#include <algorithm>
#include <string>

#include "arrays/plain.hpp"
#include "layout.hpp"

namespace tessera::python {
namespace {

/// Returns the object's number of dimensions; −1 if the object does not report it.
Py_ssize_t dimensions_of(PyObject* object) {
  const Reference dimensions(python_call<&PyObject_GetAttrString>(object, "ndim"));
  const Py_ssize_t number = dimensions ? PyLong_AsSsize_t(dimensions.get()) : -1;
  PyErr_Clear();
  return number;
}

/// Returns object.shape[axis]; −1 if the object does not report it.
Py_ssize_t length_of(PyObject* object, Py_ssize_t axis) {
  const Reference shape(python_call<&PyObject_GetAttrString>(object, "shape"));
  const Reference length(shape ? python_call<&PySequence_GetItem>(shape.get(), axis) : nullptr);
  const Py_ssize_t number = length ? PyLong_AsSsize_t(length.get()) : -1;
  PyErr_Clear();
  return number;
}

} // namespace

Matrices::Matrices(PyObject* object, const char* name) : object_(object), name_(name) {
  expect_plain(object, name);
  Py_ssize_t dimensions = dimensions_of(object);
  const bool is_list = PyList_Check(object) != 0 || PyTuple_Check(object) != 0;
  const bool exports = !is_list && PyObject_CheckBuffer(object) != 0 && PyBytes_Check(object) == 0;
  if (exports && (dimensions == -1 || dimensions == 3)) {
    if (buffer_.emplace().take(object, name))
      dimensions = buffer_->dimensions();
    else
      buffer_.reset(); // no buffer holds such elements
    PyErr_Clear();
  }
  if (dimensions != -1 && dimensions != 2 && dimensions != 3)
    throw InvalidArgument(std::string(name) + " has " + std::to_string(dimensions) +
                          " dimensions; pass a matrix, an array of three dimensions or a list of matrices");
  shared_ = dimensions == 2;
  stacked_ = dimensions == 3;
  if (shared_)
    add(object);
  else if (stacked_ && buffer_)
    add_from_buffer();
  else
    add_all();
}

Matrices::Range Matrices::range() const {
  std::intptr_t low = INTPTR_MAX, high = INTPTR_MIN;
  const auto reach = [](Index distance, std::intptr_t& before, std::intptr_t& after) {
    (distance < 0 ? before : after) += distance;
  };
  for (Index n = 0; n < (shared_ || even_ ? std::min<Index>(count_, 1) : count_); ++n) {
    const Array& x = at(n);
    if (x.rows == 0 || x.cols == 0) continue;
    auto before = reinterpret_cast<std::intptr_t>(x.data), after = before + x.element();
    reach((x.rows - 1) * x.row_stride, before, after);
    reach((x.cols - 1) * x.col_stride, before, after);
    if (even_) reach((count_ - 1) * step_, before, after);
    low = std::min(low, before);
    high = std::max(high, after);
  }
  if (low >= high) return {};
  return {static_cast<std::uintptr_t>(low), static_cast<std::uintptr_t>(high)};
}

void Matrices::add(PyObject* object) { expect_real_on_host(items_.emplace_back(object, name_)); }

void Matrices::expect_real_on_host(const Array& array) const {
  if (array.on_cuda)
    throw TypeError(std::string(name_) + " is on CUDA device " + std::to_string(array.device) +
                    "; gemm_batch takes arrays in host memory");
  if (array.type.is_complex)
    throw TypeError(std::string(name_) + " holds " + dtype_name(array.type) +
                    "; batches are of real matrices, multiply complex ones with gemm, one by one");
}

/// Adds the matrices one by one, as the object gives them.
void Matrices::add_all() {
  if (!PySequence_Check(object_) || PyUnicode_Check(object_) || PyBytes_Check(object_))
    throw TypeError(std::string(name_) + " must be an array or a list of matrices, not " + type_name(object_));
  count_ = python_call<&PySequence_Size>(object_);
  if (count_ < 0) throw PythonError{};
  if (stacked_ && count_ == 0) return add_shape_alone();
  for (Index i = 0; i < count_; ++i) {
    objects_.emplace_back(checked(python_call<&PySequence_GetItem>(object_, i)));
    add(objects_.back().get());
  }
}

/// Adds the matrices of a stack. If those can be read where they are, the first one and the step describe all of them;
/// the first one has the shape and the type even where there are no matrices.
void Matrices::add_from_buffer() {
  count_ = buffer_->sizes()[0];
  step_ = buffer_->strides()[0];
  const Array& first = items_.emplace_back(*buffer_, object_, name_);
  expect_real_on_host(first);
  even_ = count_ == 0 || (layout_of(first) && step_ % first.element() == 0);
  for (Index i = 1; i < count_ && !even_; ++i)
    items_.emplace_back(*buffer_, object_, name_).data = first.data + i * step_;
}

/// Finds the shape and the type of the items of an array without items, because its result has them too.
void Matrices::add_shape_alone() {
  const Py_ssize_t rows = length_of(object_, 1), cols = length_of(object_, 2);
  if (rows < 0 || cols < 0) return;
  objects_.emplace_back(python_call<&PyObject_CallMethod>(object_, "reshape", "nn", Py_ssize_t{0}, cols));
  if (!objects_.back()) { // the library has no reshape
    PyErr_Clear();
    return objects_.clear();
  }
  add(objects_.back().get());
  Array& first = items_.back();
  first.rows = rows;
  first.col_stride = first.element();
  first.row_stride = cols * first.element();
  even_ = true;
}

void Matrices::expect_own_matrices() const {
  if (shared_ || buffer_ || PyList_Check(object_) || PyTuple_Check(object_)) return;
  for (Index i = 0; i < count_; ++i) {
    const Reference again(checked(python_call<&PySequence_GetItem>(object_, i)));
    const Array matrix(again.get(), name_);
    if (matrix.data != at(i).data && matrix.rows > 0 && matrix.cols > 0)
      throw InvalidArgument(std::string(name_) + " is a " + type_name(object_) +
                            ", which makes a new matrix each time that it is asked for one, so that the results would "
                            "be lost; pass an array or a list of arrays");
  }
}

} // namespace tessera::python
