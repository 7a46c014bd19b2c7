#pragma once

/// The epilogue of tessera.gemm: bias, activation and residual from Python's arguments.

#include <Python.h>

#include <optional>

#include <tessera/epilogue.hpp>

#include "layout.hpp"

namespace tessera::python {

/// The epilogue of a product. It keeps the arrays alive while the product reads them. The GIL must be held where it is
/// made and destroyed.
class Layer {
 public:
  /// An argument that is None leaves its step out. Throws TypeError and InvalidArgument, which name the argument.
  Layer(PyObject* bias, PyObject* activation, PyObject* residual);

  /// Returns the epilogue of a result of this type and shape that is in the memory of the operand `like` and is stored
  /// as `layout` says. It may be called once.
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
