#pragma once

/// The forward passes of tessera/torch's autograd functions: a product, and what its backward pass needs. PyTorch calls
/// them with gradients switched off, and records the product as one node.

#include <Python.h>

#include "product.hpp"

namespace tessera::python {

/// Multiplies, and keeps in `context` (the ctx of a torch.autograd.Function) the operands that the backward pass reads:
/// a if b needs a gradient, and b if a does. `needed` is where the argument a is in ctx.needs_input_grad; b is next.
/// Options that are not the defaults become ctx.math, ctx.alpha and ctx.beta, and the shape of c becomes ctx.shape if c
/// needs a gradient, which is the argument before a. Returns None, and keeps nothing, for what tensor_product() does
/// not take.
PyObject* recorded_product(PyObject* context, const TensorProduct& arguments, Py_ssize_t needed);

/// Computes activation(x·wᵀ + bias), where a is x and b is w, and keeps x if w needs a gradient and w if x does. The
/// derivative of relu reads the result, which is kept too; the one of gelu reads what it was applied to, and all
/// operands are kept to compute that again. The activation becomes ctx.activation. Returns None, and keeps nothing, for
/// what tensor_product() does not take.
PyObject* recorded_linear(PyObject* context, const TensorProduct& arguments);

} // namespace tessera::python
