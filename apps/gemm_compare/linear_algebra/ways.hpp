#pragma once

/// The ways in which an operation of linear algebra is computed: the textbook's loops, the library on a backend, and
/// the LAPACK of another library.

#include <memory>
#include <string>
#include <vector>

#include <tessera/backend.hpp>
#include <tessera/types.hpp>

#include "cpu/gemm/cblas/cblas_library.hpp"
#include "problem.hpp"

namespace tessera::compare_app {

struct Way {
  std::string name;
  Backend backend = Backend::Reference;
  std::string summary;
  bool keeps_contract = false;
  std::shared_ptr<cpu::CblasLibrary> library = nullptr; ///< of a library from outside
  bool (*does)(SystemKind kind) = nullptr;              ///< null: every operation that the type has
};

/// Returns the ways on this backend: textbook's first. Libraries from outside are the ones of TESSERA_CBLAS, and belong
/// to the first host backend with threads.
std::vector<Way> ways_on(Backend backend, bool with_libraries);

/// Returns why a library from outside cannot compute it; "" if it can.
std::string problem_of(const Way& way, const SystemOperation& operation, detail::NumberType type);

/// Computes the operation in the work's memory, which was filled by columns for libraries from outside, else by rows.
/// Throws Error where it cannot.
template <class T>
void compute(const Way& way, const SystemOperation& operation, const SystemData<T>& data, SystemWork<T>& work,
             int threads);

} // namespace tessera::compare_app
