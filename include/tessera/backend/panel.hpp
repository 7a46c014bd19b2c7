#pragma once

/// The steps of factorisations and triangular systems that are no products, on a device: a panel, a triangle, rows that
/// change places. What is around them is products (Executor::gemm). docs/contract.md, "Linear algebra", has the order
/// in which terms are added; the size of blocks does not change it.
///
///     PanelCall call{.op = PanelOp::Lu, .type = DType::F64, .rows = m, .cols = 64, .a = panel, .lda = ld, …};
///     throw_if_failed(cuda.panel(queue, call));
///
/// Matrices are row-major in the executor's memory, f32, f64 or, where `is_complex`, complex numbers of either; sizes
/// and leading dimensions count numbers. A device may reject complex numbers. Programs use Lu, Cholesky and solve()
/// instead.

#include <cstddef>

#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

struct SystemsCall; // small_systems.hpp

/// The most columns of a panel, and the most rows of a triangle.
inline constexpr Index most_panel_columns = 64;
/// Returns the most columns of a panel of Cholesky's, of numbers of so many bytes.
constexpr Index most_positive_columns(std::size_t bytes) { return bytes == 16 ? 32 : most_panel_columns; }
/// The most columns of a panel of QR. Bits depend on it.
inline constexpr Index most_reflections = 32;
/// The columns of a group in such a panel. Bits depend on it.
inline constexpr Index reflection_columns = 8;

/// Returns the columns of unknowns up to which SolveTriangle is faster than SolveColumns with products.
constexpr Index most_unknown_columns(Index rows) { return rows <= 8192 ? 128 : 64; }

/// The operations. `a` is rows×cols in all of them; the values are part of the plug-in ABI.
enum class PanelOp : int {
  /// a becomes a panel of the L of Cholesky's, with cols ≤ rows; above the diagonal it is not touched. s has the sums
  /// of the terms before.
  Cholesky = 0,
  /// a becomes L and U of P·a, with cols ≤ rows. s has the sums of the terms before, changes places with a's rows, and
  /// is undefined afterwards. numbers[j] becomes first plus the row with which row j was exchanged.
  Lu = 1,
  /// a becomes the X of T·X = a, T rows×rows: x(i) = (a(i) − s(i)) / t(i, i), where s(i) goes on with t(i, k)·x(k).
  SolveColumns = 2,
  /// Row i of a changes places with row numbers[i] − first, for i = 0 … count − 1, in this order; columns from
  /// kept_begin to kept_end stay.
  ExchangeRows = 3,
  /// a(i, j) = x(rows − 1 − i, cols − 1 − j), or x(rows − 1 − i, j) where `keep_columns`; x does not overlap a.
  Reverse = 4,
  /// a(i, j) = 0 for j > i.
  ClearUpper = 5,
  /// sums[j] is the sum of |scale·a(i, j)| in double, in ascending i. Where `symmetric`, a's lower triangle stands for
  /// a symmetric matrix.
  ColumnSums = 6,
  /// a becomes R and, below R's diagonal, the vectors of a panel of QR, with cols ≤ rows, cols ≤ most_reflections and
  /// the contract's order of operations. v becomes V, as large as a; triangle becomes T, cols×cols, with zeros below
  /// its diagonal; tau[j] becomes the factor of reflection j. Of complex numbers a lies in planes (IntoPlanes), and V
  /// and T are expanded.
  Reflections = 7,
  /// a becomes the V of a panel of QR: x below the diagonal, ones on it, zeros above it. x does not overlap a. Of
  /// complex numbers V is expanded: 2·rows×2·cols parts, each number as [[re, −im], [im, re]], aligned as numbers are,
  /// and lda is even.
  ReflectionVectors = 8,
  /// a becomes the T, cols×cols, of reflections with the factors tau, with zeros below its diagonal. x is Vᵀ·V, of
  /// which what is above the diagonal is read; it does not overlap a. Of complex numbers all of them are expanded.
  ReflectionTriangle = 9,
  /// a(i, j) = 0 for j < i.
  ClearLower = 10,
  /// largest[i] is the largest |x(i, j)| of row i, NaN where one is NaN; least[i] is the least one but 0, or Inf where
  /// all are 0.
  LargestOfRows = 11,
  /// largest[j] is the largest |x(i, j)·row_scales[i]| of column j, NaN where one is NaN.
  LargestOfColumns = 12,
  /// a(i, j) = x(i, j)·row_scales[i]·column_scales[j], multiplied in x's type and rounded to f32, which a has.
  Narrow = 13,
  /// a becomes the X of T·X = a, T rows×rows and lower: by the whole order of the contract, which SolveColumns has a
  /// part of. Steps from row to row (lda, ldt) and from column to column (a_step, t_step) may be negative. Meant for
  /// up to most_unknown_columns() columns.
  SolveTriangle = 14,
  /// Of complex numbers: a becomes the X of X·Tᵀ = a, T cols×cols: x(i) = (a(i) − s(i)) / t(i, i) in each row, where
  /// s(i) goes on with x(k)·t(i, k), whose factors stand in this order.
  SolveRows = 15,
  /// a(i, j) = x(numbers[i], j). x does not overlap a.
  GatherRows = 16,
  /// a(i, j) = |x(i, j)|; x may be a.
  Magnitudes = 19,
  /// `systems`, each rows×cols, are factored or solved, or both; beside them type, is_complex and the sizes are read.
  SmallSystems = 20,
  /// a becomes the planes of the complex numbers x: 2·rows×cols parts, a row of real ones and then the row of their
  /// imaginary ones. lda counts parts. x does not overlap a.
  IntoPlanes = 21,
  /// a becomes the complex numbers whose planes are x; ldx counts parts. x does not overlap a.
  FromPlanes = 22,
  /// a(i, j) = x(i, j) in one triangle of a square, ones on the diagonal where has_unit_diagonal, and zeros elsewhere.
  /// x's other numbers are not read; x does not overlap a.
  TriangleAlone = 23,
  /// a is the product M·x, or where `is_on_right` x·Mᵀ, of a triangle M with zeros elsewhere, of at most a segment.
  /// An element that the zeros may have changed becomes the sum of the triangle's terms alone: one that is NaN, or, of
  /// a lower M, one that has a part of 0. m(i, k) is t[i·ldt + k·t_step], or its conjugate. least has what
  /// LeastMagnitude
  /// found of the triangle, and then of x; it is not read for an upper M. Where both are so large that no chain rounds
  /// to −0, parts of 0 stay.
  TriangleTerms = 24,
  /// least[0] becomes the least magnitude but 0 of a number of x, or of a part of a complex one; without one, anything
  /// that is not less than Inf. x is rows×cols.
  LeastMagnitude = 25,
};

