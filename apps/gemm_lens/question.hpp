#pragma once

/// What the lens is asked: a kernel and a product.

#include <filesystem>
#include <optional>
#include <string>

#include <tessera/backend/gemm_shape.hpp>
#include <tessera/types.hpp>

#include "folders.hpp"

namespace tessera::lens {

struct Question {
  std::string kernel; ///< a file, or the name of a rung
  GemmShape shape{};
  DType type = DType::F32; ///< F32 or F64
  Op op_a = Op::None, op_b = Op::None;
  double alpha = 1, beta = 0;
  /// Elements between the end of a row of A, B and C and the next one. None: a rung's rows end at whole cache lines, as
  /// in a race, and another kernel's follow one another, so that it does not find room past their ends.
  std::optional<Index> ld_pad;
  double seconds = 60; ///< that the kernel may take
};

/// A kernel's file.
struct Source {
  std::filesystem::path file;
  std::string rung;   ///< its name in the ladder; empty for a file that exports solve() or tessera_kernel()
  std::string symbol; ///< the rung's variable, as "tile_1d_f32"
};

/// Finds the file that the question names. A file that defines a GemmKernel is a rung, wherever it lies. Throws
/// InvalidArgument if there is no such file or rung, or the rung is not of the type or uses what the lens cannot run.
Source find_source(const Question& question, const Folders& folders);

} // namespace tessera::lens
