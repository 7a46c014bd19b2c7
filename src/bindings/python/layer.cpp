#include "layer.hpp"

#include <string>

#include "errors.hpp"
#include "gemm.hpp"
#include "words.hpp"

namespace tessera::python {
Layer::Layer(PyObject* bias, PyObject* activation, PyObject* residual) : activation_(parse_activation(activation)) {
  if (bias != Py_None) bias_.emplace(bias, "bias", Array::Rank::VectorOrMatrix);
  if (residual != Py_None) residual_.emplace(residual, "residual");
}

void Layer::check(const Array& x, const Array& like, Element result) const {
  if (x.type != result)
    throw TypeError(std::string(x.name) + " holds " + dtype_name(x.type) + ", but the result " + dtype_name(result) +
                    "; convert it, for nothing is converted unasked");
  if (x.on_cuda != like.on_cuda || x.device != like.device)
    throw InvalidArgument(std::string(x.name) + " is not where " + like.name +
                          " is; bring them to one place, for nothing is moved unasked");
}

Epilogue Layer::of(const Array& like, Element result, Index rows, Index cols, const Layout& layout) {
  Epilogue epilogue{.activation = activation_};
  if (result.is_complex && (bias_ || residual_ || activation_ != Activation::None))
    throw TypeError(std::string("bias, activation and residual are for real products; this one is of ") +
                    dtype_name(result));
  const bool by_columns = layout.op == Op::Transpose;
  if (bias_) {
    check(*bias_, like, result);
    use_bias(epilogue, rows, cols, by_columns);
  }
  if (residual_) {
    check(*residual_, like, result);
    use_residual(epilogue, rows, cols, by_columns);
  }
  return epilogue;
}

/// Reads the bias, which is broadcast as in NumPy: n numbers or 1×n for the columns, m×1 for the rows.
void Layer::use_bias(Epilogue& epilogue, Index rows, Index cols, bool by_columns) {
  const bool per_column = bias_->rows == 1 && bias_->cols == cols;
  if (!per_column && !(bias_->cols == 1 && bias_->rows == rows))
    throw InvalidArgument("bias is " + shape(bias_->rows, bias_->cols) + ", but for a result of " + shape(rows, cols) +
                          " it must be " + shape(1, cols) + " or " + shape(rows, 1));
  const Operand& operand = bias_operand_.emplace(*bias_);
  const bool side_by_side = per_column == (operand.op() == Op::None);
  epilogue.bias_per = per_column != by_columns ? BiasPer::Column : BiasPer::Row;
  epilogue.bias = operand.data();
  epilogue.bias_step = side_by_side ? 1 : operand.ld();
}

/// Reads the residual, and copies it unless its elements are in the result's order, in which kernels read it.
void Layer::use_residual(Epilogue& epilogue, Index rows, Index cols, bool by_columns) {
  if (residual_->rows != rows || residual_->cols != cols)
    throw InvalidArgument("residual is " + shape(residual_->rows, residual_->cols) + ", but the result is " +
                          shape(rows, cols));
  const Operand& operand = residual_operand_.emplace(*residual_);
  if ((operand.op() == Op::Transpose) == by_columns) {
    epilogue.residual = operand.data();
    epilogue.ld_residual = operand.ld();
    return;
  }
  if (residual_->on_cuda)
    throw InvalidArgument(
        "residual is stored by columns and the result by rows, or the other way round; pass it in "
        "the result's order, for nothing is copied on a device");
  const Index element = residual_->element();
  const Index ld = std::max<Index>(by_columns ? rows : cols, 1);
  straight_residual_.reset(new char[static_cast<std::size_t>(rows * cols * element)]);
  copy_elements(*residual_, straight_residual_.get(), by_columns ? element : ld * element,
                by_columns ? ld * element : element);
  epilogue.residual = straight_residual_.get();
  epilogue.ld_residual = ld;
}

} // namespace tessera::python