/// The arguments. Members that an operation does not name are not read.
struct PanelCall {
  PanelOp op = PanelOp::Cholesky; ///< the operation
  DType type = DType::F64;        ///< F32 or F64
  Index rows = 0;                 ///< rows of a
  Index cols = 0;                 ///< columns of a
  void* a = nullptr;              ///< the matrix that changes
  Index lda = 0;                  ///< elements from one row of a to the next
  void* s = nullptr;              ///< sums, as many as a has elements
  Index lds = 0;                  ///< elements from one row of s to the next
  const void* t = nullptr;        ///< SolveColumns: the lower triangle; TriangleTerms
  Index ldt = 0;                  ///< elements from one row of t to the next
  bool has_unit_diagonal = false; ///< then t's diagonal is not read and divides nothing
  const void* x = nullptr;        ///< the matrix to read, where an operation names one
  Index ldx = 0;                  ///< elements from one row of x to the next
  bool keep_columns = false;      ///< Reverse: columns stay where they are
  Index* numbers = nullptr;       ///< Lu, ExchangeRows, GatherRows: in the executor's memory
  Index count = 0;                ///< ExchangeRows: how many numbers
  Index first = 0;                ///< Cholesky, Lu, Reflections, ExchangeRows: the number of a's first row
  /// Cholesky, Lu, Reflections: becomes the row of a number that is not positive under the root, of a pivot of 0, or of
  /// a 0 on R's diagonal, unless it has one already (−1 is none). A 0 follows it, with which the device counts and
  /// which it leaves 0. In the executor's memory.
  Index* failed = nullptr;
  Index kept_begin = 0;     ///< ExchangeRows: the first column that stays
  Index kept_end = 0;       ///< ExchangeRows: the first column after them
  bool symmetric = false;   ///< ColumnSums
  double scale = 1.0;       ///< ColumnSums: a power of two
  double* sums = nullptr;   ///< ColumnSums: cols numbers in the executor's memory
  void* v = nullptr;        ///< Reflections: becomes V
  Index ldv = 0;            ///< elements from one row of v to the next
  void* triangle = nullptr; ///< Reflections: becomes T
  Index ld_triangle = 0;    ///< elements from one row of it to the next
  void* tau = nullptr;      ///< Reflections, and read by ReflectionTriangle: cols factors in the executor's memory
  Index a_step = 1;         ///< SolveTriangle: elements from one column of a to the next
  Index t_step = 1;         ///< and, of TriangleTerms too, from one column of t to the next

  /// Numbers are complex, of `type`: in all operations but SolveTriangle and the four for f64 alone. In ColumnSums re
  /// counts alone of a Hermitian diagonal.
  bool is_complex = false;
  bool keep_rows = false; ///< Reverse: rows stay where they are; not with keep_columns

  // LargestOfRows, LargestOfColumns, Narrow and Magnitudes, which read x of f64 and know no other type.
  const double* row_scales = nullptr;    ///< rows powers of two in the executor's memory
  const double* column_scales = nullptr; ///< cols of them
  double* largest = nullptr;             ///< rows or cols numbers in the executor's memory
  double* least = nullptr;               ///< LargestOfRows: rows numbers there; LeastMagnitude: one; TriangleTerms: two

  // TriangleAlone, TriangleTerms and LeastMagnitude, of real and complex numbers.
  bool is_upper = false;    ///< the triangle is the upper one; of TriangleTerms, M's
  bool conjugates = false;  ///< TriangleTerms: M has the conjugates of t
  bool is_on_right = false; ///< TriangleTerms: M is the second factor

  // SmallSystems has its arguments elsewhere.
  const SystemsCall* systems = nullptr; ///< the batch (small_systems.hpp), in host memory
};

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
