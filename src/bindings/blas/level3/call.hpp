#pragma once

/// What the routines of level 3 have in common. Each family has a structure for its call, as the Fortran routine sees
/// it: wrong() finds the position of the first wrong argument, and run() computes. A row-major call of CBLAS is checked
/// as the column-major one of the transposes, whose triangles and sides are the other ones, as netlib's CBLAS does.

#include <complex>
#include <optional>
#include <type_traits>

#include "bindings/blas/cblas_call.hpp"
#include "extensions/linear_algebra/numbers.hpp"

namespace tessera::blas {

/// The type of the real numbers among the arguments.
template <class T>
using RealArgument = linear_algebra::Part<T>;

/// Numbers and matrices as CBLAS passes them: complex ones by address, without a type.
template <class T>
using Passed = std::conditional_t<is_complex<T>, const void*, T>;
template <class T>
using Read = std::conditional_t<is_complex<T>, const void*, const T*>;
template <class T>
using Written = std::conditional_t<is_complex<T>, void*, T*>;

template <class T>
T number(Passed<T> x) {
  if constexpr (is_complex<T>)
    return *static_cast<const T*>(x);
  else
    return x;
}

/// Runs the call of a Fortran routine, or refuses it; `arguments` are what the caller passed.
template <class Call, class... Arguments>
void run_fortran(const Routine& routine, const Call& call, Arguments... arguments) {
  const int wrong = call.wrong();
  if (wrong == 0) return call.run(routine);
  if (!hand_on(routine, arguments...)) report_fortran(routine, wrong);
}

/// Runs the call of a CBLAS routine as the Fortran routine would see it, or refuses it.
template <class Given, class Call>
void run_cblas(const Given& given, const Call& call) {
  if (!given.refuses_position(call.wrong())) call.run(given.routine());
}

/// The op of a symmetric or Hermitian update, as the column-major routine would see it; none where it has no such one.
/// Updates of real matrices know both transposes.
template <class T>
std::optional<Op> update_op(std::optional<Op> op, bool is_hermitian, bool is_by_rows) {
  const Op transposed = is_hermitian ? Op::ConjugateTranspose : Op::Transpose;
  if (!op || (*op != Op::None && *op != transposed)) return std::nullopt;
  return (*op == Op::None) != is_by_rows ? Op::None : transposed;
}

} // namespace tessera::blas
