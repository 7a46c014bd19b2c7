#pragma once

/// The BLAS and the LAPACK of a library that is opened at run time, by the names and arguments of Fortran.

#include <string>

#include "cpu/gemm/cblas/cblas_library.hpp"
#include "problem.hpp"

namespace tessera::compare_app::foreign {

/// Returns why the library cannot compute it; "" if it can.
std::string problem_of(cpu::CblasLibrary& library, const SystemOperation& operation, detail::NumberType type);

/// Computes the operation in the work's memory, which was filled by columns. Throws Error with LAPACK's info.
template <class T>
void run(cpu::CblasLibrary& library, const SystemOperation& operation, const SystemData<T>& data, SystemWork<T>& work,
         int threads);

} // namespace tessera::compare_app::foreign
