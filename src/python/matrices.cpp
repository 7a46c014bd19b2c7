#include "matrices.hpp"

#include <algorithm>
#include <string>

#include "layout.hpp"

namespace tessera::python {
namespace {

/// Returns the object's number of dimensions; −1 if the object does not report it.
Py_ssize_t dimensions_of(PyObject* object) {
  const Reference dimensions(PyObject_GetAttrString(object, "ndim"));
  const Py_ssize_t number = dimensions ? PyLong_AsSsize_t(dimensions.get()) : -1;
  PyErr_Clear();
  return number;
}

/// Returns object.shape[axis]; −1 if the object does not report it.
Py_ssize_t length_of(PyObject* object, Py_ssize_t axis) {
  const Reference shape(PyObject_GetAttrString(object, "shape"));
  const Reference length(shape ? PySequence_GetItem(shape.get(), axis) : nullptr);
  const Py_ssize_t number = length ? PyLong_AsSsize_t(length.get()) : -1;
  PyErr_Clear();
  return number;
}

} // namespace

Matrices::Matrices(PyObject* object, const char* name) : name_(name) {
  const Py_ssize_t dimensions = dimensions_of(object);
  if (dimensions != -1 && dimensions != 2 && dimensions != 3)
    throw InvalidArgument(std::string(name) + " has " + std::to_string(dimensions) +
                          " dimensions; pass a matrix, an array of three dimensions or a list of matrices");
  shared_ = dimensions == 2;
  stacked_ = dimensions == 3;
  if (shared_)
    add(object);
  else
    add_all(object);
}

Matrices::Range Matrices::range() const {
  if (count_ == 0 || !(stacked_ || shared_) || at(0).rows == 0 || at(0).cols == 0) return {};
  std::intptr_t low = INTPTR_MAX, high = INTPTR_MIN;
  for (Index n = 0; n < (shared_ || even_ ? 1 : count_); ++n) {
    const Array& x = at(n);
    for (const Index row : {Index{0}, x.rows - 1})
      for (const Index col : {Index{0}, x.cols - 1})
        for (const Index i : {Index{0}, even() ? count_ - 1 : Index{0}}) {
          const auto address =
              reinterpret_cast<std::intptr_t>(x.data) + row * x.row_stride + col * x.col_stride + i * step_;
          low = std::min(low, address);
          high = std::max(high, address + x.element());
        }
  }
  return {static_cast<std::uintptr_t>(low), static_cast<std::uintptr_t>(high)};
}

void Matrices::add(PyObject* object) {
  const Array& array = items_.emplace_back(object, name_);
  if (array.on_cuda)
    throw TypeError(std::string(name_) + " is on CUDA device " + std::to_string(array.device) +
                    "; gemm_batch takes arrays in host memory");
  if (array.type.is_complex)
    throw TypeError(std::string(name_) + " holds " + dtype_name(array.type) +
                    "; batches are of real matrices, multiply complex ones with gemm, one by one");
}

void Matrices::add_all(PyObject* object) {
  if (!PySequence_Check(object) || PyUnicode_Check(object) || PyBytes_Check(object))
    throw TypeError(std::string(name_) + " must be an array or a list of matrices, not " + type_name(object));
  count_ = PySequence_Size(object);
  if (count_ < 0) throw PythonError{};
  if (!stacked_) return add_items(object, count_);
  if (count_ == 0) return add_shape_alone(object);
  // If the matrices of an array can be read where they are, the array's buffer describes all of them. An object that
  // copies each item when it is asked for it is read item by item.
  add_items(object, std::min<Index>(count_, 2));
  if (count_ <= 2) return;
  step_ = items_[1].data - items_[0].data;
  even_ = layout_of(items_[0]) && step_ % items_[0].element() == 0 && are_in_buffer(object);
  if (even_) return;
  items_.clear();
  objects_.clear();
  step_ = 0;
  add_items(object, count_);
}

/// Finds the shape and the type of the items of an array without items, because its result has them too.
void Matrices::add_shape_alone(PyObject* object) {
  const Py_ssize_t rows = length_of(object, 1), cols = length_of(object, 2);
  if (rows < 0 || cols < 0) return;
  objects_.emplace_back(PyObject_CallMethod(object, "reshape", "nn", Py_ssize_t{0}, cols));
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

/// Does the first item begin where the object's memory begins, and the second one a step behind it?
bool Matrices::are_in_buffer(PyObject* object) const {
  Py_buffer view;
  if (PyObject_GetBuffer(object, &view, PyBUF_RECORDS_RO) != 0) {
    PyErr_Clear();
    return false;
  }
  const bool same = view.ndim == 3 && view.buf == items_[0].data && view.strides[0] == step_;
  PyBuffer_Release(&view);
  return same;
}

void Matrices::add_items(PyObject* object, Index count) {
  for (Index i = 0; i < count; ++i) {
    objects_.emplace_back(checked(PySequence_GetItem(object, i)));
    add(objects_.back().get());
  }
}

} // namespace tessera::python
