#pragma once

/// Epilogues: operations on the elements of a product before they are stored, so that a layer of a network is one pass.
///
///     GemmCall call = …;                                  // the product gives r = alpha·op(A)·op(B) + beta·C
///     call.epilogue = {.bias_per = BiasPer::Column, .bias = bias, .activation = Activation::Gelu};
///
/// To each element r are applied, in this order: the addition of the bias of its row or column, the activation, and the
/// addition of the residual's element. Bias and residual are one rounding each in the type that is computed in (f32 for
/// 16-bit elements), backend/activation.hpp defines the activations to the bit, and the result is rounded to C's type
/// once, at the end. So strict products with an epilogue, too, have the same bits on every backend.
///
/// Bias and residual have elements of C's type, are memory of the executor that runs the call, and must not overlap C
/// (beta = 1 adds to C itself).
///
/// Source: cuBLASLt's epilogues and CUTLASS's visitor trees, reduced to what networks use.

#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// A function that is applied to each element. The values are part of the plug-in ABI: new ones are added at the end.
enum class Activation : int {
  None = 0, ///< the element stays
  Relu = 1, ///< negative numbers become +0; NaN stays
  Gelu = 2, ///< x·Φ(x) in its tanh form
  /// Another name of None, for programs that have X11's macro None
  Identity = None,
};

/// The numbers of a bias. The values are part of the plug-in ABI.
enum class BiasPer : int {
  None = 0,   ///< no bias
  Row = 1,    ///< m numbers: one for all elements of a row of C
  Column = 2, ///< n numbers: one for all elements of a column
  /// Another name of None, for programs that have X11's macro None
  NoBias = None,
};

/// What is applied to the elements of a product before they are stored; the comment of this header says how.
struct Epilogue {
  BiasPer bias_per = BiasPer::None;         ///< which elements share a number
  const void* bias = nullptr;               ///< the first number; null: no bias
  Index bias_step = 1;                      ///< elements from one number to the next, at least 1
  Activation activation = Activation::None; ///< the function that is applied after the bias
  const void* residual = nullptr;           ///< m×n, row-major; null: none
  Index ld_residual = 0;                    ///< elements from one row of the residual to the next

  /// Does the epilogue leave the product as it is?
  bool empty() const noexcept {
    return bias_per == BiasPer::None && activation == Activation::None && residual == nullptr;
  }
};

/// The arguments of an epilogue that runs as a separate pass: z = epilogue(scale·x), converted to z_type. x and z are
/// rows×cols; x null stands for zeros. x may be z if their types and leading dimensions are equal.
struct FinishCall {
  DType type = DType::F32;   ///< the type to compute in: f32 or f64
  Index rows = 0;            ///< rows of x and z
  Index cols = 0;            ///< columns of x and z
  double scale = 1.0;        ///< factor of x
  DType x_type = DType::F32; ///< type of x
  const void* x = nullptr;   ///< the product so far
  Index ldx = 0;             ///< elements from one row of x to the next
  DType z_type = DType::F32; ///< type of z
  void* z = nullptr;         ///< the result
  Index ldz = 0;             ///< elements from one row of z to the next
  Epilogue epilogue = {};    ///< what is applied
  int threads = 0;           ///< threads to use; 0: as many as the executor was made with
};

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
