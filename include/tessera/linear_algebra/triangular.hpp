#pragma once

/// Systems with a triangular matrix: op(T)·X = B, or X·op(T) = B.
///
///     Matrix x = triangular_solve(Triangle::Lower, t, b);                    // T·X = B
///     Matrix y = triangular_solve(Triangle::Upper, t.transposed(), b);      // with the upper triangle of tᵀ
///
/// T is n×n, f32 or f64; B is n×count (Side::Left) or count×n. n²·count operations. x(i) = (b(i) − s(i)) / t(i, i): a
/// zero on the diagonal gives Inf or NaN, as the division does. The bits of X depend on T and B alone
/// (docs/contract.md, "Linear algebra"). X is computed in host memory.
///
/// Errors: InvalidArgument (shapes), BackendUnavailable, OutOfMemory. T and B are never changed.
///
/// Source: the level 3 BLAS's TRSM; the order of operations is Tessera's own.

#include <concepts>
#include <string>

#include <tessera/linear_algebra/options.hpp>
#include <tessera/matrix.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

namespace detail {
/// A system in host memory; X takes B's place. Leading dimensions count elements between stored rows.
struct TriangularCall {
  DType type = DType::F32;
  Side side = Side::Left;
  Triangle triangle = Triangle::Lower; ///< the one that is stored in t
  Op op = Op::None;
  Diagonal diagonal = Diagonal::Stored;
  Index n = 0;
  Index count = 0; ///< right-hand sides
  const void* t = nullptr;
  Index ldt = 0;
  void* b = nullptr;
  Index ldb = 0;
};
/// Solves the system, whose sizes the caller has checked.
TESSERA_API void triangular_solve(const TriangularCall& call, const SolveOptions& options, Shortage shortage = {});
/// Throws InvalidArgument where the matrix is not square, or has another number of rows than the right-hand side.
TESSERA_API void check_system(const char* function, Index rows, Index cols, Index unknowns, Side side);

/// Elements that linear algebra computes with.
template <class T>
concept Solvable = std::same_as<T, float> || std::same_as<T, double>;
} // namespace detail

/// Returns X. `triangle` names the half of `t`, as the argument is, that is read.
template <MatrixLike A, MatrixLike B>
requires detail::Solvable<typename A::value_type> && std::same_as<typename A::value_type, typename B::value_type>
    Matrix<typename A::value_type> triangular_solve(Triangle triangle, const A& t, const B& b, Side side = Side::Left,
                                                    Diagonal diagonal = Diagonal::Stored,
                                                    const SolveOptions& options = {}) {
  using T = typename A::value_type;
  detail::check_system("triangular_solve", t.rows(), t.cols(), side == Side::Left ? b.rows() : b.cols(), side);
  const Matrix<T> matrix(t.view());
  Matrix<T> x(b.view());
  detail::triangular_solve({.type = dtype_of<T>,
                            .side = side,
                            .triangle = triangle,
                            .diagonal = diagonal,
                            .n = t.rows(),
                            .count = side == Side::Left ? b.cols() : b.rows(),
                            .t = matrix.data(),
                            .ldt = matrix.ld(),
                            .b = x.data(),
                            .ldb = x.ld()},
                           options);
  return x;
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
