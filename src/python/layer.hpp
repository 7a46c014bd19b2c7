#pragma once

/// The epilogue of tessera.gemm: bias, activation and residual from Python's arguments.

#include <Python.h>

#include <optional>

#include <tessera/epilogue.hpp>

#include "layout.hpp"

namespace tessera::python {

/// Holds the arrays for as long as a product reads them. Made and destroyed with the GIL.
class Layer {
 public:
  /// None of each: no such step. Throws TypeError and InvalidArgument that name the argument.
  Layer(PyObject* bias, PyObject* activation, PyObject* residual);

  /// For a result of this type and shape, `like` an operand in its place, stored as `layout` says. To be called once.
  Epilogue of(const Array& like, Element result, Index rows, Index cols, const Layout& layout);

 private:
  void check(const Array& x, const Array& like, Element result) const;
  void use_bias(Epilogue& epilogue, Index rows, Index cols, bool by_columns);
  void use_residual(Epilogue& epilogue, Index rows, Index cols, bool by_columns);

  std::optional<Array> bias_, residual_;
  std::optional<Operand> bias_operand_, residual_operand_;
  std::unique_ptr<char[]> straight_residual_;
  Activation activation_ = Activation::None;
};

} // namespace tessera::python
