#pragma once

/// Products of tensors of PyTorch, for tessera/torch.
///
/// All functions return None, without an exception, for calls that they do not take: other types, shapes that do not
/// fit, strides that no kernel reads. tessera/torch then reports the error, or makes the tensors fit and calls again.

#include <Python.h>

namespace tessera::python {

struct TensorProduct {
  PyObject *a, *b;    ///< matrices, or stacks of as many matrices; a matrix goes with each matrix of the other's stack
  PyObject *c, *beta; ///< beta·c is added; c is broadcast to the result; None: nothing is added
  PyObject* alpha;    ///< factor of the product; None: 1
  PyObject* bias;     ///< a vector for the columns, or None
  PyObject* activation; ///< a word or None
  PyObject* math; ///< a word; None: strict, but 16-bit matrices on a GPU go to its matrix units. Or a tuple of words
                  ///< for all types of matrices in the order of arrays/element.hpp on the host, and for these on a GPU
  PyObject* type; ///< the name of the result's type, or None for the operands'
  PyObject* out;  ///< the result's memory, whose old elements are c if c is this object; None: a new tensor
  PyObject* stream;         ///< the number of PyTorch's current stream; None: the library's table knows it
  int dimensions = 0;       ///< how many a and b must have; 0: two or three
  bool b_is_weight = false; ///< b is a matrix whose transpose is multiplied, as the weights of a linear layer
};

/// Returns the new tensor, or `out`. Work on a GPU is enqueued in the order of the current stream.
PyObject* tensor_product(const TensorProduct& arguments);

/// Multiplies groups into `out`. `ends` is a list of the groups' ends. With a stack b, rows ends[g−1] … ends[g]−1 of a
/// are multiplied by b[g] into the same rows of out. With a matrix b, the columns of a in this range by the same rows
/// of b into out[g].
PyObject* grouped_tensor_product(PyObject* a, PyObject* b, PyObject* ends, PyObject* math, PyObject* out,
                                 PyObject* stream);

} // namespace tessera::python
