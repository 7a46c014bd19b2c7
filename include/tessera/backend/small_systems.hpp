#pragma once

/// Many small systems of one size, which a device factors and solves in one launch.
///
///     SystemsCall systems{.task = SystemsTask::Solve, .columns = 1, .count = 10000, .a = a, .lda = n, …};
///     throw_if_failed(cuda.panel(queue, {.op = PanelOp::SmallSystems, .type = DType::F64, .rows = n, .cols = n,
///                                        .systems = &systems}));
///
/// Matrices are row-major, of f32, f64 or, where PanelCall::is_complex says so, complex numbers of either, at strides
/// or by an array of pointers; matrices, arrays and numbers are in the executor's memory. Each system has the bits of
/// linear_algebra/batch.hpp. A device rejects sizes that are too large for it. Programs use
/// linear_algebra/device_batch.hpp, which checks the arguments.

#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// What is done with each system A, rows×cols, and its right-hand sides B, cols×columns. The values are part of the
/// plug-in ABI.
enum class SystemsTask : int {
  /// L and U of P·A take the place of A; `pivots` and `info` are written.
  Lu = 0,
  /// The solution of A·X = B, or Aᵀ·X = B where `is_transposed`, or Aᴴ·X = B where also `is_conjugated`, takes the
  /// place of B. `a` and `pivots` are what Lu wrote.
  LuSolve = 1,
  /// L takes the place of A's lower triangle, or U of A = Uᴴ·U of the upper one; `info` is written, and a matrix with
  /// info ≠ 0 is
  /// not.
  Cholesky = 2,
  /// The solution takes the place of B. `a` is what Cholesky wrote.
  CholeskySolve = 3,
  /// The solution of A·X = B by LU takes the place of B; `info` is written, and a B with info ≠ 0 is not.
  Solve = 4,
  /// Does so by Cholesky, with one triangle of A.
  SolvePositive = 5,
  /// The inverse of A takes the place of B, which is not read; `info` as in Solve.
  Inverse = 6,
  /// A copy of A takes the place of B, which is rows×cols too, and of any size. A's distances may be any numbers, 0 and
  /// negative ones too, and columns lie `step_a` apart. With `is_conjugated` it has the conjugates; with `clears_upper`
  /// zeros above the diagonal, where A is not read. B's matrices do not overlap A's.
  Copy = 7,
};

/// The arguments beside PanelCall's type, is_complex, rows and cols. Distances count numbers. Members that a task does
/// not name are not read.
struct SystemsCall {
  SystemsTask task = SystemsTask::Solve; ///< what is done
  Index columns = 0;                     ///< columns of each B
  Index count = 0;                       ///< how many systems
  void* a = nullptr;                     ///< the first A
  Index lda = 0;                         ///< from one row of A to the next
  Index stride_a = 0;                    ///< from one A to the next; 0 where all have one that is read
  void* const* all_a = nullptr;          ///< not null: `count` pointers; `a` and `stride_a` are not read
  void* b = nullptr;                     ///< the first B
  Index ldb = 0;                         ///< from one row of B to the next
  Index stride_b = 0;                    ///< from one B to the next
  void* const* all_b = nullptr;          ///< not null: `count` pointers; `b` and `stride_b` are not read
  bool is_upper = false;                 ///< Cholesky, CholeskySolve, SolvePositive: the triangle of A
  bool is_transposed = false;            ///< LuSolve: Aᵀ
  Index* pivots = nullptr;               ///< Lu, LuSolve: min(rows, cols) rows for each system, from 0 on
  Index pivot_stride = 0;                ///< from one system's pivots to the next one's
  Index* info = nullptr;                 ///< `count` numbers: 0, or the place of the first failure from 1 on
  bool is_conjugated = false;            ///< LuSolve, Copy: conj A
  bool clears_upper = false;             ///< Copy: what is above the diagonal becomes 0
  Index step_a = 1;                      ///< Copy: from one column of A to the next
};

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
