#pragma once

/// What is done with the elements of a product before they are stored: a layer of a network in one pass.
///
///     GemmCall call = …;                                  // r = alpha·op(A)·op(B) + beta·C, as always; then
///     call.epilogue = {.bias_per = BiasPer::Column, .bias = bias, .activation = Activation::Gelu};
///
/// Of each element r, in this order: r + bias of its row or column; the activation; + the residual's element. Each step
/// is one rounding in the type that is computed in (f32 for 16-bit elements), the activations are defined to the bit
/// in activation.hpp, and the result is rounded to C's type once, at the end. So strict products with an epilogue
/// have the same bits on every backend as well.
///
/// Bias and residual have elements of C's type, are memory of the executor that runs the call, and must not overlap C
/// (beta = 1 adds to C itself).
///
/// Idea: cuBLASLt's epilogues and CUTLASS's visitor trees, cut down to what networks use.

#include <tessera/types.hpp>

namespace tessera {

/// Values are part of the plug-in ABI: add at the end.
enum class Activation : int {
  None = 0,
  Relu = 1, ///< negative numbers become +0; NaN stays
  Gelu = 2, ///< x·Φ(x) in its tanh form
};

enum class BiasPer : int {
  None = 0,
  Row = 1,    ///< m numbers: one for all elements of a row of C
  Column = 2, ///< n numbers: one for all elements of a column
};

struct Epilogue {
  BiasPer bias_per = BiasPer::None;
  const void* bias = nullptr;
  Index bias_step = 1; ///< elements from one number to the next, at least 1
  Activation activation = Activation::None;
  const void* residual = nullptr; ///< m×n, row-major; null: none
  Index ld_residual = 0;

  bool empty() const noexcept {
    return bias_per == BiasPer::None && activation == Activation::None && residual == nullptr;
  }
};

/// z = epilogue(scale·x), converted: an epilogue that is a pass of its own. x is rows×cols; null: zeros. x may be z if
/// it has z's type and leading dimension.
struct FinishCall {
  DType type = DType::F32; ///< computed in: f32 or f64
  Index rows = 0;
  Index cols = 0;
  double scale = 1.0;
  DType x_type = DType::F32;
  const void* x = nullptr;
  Index ldx = 0;
  DType z_type = DType::F32;
  void* z = nullptr;
  Index ldz = 0;
  Epilogue epilogue = {};
  int threads = 0;
};

} // namespace tessera
